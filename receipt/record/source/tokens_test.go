package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// spent returns a line that contains a message with its usage.
func spent(id, usage string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"role":"assistant","id":%q,"model":"claude-x","content":[],"stop_reason":"end_turn","usage":%s}`, id, usage)
}

// TestInputInParts verifies that a sum is a lower bound if a part of it is missing or invalid, and
// that an incomplete line does not reduce the counts from another line.
func TestInputInParts(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		input int64
		floor bool
	}{
		"all":                      {[]string{spent("1", `{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":1}`)}, 15, false},
		"nothing was cached":       {[]string{spent("1", `{"input_tokens":3,"output_tokens":1}`)}, 3, false},
		"null":                     {[]string{spent("1", `{"input_tokens":3,"cache_read_input_tokens":null,"output_tokens":1}`)}, 3, false},
		"only what was cached":     {[]string{spent("1", `{"cache_read_input_tokens":5,"output_tokens":1}`)}, 5, true},
		"less than nothing cached": {[]string{spent("1", `{"input_tokens":3,"cache_read_input_tokens":-5,"output_tokens":1}`)}, 3, true},
		"cached is a text":         {[]string{spent("1", `{"input_tokens":3,"cache_creation_input_tokens":"5","output_tokens":1}`)}, 3, true},
		"again, without counts":    {[]string{spent("1", `{"input_tokens":3}`), spent("1", `{}`)}, 3, false},
		"again, with more":         {[]string{spent("1", `{"input_tokens":3,"output_tokens":1}`), spent("1", `{"input_tokens":4,"output_tokens":2}`)}, 4, false},
	} {
		r := recorded(t, transcript(test.lines...))
		if got := r.AutonomyBudget.Consumed.InputTokens; got == nil || *got != test.input {
			t.Errorf("%s: %s tokens, want %d", name, show(got), test.input)
		}
		if got := r.floor["/autonomy_budget/consumed/input_tokens"]; got != test.floor {
			t.Errorf("%s: at least: %v, want %v", name, got, test.floor)
		}
	}
}

// TestTurnsOfExec verifies that the usage of a turn includes the usage of earlier turns in the same
// thread. A completed turn without usage, or without more usage, must make sums lower bounds. If
// one thread does not record a part of its usage, this part must not be stated for all threads.
func TestTurnsOfExec(t *testing.T) {
	const first = `{"type":"thread.started","thread_id":"t"}`
	const other = `{"type":"thread.started","thread_id":"u"}` + "\n"
	turn := func(usage string) string {
		return `{"type":"turn.started"}` + "\n" + `{"type":"turn.completed"` + usage + `}`
	}
	for name, test := range map[string]struct {
		second string
		input  int64
		floor  bool
		cached string
	}{
		"all told": {turn(`,"usage":{"input_tokens":30,"cached_input_tokens":8,"output_tokens":5}`), 30, false, "8"},
		"in part":  {other + turn(`,"usage":{"input_tokens":10,"output_tokens":2}`), 20, false, "null"},
		"another":  {other + turn(`,"usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}`), 20, false, "8"},
		"no more":  {turn(`,"usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}`), 10, true, "4"},
		"less":     {turn(`,"usage":{"input_tokens":7,"cached_input_tokens":4,"output_tokens":9}`), 10, true, "4"},
		"nothing":  {turn(""), 10, true, "4"},
		"no count": {turn(`,"usage":{"input_tokens":-10,"output_tokens":2}`), 10, true, "4"},
	} {
		r := toldOf(t, []string{first, turn(`,"usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}`), test.second})
		c := r.AutonomyBudget.Consumed
		if c.InputTokens == nil || *c.InputTokens != test.input || r.floor["/autonomy_budget/consumed/input_tokens"] != test.floor {
			t.Errorf("%s: %s tokens, at least: %v", name, show(c.InputTokens), r.floor)
		}
		if got := asText(t, r.Cost.ProviderBreakdown[0].Metadata["cache_read_input_tokens"]); got != test.cached {
			t.Errorf("%s: %s out of a cache, want %s", name, got, test.cached)
		}
	}

	// The turns may belong to different threads.
	r := toldOf(t, []string{turn(`,"usage":{"input_tokens":10,"output_tokens":2}`), turn(`,"usage":{"input_tokens":30,"output_tokens":5}`)})
	if n := r.AutonomyBudget.Consumed.InputTokens; show(n) != "30" || !r.floor["/autonomy_budget/consumed/input_tokens"] {
		t.Errorf("no thread: %s tokens, at least: %v", show(n), r.floor)
	}
}

