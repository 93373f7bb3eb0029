package ledger

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Fault is one thing that is wrong with a ledger.
type Fault struct {
	Code     string        // of the receipt codes, or FaultFile, FaultMissing, FaultUnreadable, FaultRow
	ID       string        // receipt_id, as far as it is known
	Stream   *chain.Stream // nil: of no stream
	Position uint64        // in the stream, from 1; 0: of no receipt
	Detail   string
}

// Codes of faults that are not those of a receipt.
const (
	FaultFile       = "ledger_file"       // SQLite finds its file damaged
	FaultMissing    = "ledger_missing"    // a row is gone
	FaultUnreadable = "ledger_unreadable" // a row cannot be read
	FaultRow        = "ledger_row"        // a row differs from its receipt
)

// A Checked is the result of Check.
type Checked struct {
	Receipts  int // rows that were read
	Verified  int
	Undecided int // intact, but evidence for their signatures is missing
	Streams   []StreamHead
	Pruned    int  // receipts whose content is in archives, and whose hashes match the roots of the checkpoints
	Unsigned  int  // checkpoints of pruned receipts without a signature by a trusted key of their log
	Marked    bool // whether the end of the ledger was compared with the mark next to it
	Faults    int  // passed to the callback of Check
}

// Verdict returns the verdict on the ledger: refuted if there are faults, undecided if anything is
// undecided, and otherwise verified.
func (c *Checked) Verdict() receipt.Verdict {
	switch {
	case c.Faults > 0:
		return receipt.Refuted
	case c.Undecided+c.Unsigned > 0:
		return receipt.Undecided
	}
	return receipt.Verified
}

// A DamageError indicates that a row is not what the ledger stored: it, or a row that leads to it,
// was altered. Its content is not returned.
type DamageError struct {
	Code   string       // FaultRow, or of the receipt codes
	ID     string       // receipt_id of the row, if known
	Stream chain.Stream // that the row names
	Detail string
}

func (e *DamageError) Error() string {
	if e.ID == "" {
		return "ledger: it is damaged: " + e.Detail
	}
	return fmt.Sprintf("ledger: receipt %.200q is damaged: %s", e.ID, e.Detail)
}

// Unreadable returns the reason why the JSON of a row is not a receipt.
func Unreadable(id string, s chain.Stream, err error) *DamageError {
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		return &DamageError{string(syntax.Code), id, s, err.Error()}
	}
	return &DamageError{string(receipt.CodeNotAReceipt), id, s, err.Error()}
}
