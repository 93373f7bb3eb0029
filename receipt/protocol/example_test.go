package protocol_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A garden is a harness with two routes. It contains only the code that the harness itself must
// provide.
type garden struct {
	mu    sync.Mutex
	tasks []task
}

type task struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Status string `json:"status"`
}

// submit handles POST /v1/tasks. It is called once for all requests with the same Idempotency-Key.
func (g *garden) submit(w http.ResponseWriter, r *protocol.Request) error {
	input := r.JSON.Root().Member("input")
	if input.Kind() != canon.KindObject {
		return protocol.Invalid("input", "expected an object")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t := task{fmt.Sprint("task_", len(g.tasks)+1), "task", "WORKING"}
	g.tasks = append(g.tasks, t)
	return protocol.WriteJSON(w, http.StatusAccepted, t)
}

// list handles GET /v1/tasks.
func (g *garden) list(w http.ResponseWriter, r *protocol.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return protocol.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": g.tasks})
}

func ExampleNewMux() {
	g := new(garden)
	m, err := protocol.NewMux(protocol.Options{
		Routes: []protocol.Route{
			{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: g.submit},
			{Pattern: "GET /v1/tasks", Scope: protocol.TasksRead, Serve: g.list},
		},
		Now: time.Now, Random: rand.Reader, Public: true,
	})
	if err != nil {
		panic(err)
	}

	ask := func(method, path, body string, headers ...string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		text, _, _ := strings.Cut(w.Body.String(), `,"request_id"`) // which is random
		fmt.Println(w.Code, strings.TrimSpace(text))
	}
	version, key := []string{protocol.VersionHeader, protocol.Version}, []string{protocol.VersionHeader, protocol.Version, "Idempotency-Key", "k1"}
	ask("GET", "/v1/tasks", "")
	ask("POST", "/v1/tasks", `{}`, version...)
	ask("POST", "/v1/tasks", `{"input":{"water":"beans"}}`, key...)
	ask("POST", "/v1/tasks", `{ "input" : {"water":"beans"} }`, key...) // again: it did not see the answer
	ask("POST", "/v1/tasks", `{"input":{"water":"roses"}}`, key...)
	ask("GET", "/v1/tasks", "", version...)
	ask("GET", "/v1/outcomes", "", version...)
	// Output:
	// 426 {"error":{"code":"unsupported_protocol_version","message":"expected the header Harn-Agents-Protocol-Version: agents-protocol-2026-04-25","type":"request_error","param":"Harn-Agents-Protocol-Version"
	// 400 {"error":{"code":"invalid_request","message":"expected an object","type":"request_error","param":"input"
	// 202 {"id":"task_1","object":"task","status":"WORKING"}
	// 202 {"id":"task_1","object":"task","status":"WORKING"}
	// 409 {"error":{"code":"idempotency_key_reused","message":"this key was used with another body; use a new key for each request","type":"conflict_error","param":"Idempotency-Key"
	// 200 {"data":[{"id":"task_1","object":"task","status":"WORKING"}],"object":"list"}
	// 404 {"error":{"code":"resource_not_found","message":"the resource does not exist or is not visible","type":"not_found_error","param":null
}
