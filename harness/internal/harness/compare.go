package harness

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// noteIssued records that, according to the log, a receipt was issued.
func (s *state) noteIssued(e *journal.Event) error {
	var told struct {
		Hash canon.Digest `json:"receipt_hash"`
	}
	if err := payload(e, &told); err != nil {
		return err
	}
	if s.issued == nil {
		s.issued, s.newest = map[canon.Digest]bool{}, map[string]canon.Digest{}
	}
	s.issued[told.Hash], s.newest[e.Workspace] = true, told.Hash
	return nil
}

// compare verifies that the log and the ledger match. If one of them were an older copy, tasks that
// have ended would run again, or receipts would be missing.
func (h *Harness) compare() error {
	streams, err := ledger.Heads(h.life, h.ledger)
	if err != nil {
		return err
	}
	for _, s := range streams {
		if s.Stream.Issuer != h.options.Issuer || h.state.issued[s.Head.Hash] {
			continue
		}
		for e, err := range h.ledger.Walk(h.life, ledger.Query{Stream: &s.Stream}, 0) {
			if err != nil {
				return err
			}
			if err := h.known(&e); err != nil {
				return err
			}
		}
	}

	for workspace, hash := range h.state.newest {
		_, err := ledger.Lookup(h.life, h.ledger, ledger.Key{Hash: hash})
		if errors.Is(err, ledger.ErrNotFound) {
			return fmt.Errorf("harness: ledger.db lacks the receipt %v of the workspace %q, which events.jsonl records as issued: restore both files from copies of the same time", hash, workspace)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known verifies that the log contains a receipt, or the end of the receipt's task. The end of the
// task is sufficient if the log records no receipt for it, because a crash can occur after the
// receipt is stored and before the log records it.
func (h *Harness) known(e *ledger.Row) error {
	if h.state.issued[e.Hash] {
		return nil
	}
	doc, err := canon.Parse(e.JSON)
	if err != nil {
		return fmt.Errorf("harness: the receipt %q in ledger.db cannot be read: %w", e.ID, err)
	}
	task := doc.Root().Member("subject").Member("id").String()
	if t := read(&h.state, &h.state.tasks, task); t == nil || !t.ended() || t.ReceiptID != nil {
		return fmt.Errorf("harness: events.jsonl lacks the end of the task %.80q, of which ledger.db has the receipt %.80q: restore both files from copies of one time", task, e.ID)
	}
	return nil
}
