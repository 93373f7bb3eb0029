package harness_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// issuerID is the issuer for which the key from the fixtures may sign.
const issuerID = "harness_example_cloud"

// options returns the options for a harness in the given directory.
func options(t testing.TB, dir string) harness.Options {
	t.Helper()
	private, err := os.ReadFile("../../../fixtures/keys/key_2026_04.private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Options{Public: true, Dir: dir, Issuer: issuerID, Signer: keys.NewSigner(key, time.Now), Trust: trust(t)}
}

func trust(t testing.TB) *keys.Set {
	t.Helper()
	public, err := os.ReadFile("../../../fixtures/keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(public)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// apiKeys returns new API keys. The functions in narrow can first restrict the entry of each key.
func apiKeys(t testing.TB, narrow ...func(*protocol.APIKey)) (texts []string, parsed *protocol.APIKeys) {
	t.Helper()
	var entries []protocol.APIKey
	for i, f := range narrow {
		text, entry, err := protocol.NewAPIKey(rand.Reader, "client-"+string(rune('a'+i)), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		f(&entry)
		texts, entries = append(texts, text), append(entries, entry)
	}
	parsed, err := protocol.NewAPIKeys(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return texts, parsed
}

// A client sends requests to a harness.
type client struct {
	t         testing.TB
	url, key  string
	workspace string
	session   string
}

// An object is a JSON object.
type object map[string]any

// start opens a harness and creates a session for a client of the harness.
func start(t testing.TB, o harness.Options) (*harness.Harness, *client) {
	t.Helper()
	h, err := harness.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() { h.Close(); server.Close() })
	c := &client{t: t, url: server.URL}
	return h, c
}

// begin creates a session.
func (c *client) begin() *client {
	c.t.Helper()
	c.workspace = c.list("/v1/workspaces")[0]["id"].(string)
	c.session = c.post("/v1/sessions", 201, object{"workspace_id": c.workspace})["id"].(string)
	return c
}

// do sends a request and returns the status code and the response.
func (c *client) do(method, path string, body any, headers ...string) (int, []byte) {
	c.t.Helper()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, c.url+path, in)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Content-Type", protocol.MediaJSON)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.StatusCode, text
}

// ask sends a request, checks the status code, and returns the object in the response.
func (c *client) ask(method, path string, want int, body any, headers ...string) (answer object) {
	c.t.Helper()
	status, text := c.do(method, path, body, headers...)
	if err := json.Unmarshal(text, &answer); err != nil || status != want {
		c.t.Fatalf("%s %s: %d, expected %d: %v\n%s", method, path, status, want, err, text)
	}
	return answer
}

func (c *client) get(path string) object {
	c.t.Helper()
	return c.ask("GET", path, 200, nil)
}

func (c *client) post(path string, want int, body any, headers ...string) object {
	c.t.Helper()
	return c.ask("POST", path, want, body, headers...)
}

// list returns the items on the first page of a list.
func (c *client) list(path string) (items []object) {
	c.t.Helper()
	for _, item := range c.get(path)["data"].([]any) {
		items = append(items, item.(map[string]any))
	}
	return items
}

// message returns a message that contains the given text.
func message(text string) object {
	return object{"role": "user", "parts": []object{{"type": "text", "text": text, "visibility": "public"}}}
}

// submit submits a task and returns its ID.
func (c *client) submit(text string, headers ...string) string {
	c.t.Helper()
	return c.post("/v1/sessions/"+c.session+"/tasks", 202, object{"input": message(text)}, headers...)["id"].(string)
}

// reach waits until a task has the given status, and returns the task.
func (c *client) reach(task, want string) object {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		t := c.get("/v1/tasks/" + task)
		if t["status"] == want {
			return t
		}
		if time.Now().After(end) {
			c.t.Fatalf("%v, expected %s", t, want)
		}
	}
}

// kinds returns the kinds of the events for a task, in order.
func (c *client) kinds(task string) string {
	c.t.Helper()
	var kinds []string
	for _, e := range c.list("/v1/tasks/" + task + "/events?limit=200") {
		kinds = append(kinds, e["event"].(string))
	}
	return strings.Join(kinds, " ")
}

// receipt returns the verified receipt for a task, after checking that all related resources refer
// to the receipt.
func (c *client) receipt(task string) (r receipt.Draft) {
	c.t.Helper()
	page := c.list("/v1/tasks/" + task + "/receipts")
	if len(page) != 1 {
		c.t.Fatalf("%d receipts of %s", len(page), task)
	}
	text, err := json.Marshal(page[0]["wire"].(map[string]any)["payload"])
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		c.t.Fatal(err)
	}
	if answer := c.post("/v1/receipts/"+r.ReceiptID+"/verify", 200, object{}); answer["valid"] != true {
		c.t.Errorf("%s: %v", task, answer)
	}

	t := c.get("/v1/tasks/" + task)
	o := c.get("/v1/outcomes/" + t["outcome_id"].(string))
	events := c.list("/v1/tasks/" + task + "/events?limit=200")
	for name, refers := range map[string]any{"task": t["receipt_id"], "outcome": o["receipt_id"], "event": events[len(events)-1]["receipt_id"]} {
		if refers != r.ReceiptID {
			c.t.Errorf("the %s of %s refers to %v, expected %s", name, task, refers, r.ReceiptID)
		}
	}
	for _, a := range c.list("/v1/artifacts?task_id=" + task) {
		if a["receipt_id"] != r.ReceiptID {
			c.t.Errorf("%v", a)
		}
	}
	if o["status"] != r.Lifecycle.FinalState {
		c.t.Errorf("%v and %s", o["status"], r.Lifecycle.FinalState)
	}
	return r
}
