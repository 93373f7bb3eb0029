package files

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// A ConflictError indicates that two different receipts have the same receipt_id.
type ConflictError struct {
	ReceiptID     string // untrusted text
	First, Second string // addresses of the two receipts, in the form used in reports
}

// Error returns a message with the ID and both addresses.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("serve: the receipt_id %.80q belongs to two different receipts, %q and %q", e.ReceiptID, e.First, e.Second)
}

// A CheckpointError describes why a checkpoint cannot be served: it is malformed, or it does not
// cover the receipts in the files.
type CheckpointError struct {
	Code   receipt.Code
	Detail string // expected and actual value
	Err    error  // underlying cause; may be nil
}

// Error returns the code and the detail.
func (e *CheckpointError) Error() string { return fmt.Sprintf("serve: %s: %s", e.Code, e.Detail) }

// Unwrap returns Err.
func (e *CheckpointError) Unwrap() error { return e.Err }

func notOver(code receipt.Code, format string, args ...any) error {
	return &CheckpointError{Code: code, Detail: fmt.Sprintf(format, args...)}
}
