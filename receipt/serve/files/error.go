package files

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// A ConflictError says that two different receipts have one receipt_id.
type ConflictError struct {
	ReceiptID     string // untrusted text
	First, Second string // where they are, as reports name it
}

// Error names the id and both places.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("serve: the receipt_id %.80q is that of two different receipts, %q and %q; an id can name only one", e.ReceiptID, e.First, e.Second)
}

// A CheckpointError says why a checkpoint is not served: it is none, or it is not over the
// receipts of the files.
type CheckpointError struct {
	Code   receipt.Code
	Detail string // what was expected and what was found
	Err    error  // what the detail tells of; may be nil
}

// Error gives the code and the detail.
func (e *CheckpointError) Error() string { return fmt.Sprintf("serve: %s: %s", e.Code, e.Detail) }

// Unwrap returns Err.
func (e *CheckpointError) Unwrap() error { return e.Err }

func notOver(code receipt.Code, format string, args ...any) error {
	return &CheckpointError{Code: code, Detail: fmt.Sprintf(format, args...)}
}
