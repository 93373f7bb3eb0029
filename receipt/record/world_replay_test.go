package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// logDigest returns the digests of all materials that are logs.
func logDigest(d *receipt.Draft) string {
	var all []string
	for _, m := range d.ReplayInput.Materials {
		if m.Kind == "event_log" {
			all = append(all, m.SHA256.String())
		}
	}
	return strings.Join(all, " ")
}

// TestReplaysDoNothing verifies that replayed events add no actions. The draft must have one delta
// for each override, and must state the digest of the source. The replay's own actions are listed.
func TestReplaysDoNothing(t *testing.T) {
	for seed := range howMany() / 10 {
		log, want := replayed(&author{Rand: rand.New(rand.NewPCG(seed, 2))})
		l, err := record.Read(bytes.NewReader(log), worldOptions(), record.FormEvents)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, log)
		}
		d := l.Draft
		faults := want.compare(d)
		if d.Subject.Object != "replay_segment" {
			faults = append(faults, "the subject is a "+d.Subject.Object)
		}
		if !strings.Contains(logDigest(d), sourceDigest().String()) {
			faults = append(faults, "no event_log has the source's digest: "+logDigest(d))
		}
		if c := d.AutonomyBudget.Consumed; len(want.calls) == 0 && (c.ToolCalls != nil && *c.ToolCalls != 0 || c.WallTimeMS != nil && *c.WallTimeMS != 0) {
			faults = append(faults, "something was consumed")
		}
		if len(faults) > 0 {
			t.Fatalf("seed %d\n%s\n%s", seed, strings.Join(faults, "\n"), log)
		}
	}
}

func sourceDigest() canon.Digest { return digestOf("the source's log") }

// replayed returns the log of a replay and the facts about the replay's own actions.
func replayed(a *author) (log []byte, want *ledger) {
	want = &ledger{results: map[string]string{}, handoffs: map[string]string{}, spent: spent{tokens: true}} // the replay's own tokens are known to be 0
	var rows []row
	for range 1 + a.IntN(6) { // actions of the replayed task
		again := oneOf(a, (*author).plainCall, (*author).approvedCall, (*author).deniedCall, (*author).modelCall, (*author).observedWrite, (*author).handedOff, (*author).observedEgress)(a)
		for _, r := range again.rows {
			r.envelope = members{"replayed": true, "replay": members{"source_task_id": "source", "replay_task_id": "t", "original_event_id": a.name("original"), "mode": "with_overrides"}}
			rows = append(rows, r)
		}
	}
	for range a.IntN(4) { // substitutions
		key := oneOf(a, "llm:", "mcp:forge:", "host:fs:", "time:", "secret:") + a.name("k")
		want.overrides = append(want.overrides, key)
		swap := row{event: "replay.event_replayed", payload: members{"override_key": key}}
		if a.chance(40) { // the mark is valid on an event of any kind
			swap = row{event: oneOf(a, "span.completed", "user.message", "tool.completed"), payload: members{"tool_call_id": a.name("call"), "kind": "llm", "provider": "p", "model": "m"}}
		}
		swap.envelope = members{"replayed": true, "replay": members{"source_task_id": "source", "replay_task_id": "t", "override_key": key}}
		at := a.IntN(len(rows) + 1)
		rows = append(rows[:at:at], append([]row{swap}, rows[at:]...)...)
	}
	if a.chance(30) { // actions of the replay
		own := a.plainCall()
		own.facts(want, completed)
		rows = append(rows, own.rows...)
	}
	begin := row{event: "replay.started", payload: members{"source_task_id": "source", "mode": "with_overrides", "source_log_sha256": sourceDigest().String(), "source_log_events": len(rows)}}
	rows = append([]row{{event: "task.started", payload: members{}}, begin}, rows...)
	rows = append(rows, row{event: "replay.completed", payload: members{}}, row{event: "task.completed", payload: members{}})
	for i, r := range rows {
		event := members{
			"id": "event_" + strconv.Itoa(i), "object": "event", "event": r.event, "resource": members{"object": "task", "id": "t"}, "task_id": "t",
			"session_id": "s", "workspace_id": "w", "sequence": i + 1, "created_at": fmt.Sprintf("2026-01-01T00:%02d:%02dZ", i/60, i%60), "payload": r.payload,
		}
		for name, value := range r.envelope {
			event[name] = value
		}
		text, err := json.Marshal(event)
		if err != nil {
			panic(err)
		}
		log = append(append(log, text...), '\n')
	}
	return log, want
}
