package harness_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestTask verifies that a task completes and that all of its resources refer to its receipt.
func TestTask(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	task := c.submit("water the beans")
	c.reach(task, "COMPLETED")
	r := c.receipt(task)
	var materials []string
	for _, m := range r.ReplayInput.Materials[1:] {
		materials = append(materials, m.ID)
	}
	if got := strings.Join(materials, " "); got != "llm:main:1 host:clock.now:call_1 llm:main:2" || r.ReplayInput.Determinism != "byte_deterministic" {
		t.Errorf("%s, %s", got, r.ReplayInput.Determinism)
	}
	if got, want := c.kinds(task), "task.submitted task.started span.started span.completed tool.requested tool.completed span.started span.completed artifact.created agent.message task.completed receipt.issued"; got != want {
		t.Errorf("%s", got)
	}
	a := c.list("/v1/artifacts?task_id=" + task)[0]
	if _, content := c.do("GET", "/v1/artifacts/"+a["id"].(string)+"/content", nil); string(content) != "You said: water the beans" {
		t.Errorf("%s", content)
	}
	outcome := c.list("/v1/outcomes?task_id=" + task)[0]
	for _, o := range []object{outcome, c.get("/v1/outcomes/" + outcome["id"].(string))} {
		messages, artifacts := o["messages"].([]any), o["artifacts"].([]any)
		if len(messages) != 1 || !reflect.DeepEqual(messages[0], any(map[string]any(c.get("/v1/messages/"+messages[0].(map[string]any)["id"].(string))))) ||
			!reflect.DeepEqual(artifacts, []any{any(map[string]any(a))}) {
			t.Errorf("the outcome does not have the message and the artifact: %v", o)
		}
	}
	_, first := c.do("GET", "/v1/tasks/"+task+"/events", nil)
	if _, second := c.do("GET", "/v1/tasks/"+task+"/events", nil); !bytes.Equal(first, second) {
		t.Error("two reports of the events differ")
	}
}

// TestFailed verifies that the receipt for a failed task states the failure, even if the module
// panicked.
func TestFailed(t *testing.T) {
	o := options(t, t.TempDir())
	o.Module = func(ctx context.Context, s harness.Supply, input json.RawMessage) (string, error) {
		if bytes.Contains(input, []byte("panic")) {
			panic("beans")
		}
		return harness.Agent(ctx, s, input)
	}
	_, c := start(t, o)
	c.begin()
	for text, code := range map[string]string{"/fail no water": "script", "panic": "internal_error"} {
		task := c.submit(text)
		failed := c.reach(task, "FAILED")
		if f := failed["failure"].(map[string]any); f["code"] != code {
			t.Errorf("%s: %v", text, f)
		}
		if r := c.receipt(task); r.Lifecycle.FinalState != "FAILED" {
			t.Errorf("%s: %s", text, r.Lifecycle.FinalState)
		}
	}
}

// TestCanceled verifies that a task is canceled only once, and that a task that has already ended
// does not change.
func TestCanceled(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	task := c.submit("/wait")
	for range 2 {
		got := c.post("/v1/tasks/"+task+"/cancel", 200, object{"reason": "enough"})
		if got["status"] != "CANCELED" || got["completed_at"] != nil || got["canceled_at"] == nil || got["receipt_id"] == nil {
			t.Errorf("%v", got)
		}
	}
	if r := c.receipt(task); r.Lifecycle.FinalState != "CANCELED" {
		t.Errorf("%s", r.Lifecycle.FinalState)
	}
	done := c.submit("beans")
	c.reach(done, "COMPLETED")
	before := c.kinds(done)
	c.post("/v1/tasks/"+done+"/cancel", 409, nil)
	c.post("/v1/tasks/"+done+"/messages", 400, object{"kind": "input", "message": message("more")})
	if after := c.kinds(done); after != before {
		t.Errorf("%s", after)
	}
}

