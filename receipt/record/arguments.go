package record

import "github.com/receiptkit/receiptkit/canon"

// Arguments are what a call was asked with, what an approver made of it, and what
// it ran with.
type arguments struct {
	asked     canon.Digest // by the last request
	requested canon.Digest // what was asked before an approver changed it
	changed   canon.Digest // by the approver
	ran       canon.Digest // by an event that tells of the run
	byRuntime bool         // that event is the runtime's, not the transcript's
	differ    bool         // two events tell different ones of the run
}

// ask notes the arguments of a request. Those that an approver changed are not asked
// for by who repeats the old ones.
func (a *arguments) ask(d canon.Digest) {
	switch {
	case d.IsZero():
		return
	case !a.ran.IsZero() && d != a.ran && d != a.asked:
		a.differ = true
	case !a.changed.IsZero() && d != a.requested:
		a.changed = canon.Digest{} // another request than the one that was changed
	}
	a.asked = d
}

// change notes what an approver put in their place.
func (a *arguments) change(d, question canon.Digest) {
	first(&a.requested, a.asked)
	first(&a.requested, question)
	a.changed = d
}

// run notes what the call ran with. Who runs it knows better than who was told.
func (a *arguments) run(d canon.Digest, byRuntime bool) {
	if d.IsZero() {
		return
	}
	a.differ = a.differ || !a.ran.IsZero() && a.ran != d
	if a.ran.IsZero() || byRuntime && !a.byRuntime {
		a.ran, a.byRuntime = d, byRuntime
	}
}

// last are what it ran with, as far as that is told.
func (a *arguments) last() canon.Digest {
	switch {
	case !a.ran.IsZero():
		return a.ran
	case !a.changed.IsZero():
		return a.changed
	}
	return a.asked
}
