package ledger

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
)

// A Fault is one thing that is wrong with a ledger: a row is not what the ledger stored, because it,
// or a row that leads to it, was altered. As the error of a method, it replaces the row, whose
// content is not returned.
type Fault struct {
	Code     string       // of the receipt codes, or FaultFile, FaultMissing, FaultUnreadable, FaultRow
	ID       string       // receipt_id, as far as it is known
	Stream   chain.Stream // that the row names; zero: none
	Position uint64       // in the stream, from 1; 0: not known
	Detail   string
}

// Codes of faults that are not those of a receipt.
const (
	FaultFile       = "ledger_file"       // the database finds its file damaged
	FaultMissing    = "ledger_missing"    // a row is gone
	FaultUnreadable = "ledger_unreadable" // a row cannot be read
	FaultRow        = "ledger_row"        // a row differs from its receipt
)

// ErrUnreadable indicates that the database cannot read a part of its own data.
var ErrUnreadable = errors.New("it is damaged: restore a copy")

// Error describes the fault.
func (f *Fault) Error() string {
	switch {
	case f.ID == "" && f.Stream.Issuer != "":
		return fmt.Sprintf("ledger: the stream of %.200q in %.200q is damaged: %s", f.Stream.Issuer, f.Stream.Workspace, f.Detail)
	case f.ID == "":
		return "ledger: it is damaged: " + f.Detail
	}
	return fmt.Sprintf("ledger: receipt %.200q is damaged: %s", f.ID, f.Detail)
}