// TestPerson verifies that a task waits for a person's input and for the approval of a tool call.
func TestPerson(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	task := c.submit("/ask how many beans?")
	c.reach(task, "INPUT_REQUIRED")
	c.post("/v1/tasks/"+task+"/messages", 400, object{"kind": "tool_confirmation", "message": message("yes")})
	c.post("/v1/tasks/"+task+"/messages", 201, object{"kind": "input", "message": message("seven")})
	c.reach(task, "COMPLETED")
	if o := c.list("/v1/outcomes?task_id=" + task)[0]; !strings.Contains(o["summary"].(string), "seven") {
		t.Errorf("%v", o)
	}
	c.receipt(task)

	for _, yes := range []bool{true, false} {
		task := c.submit("/write water the beans")
		c.reach(task, "AUTH_REQUIRED")
		if asked := c.list("/v1/tasks/" + task + "/permission-requests"); len(asked) != 1 || asked[0]["status"] != "pending" || asked[0]["response"] != nil ||
			asked[0]["action"] != "note.write" || asked[0]["request"].(map[string]any)["tool_call_id"] != "call_1" {
			t.Errorf("%v", asked)
		}
		c.post("/v1/tasks/"+task+"/messages", 400, object{"kind": "tool_confirmation", "message": message("yes")})
		answer := object{"role": "user", "parts": []object{{"type": "json", "value": object{"approved": yes}, "visibility": "public"}}}
		c.post("/v1/tasks/"+task+"/messages", 201, object{"kind": "tool_confirmation", "message": answer})
		c.reach(task, "COMPLETED")
		r := c.receipt(task)
		status := map[bool]string{true: "approved", false: "denied"}[yes]
		asked := c.list("/v1/permission-requests?task_id=" + task)
		if len(asked) != 1 || asked[0]["status"] != status || asked[0]["response"].(map[string]any)["approved"] != yes {
			t.Errorf("%v", asked)
		}
		want := map[bool]string{true: "approved succeeded", false: "denied canceled"}[yes]
		if len(r.Approvals) != 1 || len(r.SideEffects.ToolCalls) != 1 || r.Approvals[0].Decision+" "+r.SideEffects.ToolCalls[0].Status != want {
			t.Errorf("%+v, %+v", r.Approvals, r.SideEffects.ToolCalls)
		}
		notes, _ := filepath.Glob(filepath.Join(dir, "notes", "*"))
		if len(r.SideEffects.FSWrites) != len(notes) && yes || !yes && len(r.SideEffects.FSWrites) != 0 || len(notes) != 1 {
			t.Errorf("%q, %+v", notes, r.SideEffects.FSWrites)
		}
	}
}

// TestSecrets verifies that values that look like secrets appear in no response and in no file.
func TestSecrets(t *testing.T) {
	const secret = "AKIAQYLPMN5HHHFPZAM2"
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	task := c.submit("use " + secret)
	c.reach(task, "COMPLETED")
	said := c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": message(secret)})
	asked := c.submit("/ask the key")
	c.reach(asked, "INPUT_REQUIRED")
	c.post("/v1/tasks/"+asked+"/messages", 201, object{"kind": "input", "message": message(secret)})
	c.reach(asked, "COMPLETED")
	for _, path := range []string{"/v1/tasks/" + task, "/v1/events?limit=200", "/v1/messages/" + said["id"].(string), "/v1/tasks/" + task + "/receipts", "/v1/tasks/" + asked + "/receipts", "/v1/outcomes"} {
		if _, body := c.do("GET", path, nil); bytes.Contains(body, []byte(secret)) {
			t.Errorf("%s tells the secret", path)
		}
	}
	c.post("/v1/sessions", 400, object{"workspace_id": c.workspace, "metadata": object{secret: 1}})
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if !strings.Contains(c.list("/v1/outcomes?task_id=" + task)[0]["summary"].(string), "<redacted:aws_access_key>") {
		t.Error("nothing tells that something was withheld")
	}
}

