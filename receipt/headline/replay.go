package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A replay is a receipt of a task that was run again over recorded answers.
type replay struct{ story }

// sentence names the task that was repeated, what was substituted, and what was done besides.
func (r replay) sentence() Words {
	w := Words{}.add("Replay")
	if source := r.Root.Member("metadata").Member("source_task_id"); source.Kind() == canon.KindString && !r.Hidden(source) {
		w = w.add(" of ").quote(source)
	}
	w = w.add(" as ").quote(r.Root.Member("identifiers").Member("task_id"))
	if outcome := r.outcome(); outcome != "succeeded" {
		w = w.add(" ", outcome)
	}
	if r.Root.Member("cost").Member("total").Float() > 0 {
		w = w.add(" for ").join(r.cost())
	}
	w = w.add(", ", strings.Join(r.substitutions(), ", "))

	if r.idle() {
		return w.add(": nothing was executed.")
	}
	return w.add(": ", strings.Join(r.effects(), ", "), ".")
}

// substitutions counts the recorded answers that a replay exchanged, by what was done to
// them. Several deltas of one key are one answer.
func (r replay) substitutions() (phrases []string) {
	seen := map[string]map[string]bool{}
	for i, n := range r.Root.Member("deltas").Elements() {
		key := r.identity(n, i, "override_key")
		if n.Member("override_key").IsZero() {
			key = r.identity(n, i, "path")
		}
		operation := n.Member("operation").String()
		if seen[operation] == nil {
			seen[operation] = map[string]bool{}
		}
		seen[operation][key] = true
	}

	for _, one := range [][2]string{{"replace", "replaced"}, {"add", "added"}, {"remove", "removed"}} {
		if n := len(seen[one[0]]); n > 0 {
			phrases = append(phrases, r.Bound("/deltas")+Plural(n, "answer", one[1]))
		}
	}
	switch {
	case len(phrases) > 0:
		return phrases
	case r.Untold.Has("/deltas"):
		return []string{"answers replaced " + NotTold}
	}
	return []string{"no answer replaced"}
}

// idle reports whether the receipt states that nothing was done, and not only that nobody
// reported it.
func (r replay) idle() bool {
	effects, some := r.Root.Member("side_effects"), r.Root.Member("approvals").Len()
	for _, name := range []string{"fs_writes", "network_egress", "tool_calls", "a2a_handoffs"} {
		if list := effects.Member(name); list.Kind() != canon.KindArray || r.Untold.Has("/side_effects/"+name) {
			return false
		}
		some += effects.Member(name).Len()
	}
	return some == 0 && !(r.Root.Member("cost").Member("total").Float() > 0)
}
