package harness

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// mostEvents is the number of events at which a task rejects further messages.
const mostEvents = 10_000

// notRecordable returns the error for a request whose data a receipt could not represent.
func notRecordable() error {
	return protocol.Invalid("", "expected a request that fits in a receipt: shorter strings, fewer values")
}

// recordable returns an error if events cannot be represented in a receipt. Such events must not be
// added to the log, because their task would never have a receipt.
func (h *Harness) recordable(events []journal.Event) error {
	for _, e := range events {
		if e.Task == "" {
			continue
		}
		rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: h.options.Issuer}, TaskID: e.Task})
		if err != nil {
			return err
		}

		// Each event is recorded separately, after events that submit and start a task.
		probe := []journal.Event{e}
		if e.Kind != "task.submitted" {
			t := Task{SessionID: e.Session, WorkspaceID: e.Workspace}
			t.ID = e.Task
			probe = []journal.Event{t.event("task.submitted", object{}), t.event("task.started", object{}), e}
		}
		for n, p := range probe {
			p.ID, p.Object, p.Sequence, p.CreatedAt = string(rune('a'+n)), "event", int64(n+1), h.now()
			line, err := json.Marshal(p)
			if err == nil {
				err = rec.Add(line)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