// TestRestart verifies that acknowledged data survives a restart, and that a repeated request gets
// the same response as before.
func TestRestart(t *testing.T) {
	o := options(t, t.TempDir())
	h, c := start(t, o)
	c.begin()
	body := object{"input": message("beans")}
	path := "/v1/sessions/" + c.session + "/tasks"
	_, first := c.do("POST", path, body, "Idempotency-Key", "k")
	task := decode(t, first)["id"].(string)
	c.reach(task, "COMPLETED")
	asked := c.submit("/ask how many?")
	c.reach(asked, "INPUT_REQUIRED")
	writes := c.submit("/write beans")
	c.reach(writes, "AUTH_REQUIRED")
	waits := c.submit("/wait")
	_, events := c.do("GET", "/v1/events?limit=200", nil)
	all := map[string][]byte{}
	for _, path := range []string{"/v1/tasks", "/v1/sessions", "/v1/artifacts", "/v1/outcomes", "/v1/workspaces", "/v1/tasks/" + task + "/receipts", "/v1/sessions/" + c.session + "/messages"} {
		_, all[path] = c.do("GET", path, nil)
	}
	h.Close()

	_, again := start(t, o)
	again.session, again.workspace = c.session, c.workspace
	if _, after := again.do("GET", "/v1/events?limit=200", nil); !bytes.HasPrefix(after, bytes.TrimSuffix(events, []byte("],\"page\":{\"has_more\":false,\"next_cursor\":null}}\n"))) {
		t.Errorf("other events:\n%s\n%s", events, after)
	}
	for path, before := range all {
		if _, after := again.do("GET", path, nil); !bytes.Equal(before, after) {
			t.Errorf("%s:\n%s\n%s", path, before, after)
		}
	}
	if _, second := again.do("POST", path, body, "Idempotency-Key", "k"); !bytes.Equal(first, second) {
		t.Errorf("%s\n%s", first, second)
	}
	body["input"] = message("roses")
	again.post(path, 409, body, "Idempotency-Key", "k")

	// Running tasks continue.
	again.post("/v1/tasks/"+asked+"/messages", 201, object{"kind": "input", "message": message("seven")})
	again.reach(asked, "COMPLETED")
	again.receipt(asked)
	if got := again.kinds(asked); strings.Count(got, "tool.requested") != 1 || strings.Count(got, "task.input_required") != 1 {
		t.Errorf("%s", got)
	}
	answer := object{"role": "user", "parts": []object{{"type": "json", "value": object{"approved": true}, "visibility": "public"}}}
	again.post("/v1/tasks/"+writes+"/messages", 201, object{"kind": "tool_confirmation", "message": answer})
	again.reach(writes, "COMPLETED")
	again.receipt(writes)
	again.post("/v1/tasks/"+waits+"/cancel", 200, nil)
	again.receipt(waits)
}