// TestCutExec verifies that lines before the first turn are attributed to a turn whose beginning is
// missing, and not to the next turn. Unreadable changes must make their list incomplete.
func TestCutExec(t *testing.T) {
	command := func(code int) string {
		return fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","exit_code":%d,"status":"completed"}}`, code)
	}
	r := toldOf(t, []string{command(0), `{"type":"turn.started"}`, command(1)})
	if c := r.SideEffects.ToolCalls; len(c) != 2 || c[0].Status != "succeeded" || c[1].Status != "failed" || c[1].CallID != "turn_2/item_0" || !r.floor["/side_effects/tool_calls"] {
		t.Errorf("%+v, at least: %v", c, r.floor)
	}

	for changes, want := range map[string]struct {
		paths string
		floor bool
	}{
		`[{"path":"a","kind":"add"},{"path":"b","kind":"update"}]`:                                  {"create a, modify b, ", false},
		`[{"path":"a","kind":{"type":"update","move_path":"b"}}]`:                                   {"create b, delete a, ", false},
		`[{"path":"a","kind":"add"},{"kind":"add"}]`:                                                {"create a, ", true},
		`[{"path":"a","kind":"add"},7]`:                                                             {"create a, ", true},
		`[{"path":"a","kind":"add"},{"path":"` + strings.Repeat("x", 1<<13) + `","kind":"delete"}]`: {"create a, ", true},
	} {
		r := toldOf(t, []string{`{"type":"turn.started"}`, `{"type":"item.completed","item":{"id":"item_0","type":"file_change","status":"completed","changes":` + changes + `}}`})
		got := ""
		for _, w := range r.SideEffects.FSWrites {
			got += w.Operation + " " + w.Path + ", "
		}
		if got != want.paths || r.floor["/side_effects/fs_writes"] != want.floor {
			t.Errorf("%.80s: %s; at least: %v", changes, got, r.floor)
		}
	}
}

// TestStrangeFork verifies that the counts of a fork include the counts of its parent, even if the
// fork's rollout follows the rollout of another session in the same file.
func TestStrangeFork(t *testing.T) {
	meta := func(id, from string) string {
		return `{"timestamp":"2026-04-25T10:00:00Z","type":"session_meta","payload":{"id":"` + id + `","forked_from_id":"` + from + `"}}`
	}
	const count = `{"timestamp":"2026-04-25T10:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":900,"cached_input_tokens":0,"output_tokens":90,"reasoning_output_tokens":0,"total_tokens":990}}}}`
	for name, test := range map[string]struct {
		metas []string
		told  bool
	}{
		"alone":                      {[]string{meta("a", "")}, true},
		"behind another":             {[]string{meta("a", ""), meta("b", "")}, true},
		"a fork":                     {[]string{meta("a", "b")}, false},
		"a fork behind another":      {[]string{meta("a", ""), meta("b", "c")}, false},
		"named again":                {[]string{meta("a", ""), meta("a", "c")}, true},
		"a fork and what it is of":   {[]string{meta("a", "b"), meta("b", "c"), meta("c", "")}, false},
		"of another, behind another": {[]string{meta("a", "b"), meta("c", "d")}, false},
	} {
		r := toldOf(t, append(test.metas, count))
		if got := r.AutonomyBudget.Consumed.InputTokens; (got != nil) != test.told {
			t.Errorf("%s: %s tokens", name, show(got))
		}
	}
}
