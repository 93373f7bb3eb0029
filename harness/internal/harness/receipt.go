package harness

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// settle issues the receipt for a task that has ended, and records the receipt in the log. The
// receipt depends only on the log, so a retry after a crash produces the same receipt. A receipt
// that is already in the ledger is not issued again.
func (h *Harness) settle(ctx context.Context, id string) error {
	t := read(&h.state, &h.state.tasks, id)
	if t.ReceiptID != nil {
		return nil
	}
	draft, err := h.draft(ctx, id)
	if err != nil {
		return err
	}
	sealed, err := ledger.Get(ctx, h.ledger, draft.ReceiptID)
	if errors.Is(err, ledger.ErrNotFound) {
		sealed, err = h.issue(ctx, draft)
	}
	if err != nil {
		return err
	}

	h.writing.Lock()
	defer h.writing.Unlock()
	if read(&h.state, &h.state.tasks, id).ReceiptID != nil { // another goroutine has settled the task in the meantime
		return nil
	}
	issued := t.event("receipt.issued", object{"receipt_id": sealed.ID(), "receipt_hash": sealed.Hash()})
	issued.Receipt = sealed.ID()
	return h.journal.Append(&journal.Commit{At: h.now(), Events: []journal.Event{issued}})
}

// draft returns the draft of a receipt that is created from the log of a task.
func (h *Harness) draft(ctx context.Context, id string) (*receipt.Draft, error) {
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: h.options.Issuer}, TaskID: id, LogURI: "/v1/tasks/" + id + "/events"})
	if err != nil {
		return nil, err
	}
	err = h.events(ctx, id, func(text []byte) error { return rec.Add(text) })
	if err != nil {
		return nil, err
	}
	return rec.Draft()
}

// events passes each event of a task to give, in the form stored in the log.
func (h *Harness) events(ctx context.Context, task string, give func([]byte) error) error {
	const page = 256
	log, last := h.journal.Log(journal.View{Task: task}), ""
	for {
		events, err := log.After(ctx, last, page)
		if err != nil && err != io.EOF {
			return err
		}
		for _, e := range events {
			if err := give(e.JSON); err != nil {
				return err
			}
			last = e.ID
		}
		if len(events) == 0 || err == io.EOF {
			return nil
		}
	}
}

// issue issues the receipt for a draft. After any failure, even if it is unknown whether the
// receipt was stored, the task is settled again. This never creates a second receipt.
func (h *Harness) issue(ctx context.Context, draft *receipt.Draft) (*receipt.Sealed, error) {
	doc, err := h.redacted(draft)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return h.issuer.Issue(ctx, doc)
}

// redacted returns a draft without values that look like secrets. When values arrive, each is
// checked separately; here, all values are checked together.
func (h *Harness) redacted(draft *receipt.Draft) (*canon.Document, error) {
	doc, err := draft.Document()
	if err != nil || len(h.secrets.Find(doc)) == 0 {
		return doc, err
	}
	result, err := h.secrets.Redact(doc, h.options.Random)
	if err != nil {
		return nil, err
	}
	return result.Draft, nil
}
