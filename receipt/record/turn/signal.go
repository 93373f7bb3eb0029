package turn

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Signal is what a suspended turn waits for.
type Signal struct {
	ID    string
	Actor string // who gave it, as the harness knows; "": nothing tells

	// Payload is a JSON object, as it came. A decision, or else approved and accepted in it,
	// say whether the signal approves: docs/record.md has the words. nil: there is none.
	Payload []byte
}

// Approved is the decision of a signal that approves.
const Approved = event.Approved

// Parse parses the payload of a signal, or a message, as a recording does: strictly (I-JSON, RFC
// 7493), and within its limits.
func Parse(doc *canon.Document, text []byte) error { return event.Parse(doc, text) }

// Decision reads what the payload decides, as the receipt will: approved, denied, canceled or
// timeout. Whoever acts on a signal acts on this. A payload that is no strict JSON (I-JSON,
// RFC 7493) approves nothing.
func (s Signal) Decision() string {
	doc := new(canon.Document)
	if event.Parse(doc, s.Payload) != nil {
		return event.Denied
	}
	return event.DecisionOf(doc.Root())
}

// A SignalError says that a turn does not wait for a signal: it was never asked for, or
// another came first. It changes nothing, and the turn goes on.
type SignalError struct {
	ID      string // of the signal
	Waiting string // for which the turn waits; "": for none
}

// Error gives both.
func (e *SignalError) Error() string {
	if e.Waiting == "" {
		return fmt.Sprintf("record: the turn waits for no signal, found %s", event.Quote(e.ID))
	}
	return fmt.Sprintf("record: the turn waits for the signal %s, found %s", event.Quote(e.Waiting), event.Quote(e.ID))
}