func decode(t *testing.T, text []byte) (o object) {
	t.Helper()
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

// TestInterrupted verifies that a call that was in progress when the program ended is not repeated,
// unless a repetition has no further effect.
func TestInterrupted(t *testing.T) {
	for _, again := range []bool{false, true} {
		o := options(t, t.TempDir())
		var done atomic.Int64
		begun := make(chan bool, 2)
		o.Tools = []harness.Tool{{Name: "pump", Again: again, Do: func(ctx context.Context, _ *harness.Task, _ json.RawMessage) (harness.Done, error) {
			begun <- true
			if done.Add(1) == 1 {
				<-ctx.Done()
				return harness.Done{}, ctx.Err()
			}
			return harness.Done{Output: "pumped"}, nil
		}}}
		o.Module = func(ctx context.Context, s harness.Supply, _ json.RawMessage) (string, error) {
			r, err := s.Tool(ctx, harness.Call{Name: "pump", Input: json.RawMessage("{}")})
			return string(r.Output), err
		}
		h, c := start(t, o)
		c.begin()
		task := c.submit("pump")
		<-begun
		h.Close()

		_, c = start(t, o)
		c.reach(task, "COMPLETED")
		r := c.receipt(task)
		if want := map[bool]int64{false: 1, true: 2}[again]; done.Load() != want {
			t.Errorf("done %d times", done.Load())
		}
		if want := map[bool]string{false: "failed", true: "succeeded"}[again]; r.SideEffects.ToolCalls[0].Status != want {
			t.Errorf("%+v", r.SideEffects.ToolCalls)
		}
	}
}

// TestStream verifies that a stream contains all events of a task up to the end, and resumes after
// the last event that the client received.
func TestStream(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	task := c.submit("beans")
	want := []string{}
	read := func(last string) (got []string) {
		r, err := http.NewRequest("GET", c.url+"/v1/tasks/"+task+"/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				got = append(got, id)
			}
			if kind, ok := strings.CutPrefix(lines.Text(), "event: error"); ok {
				got = append(got, "error"+kind)
			}
		}
		return got
	}
	got := read("")
	for _, e := range c.list("/v1/tasks/" + task + "/events") {
		want = append(want, e["id"].(string))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := read(want[3]); !slices.Equal(got, want[4:]) {
		t.Errorf("%q, expected %q", got, want[4:])
	}
	if got := read("event_1"); !slices.Equal(got, []string{"error"}) {
		t.Errorf("%q", got)
	}
	c.ask("GET", "/v1/tasks/"+task+"/events?after_event_id=event_1", 410, nil)
}

// TestOnce verifies that a repeated request has no further effect.
func TestOnce(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	for path, body := range map[string]object{
		"/v1/workspaces": {"name": "n", "root": "harn://n"},
		"/v1/sessions":   {"workspace_id": c.workspace},
		"/v1/sessions/" + c.session + "/messages": {"message": message("hi")},
		"/v1/sessions/" + c.session + "/tasks":    {"input": message("hi")},
		"/v1/tasks":                               {"input": object{"a": 1}, "session_id": c.session},
		"/v1/artifacts":                           {"kind": "log", "mime_type": "text/plain", "visibility": "public", "workspace_id": c.workspace},
	} {
		status, first := c.do("POST", path, body, "Idempotency-Key", "once")
		if again, second := c.do("POST", path, body, "Idempotency-Key", "once"); status >= 300 || again != status || !bytes.Equal(first, second) {
			t.Errorf("%s: %d %s\n%d %s", path, status, first, again, second)
		}
		body["metadata"] = object{"other": true}
		if status, text := c.do("POST", path, body, "Idempotency-Key", "once"); status != 409 || !bytes.Contains(text, []byte("idempotency_key_reused")) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// TestRefused verifies that invalid requests are rejected, and that the error names the invalid
// member.
func TestRefused(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	s := "/v1/sessions/" + c.session
	for _, test := range []struct {
		method, path string
		body         any
		status       int
		param        string
	}{
		{"POST", "/v1/sessions", object{}, 400, "workspace_id"},
		{"POST", "/v1/sessions", object{"workspace_id": 1}, 400, "workspace_id"},
		{"POST", "/v1/sessions", object{"workspace_id": "absent"}, 404, ""},
		{"POST", "/v1/sessions", object{"workspace_id": c.workspace, "initial_messages": "hi"}, 400, "initial_messages"},
		{"POST", "/v1/sessions", object{"workspace_id": c.workspace, "metadata": 1}, 400, "metadata"},
		{"POST", s + "/messages", object{}, 400, "message"},
		{"POST", s + "/messages", object{"message": object{"role": "king"}}, 400, "message.role"},
		{"POST", s + "/messages", object{"message": object{"role": "user", "parts": []object{}}}, 400, "message.parts"},
		{"POST", s + "/messages", object{"message": object{"role": "user", "parts": []object{{"type": "smell"}}}}, 400, "message.parts"},
		{"POST", s + "/messages", object{"message": object{"role": "user", "parts": []object{{"type": "text", "text": "a"}}}}, 400, "message.parts"},
		{"POST", s + "/messages", object{"message": object{"role": "user", "parts": []object{{"type": "text", "visibility": "public"}}}}, 400, "message.parts"},
		{"POST", s + "/tasks", object{}, 400, "input"},
		{"POST", s + "/tasks", object{"input": object{"role": "user"}}, 400, "input.parts"},
		{"POST", s + "/tasks", object{"input": message("a"), "session_id": "other"}, 400, "session_id"},
		{"POST", s + "/tasks", object{"input": message("a"), "parent_task_id": "absent"}, 404, ""},
		{"POST", "/v1/tasks", object{"input": message("a")}, 400, "session_id"},
		{"POST", "/v1/artifacts", object{"kind": "log", "mime_type": "a/b", "visibility": "public"}, 400, "workspace_id"},
		{"POST", "/v1/artifacts", object{"kind": "cake", "mime_type": "a/b", "visibility": "public"}, 400, "kind"},
		{"POST", "/v1/artifacts", object{"kind": "log", "mime_type": "a/b", "visibility": "public", "sha256": "ab"}, 400, "sha256"},
		{"GET", "/v1/tasks/absent", nil, 404, ""},
		{"GET", "/v1/tasks/absent/receipts", nil, 200, ""},
		{"GET", "/v1/tasks?cursor=a", nil, 400, "cursor"},
		{"GET", "/v1/events/event_99", nil, 404, ""},
		{"GET", "/v1/quotas", nil, 501, ""},
		{"POST", "/v1/vaults", object{"workspace_id": c.workspace}, 501, ""},
		{"POST", s + "/branches", object{"kind": "session"}, 501, ""},
		{"GET", "/v1/branches/b", nil, 501, ""},
		{"GET", "/v1/nothing", nil, 404, ""},
	} {
		status, text := c.do(test.method, test.path, test.body)
		var answer struct{ Error struct{ Param string } }
		if err := json.Unmarshal(text, &answer); err != nil || status != test.status || answer.Error.Param != test.param {
			t.Errorf("%s %s %v: %d %s", test.method, test.path, test.body, status, text)
		}
	}
	c.post(s+"/close", 200, nil)
	if got := c.post(s+"/close", 200, nil); got["state"] != "CLOSED" {
		t.Errorf("%v", got)
	}
	c.post(s+"/tasks", 409, object{"input": message("a")})
	c.post(s+"/messages", 409, object{"message": message("a")})
	c.ask("PATCH", s, 200, object{"summary": "done", "metadata": object{"a": 1}})
	if got := c.ask("PATCH", s, 200, object{"summary": nil}); got["summary"] != nil || got["metadata"].(map[string]any)["a"] != 1.0 {
		t.Errorf("%v", got)
	}
}

// TestReach verifies that a key that is limited to some workspaces cannot access data from other
// workspaces on any route.
func TestReach(t *testing.T) {
	o := options(t, t.TempDir())
	texts, parsed := apiKeys(t, func(*protocol.APIKey) {}, func(k *protocol.APIKey) { k.Reach = k.Reach.OfWorkspaces("workspace_other") },
		func(k *protocol.APIKey) { k.Scopes = []protocol.Scope{protocol.TasksRead} })
	o.Auth, o.Public = parsed, false
	_, c := start(t, o)
	c.ask("GET", "/v1/tasks", 401, nil)
	c.key = texts[0]
	c.begin()
	task := c.submit("beans")
	done := c.reach(task, "COMPLETED")
	r := c.receipt(task)
	m := c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": message("hi")})

	c.key = texts[1]
	for _, path := range []string{
		"/v1/tasks/" + task, "/v1/tasks/" + task + "/events", "/v1/tasks/" + task + "/stream", "/v1/sessions/" + c.session, "/v1/sessions/" + c.session + "/events",
		"/v1/outcomes/" + done["outcome_id"].(string), "/v1/messages/" + m["id"].(string), "/v1/events/event_1", "/v1/receipts/" + r.ReceiptID,
		"/v1/artifacts/" + r.FinalArtifacts[0].ArtifactID, "/v1/artifacts/" + r.FinalArtifacts[0].ArtifactID + "/content", "/v1/workspaces/" + c.workspace,
	} {
		c.ask("GET", path, 404, nil)
	}
	for _, path := range []string{"/v1/tasks", "/v1/sessions", "/v1/outcomes", "/v1/artifacts", "/v1/workspaces", "/v1/events", "/v1/permission-requests", "/v1/tasks/" + task + "/receipts"} {
		if list := c.list(path); len(list) != 0 {
			t.Errorf("%s: %v", path, list)
		}
	}
	c.post("/v1/tasks/"+task+"/cancel", 404, nil)
	c.post("/v1/sessions", 404, object{"workspace_id": c.workspace})
	c.post("/v1/workspaces", 403, object{"name": "n", "root": "r"})

	c.key = texts[2]
	c.get("/v1/tasks/" + task)
	c.ask("GET", "/v1/events", 404, nil)
	c.post("/v1/sessions/"+c.session+"/tasks", 404, object{"input": message("a")})
}

// TestDiscovery verifies the discovery response and both forms of the agent card.
func TestDiscovery(t *testing.T) {
	for _, as := range []string{"", "harn_agent_card"} {
		o := options(t, t.TempDir())
		o.Card = as
		_, c := start(t, o)
		says := c.get("/v1")["capabilities"].(map[string]any)
		if says["rest"] != true || says["sse"] != true || says["receipts"] != true || says["replay"] != true || says["websocket"] != false {
			t.Errorf("%v", says)
		}
		card := c.get("/v1/agent-card")
		_, runner := card["interfaces"]
		if want := cmp.Or(as, "agent_card"); card["object"] != want || runner != (as == "") || card["harn_interfaces"] == nil || card["a2a_card"] == nil {
			t.Errorf("%v", card)
		}
	}
}

// TestDescription verifies that the API description contains each route exactly once.
func TestDescription(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	paths := c.get("/openapi.json")["paths"].(map[string]any)
	shapes := map[string]bool{}
	for path := range paths {
		shape := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "{}")
		if shapes[shape] {
			t.Errorf("%s is described twice", path)
		}
		shapes[shape] = true
	}
	for _, want := range []string{
		"get /v1/sessions", "post /v1/sessions", "patch /v1/sessions/{session_id}", "post /v1/tasks", "get /v1/tasks/{task_id}/stream", "get /v1/permission-requests",
		"get /v1/events/stream", "get /v1/outcomes/{outcome_id}", "get /v1/artifacts/{artifact_id}/content", "post /v1/verify", "get /v1/tasks/{id}/receipts", "post /v1/tasks/{id}/replay",
	} {
		method, path, _ := strings.Cut(want, " ")
		item, _ := paths[path].(map[string]any)
		if item[method] == nil {
			t.Errorf("%s is not described", want)
		}
	}
	submit := paths["/v1/sessions/{session_id}/tasks"].(map[string]any)["post"].(map[string]any)
	if n := len(submit["parameters"].([]any)); n != 3 || submit["requestBody"].(map[string]any)["required"] != true { // parameters: the session, the version, and the Idempotency-Key
		t.Errorf("%v", submit)
	}
}

// TestOptions verifies that missing required options are reported, and that two programs cannot
// share a directory.
func TestOptions(t *testing.T) {
	if _, err := harness.Open(harness.Options{Public: true, Dir: t.TempDir()}); err == nil {
		t.Error("a harness without an issuer")
	}
	o := options(t, t.TempDir())
	start(t, o)
	if h, err := harness.Open(o); err == nil {
		h.Close()
		t.Error("two harnesses in one folder")
	}
	o.Dir = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(o.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := harness.Open(o); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRegistered verifies that the receipt for a running task contains the artifacts that a client
// registers for the task.
func TestRegistered(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	task := c.submit("/ask how many?")
	c.reach(task, "INPUT_REQUIRED")
	digest := strings.Repeat("AB", 32)
	a := c.post("/v1/artifacts", 201, object{"kind": "log", "mime_type": "text/plain", "visibility": "public", "task_id": task, "sha256": digest, "uri": "harn://log"})
	if a["session_id"] != c.session || a["workspace_id"] != c.workspace || a["sha256"] != digest {
		t.Errorf("%v", a)
	}
	c.post("/v1/tasks/"+task+"/messages", 201, object{"kind": "input", "message": message("seven")})
	c.reach(task, "COMPLETED")
	r := c.receipt(task)
	if len(r.FinalArtifacts) != 2 || r.FinalArtifacts[0].ArtifactID != a["id"] || r.FinalArtifacts[0].SHA256.String() != "sha256:"+strings.ToLower(digest) {
		t.Errorf("%+v", r.FinalArtifacts)
	}
	c.post("/v1/artifacts", 409, object{"kind": "log", "mime_type": "text/plain", "visibility": "public", "task_id": task})
	c.ask("GET", "/v1/artifacts/"+a["id"].(string)+"/content", 404, nil)
}

// TestRecordable verifies that data that a receipt cannot represent is rejected or makes the task
// fail, and that every task has a receipt.
func TestRecordable(t *testing.T) {
	o := options(t, t.TempDir())
	o.Module = func(ctx context.Context, s harness.Supply, input json.RawMessage) (string, error) {
		if bytes.Contains(input, []byte("ask")) {
			return harness.Agent(ctx, s, input)
		}
		_, err := s.Tool(ctx, harness.Call{Name: strings.Repeat("n", 5000), Input: json.RawMessage("{}")})
		return "", err
	}
	_, c := start(t, o)
	c.begin()
	task := c.submit("beans")
	if f := c.reach(task, "FAILED")["failure"].(map[string]any); f["code"] != "not_recordable" {
		t.Errorf("%v", f)
	}
	c.receipt(task)

	many := make([]int, 1<<20)
	c.post("/v1/sessions/"+c.session+"/tasks", 400, object{"input": object{"many": many}})
	asks := c.submit("/ask how many?")
	c.reach(asks, "INPUT_REQUIRED")
	c.post("/v1/artifacts", 400, object{"kind": "log", "mime_type": "text/plain", "visibility": "public", "task_id": asks, "uri": strings.Repeat("u", 5000)})
	c.post("/v1/tasks/"+asks+"/cancel", 400, object{"reason": strings.Repeat("r", 5000)})
	c.post("/v1/tasks/"+asks+"/cancel", 200, object{"reason": strings.Repeat("r", 2000)})
	c.receipt(asks)
}

// TestManySessions verifies that each of a hundred concurrent clients has its own tasks in its own
// order.
func TestManySessions(t *testing.T) {
	sessions := testsize.Of(30, 100)
	o := options(t, t.TempDir())
	_, c := start(t, o)
	c.begin()
	var group sync.WaitGroup
	for range sessions {
		mine := *c
		mine.session = c.post("/v1/sessions", 201, object{"workspace_id": c.workspace})["id"].(string)
		group.Go(func() {
			task := mine.submit("beans")
			mine.reach(task, "COMPLETED")
			if got := mine.list("/v1/sessions/" + mine.session + "/tasks"); len(got) != 1 || got[0]["id"] != task {
				t.Errorf("%v", got)
			}
			if got := len(mine.list("/v1/tasks/" + task + "/receipts")); got != 1 {
				t.Errorf("%d receipts", got)
			}
		})
	}
	group.Wait()
}

// TestUnimplemented verifies that a request for a feature that this harness does not implement is
// rejected instead of being recorded in a receipt.
func TestUnimplemented(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	for _, name := range []string{"persona_id", "branch_id"} {
		c.post("/v1/sessions/"+c.session+"/tasks", 422, object{"input": message("a"), name: "ghost"})
		c.post("/v1/sessions/"+c.session+"/tasks", 202, object{"input": message("a"), name: nil})
	}
	c.post("/v1/sessions/"+c.session+"/tasks", 404, object{"input": message("a"), "parent_task_id": "ghost"})
	for name, value := range map[string]any{"persona_id": "ghost", "vault_ids": []string{"ghost"}, "memory_ids": []string{"ghost"}, "skill_ids": []string{"ghost"}} {
		c.post("/v1/sessions", 422, object{"workspace_id": c.workspace, name: value})
	}
	c.post("/v1/sessions", 201, object{"workspace_id": c.workspace, "vault_ids": []string{}})
}
