package turn

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Signal resumes a suspended turn.
type Signal struct {
	ID    string
	Actor string // who sent it, according to the harness; "" if unknown

	// Payload is the JSON object as received; nil if there is none. Its decision, or else its
	// approved and accepted members, state whether the signal approves. docs/record.md lists the
	// words.
	Payload []byte
}

// Decision returns the decision of the payload as the receipt will state it: approved, denied,
// canceled, or timeout. Programs that act on a signal must use it. A payload that is not strict
// JSON (I-JSON, RFC 7493) does not approve.
func (s Signal) Decision() string {
	doc := new(canon.Document)
	if event.Parse(doc, s.Payload) != nil {
		return event.Denied
	}
	return event.DecisionOf(doc.Root())
}

// A SignalError indicates that a turn does not wait for a signal, because nothing requested it or
// because an earlier signal was accepted. The turn continues unchanged.
type SignalError struct {
	ID      string // of the signal
	Waiting string // the signal for which the turn waits; "" if none
}

// Error returns both IDs.
func (e *SignalError) Error() string {
	if e.Waiting == "" {
		return fmt.Sprintf("record: the turn waits for no signal, found %s", event.Quote(e.ID))
	}
	return fmt.Sprintf("record: the turn waits for the signal %s, found %s", event.Quote(e.Waiting), event.Quote(e.ID))
}
