package headline

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Headline is the sentence that a person reads first, and the parts of it that the page
// also shows apart.
type Headline struct {
	Sentence  Words  `json:"sentence"`
	Cost      Words  `json:"cost"` // "not stated" if there is none
	Files     string `json:"files"`
	Approvals string `json:"approvals"`
}

// Headline returns the headline of a receipt. The sentence follows the subject: a replay
// and a session bundle are named before what is stated of the task.
func (r *Reading) Headline() *Headline {
	h := &Headline{Cost: r.cost(), Files: r.filesAlone(), Approvals: r.decisions()}
	switch {
	case r.Root.Member("subject").Member("object").String() == "replay_segment":
		h.Sentence = r.replay()
	case r.Root.Member("metadata").Member("session_bundle").Kind() == canon.KindObject:
		h.Sentence = r.bundle().add(" Its task").join(r.ended())
	case r.about() != nil:
		h.Sentence = r.about().add(". Its task").join(r.ended())
	default:
		h.Sentence = Words{}.add(r.subject()).join(r.ended())
	}

	switch {
	case r.untoldCost():
		h.Cost = Words{NotTold}
	case h.Cost == nil:
		h.Cost = Words{"not stated"}
	}
	return h
}

// Sentence is the sentence alone. The caller must escape it.
func (r *Reading) Sentence() string { return r.Headline().Sentence.String() }

// about names the subject of a receipt that is not about a task; nil for a task.
func (r *Reading) about() Words {
	subject := r.Root.Member("subject")
	object := subject.Member("object")
	if object.String() == "task" || object.Kind() != canon.KindString {
		return nil
	}
	return Words{}.add("Receipt of ").quote(object).add(" ").quote(subject.Member("id"))
}

// subject begins the sentence about a task. A source that records the end of a turn does
// not record that the task is done.
func (r *Reading) subject() string {
	if r.turnEnded() {
		return "Turn"
	}
	return "Task"
}

// turnEnded reports whether success was concluded from the end of a turn.
func (r *Reading) turnEnded() bool {
	const at = "/lifecycle/final_state"
	return lists(r.Inferred, at) && !r.Untold.Has(at) && r.state() == receipt.StateSucceeded
}

func (r *Reading) state() string {
	return r.Root.Member("lifecycle").Member("final_state").String()
}

// ended continues the sentence after the word Task: how the task ended and what it did.
func (r *Reading) ended() Words {
	w := Words{}.add(" ", r.outcome(), r.took())
	if cost := r.cost(); cost != nil {
		w = w.add(" for ").join(cost)
	}
	if r.Untold.Has("/lifecycle/final_state") {
		w = w.add(", outcome ", NotTold)
	}
	return w.add(": ", strings.Join(r.effects(), ", "), ".")
}

func (r *Reading) outcome() string {
	if r.Untold.Has("/lifecycle/final_state") || r.turnEnded() {
		return "ended"
	}
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

// took is how long the task ran, if both times are known.
func (r *Reading) took() string {
	lifecycle := r.Root.Member("lifecycle")
	start, err1 := receipt.ParseTime(lifecycle.Member("started_at").Text())
	end, err2 := receipt.ParseTime(lifecycle.Member("completed_at").Text())
	if err1 != nil || err2 != nil || end.Before(start) || r.Untold.Has("/lifecycle/started_at") || r.Untold.Has("/lifecycle/completed_at") {
		return ""
	}
	if r.outcome() == "ended" {
		return " after " + Elapsed(start, end)
	}
	return " in " + Elapsed(start, end)
}

// effects are what the task did, in the order of the sentence.
func (r *Reading) effects() []string {
	list := []string{r.files(), r.network(), r.calls(), r.approvals()}
	if r.untoldCost() {
		list = append(list, "cost "+NotTold)
	}
	return list
}

// untoldCost reports whether the source reported no part of the cost.
func (r *Reading) untoldCost() bool {
	return r.Untold.Has("/cost/total") && !(r.Root.Member("cost").Member("total").Float() > 0)
}

// cost is the total, or nil if there is none.
func (r *Reading) cost() Words {
	cost := r.Root.Member("cost")
	total, currency := cost.Member("total"), cost.Member("currency")
	if r.untoldCost() || total.Kind() != canon.KindNumber {
		return nil
	}

	w := Words{}.add(r.Bound("/cost/total"))
	number := Group3(string(total.AppendCanonical(nil))) + r.Reckoned("/cost/total")
	if r.Hidden(currency) {
		return w.add(number, ", currency ", NotTold)
	}
	return w.quote(currency).add(" ", number)
}
