package protocol_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A garden is a harness with two routes. It contains only the harness's own code.
type garden struct {
	mu    sync.Mutex
	tasks []task
}

type task struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Status string `json:"status"`
}

// submit serves POST /v1/tasks. It is called once for all requests with one Idempotency-Key.
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

// list serves GET /v1/tasks.
func (g *garden) list(w http.ResponseWriter, r *protocol.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return protocol.WriteItems(w, r, g.tasks, func(t task) string { return t.ID }, nil)
}

func ExampleNewMux() {
	g := new(garden)
	m, err := protocol.NewMux(protocol.Options{
		Routes: []protocol.Route{
			{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: g.submit},
			{Pattern: "GET /v1/tasks", Scope: protocol.TasksRead, Params: protocol.ListParams(), Serve: g.list},
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
	ask("GET", "/v1/tasks?limit=1", "", version...)
	ask("GET", "/v1/outcomes", "", version...)
	// Output:
	// 426 {"error":{"code":"unsupported_protocol_version","message":"expected the header Harn-Agents-Protocol-Version: agents-protocol-2026-04-25","type":"request_error","param":"Harn-Agents-Protocol-Version"
	// 400 {"error":{"code":"invalid_request","message":"expected an object","type":"request_error","param":"input"
	// 202 {"id":"task_1","object":"task","status":"WORKING"}
	// 202 {"id":"task_1","object":"task","status":"WORKING"}
	// 409 {"error":{"code":"idempotency_key_reused","message":"this key came with another body before; use a new one for another request","type":"conflict_error","param":"Idempotency-Key"
	// 200 {"object":"list","data":[{"id":"task_1","object":"task","status":"WORKING"}],"page":{"has_more":false,"next_cursor":null}}
	// 404 {"error":{"code":"resource_not_found","message":"there is no such resource, or it may not be seen","type":"not_found_error","param":null
}

// A diary is a log of events in memory; a real harness would use a file.
type diary struct {
	protocol.Bell
	mu     sync.Mutex
	events []protocol.Event
}

func (d *diary) write(kind, payload string) {
	d.mu.Lock()
	n := len(d.events) + 1
	text := fmt.Appendf(nil, `{"id":"%d","object":"event","event":%q,"sequence":%[1]d,"payload":%[3]s}`, n, kind, payload)
	d.events = append(d.events, protocol.Event{ID: fmt.Sprint(n), Kind: kind, JSON: text})
	d.mu.Unlock()
	d.Ring() // after it can be read
}

func (d *diary) Appended() <-chan struct{} { return d.Rung() }

func (d *diary) After(_ context.Context, id string, limit int) ([]protocol.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := 0
	if id != "" {
		if _, err := fmt.Sscan(id, &from); err != nil || from < 1 || from > len(d.events) {
			return nil, protocol.ErrGone
		}
	}
	page := d.events[from:min(from+limit, len(d.events))]
	if from+len(page) == len(d.events) && d.events[len(d.events)-1].Kind == "task.completed" {
		return page, io.EOF // no events follow the end of a task
	}
	return page, nil
}

func ExampleWriteStream() {
	d := new(diary)
	d.write("task.started", `{}`)
	d.write("task.completed", `{"beans":"watered"}`)
	m, err := protocol.NewMux(protocol.Options{
		Routes: []protocol.Route{{Pattern: "GET /v1/tasks/{task_id}/stream", Scope: protocol.EventsRead,
			Serve: func(w http.ResponseWriter, r *protocol.Request) error { return protocol.WriteStream(w, r, d) }}},
		Now: time.Now, Random: rand.Reader, Public: true,
	})
	if err != nil {
		panic(err)
	}
	for _, last := range []string{"1", "7"} {
		r := httptest.NewRequest("GET", "/v1/tasks/t/stream", nil)
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		r.Header.Set("Last-Event-ID", last)
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		text, _, _ := strings.Cut(w.Body.String(), `,"type"`)
		fmt.Println(strings.TrimSpace(text))
	}
	// Output:
	// id: 2
	// event: task.completed
	// data: {"id":"2","object":"event","event":"task.completed","sequence":2,"payload":{"beans":"watered"}}
	// event: error
	// data: {"error":{"code":"cursor_expired","message":"the place that this cursor names is gone; begin without one"
}
