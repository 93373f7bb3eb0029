package bundle_test

import (
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// lists reports whether a list in the metadata contains a pointer.
func lists(d *receipt.Draft, name, at string) bool {
	list, _ := d.Metadata[name].([]string)
	return slices.Contains(list, at)
}

// TestCostBounds verifies that a cost is marked as a lower bound if and only if it does not include
// all calls.
func TestCostBounds(t *testing.T) {
	for _, test := range []struct {
		usage         map[string]any
		total         float64
		currency      string
		bound, tokens bool
	}{
		{map[string]any{"total_cost": 0.25}, 0.25, "XXX", false, false},
		{map[string]any{"total_cost": 0.25, "unpriced_calls": 0, "usage_unknown_calls": 0}, 0.25, "XXX", false, false},
		{map[string]any{"total_cost": 0.25, "unpriced_calls": nil}, 0.25, "XXX", false, false},
		{map[string]any{"total_cost": 0.25, "unpriced_calls": 1}, 0.25, "XXX", true, false},
		{map[string]any{"total_cost": 0.25, "usage_unknown_calls": 2}, 0.25, "XXX", true, true},
		{map[string]any{"total_cost": 0.25, "unpriced_calls": "several"}, 0.25, "XXX", true, false},
		{map[string]any{"cost_usd": 0.5, "known_cost_usd": 0.5, "total_cost": 0.5}, 0.5, "USD", false, false},
		{map[string]any{"cost_usd": nil, "known_cost_usd": 0.5, "total_cost": 0.25}, 0.5, "USD", true, false},
		{map[string]any{"known_cost_usd": 0, "total_cost": 0.25, "unpriced_calls": 3}, 0.25, "XXX", true, false},
	} {
		test.usage["input_tokens"], test.usage["output_tokens"] = 120, 30
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		put(t, v, test.usage, "runtime", "usage")
		d := drafted(t, encode(t, v), bundle.DraftOptions{})
		if d.Cost.Total != test.total || d.Cost.Currency != test.currency || lists(d, "unreported", "/cost/currency") != (test.currency == "XXX") {
			t.Errorf("%v: %+v", test.usage, d.Cost)
		}
		if lists(d, "at_least", "/cost/total") != test.bound || lists(d, "unreported", "/cost/total") != test.bound {
			t.Errorf("%v: at least %v", test.usage, d.Metadata["at_least"])
		}
		for _, at := range []string{"/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens"} {
			if lists(d, "at_least", at) != test.tokens {
				t.Errorf("%v: at least %v", test.usage, d.Metadata["at_least"])
			}
		}
	}
}

// TestCounts verifies that only nonnegative integers are treated as counts.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		told any
		want int64 // -1: no bound
	}{{0, 0}, {7, 7}, {-1, -1}, {int64(1<<53 - 1), 1<<53 - 1}, {int64(1 << 53), -1}, {1e300, -1}} {
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		put(t, v, test.told, "runtime", "usage", "input_tokens")
		got := drafted(t, encode(t, v), bundle.DraftOptions{}).AutonomyBudget.Consumed.InputTokens
		if (got == nil) != (test.want < 0) || got != nil && *got != test.want {
			t.Errorf("%v: %v", test.told, got)
		}
	}

	v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
	delete(at(t, v, "runtime", "usage").(map[string]any), "input_tokens")
	if got := drafted(t, encode(t, v), bundle.DraftOptions{}).AutonomyBudget.Consumed.InputTokens; got != nil {
		t.Errorf("absent: %v", *got)
	}
}

// TestEvidence verifies that gaps in a run record, and transcript events that no reader recognizes,
// are counted and turn the lists and sums in the draft into lower bounds.
func TestEvidence(t *testing.T) {
	gap := map[string]any{"component": "flight_recording", "code": "persist_failed", "message": "disk full"}
	changed := func(with any, way ...any) *receipt.Draft {
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		put(t, v, with, way...)
		return drafted(t, encode(t, v), bundle.DraftOptions{})
	}
	events := []any{"transcript", "sections", 0, "events"}
	evidence := []any{"replay", "run_record", "evidence"}

	for _, test := range []struct {
		what   string
		draft  *receipt.Draft
		bounds bool
		gaps   map[string]int
		unread map[string]int
	}{
		{"none", changed([]any{}, events...), false, nil, nil},
		{"no gaps", changed(map[string]any{"gaps": []any{}}, evidence...), false, nil, nil},
		{"gaps", changed(map[string]any{"gaps": []any{gap, gap}}, evidence...), true, map[string]int{"flight_recording/persist_failed": 2}, nil},
		{"gaps of another form", changed(map[string]any{"gaps": []any{"all"}}, evidence...), true, map[string]int{"unknown": 1}, nil},
		{"gaps that are no list", changed(map[string]any{"gaps": "all"}, evidence...), true, map[string]int{"unknown": 1}, nil},
		{"dropped events", changed(map[string]any{"flight_recording": map[string]any{"dropped_events": 3}}, evidence...), true, map[string]int{"flight_recording/dropped_events": 1}, nil},
		{"an unknown event", changed([]any{map[string]any{"kind": "file_pruned"}, map[string]any{"type": "file_pruned"}}, events...), true, nil, map[string]int{"file_pruned": 2}},
		{"an event without a kind", changed([]any{map[string]any{}}, events...), true, nil, map[string]int{"unknown": 1}},
		{"a listed call", changed([]any{map[string]any{"kind": "tool_call", "tool_use_id": "call_1"}}, events...), false, nil, nil},
		{"a call that is not listed", changed([]any{map[string]any{"kind": "tool_call", "tool_use_id": "call_9"}}, events...), true, nil, map[string]int{"tool_call": 1}},
	} {
		for _, at := range []string{"/side_effects/tool_calls", "/cost/total", "/autonomy_budget/consumed/input_tokens"} {
			if lists(test.draft, "at_least", at) != test.bounds {
				t.Errorf("%s: at least %v", test.what, test.draft.Metadata["at_least"])
			}
		}
		equal(t, test.what, test.draft.Metadata["ignored_records"], test.unread)
		equal(t, test.what, test.draft.Metadata["session_bundle"].(receipt.Object)["evidence_gaps"], test.gaps)
	}
}

// equal compares counts. If want is nil, there must be no counts.
func equal(t *testing.T, what string, got any, want map[string]int) {
	t.Helper()
	if want == nil && got == nil {
		return
	}
	if g, w := string(encode(t, got)), string(encode(t, want)); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}
