package headline

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Headline describes a receipt: its title, the first sentence that a person reads, and rows.
type Headline struct {
	Title    Words `json:"title"`
	Sentence Words `json:"sentence"`
	Rows     []Row `json:"rows"`
}

// headlineOf returns the headline of a receipt. If the subject is a replay, a session bundle, or
// anything else that is not a task, the sentence first names the subject.
func headlineOf(r *Reading) *Headline {
	s := story{counter{r}}
	h := &Headline{Title: Origin(s).title(), Rows: rowsOf(s)}
	switch {
	case isReplay(r.Root):
		h.Sentence = replay{s}.sentence()
	case r.Root.Member("metadata").Member("session_bundle").Kind() == canon.KindObject:
		h.Sentence = s.bundle().add(" Its task").join(s.ended())
	case s.about() != nil:
		h.Sentence = s.about().add(". Its task").join(s.ended())
	default:
		h.Sentence = Words{}.add(s.subject()).join(s.ended())
	}
	return h
}

// isReplay reports whether the subject of a receipt is a replay.
func isReplay(root canon.Node) bool {
	return root.Member("subject").Member("object").String() == "replay_segment"
}

// A story describes the parts of a receipt that concern its task.
type story struct{ counter }

// about returns the subject of a receipt that is not about a task, or nil if it is about a task.
func (r story) about() Words {
	subject := r.Root.Member("subject")
	object := subject.Member("object")
	if object.String() == "task" || object.Kind() != canon.KindString {
		return nil
	}
	return Words{}.add("Receipt of ").quote(object).add(" ").quote(subject.Member("id"))
}

// subject returns the beginning of a sentence about a task. The end of a turn in the source does
// not mean that the task is complete, so the sentence then names the turn, or the session and the
// number of its prompts if there were several.
func (r story) subject() string {
	prompts := r.Root.Member("metadata").Member("source").Member("prompts").Member("count")
	switch {
	case !r.turnEnded():
		return "Task"
	case prompts.Kind() == canon.KindNumber && prompts.Float() > 1:
		return "Session with " + Group3(string(prompts.AppendCanonical(nil))) + " prompts"
	}
	return "Turn"
}

// turnEnded reports whether success was inferred only from the end of a turn.
func (r story) turnEnded() bool {
	const at = "/lifecycle/final_state"
	return lists(r.Inferred, at) && !r.Unreported.Has(at) && r.state() == receipt.StateSucceeded
}

func (r story) state() string {
	return r.Root.Member("lifecycle").Member("final_state").String()
}

// ended returns the rest of the sentence after the word "Task": the outcome and the effects of the
// task.
func (r story) ended() Words {
	w := Words{}.add(" ", r.outcome(), r.took())
	if cost := r.cost(); cost != nil {
		w = w.add(" for ").join(cost)
	}
	if r.Unreported.Has("/lifecycle/final_state") {
		w = w.add(", outcome ", NotRecorded)
	}
	return w.add(r.effects(": "), ".")
}

func (r story) outcome() string {
	if r.Unreported.Has("/lifecycle/final_state") || r.turnEnded() {
		return "ended"
	}

	// The format defines these states; any other state is unknown.
	switch r.state() {
	case receipt.StateSucceeded:
		return "succeeded"
	case receipt.StateFailed:
		return "failed"
	case receipt.StateCanceled:
		return "was canceled"
	}

	return "ended in an unknown state"
}

// took describes the duration of the task, if both its start and its end are known.
func (r story) took() string {
	start, end := Origin(r).Times()
	if start.IsZero() || end.IsZero() || end.Before(start) {
		return ""
	}
	if r.outcome() == "ended" {
		return " after " + Elapsed(start, end)
	}
	return " in " + Elapsed(start, end)
}

