package ledger

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A DamageError says that a row is not what the ledger stored: it, or one that leads
// to it, was altered. What it holds is given to nobody.
type DamageError struct {
	Code   string       // FaultRow, or of the receipt codes
	ID     string       // receipt_id of the row, as far as it is known
	Stream chain.Stream // that the row says it is of
	Detail string
}

func (e *DamageError) Error() string {
	if e.ID == "" {
		return "ledger: it is damaged: " + e.Detail
	}
	return fmt.Sprintf("ledger: receipt %.200q is damaged: %s", e.ID, e.Detail)
}

// unreadable says why the JSON of a row is not a receipt.
func unreadable(id string, s chain.Stream, err error) *DamageError {
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		return &DamageError{string(syntax.Code), id, s, err.Error()}
	}
	return &DamageError{string(receipt.CodeNotAReceipt), id, s, err.Error()}
}
