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
