package replay_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

const ghost = `{"mode":"with_overrides","override":{
	"llm:ghost:9":{"kind":"llm_provider_response","value":1}, "mcp:ghost:c":{"kind":"secret_value","value":"hunter2"}, "llm:main:1":{"kind":"llm_provider_response","value":2}}}`

// TestUnusedOverrides verifies that an override adds no delta if the log does not contain the
// answer, unless a module requests the answer. The receipt must then stay undecided.
func TestUnusedOverrides(t *testing.T) {
	log := readLog(t, garden().bytes())
	p := plan(t, log, ghost)
	if got := strings.Join(p.Unmatched(), " "); got != "llm:ghost:9 mcp:ghost:c" {
		t.Error(got)
	}
	told := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
	unused, _ := told.Metadata["overrides_unused"].([]any)
	if len(told.Deltas) != 1 || told.Deltas[0].OverrideKey != "llm:main:1" || !slices.Equal(unused, []any{"llm:ghost:9", "mcp:ghost:c"}) {
		t.Errorf("%s %v", deltas(told.Deltas), unused)
	}
	if rep, _ := check(t, p, sealed(t, told)); rep.Verdict != receipt.Verified {
		t.Errorf("%s: %q", rep.Verdict, findings(rep))
	}

	// If a receipt does not list the override, it omits a part of the request.
	delete(told.Metadata, "overrides_unused")
	if rep, _ := check(t, p, sealed(t, told)); strings.Join(findings(rep), ", ") != "delta_missing /deltas" {
		t.Errorf("%q", findings(rep))
	}

	// If a module requests the answer, the receipt for its replay is the only statement about the
	// request.
	if _, err := p.Take(t.Context(), "llm:ghost:9"); err != nil {
		t.Fatal(err)
	}
	asked := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
	if deltas(asked.Deltas) != deltas(p.Deltas()) || len(asked.Deltas) != 2 {
		t.Error(deltas(asked.Deltas))
	}
	if rep, _ := check(t, plan(t, log, ghost), sealed(t, asked)); rep.Verdict != receipt.Undecided || findings(rep)[0] != "replay_unavailable /deltas/0" {
		t.Errorf("%s: %q", rep.Verdict, findings(rep))
	}
}

// TestUnused verifies that a plan reports the overrides that were never requested.
func TestUnused(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), overrides)
	for _, key := range []string{"host:label:x", "llm:main:1", "llm:main:1", "llm:main:7", "time:started_at"} {
		p.Take(t.Context(), key)
	}
	if got := strings.Join(p.Unused(), " "); got != "host:added:1 host:memory:m1 mcp:forge:c2 secret:token time:lunch" {
		t.Error(got)
	}
}

// TestCheckpointIsNamed verifies that the receipt contains the name of the checkpoint, and that a
// check compares the name.
func TestCheckpointIsNamed(t *testing.T) {
	log := readLog(t, garden().bytes())
	p := plan(t, log, `{"mode":"from_checkpoint","checkpoint_id":"cp_1"}`)
	event, restored := p.Checkpoint()
	if event != "e12" || strings.Join(restored, " ") != "llm:main:1 host:soil.read:c1 mcp:forge:c2 host:memory:m1 snap_1 llm:main:2" || strings.Join(p.Untaken(), " ") != "time:created_at time:started_at time:completed_at" {
		t.Errorf("%s, %q, %q", event, restored, p.Untaken())
	}
	told := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
	if told.Metadata["checkpoint_event_id"] != "e12" || told.Metadata["checkpoint_id"] != "cp_1" {
		t.Error(told.Metadata)
	}
	for at, want := range map[string]string{"e11": "replay_source_mismatch /metadata/checkpoint_event_id", "": "replay_unavailable /metadata/checkpoint_event_id"} {
		if told.Metadata["checkpoint_event_id"] = at; at == "" {
			delete(told.Metadata, "checkpoint_event_id")
		}
		if rep, _ := check(t, p, sealed(t, told)); strings.Join(findings(rep), ", ") != want {
			t.Errorf("%q, want %s", findings(rep), want)
		}
	}
}

// TestOneTimeOneKey verifies that only an override with the key of a time can replace that time. If
// another key were accepted, the receipt would state a delta but keep the time.
func TestOneTimeOneKey(t *testing.T) {
	_, err := replay.NewPlan(t.Context(), readLog(t, garden().bytes()), parse(t, with("time:label", `{"kind":"time","event_id":"e2","value":"2026-01-01T00:00:09Z"}`)), nil)
	if err == nil || !strings.Contains(err.Error(), `expected "time:started_at"`) {
		t.Error(err)
	}
}