// effects describes the recorded effects of the task in a fixed order, preceded by mark.
func (r story) effects(mark string) string {
	list := slices.DeleteFunc([]string{r.files(), r.calls(), r.network(), r.approvals()}, func(text string) bool { return text == "" })
	if len(list) == 0 {
		return ""
	}
	return mark + strings.Join(list, ", ")
}

// unreportedCost reports whether the source did not report any part of the cost.
func (r story) unreportedCost() bool {
	return r.Unreported.Has("/cost/total") && !(r.Root.Member("cost").Member("total").Float() > 0)
}

// cost describes the total cost, or returns nil if there is none.
func (r story) cost() Words {
	cost := r.Root.Member("cost")
	total, currency := cost.Member("total"), cost.Member("currency")
	if r.unreportedCost() || total.Kind() != canon.KindNumber {
		return nil
	}

	w := Words{}.add(r.Bound("/cost/total"))
	number := Group3(string(total.AppendCanonical(nil))) + r.Reckoned("/cost/total")
	if r.Hidden(currency) {
		return w.add(number, ", currency ", NotRecorded)
	}

	return w.quote(currency).add(" ", number)
}

// bundle returns the sentence about a session bundle.
func (r story) bundle() Words {
	w := Words{}.add("Session bundle ").quote(r.Root.Member("subject").Member("id"))
	if mode := r.Root.Member("metadata").Member("session_bundle").Member("mode"); mode.Kind() == canon.KindString {
		w = w.add(", ").quote(mode)
	}

	// Fields with a commitment were withheld from the receipt, not from the bundle.
	removed := map[string]bool{}
	for i, n := range r.Root.Member("redactions").Elements() {
		if n.Member("proof_hash").IsZero() {
			removed[r.identity(n, i, "field")] = true
		}
	}
	if len(removed) == 0 && r.Unreported.Has("/redactions") {
		return w.add(": values removed ", NotRecorded, ".")
	}

	return w.add(": ", r.Bound("/redactions"), Plural(len(removed), "value", "removed"), ".")
}

// A replay describes the receipt of a task that was repeated with recorded answers.
type replay struct{ story }

// sentence names the repeated task, the substitutions, and other effects.
func (r replay) sentence() Words {
	w := Words{}.add("Replay")
	if source := r.Root.Member("metadata").Member("source_task_id"); source.Kind() == canon.KindString && !r.Hidden(source) {
		w = w.add(" of ").quote(source)
	}

	// The replay has its own task ID, outcome, and cost.
	w = w.add(" as ").quote(r.Root.Member("identifiers").Member("task_id"))
	if outcome := r.outcome(); outcome != "succeeded" {
		w = w.add(" ", outcome)
	}
	if r.Root.Member("cost").Member("total").Float() > 0 {
		w = w.add(" for ").join(r.cost())
	}
	w = w.add(": ", strings.Join(r.substitutions(), ", "))

	if r.idle() {
		return w.add(", nothing was executed.")
	}

	return w.add(r.effects(", "), ".")
}

// substitutions describes the number of recorded answers that a replay replaced, by operation.
// Several deltas with the same key count as one answer.
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

	// If a receipt lists no substitutions, its source may not have reported them.
	switch {
	case len(phrases) > 0:
		return phrases
	case r.Unreported.Has("/deltas"):
		return []string{"answers replaced " + NotRecorded}
	}

	return []string{"no answer replaced"}
}

// idle reports whether the receipt states that the replay had no effects, instead of merely
// omitting them.
func (r replay) idle() bool {
	effects, some := r.Root.Member("side_effects"), r.Root.Member("approvals").Len()
	for _, name := range []string{"fs_writes", "network_egress", "tool_calls", "a2a_handoffs"} {
		if list := effects.Member(name); list.Kind() != canon.KindArray || r.Unreported.Has("/side_effects/"+name) {
			return false
		}
		some += effects.Member(name).Len()
	}
	return some == 0 && !(r.Root.Member("cost").Member("total").Float() > 0)
}
