package source_test

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// sums returns the amounts that a draft states, and how and when the task ended. Lower bounds and
// unreported values are represented by "".
func (r told) sums() map[string]string {
	count := func(n *int64) any {
		if n == nil {
			return ""
		}
		return *n
	}
	c, e := r.AutonomyBudget.Consumed, r.SideEffects
	all := map[string]string{}
	for at, value := range map[string]any{
		"/autonomy_budget/consumed/input_tokens": count(c.InputTokens), "/autonomy_budget/consumed/output_tokens": count(c.OutputTokens), "/cost/total": r.Cost.Total,
		"/side_effects/tool_calls": len(e.ToolCalls), "/side_effects/fs_writes": len(e.FSWrites), "/side_effects/network_egress": len(e.NetworkEgress),
		"/side_effects/a2a_handoffs": len(e.A2AHandoffs), "/approvals": len(r.Approvals),
		"/lifecycle/final_state": r.Lifecycle.FinalState, "/lifecycle/started_at": r.Lifecycle.StartedAt, "/lifecycle/completed_at": r.Lifecycle.CompletedAt,
	} {
		if all[at] = fmt.Sprint(value); r.untold[at] {
			all[at] = ""
		}
	}
	for i, call := range e.ToolCalls {
		at := fmt.Sprintf("/side_effects/tool_calls/%d/status", i)
		if all[call.CallID] = call.Status; r.untold[at] {
			all[call.CallID] = ""
		}
	}
	return all
}

// TestMutants verifies that, if the type of a value in a log is changed, each sum that changes,
// each outcome that improves, and each list that becomes shorter is marked as unreported. By
// default, the test changes each place in a kind of line only in the first log that contains the
// place; with CI=all, it changes the place in every log.
func TestMutants(t *testing.T) {
	random, mutants := rand.New(rand.NewPCG(3, 4)), 0
	all, size := testsize.All(), testsize.Of(20_000, 25_000, 30_000)
	logs, seen := samples(t), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if len(logs[name]) > size {
			continue
		}
		values := valuesIn(t, string(logs[name]))
		right := read(t, tryRead(t, reading(t, values)))
		want := right.sums()
		if all {
			clear(seen)
		}

		mutate := func(at string, before any, set func(any)) {
			if seen[at] {
				return
			}
			seen[at] = true
			others := otherTypes(before)
			if !all {
				others = others[random.IntN(len(others)):][:1]
			}
			for _, other := range others {
				set(other)
				mutants++
				if d := tryRead(t, reading(t, values)); d != nil {
					for _, what := range changed(right, read(t, d), want) {
						t.Errorf("%s: %v in the place of %s: %s", name, other, at, what)
					}
				}
				set(before)
			}
		}
		for i := range values {
			eachPlace(kindOf(values[i]), values[i], mutate)
		}
	}
	if mutants < 200 {
		t.Errorf("%d mutants", mutants)
	}
}

// otherTypes returns values of types that differ from the type of the given value.
func otherTypes(than any) []any {
	return slices.DeleteFunc([]any{true, -1, "x", map[string]any{"x": 1}, []any{1}}, func(x any) bool {
		_, number := than.(float64)
		_, is := x.(int)
		return number && is || fmt.Sprintf("%T", x) == fmt.Sprintf("%T", than)
	})
}

// changed returns the sums that differ between a log and a mutant of the log. If a record is
// skipped, it is counted. A call that did not fail before may fail only because of an error in a
// line.
func changed(right, r told, want map[string]string) (list []string) {
	if fmt.Sprint(r.meta["ignored_records"]) != fmt.Sprint(right.meta["ignored_records"]) {
		return nil
	}
	sums := r.sums()
	for _, what := range slices.Sorted(maps.Keys(want)) {
		got, have := sums[what]
		switch isCall := what[0] != '/'; {
		case !have && !r.floor["/side_effects/tool_calls"]:
			list = append(list, "the call "+what+" is not told")
		case got == "" || want[what] == "" || got == want[what] || isCall && got == "failed":
		default:
			list = append(list, fmt.Sprintf("%s is %q, was %q", what, got, want[what]))
		}
	}
	return list
}

// kindOf returns the kind of a line for the purposes of these tests.
func kindOf(v any) string {
	line, _ := v.(map[string]any)
	for _, name := range []string{"payload", "item"} {
		if part, ok := line[name].(map[string]any); ok {
			return fmt.Sprint(line["type"], "/", part["type"])
		}
	}
	return fmt.Sprint(cmp.Or(line["type"], any("")))
}

// eachPlace calls the function take for each nested value, and passes a function that replaces this
// value. Members are visited in the order of their names.
func eachPlace(at string, v any, take func(at string, v any, set func(any))) {
	switch x := v.(type) {
	case []any:
		for i := range x {
			take(at+"[]", x[i], func(v any) { x[i] = v })
			eachPlace(at+"[]", x[i], take)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			take(at+"."+name, x[name], func(v any) { x[name] = v })
			eachPlace(at+"."+name, x[name], take)
		}
	}
}

func reading(t *testing.T, values []any) []byte {
	t.Helper()
	text, err := io.ReadAll(encoded(t, values))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
