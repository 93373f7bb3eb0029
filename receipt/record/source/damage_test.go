package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestDamage damages public logs in one place at a time. The test removes a member, or replaces it
// with null, an unknown string, a number in the form of a string, a list that contains its value, a
// part of an object, or the value of the same member in another record. If a list or count becomes
// smaller, it must be marked as unreported or as a lower bound. The test applies only some of the
// damages, and skips large logs. At full size, it applies more damages, and includes larger logs.
//
// If a damage results in a log that an agent might write, it is listed as an exception.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	each, size := testsize.Of(40, 50, 100), testsize.Of(60_000, 80_000, 120_000)
	damages := 0
	for _, name := range publicLogs(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > size || bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")) {
			continue
		}
		values := valuesIn(t, string(bytes.Join(valuesOf(text), []byte("\n"))))
		before := tryRead(t, reading(t, values))
		right := read(t, before)
		want := amountsOf(t, before)

		all := damagesOf(values)
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, x := range all[:min(len(all), each)] {
			if slices.ContainsFunc(exceptions(), func(end string) bool { return strings.HasSuffix(filepath.Base(name)+" "+x.what, end) }) {
				continue
			}
			x.set(x.to)
			log := reading(t, values)
			x.set(x.from)
			d := tryRead(t, log)
			if d == nil { // nothing is stated
				continue
			}
			damages++
			for _, what := range lost(t, right, want, read(t, d)) {
				t.Errorf("%s, line %d, %s: %s", filepath.Base(name), x.line+1, x.what, what)
			}
		}
	}
	if damages < 300 {
		t.Errorf("%d damages", damages)
	}
}

// exceptions lists suffixes of the descriptions of damages. If an exception applies to only one
// log, its name precedes the description.
func exceptions() (all []string) {
	for _, how := range []string{"missing", "null"} {
		all = append(all,
			".spans[].attributes: "+how, "payload.forked_from_id: "+how,
			// A step may have no results, and few results belong to another agent.
			".steps[].observation: "+how, ".observation.results: "+how, ".subagent_trajectory_ref: "+how, "(gemini).toolCalls: "+how,
			".state.metadata.exit: "+how, ".parts[](tool).state.metadata: "+how,
			// The only message in this log may be one without cached tokens.
			"agent-acompact-946d2b.jsonl assistant.message.usage.cache_creation_input_tokens: "+how,
			"agent-acompact-946d2b.jsonl assistant.message.usage.cache_read_input_tokens: "+how)
	}
	return append(all, ".metrics[].name: unknown", "agent-acompact-946d2b.jsonl assistant.message.usage: in part", ".parts[](tool).state.metadata: in part", ".steps[].observation: empty",
		"claude-code-with-plan.jsonl assistant.message.id: that of another") // the counts become larger, because two messages are combined into one
}

// lost describes each incorrect claim in the draft of a damaged log. The claim may be a smaller
// amount that is not marked as unreported, a call that succeeded only according to this draft, or a
// stated value that was unreported before the damage.
func lost(t *testing.T, right told, want map[string]float64, r told) (all []string) {
	t.Helper()
	got := amountsOf(t, r.Draft)
	for _, at := range slices.Sorted(maps.Keys(want)) {
		cost := strings.HasSuffix(at, "/usd") || at == "/cost/provider_breakdown"
		if m, have := got[at]; m < want[at] && countsDeeds(at) && !listed(r.untold, at) && !(cost && r.untold["/cost/total"]) && (have || at != "/autonomy_budget/consumed/wall_time_ms") {
			all = append(all, fmt.Sprintf("%s is %v, was %v, and is not unreported", at, m, want[at]))
		}
	}
	status := map[string]string{}
	for i, c := range r.SideEffects.ToolCalls {
		if status[c.CallID] = c.Status; r.untold[fmt.Sprintf("%s/%d/status", callsList, i)] {
			status[c.CallID] = ""
		}
	}
	for i, c := range right.SideEffects.ToolCalls {
		if status[c.CallID] == "succeeded" && c.Status != "succeeded" && !right.untold[fmt.Sprintf("%s/%d/status", callsList, i)] {
			all = append(all, fmt.Sprintf("the call %s succeeded, and was %s", c.CallID, c.Status))
		}
	}
	for at := range right.untold {
		if _, have := want[at]; (have && countsDeeds(at) || strings.HasPrefix(at, "/lifecycle/")) && !listed(r.untold, at) && at != "/autonomy_budget/consumed/wall_time_ms" {
			all = append(all, fmt.Sprintf("%s is stated, and was unreported", at))
		}
	}
	return all
}

