package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
)

// aSecret looks like a secret but grants no access.
const aSecret = "AKIAQYLPMN5HHHFPZAM2"

// A provider is a function that acts as a model.
type provider func(harness.Prompt) (harness.Completion, error)

func (provider) Name() (string, string) { return "test", "test-1" }

func (p provider) Complete(_ context.Context, asked harness.Prompt) (harness.Completion, error) {
	return p(asked)
}

// calls returns a model that calls a tool and then reports that it has finished.
func calls(name, arguments string) provider {
	return func(p harness.Prompt) (harness.Completion, error) {
		turn := object{"content": "done"}
		if len(p.Messages) == 1 {
			turn = object{"content": "", "tool_calls": []object{{"id": "1", "type": "function", "function": object{"name": name, "arguments": arguments}}}}
		}
		text, err := json.Marshal(object{"choices": []object{{"message": turn}}})
		return harness.Completion{Reply: text}, err
	}
}

// tellsNoSecret fails the test if the harness serves or stores a secret.
func (c *client) tellsNoSecret(dir string) {
	c.t.Helper()
	paths := []string{"/v1/events?limit=200", "/v1/sessions", "/v1/workspaces", "/v1/tasks", "/v1/outcomes", "/v1/artifacts"}
	for _, task := range c.list("/v1/tasks") {
		paths = append(paths, "/v1/tasks/"+task["id"].(string)+"/receipts")
	}
	for _, path := range paths {
		if _, body := c.do("GET", path, nil); bytes.Contains(body, []byte(aSecret)) {
			at := bytes.Index(body, []byte(aSecret))
			c.t.Errorf("%s tells the secret: …%s…", path, body[max(0, at-200):at])
		}
	}
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(aSecret)) {
			c.t.Errorf("%s holds the secret", filepath.Base(path))
		}
		return err
	})
}

// rests waits until a task is no longer being worked on.
func (c *client) rests(task string) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); c.get("/v1/tasks/" + task)["status"] == "WORKING"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal(c.get("/v1/tasks/" + task))
		}
	}
}

// TestSecretsOfTools verifies that secrets from tools, models, and modules are withheld
// everywhere.
func TestSecretsOfTools(t *testing.T) {
	escaped := `{"text":"\u0041` + aSecret[1:] + `"}`
	does := func(done harness.Done, err error) harness.Tool {
		return harness.Tool{Name: "x", Do: func(context.Context, *harness.Task, json.RawMessage) (harness.Done, error) { return done, err }}
	}
	for name, o := range map[string]harness.Options{
		"the answer of a tool":   {Provider: calls("x", "{}"), Tools: []harness.Tool{does(harness.Done{Output: object{"key": aSecret}}, nil)}},
		"the error of a tool":    {Provider: calls("x", "{}"), Tools: []harness.Tool{does(harness.Done{}, errors.New("no entry with "+aSecret))}},
		"where a tool sent data": {Provider: calls("x", "{}"), Tools: []harness.Tool{does(harness.Done{Egress: []harness.Egress{{URL: "https://example.com/?key=" + aSecret}}}, nil)}},
		"what a tool wrote":      {Provider: calls("x", "{}"), Tools: []harness.Tool{does(harness.Done{Writes: []harness.FileWrite{{Path: "keys/" + aSecret, Operation: "create"}}}, nil)}},
		"what a tool is asked":   {Provider: calls("x", escaped), Tools: []harness.Tool{does(harness.Done{}, nil)}},
		"what a person is asked": {Provider: calls("note.write", escaped)},
		"the name of a tool":     {Provider: calls(aSecret, "{}")},
		"the failure of a model": {Provider: provider(func(harness.Prompt) (harness.Completion, error) {
			return harness.Completion{}, &harness.Failure{Code: "x", Message: "bad key " + aSecret}
		})},
		"the failure of a module": {Module: func(context.Context, harness.Supply, json.RawMessage) (string, error) {
			return "", &harness.Failure{Code: "x", Message: "bad key " + aSecret}
		}},
		"the words of a module": {Module: func(context.Context, harness.Supply, json.RawMessage) (string, error) { return aSecret, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			base := options(t, dir)
			base.Provider, base.Module, base.Tools = o.Provider, o.Module, o.Tools
			_, c := start(t, base)
			task := c.begin().submit("go")
			if name == "what a person is asked" {
				c.reach(task, "AUTH_REQUIRED")
				c.post("/v1/tasks/"+task+"/messages", 201, object{"kind": "tool_confirmation", "message": object{"role": "user", "parts": []object{{"type": "json", "visibility": "public", "value": object{"approved": true}}}}})
			}
			c.rests(task)
			c.receipt(task)
			c.tellsNoSecret(dir)
		})
	}
}

