package harness_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// wire returns the stored receipt for a task.
func (c *client) wire(task string) *canon.Document {
	c.t.Helper()
	_, body := c.do("GET", "/v1/tasks/"+task+"/receipts", nil)
	doc, err := canon.Parse(body)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range doc.Root().Member("data").Elements() {
		if doc, err = canon.Parse(r.Member("wire").Member("payload").Raw()); err != nil {
			c.t.Fatal(err)
		}
		return doc
	}
	c.t.Fatalf("no receipt of %s", task)
	return nil
}

// planOf returns the plan for a replay as an auditor would compute it, from the events that the
// server returns.
func (c *client) planOf(task, request string) *replay.Plan {
	c.t.Helper()
	var lines []byte
	for _, e := range c.list("/v1/tasks/" + task + "/events?limit=200") {
		line, err := json.Marshal(e)
		if err != nil {
			c.t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	log, err := replay.ReadLog(bytes.NewReader(lines), task)
	if err != nil {
		c.t.Fatal(err)
	}
	asked, err := replay.ParseRequest([]byte(request))
	if err != nil {
		c.t.Fatal(err)
	}
	plan, err := replay.NewPlan(c.t.Context(), log, asked, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return plan
}

// audit verifies the receipt for a replay, both alone and against the plan.
func (c *client) audit(plan *replay.Plan, task string) *receipt.Report {
	c.t.Helper()
	v, err := receipt.NewVerifier(trust(c.t), receipt.Policy{})
	if err != nil {
		c.t.Fatal(err)
	}
	rep := new(receipt.Report)
	v.Verify(c.wire(task), rep)
	if err := plan.Check(v, rep, c.wire(task), nil); err != nil {
		c.t.Fatal(err)
	}
	return rep
}

// TestReplay verifies that each of the three modes produces a task whose receipt an auditor accepts
// for this replay. Equal replays must have equal results, and side effects must not be repeated.
func TestReplay(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	source := c.submit("beans")
	c.reach(source, "COMPLETED")
	other := `{"kind":"llm_provider_response","visibility":"public","value":{"choices":[{"message":{"role":"assistant","content":"water them"}}]}}`
	for request, want := range map[string]struct {
		deltas  int
		summary string
	}{
		`{}`: {0, "You said: beans"},
		`{"mode":"with_overrides","override":{"llm:main:2":` + other + `}}`: {1, "water them"},
		`{"mode":"with_overrides","override":{"llm:main:2":{"kind":"llm_provider_response","visibility":"public","value":"any text"},"host:clock.now:call_1":{"kind":"tool_result","visibility":"internal","value":{"now":"2026-01-01T00:00:00Z"}}}}`: {2, "any text"},
		`{"mode":"from_checkpoint","checkpoint_event_id":"` + c.list("/v1/tasks/" + source + "/events")[5]["id"].(string) + `"}`:                                                                                                                      {0, "You said: beans"},
		`{"mode":"with_overrides","override":{"time:started_at":{"kind":"time","value":"` + c.get("/v1/tasks/" + source)["created_at"].(string) + `"}}}`:                                                                                              {1, "You said: beans"},
	} {
		var tasks []string
		for range 2 {
			task := c.post("/v1/tasks/"+source+"/replay", 202, json.RawMessage(request))
			if task["parent_task_id"] != source || task["status"] != "COMPLETED" || task["receipt_id"] == nil || task["session_id"] != c.session {
				t.Errorf("%s: %v", request, task)
			}
			id := task["id"].(string)
			tasks = append(tasks, id)
			r := c.receipt(id)
			if r.Subject.Object != "replay_segment" || r.Subject.ID != id || len(r.Deltas) != want.deltas {
				t.Errorf("%s: %+v, %+v", request, r.Subject, r.Deltas)
			}
			if rep := c.audit(c.planOf(source, request), id); rep.Verdict != receipt.Verified {
				t.Errorf("%s: %+v", request, rep.Finding())
			}
			if o := c.list("/v1/outcomes?task_id=" + id)[0]; o["summary"] != want.summary {
				t.Errorf("%s: %v", request, o)
			}
			sequence := 0.0
			for _, e := range c.list("/v1/tasks/" + id + "/events?limit=200") {
				if sequence++; e["sequence"] != sequence {
					t.Errorf("%s: %v after %v", request, e["sequence"], sequence-1)
				}
			}
		}
		if diff := replay.Compare(c.wire(tasks[0]), c.wire(tasks[1]), replay.Projection); diff != nil {
			t.Errorf("%s: %v", request, diff)
		}
	}
	if got := c.list("/v1/artifacts"); len(got) != 1 {
		t.Errorf("unexpected artifacts after a replay: %v", got)
	}
}

// TestReplayUnused verifies that a replay fails if the module never requests an overridden answer,
// and that the receipt contains no delta for the override.
func TestReplayUnused(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	source := c.submit("beans")
	c.reach(source, "COMPLETED")
	request := `{"mode":"with_overrides","override":{"llm:ghost:9":{"kind":"llm_provider_response","value":1}}}`
	task := c.post("/v1/tasks/"+source+"/replay", 202, json.RawMessage(request))
	if r := c.receipt(task["id"].(string)); task["status"] != "FAILED" || len(r.Deltas) != 0 || !strings.Contains(r.ReplayInput.UnavailableReason, "llm:ghost:9") {
		t.Errorf("%v %+v", task, r.ReplayInput)
	}
}

// TestReplayFailed verifies that a replay fails if it requests an unrecorded answer, and that the
// error identifies the answer. Nothing must be queried.
func TestReplayFailed(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	source := c.submit("beans")
	c.reach(source, "COMPLETED")
	call := `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"clock.now","arguments":"{}"}}]}}]}`
	request := `{"mode":"with_overrides","override":{"llm:main:2":{"kind":"llm_provider_response","value":` + call + `}}}`
	task := c.post("/v1/tasks/"+source+"/replay", 202, json.RawMessage(request))
	if task["status"] != "FAILED" {
		t.Fatalf("%v", task)
	}
	first := task["failure"].(map[string]any)["details"].(map[string]any)["first_unavailable"].(map[string]any)
	if first["object"] != "host_dependency" || first["id"] != "host:clock.now:call_2" {
		t.Errorf("%v", first)
	}
	id := task["id"].(string)
	r := c.receipt(id)
	if r.Lifecycle.FinalState != "FAILED" || r.ReplayInput.Determinism != "unavailable" || !strings.Contains(r.ReplayInput.UnavailableReason, "host:clock.now:call_2") || len(r.Deltas) != 1 {
		t.Errorf("%+v", r.ReplayInput)
	}
	if rep := c.audit(c.planOf(source, request), id); rep.Verdict != receipt.Undecided {
		t.Errorf("%v %+v", rep.Verdict, rep.Finding())
	}
	if got := c.kinds(id); got != "task.submitted task.started replay.started replay.event_replayed replay.failed task.failed receipt.issued" {
		t.Errorf("%s", got)
	}
}

// TestReplayEnds verifies that a task that did not complete is replayed up to the point where it
// ended.
func TestReplayEnds(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	gone := c.submit("/fail no water")
	c.reach(gone, "FAILED")
	stopped := c.submit("/wait")
	c.post("/v1/tasks/"+stopped+"/cancel", 200, nil)
	refused := c.submit("/write beans")
	c.reach(refused, "AUTH_REQUIRED")
	c.post("/v1/tasks/"+refused+"/replay", 409, nil)
	answer := object{"role": "user", "parts": []object{{"type": "json", "value": object{"approved": false}, "visibility": "public"}}}
	c.post("/v1/tasks/"+refused+"/messages", 201, object{"kind": "tool_confirmation", "message": answer})
	c.reach(refused, "COMPLETED")
	asked := c.submit("/ask how many?")
	c.reach(asked, "INPUT_REQUIRED")
	c.post("/v1/tasks/"+asked+"/messages", 201, object{"kind": "input", "message": message("seven")})
	c.reach(asked, "COMPLETED")
	for source, want := range map[string]string{gone: "FAILED", stopped: "CANCELED", refused: "COMPLETED", asked: "COMPLETED"} {
		task := c.post("/v1/tasks/"+source+"/replay", 202, nil)
		id := task["id"].(string)
		if task["status"] != want {
			t.Errorf("%v, expected %s", task, want)
		}
		c.receipt(id)
		if rep := c.audit(c.planOf(source, ""), id); rep.Verdict != receipt.Verified {
			t.Errorf("%s: %+v", want, rep.Finding())
		}
		c.post("/v1/tasks/"+id+"/replay", 409, nil)
	}
}

// TestReplayRefused verifies that impossible replays are rejected with a reason and never started.
func TestReplayRefused(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	source := c.submit("beans")
	c.reach(source, "COMPLETED")
	ones := "sha256:" + strings.Repeat("1", 64)
	for request, want := range map[string]struct {
		status int
		param  string
	}{
		`{"mode":"exact","override":{"llm:main:1":{"kind":"llm_provider_response","value":1}}}`:                                  {400, "override"},
		`{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":1,"sha256":"` + ones + `"}}}`: {400, "override.llm:main:1.sha256"},
		`{"mode":"from_checkpoint"}`:                                 {400, "checkpoint_id"},
		`{"mode":"from_checkpoint","checkpoint_event_id":"event_1"}`: {404, "checkpoint_event_id"},
		`{"mode":"twice"}`:                                           {400, "mode"},
		`{"mode":"with_overrides","override":{"llm:main:2":{"kind":"llm_provider_response","visibility":"public","value":"AKIAQYLPMN5HHHFPZAM2"}}}`: {400, "override"},
	} {
		status, text := c.do("POST", "/v1/tasks/"+source+"/replay", json.RawMessage(request))
		var answer struct{ Error struct{ Param string } }
		if err := json.Unmarshal(text, &answer); err != nil || status != want.status || !strings.HasPrefix(answer.Error.Param, want.param) {
			t.Errorf("%s: %d %s", request, status, text)
		}
	}
	c.post("/v1/tasks/absent/replay", 404, nil)
	if got := c.list("/v1/tasks"); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// TestReplayRestart verifies that a replay still exists after a restart, and that a request with
// the same key returns the same replay.
func TestReplayRestart(t *testing.T) {
	o := options(t, t.TempDir())
	h, c := start(t, o)
	c.begin()
	source := c.submit("beans")
	c.reach(source, "COMPLETED")
	id := c.post("/v1/tasks/"+source+"/replay", 202, nil, "Idempotency-Key", "k")["id"].(string)
	before := string(c.wire(id).Source())
	h.Close()
	_, again := start(t, o)
	if got := again.post("/v1/tasks/"+source+"/replay", 202, nil, "Idempotency-Key", "k"); got["id"] != id {
		t.Errorf("%v, expected %s", got, id)
	}
	if after := string(again.wire(id).Source()); after != before {
		t.Errorf("%s\n%s", before, after)
	}
}
