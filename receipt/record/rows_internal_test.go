package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

func tasks() map[string]string {
	return map[string]string{"run": "task_01K0RUN", "canceled": "task_01K0STOP", "replay": "task_replay_01K0", "hitl": "task_01K0HITL", "transcript": "task_01K0LOG"}
}

func optionsOf(t *testing.T, name string) Options {
	t.Helper()
	o, err := Options{
		Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: tasks()[name], Tier: "shadow",
		WorkspaceRef: "workspace_garden", SessionID: "session_01K0",
	}.normal()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// transcript formats all results of a recording: the draft, the counts, and the error.
func transcript(counts any, d *receipt.Draft, err error) string {
	var text []byte
	if d != nil {
		text, _ = JSON(d)
	}
	return fmt.Sprintf("%s\n%+v\n%v", text, counts, err)
}

func lines(t *testing.T, name string) [][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// recordWith records the logs in testdata with the given table.
func recordWith(t *testing.T, table []eventKind) string {
	t.Helper()
	all := ""
	for _, name := range []string{"run", "canceled", "replay", "hitl", "transcript"} {
		r := newRecorder(optionsOf(t, name), byName(table))
		for _, line := range lines(t, name+".jsonl") {
			if r.Add(line) != nil {
				break
			}
		}
		d, err := r.Draft()
		all += transcript(r.Counts(), d, err)
	}
	return all
}

// TestEachKind verifies that removing any row from the table changes a result.
func TestEachKind(t *testing.T) {
	whole := recordWith(t, eventKinds())
	if strings.Contains(whole, "record: event") {
		t.Fatal(whole)
	}
	for i, k := range eventKinds() {
		if recordWith(t, slices.Delete(eventKinds(), i, i+1)) == whole {
			t.Errorf("without the row of %s nothing changes", k.Event)
		}
		if k.apply == nil {
			continue
		}
		table := eventKinds()
		table[i].apply = func(*run, *event.Event) {}
		if recordWith(t, table) == whole && !slices.Contains(sameTwice(), k.Event) {
			t.Errorf("when %s is not applied nothing changes", k.Event)
		}
	}
}

// sameTwice returns the kinds that only repeat another kind in the logs of testdata.
// TestSecondOfTwo uses logs without the other kind.
func sameTwice() []string {
	return []string{"connector.task_submitted", "connector.delivery_received", "task.status_changed", "task.input_required", "task.auth_required", "tool.failed", "agent.message", "span.started", "span.updated"}
}

// TestWords verifies that removing any word changes a result, and that an unknown word never means
// success.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		table     event.Words
		otherwise string
	}{{event.Decisions(), event.Denied}, {toolStatuses(), "failed"}, {event.HandoffStatuses(), "accepted"}} {
		for i, w := range test.table {
			if got := test.table.Meaning(w.Word, test.otherwise); got != w.Means {
				t.Errorf("%q means %s, want %s", w.Word, got, w.Means)
			}
			if slices.Delete(slices.Clone(test.table), i, i+1).Meaning(w.Word, test.otherwise) == w.Means {
				t.Errorf("without the row of %q nothing changes", w.Word)
			}
		}
		for _, word := range []string{"APPROVED", "Allow", " allow", "yes", "true", "deny", "reject", "denied", "unknown"} {
			if got := test.table.Meaning(word, test.otherwise); got == event.Approved || got == "succeeded" || got == "completed" {
				t.Errorf("%q means %s", word, got)
			}
		}
	}
}

// eventText returns event number n for the task t.
func eventText(n int, kind, payload string) []byte {
	return fmt.Appendf(nil, `{"id":"%d","event":%q,"resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:%02d:%02dZ","sequence":%d,"session_id":"s","workspace_id":"w","payload":%s}`,
		n, kind, n/60, n%60, n, payload)
}

func plainOptions(t *testing.T) Options {
	t.Helper()
	return Options{Issuer: receipt.Issuer{ID: "i"}, Tier: "act_auto"}
}