// TestSecretsOfClients verifies that secrets from clients are withheld, including secrets in
// headers and secrets that are split into pieces.
func TestSecretsOfClients(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	c.post("/v1/workspaces", 201, object{"name": aSecret, "root": "https://" + aSecret + "@example.com/", "metadata": object{"key": aSecret}})
	c.post("/v1/sessions", 201, object{"workspace_id": c.workspace, "metadata": object{"key": []any{aSecret}}})
	c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"summary": aSecret})
	c.post("/v1/artifacts", 201, object{"workspace_id": c.workspace, "kind": "log", "mime_type": "text/" + aSecret, "visibility": "public", "uri": "https://example.com/" + aSecret})

	c.reach(c.submit("once", "Idempotency-Key", "run-"+aSecret), "COMPLETED")
	waits := c.submit("/wait")
	c.post("/v1/tasks/"+waits+"/cancel", 200, object{"reason": "leaked " + aSecret})

	for _, verb := range []string{"/fail ", "/write ", "/ask ", ""} {
		parts := []object{{"type": "text", "text": verb + aSecret[:9], "visibility": "public"}, {"type": "text", "text": aSecret[9:], "visibility": "public"}}
		c.post("/v1/sessions/"+c.session+"/tasks", 202, object{"input": object{"role": "user", "parts": parts}})
	}
	for _, task := range c.list("/v1/tasks") {
		c.rests(task["id"].(string))
	}
	c.tellsNoSecret(dir)
}

// TestSecretsOfReplays verifies that neither a receipt_only override nor the result that the module
// computes from it appears in an event.
func TestSecretsOfReplays(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	task := c.begin().submit("go")
	c.reach(task, "COMPLETED")
	for _, said := range []string{"the deploy word is " + aSecret, "water them twice"} {
		value := object{"choices": []object{{"message": object{"role": "assistant", "content": said}}}}
		swap := object{"llm:main:2": object{"kind": "llm_provider_response", "value": value}}
		replay := c.post("/v1/tasks/"+task+"/replay", 202, object{"mode": "with_overrides", "override": swap})
		c.receipt(replay["id"].(string))
		_, events := c.do("GET", "/v1/tasks/"+replay["id"].(string)+"/events", nil)
		outcome := c.get("/v1/outcomes/" + replay["outcome_id"].(string))
		if bytes.Contains(events, []byte(said)) || strings.Contains(outcome["summary"].(string), said) {
			t.Errorf("reported: %q", outcome["summary"])
		}
	}
	swap := object{"secret:" + aSecret: object{"kind": "secret_value", "value": aSecret, "visibility": "receipt_only"}}
	for _, body := range []object{
		{"mode": "with_overrides", "override": swap},
		{"mode": "with_overrides", "override": object{"host:" + aSecret + ":1": object{"kind": aSecret, "value": 1}}},
		{"mode": aSecret}, {"mode": "exact", "reason": aSecret},
		{"mode": "from_checkpoint", "checkpoint_event_id": aSecret},
	} {
		if status, text := c.do("POST", "/v1/tasks/"+task+"/replay", body); status != 400 || bytes.Contains(text, []byte(aSecret)) {
			t.Errorf("%d %s", status, text)
		}
	}
	c.tellsNoSecret(dir)
}

// TestPlaces verifies that no client can learn where a harness stores its files.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600); err != nil { // a file where a directory is expected
		t.Fatal(err)
	}
	_, c := start(t, options(t, dir))
	task := c.begin().submit("/write a note")
	c.reach(task, "AUTH_REQUIRED")
	c.post("/v1/tasks/"+task+"/messages", 201, object{"kind": "tool_confirmation", "message": object{"role": "user", "parts": []object{{"type": "json", "visibility": "public", "value": object{"approved": true}}}}})
	c.reach(task, "COMPLETED")
	if _, events := c.do("GET", "/v1/tasks/"+task+"/events", nil); bytes.Contains(events, []byte(dir)) || !bytes.Contains(events, []byte("the note could not be written")) {
		t.Errorf("%s", events)
	}
}
