package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// KindTime is the kind of a [Dependency] on the clock: the others are kinds of materials.
const KindTime = "time"

// A Dependency is something that answered the task: a replay has to answer the same. All
// but those on the clock are materials of the draft.
type Dependency struct {
	Key     string // the id of the material, or time: and the name of the time
	Kind    string // of the material, or KindTime
	EventID string // of the event that told the answer
	Index   int    // which event that was, of those that were added, from 1
	Pointer string // RFC 6901, to the answer in that event; "": the event does not have it
	SHA256  canon.Digest
	URI     string // where the answer is kept; "": nobody tells
	CallID  string // of the call of a tool that returned it; "": it is none
}

// An answer is the place where a log tells what something answered.
type answer struct {
	event   string
	index   int
	pointer string // "": the answer itself is not there
}

// answerOf is the place of a value; a zero one is not there.
func answerOf(e *event.Event, value canon.Node) answer {
	a := answer{event: e.ID, index: e.Index}
	if !value.IsZero() {
		a.pointer = value.Pointer()
	}
	return a
}
