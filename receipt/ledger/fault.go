package ledger

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Fault describes damage to a ledger: a row does not match what was stored, because that row or a
// row that refers to it was altered. A method that returns a Fault as an error does not return the
// content of the row.
type Fault struct {
	Code     string       // a code of package receipt, or FaultFile, FaultMissing, FaultUnreadable, or FaultRow
	ID       string       // receipt_id, if known
	Stream   chain.Stream // the stream in the row; zero if there is none
	Position uint64       // position in the stream, from 1; 0 if unknown
	Detail   string
}

// These are the fault codes that package receipt does not define.
const (
	FaultFile       = "ledger_file"       // the database reports that its own file is damaged
	FaultMissing    = "ledger_missing"    // a row is missing
	FaultUnreadable = "ledger_unreadable" // a row cannot be read
	FaultRow        = "ledger_row"        // a row differs from its receipt
)

// FaultCodes explains the codes that this package defines, in the same form as [receipt.Codes].
func FaultCodes() []receipt.CodeInfo {
	const restore = "Restore a copy of the ledger, and compare both copies."
	return []receipt.CodeInfo{
		{Code: FaultFile, Where: "ledger", Outcome: receipt.OutcomeRefutes, Meaning: "The database reports that the file of the ledger is damaged.", Next: restore},
		{Code: FaultMissing, Where: "ledger", Outcome: receipt.OutcomeRefutes, Meaning: "A receipt before the recorded head of its stream, or the record of a pruning, is missing.", Next: restore},
		{Code: FaultUnreadable, Where: "ledger", Outcome: receipt.OutcomeRefutes, Meaning: "A row cannot be read.", Next: restore},
		{Code: FaultRow, Where: "ledger", Outcome: receipt.OutcomeRefutes, Meaning: "A row differs from its receipt.", Next: restore},
	}
}

// ErrUnreadable indicates that the database cannot read part of its data.
var ErrUnreadable = errors.New("it is damaged: restore a copy")

// Error describes the fault in one line.
func (f *Fault) Error() string {
	switch {
	case f.ID == "" && f.Stream.Issuer != "":
		return fmt.Sprintf("ledger: the stream of %.200q in %.200q is damaged: %s", f.Stream.Issuer, f.Stream.Workspace, f.Detail)
	case f.ID == "":
		return "ledger: it is damaged: " + f.Detail
	}
	return fmt.Sprintf("ledger: receipt %.200q is damaged: %s", f.ID, f.Detail)
}
