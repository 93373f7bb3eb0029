package source_test

import (
	"slices"
	"strings"
	"testing"
)

// TestNothingTwice verifies that messages and spans are counted once, even if their IDs cannot be
// read.
func TestNothingTwice(t *testing.T) {
	const a, b, c, d = `"1777111200000000000"`, `"1777111201000000000"`, `"1777111202000000000"`, `"1777111203000000000"`
	const trace, one, two = `"traceId":"0af7651916cd43dd8448eb211c80319c",`, `"spanId":"00000000000000a1",`, `"spanId":"00000000000000a2",`
	block := func(id string) string {
		return strings.Replace(answered, `"id":"m1"`, `"id":`+id, 1)
	}
	for name, test := range map[string]struct {
		lines []string
		input int64
		floor bool
	}{
		"a message in two lines":                 {[]string{block(`"m1"`), strings.Replace(block(`"m1"`), `"type"`, `"uuid":"u2","type"`, 1)}, 3, false},
		"one of them without its id":             {[]string{block(`"m1"`), strings.Replace(block(`7`), `"type"`, `"uuid":"u2","requestId":"q","type"`, 1)}, 3, true},
		"a result without its session":           {[]string{began, spoke, strings.Replace(accounted, `"session_id":"s"`, `"session_id":7`, 1)}, 100, false},
		"a line without its session":             {[]string{began, strings.Replace(spoke, `"session_id":"s"`, `"session_id":7`, 1), accounted}, 100, false},
		"the first line without it":              {[]string{began[:1] + `"uuid":"x",` + strings.Replace(began, `"session_id":"s"`, `"session_id":""`, 1)[1:], spoke, accounted}, 100, false},
		"a copy of a result before its messages": {[]string{accounted, began, spoke, accounted}, 100, true},
		"a parent that cannot be read":           {[]string{export(chat(trace+one, a, d, 10), chat(trace+two+`"parentSpanId":7,`, b, c, 10))}, 10, true},
		"a trace that cannot be read":            {[]string{export(chat(trace+one, a, d, 10), chat(`"traceId":7,`+two+`"parentSpanId":"00000000000000a1",`, b, c, 10))}, 10, true},
		"a trace that names none, alone":         {[]string{export(chat(one, a, d, 10), chat(two, b, c, 7))}, 17, false},
		"a trace that names none, beside":        {[]string{export(chat(trace+one, a, b, 10), chat(two, b, c, 7))}, 17, false},
	} {
		r := toldOf(t, test.lines)
		if got := r.AutonomyBudget.Consumed.InputTokens; got == nil || *got != test.input {
			t.Errorf("%s: %s tokens, want %d", name, show(got), test.input)
		}
		if got := r.floor["/autonomy_budget/consumed/input_tokens"]; got != test.floor {
			t.Errorf("%s: at least: %v, want %v", name, got, test.floor)
		}
	}
}

// TestTurnsToldAgain verifies that, if codex exec repeats a line that starts or ends a turn, the
// repetition does not start or end another turn.
func TestTurnsToldAgain(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		input int64
		floor bool
		calls string
	}{
		"once":                      {[]string{thread, turn, looking, tookThree}, 3, false, "item_0"},
		"its beginning twice":       {[]string{thread, turn, turn, looking, tookThree}, 3, false, "item_0"},
		"its end twice":             {[]string{thread, turn, looking, tookThree, tookThree}, 3, false, "item_0"},
		"another end":               {[]string{thread, turn, looking, tookThree, tookNine}, 9, true, "item_0"},
		"the same again":            {[]string{thread, turn, looking, tookThree, turn, looking, tookThree}, 3, true, "item_0 turn_2/item_0"},
		"one that was never ended":  {[]string{thread, turn, looking, turn, looking, tookThree}, 3, false, "item_0 turn_2/item_0"},
		"cut where its turn begins": {[]string{tookThree}, 3, true, ""},
	} {
		r := toldOf(t, test.lines)
		var calls []string
		for _, c := range r.SideEffects.ToolCalls {
			calls = append(calls, c.CallID)
		}
		if got := strings.Join(calls, " "); got != test.calls {
			t.Errorf("%s: calls %s, want %s", name, got, test.calls)
		}
		if got := r.AutonomyBudget.Consumed.InputTokens; got == nil || *got != test.input {
			t.Errorf("%s: %s tokens, want %d", name, show(got), test.input)
		}
		if got := r.floor["/autonomy_budget/consumed/input_tokens"]; got != test.floor {
			t.Errorf("%s: at least: %v, want %v", name, got, test.floor)
		}
	}
}

// TestLastLine verifies that the outcome of a task is not stated if the last line of its log cannot
// be read.
func TestLastLine(t *testing.T) {
	for name, lines := range map[string][]string{
		"transcript": {asked, answered}, "stream": {began, spoke, accounted}, "rollout": {rollout, over},
		"exec": {thread, turn, looking, tookThree},
	} {
		if r := toldOf(t, lines); r.untold["/lifecycle/final_state"] {
			t.Errorf("%s: its end is not recorded", name)
		}
		for _, last := range []string{`{"type":"turn.f`, `[]`, `7`} {
			if r := toldOf(t, append(slices.Clone(lines), last)); !r.untold["/lifecycle/final_state"] {
				t.Errorf("%s that ends with %s: %s", name, last, r.Lifecycle.FinalState)
			}
			if r := toldOf(t, slices.Insert(slices.Clone(lines), 1, last)); r.untold["/lifecycle/final_state"] {
				t.Errorf("%s with %s in it: its end is not recorded", name, last)
			}
		}
	}
}
