package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// replay is the sentence about a replay: which task it repeats, what was substituted, and
// what it did besides.
func (r *Reading) replay() Words {
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
func (r *Reading) substitutions() (phrases []string) {
	seen := map[string]map[string]bool{}
	for i, n := range r.Root.Member("deltas").Elements() {
		key := identity(r, n, i, "override_key")
		if n.Member("override_key").IsZero() {
			key = identity(r, n, i, "path")
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
func (r *Reading) idle() bool {
	effects, some := r.Root.Member("side_effects"), r.Root.Member("approvals").Len()
	for _, name := range []string{"fs_writes", "network_egress", "tool_calls", "a2a_handoffs"} {
		if list := effects.Member(name); list.Kind() != canon.KindArray || r.Untold.Has("/side_effects/"+name) {
			return false
		}
		some += effects.Member(name).Len()
	}
	return some == 0 && !(r.Root.Member("cost").Member("total").Float() > 0)
}

// bundle is the sentence about a session bundle.
func (r *Reading) bundle() Words {
	w := Words{}.add("Session bundle ").quote(r.Root.Member("subject").Member("id"))
	if mode := r.Root.Member("metadata").Member("session_bundle").Member("mode"); mode.Kind() == canon.KindString {
		w = w.add(", ").quote(mode)
	}

	// Fields with a commitment were withheld from the receipt, and not from the bundle.
	removed := map[string]bool{}
	for i, n := range r.Root.Member("redactions").Elements() {
		if n.Member("proof_hash").IsZero() {
			removed[identity(r, n, i, "field")] = true
		}
	}
	if len(removed) == 0 && r.Untold.Has("/redactions") {
		return w.add(": values removed ", NotTold, ".")
	}
	return w.add(": ", r.Bound("/redactions"), Plural(len(removed), "value", "removed"), ".")
}

// Subject names the kind and the ID of what a receipt is about.
func (r *Reading) Subject() string {
	subject := r.Root.Member("subject")
	return Words{}.quote(subject.Member("object")).add(" ").quote(subject.Member("id")).String()
}

// Determinism describes whether the task can be replayed.
func (r *Reading) Determinism() string {
	input := r.Root.Member("replay_input")
	determinism := input.Member("determinism")
	w := Words{}.quote(determinism)
	switch determinism.String() {
	case "byte_deterministic":
		w = Words{"a replay returns the same bytes"}
	case "best_effort":
		w = Words{"a replay may differ"}
	case "unavailable":
		w = Words{"not possible"}
	}

	if r.Hidden(determinism) {
		return NotTold
	}
	if reason := input.Member("unavailable_reason"); !reason.IsZero() {
		w = w.add(`: "`).quote(reason).add(`"`)
	}
	return w.String()
}