// countsDeeds reports whether the value at a location is a number of actions or an amount of used
// resources.
func countsDeeds(at string) bool {
	for _, list := range []string{"/side_effects/", "/autonomy_budget/consumed/", "/approvals", "/final_artifacts", "/cost/total", "/cost/provider_breakdown"} {
		if rest, ok := strings.CutPrefix(at, list); ok && !strings.Contains(rest, "/") {
			return true
		}
	}
	return false
}

// A damage replaces one value in a log.
type damage struct {
	line     int
	what     string
	set      func(any)
	from, to any
}

// absent stands for the value of a member that is removed.
type absent struct{}

// damagesOf returns the damages of all values in a log, except for values inside inputs and results
// of tools. Each kind of damage occurs once for each kind of place.
func damagesOf(values []any) (all []damage) {
	seen, other := map[string]bool{}, map[string]any{}
	for i := range values {
		eachPart(kindOf(values[i]), values[i], func(at string, v any, set func(any)) {
			for what, to := range damaged(at, v, other[at]) {
				if key := at + ": " + what; !seen[key] {
					seen[key] = true
					all = append(all, damage{i, key, set, v, to})
				}
			}
			if other[at] == nil {
				other[at] = v
			}
		})
	}
	slices.SortFunc(all, func(a, b damage) int { return strings.Compare(a.what, b.what) })
	return all
}

// damaged returns the values that replace a value. The parameter another is the value of the same
// member in another place.
func damaged(at string, v, another any) map[string]any {
	to := map[string]any{"missing": absent{}, "null": nil, "in a list": []any{v}, "empty": map[string]any{}}
	switch x := v.(type) {
	case string:
		to["unknown"] = unheard
		if another, ok := another.(string); ok && another != x && isID(at) {
			to["that of another"] = another
		}
	case float64, json.Number:
		to["in a text"] = fmt.Sprint(x)
	case map[string]any:
		part := map[string]any{}
		for i, name := range slices.Sorted(maps.Keys(x)) {
			if i%2 == 0 {
				part[name] = x[name]
			}
		}
		to["in part"] = part
	case []any:
		to["an object"] = map[string]any{"0": v}
	}
	return to
}

// isID reports whether the value at a place is an ID.
func isID(at string) bool {
	name := at[strings.LastIndexByte(at, '.')+1:]
	return strings.HasSuffix(strings.ToLower(name), "id") || name == "stringValue" && strings.Contains(at, "id).")
}

// eachPart is like eachPlace, but visits only members, and can also remove them.
func eachPart(at string, v any, take func(at string, v any, set func(any))) {
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			eachPart(at+"[]"+typeIn(y), y, take)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			value := x[name]
			take(at+"."+name, value, func(v any) {
				if x[name] = v; v == (absent{}) {
					delete(x, name)
				}
			})
			switch name {
			case "input", "arguments", "structuredPatch", "snapshot", "rate_limits", "tools":
			default:
				eachPart(at+"."+name, value, take)
			}
		}
	}
}

// typeIn distinguishes list elements of different types.
func typeIn(v any) string {
	x, _ := v.(map[string]any)
	for _, name := range []string{"type", "key"} {
		if word, ok := x[name].(string); ok {
			return "(" + word + ")"
		}
	}
	return ""
}