// record records a task with a start, the given events, and a completion. The events are pairs of a
// kind and a payload.
func record(t *testing.T, o Options, pairs ...string) (*receipt.Draft, error) {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	pairs = append([]string{"task.started", "{}"}, pairs...)
	if kind := pairs[len(pairs)-2]; kind != "task.failed" && kind != "task.canceled" {
		pairs = append(pairs, "task.completed", "{}")
	}
	for i := 0; i < len(pairs); i += 2 {
		if err := r.Add(eventText(i/2+1, pairs[i], pairs[i+1])); err != nil {
			return nil, err
		}
	}
	return r.Draft()
}

func mustRecord(t *testing.T, o Options, pairs ...string) *receipt.Draft {
	t.Helper()
	d, err := record(t, o, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSecondOfTwo verifies the kinds that only repeat another kind in the logs of testdata.
func TestSecondOfTwo(t *testing.T) {
	o := plainOptions(t)
	for _, kind := range []string{"connector.task_submitted", "connector.delivery_received"} {
		d := mustRecord(t, o, kind, `{"connector_id":"forge"}`)
		if trigger, _ := d.Metadata["trigger"].(map[string]any); trigger["connector_id"] != "forge" {
			t.Errorf("%s: %v", kind, d.Metadata)
		}
	}
	d := mustRecord(t, o, "tool.requested", `{"tool_call_id":"c","name":"n"}`, "tool.failed", `{"tool_call_id":"c"}`)
	if c := d.SideEffects.ToolCalls[0]; c.Status != "failed" {
		t.Errorf("%+v", c)
	}
	for kind, payload := range map[string]string{"agent.message": `{}`, "span.started": `{"kind":"llm","provider":"p","model":"m"}`} {
		if d = mustRecord(t, o, kind, payload); d.ReplayInput.Determinism != "best_effort" {
			t.Errorf("%s: %+v", kind, d.ReplayInput)
		}
	}
	if d = mustRecord(t, o, "span.updated", `{"kind":"usage","cost":0.5}`); d.Cost.Total != 0.5 {
		t.Errorf("%+v", d.Cost)
	}
	d = mustRecord(t, o, "task.input_required", `{}`, "task.status_changed", `{"status":"WORKING","autonomy_tier":"shadow"}`)
	if d.Trust.EndTier != "shadow" {
		t.Errorf("%+v", d.Trust)
	}
	for _, kind := range []string{"task.input_required", "task.auth_required"} {
		if _, err := record(t, o, kind, `{}`); err == nil {
			t.Errorf("%s: a task that waited was completed", kind)
		}
	}
}

// TestTransitions verifies that a task accepts exactly the transitions in the table.
func TestTransitions(t *testing.T) {
	states := []string{"SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED", "cancelled"}
	allowed := map[string]string{
		"": "SUBMITTED WORKING CANCELED FAILED", "SUBMITTED": "WORKING CANCELED FAILED",
		"WORKING":        "INPUT_REQUIRED AUTH_REQUIRED COMPLETED FAILED CANCELED",
		"INPUT_REQUIRED": "WORKING FAILED CANCELED", "AUTH_REQUIRED": "WORKING FAILED CANCELED",
	}
	for from, to := range allowed {
		for _, state := range states {
			doc, err := canon.Parse([]byte(`{"event":"task.status_changed"}`))
			if err != nil {
				t.Fatal(err)
			}
			r, e := &life{state: from}, &event.Event{Root: doc.Root()}
			r.become(e, state)
			if want := state == from || slices.Contains(strings.Fields(to), state); want != (e.Err == nil) {
				t.Errorf("from %q to %s: %v", from, state, e.Err)
			}
		}
	}
}

// TestStops verifies that each stop reason of a prompt ends the task.
func TestStops(t *testing.T) {
	o := plainOptions(t)
	o.TaskID, o.SessionID, o.WorkspaceRef = "t", "s", "w"
	for response, want := range map[string]string{
		`"result":{"stopReason":"end_turn"}`:              receipt.StateSucceeded,
		`"result":{"stopReason":"cancelled"}`:             receipt.StateCanceled,
		`"result":{"stopReason":"refusal"}`:               receipt.StateFailed,
		`"result":{"stopReason":"max_tokens"}`:            receipt.StateFailed,
		`"result":{"stopReason":"END_TURN"}`:              receipt.StateFailed,
		`"result":{}`:                                     receipt.StateFailed,
		`"error":{"code":-1,"message":"out of peat"}`:     receipt.StateFailed,
		`"error":{},"result":{"stopReason":"end_turn"}`:   receipt.StateFailed,
		`"error":null,"result":{"stopReason":"refusal"}`:  receipt.StateFailed,
		`"error":null,"result":{"stopReason":"end_turn"}`: receipt.StateSucceeded,
		`"error":null,"result":null`:                      receipt.StateFailed,
	} {
		log := `{"at":"2026-01-01T00:00:00Z","from":"client","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}}
{"jsonrpc":"2.0","id":1,` + response + `}`
		l, err := Read(strings.NewReader(log), o, FormUnknown)
		if err != nil {
			t.Errorf("%s: %v", response, err)
			continue
		}
		if got := l.Draft.Lifecycle.FinalState; got != want {
			t.Errorf("%s: %s, want %s", response, got, want)
		}
	}
}

// TestWorkerEvents verifies that each event without a status implies its usual status, including in
// the format of older bridges.
func TestWorkerEvents(t *testing.T) {
	want := map[string]string{
		"WorkerSpawned": "accepted", "WorkerProgressed": "accepted", "WorkerWaitingForInput": "accepted", "WorkerCompleted": "completed",
		"WorkerFailed": "failed", "WorkerStopped": "failed", "WorkerCancelled": "failed",
		"worker_spawned": "accepted", "worker_progressed": "accepted", "worker_waiting_for_input": "accepted", "worker_completed": "completed",
		"worker_failed": "failed", "worker_stopped": "failed", "worker_cancelled": "failed",
	}
	o := plainOptions(t)
	o.TaskID, o.SessionID, o.WorkspaceRef = "t", "s", "w"
	for event, status := range want {
		for _, update := range []string{
			`"workerId":"w","workerName":"n","event":%q,"terminal":true`,
			`"_meta":{"harn":{"workerId":"w","workerName":"n","event":%q}},"workerId":"other"`,
			`"content":{"worker_id":"w","worker_name":"n","event":%q}`,
		} {
			log := `{"at":"2026-01-01T00:00:00Z","event":"task.started","payload":{}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"worker_update",` + fmt.Sprintf(update, event) + `}}}
{"at":"2026-01-01T00:00:00Z","event":"task.completed","payload":{}}`
			l, err := Read(strings.NewReader(log), o, FormFrames)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Draft.SideEffects.A2AHandoffs; len(got) != 1 || got[0] != (receipt.Handoff{TargetAgent: "n", TaskID: "w", Status: status}) {
				t.Errorf("%s: %+v", event, got)
			}
		}
	}
}

// TestUnknownMembers verifies that unknown members are counted, and change only the digest of the
// log.
func TestUnknownMembers(t *testing.T) {
	o := plainOptions(t)
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"task.started", "agent.moonwalk", "task.completed"} {
		if err := r.Add(eventText(i+1, kind, `{"mood":{"deep":[1,2]},"autonomy_tier":"shadow"}`)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := r.Draft()
	if err != nil || d.Trust.EndTier != "shadow" {
		t.Error(err)
	}
	if c := r.Counts(); c.Unknown != 1 || c.UnknownMembers != 2 || len(c.UnknownKinds) != 1 || c.UnknownKinds[0] != "agent.moonwalk" {
		t.Errorf("%+v", c)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}
