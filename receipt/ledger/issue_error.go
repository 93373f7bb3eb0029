package ledger

import (
	"errors"
	"fmt"
)

// ErrClosed indicates that the issuer had been closed before it accepted the draft.
var ErrClosed = errors.New("ledger: the issuer is closed; issue the draft with another one")

// An IssueError is the error that [Issuer.Issue] returns. It is always safe to issue the draft
// again, because no draft ever results in two receipts. Issuing the draft again is useful if
// Temporary is set:
//
//	sealed, err := issuer.Issue(ctx, draft)
//	if failed, ok := errors.AsType[*ledger.IssueError](err); ok && failed.Temporary {
//		// issue the same draft again later
//	}
type IssueError struct {
	Stage     string // stage at which Issue failed: accept, seal, head (reading the head of the stream), sign, or store, in this order
	Stored    Stored // whether the receipt for the draft is stored
	Temporary bool   // issuing the same draft later might succeed, because the cause was the store, the signer, or a context

	// Err is the cause. At the seal stage, it is a *[receipt.InvalidError], a *[SecretsError], or the
	// error from the draft's own MarshalJSON method. At the sign stage, it is the error from the
	// signer. At the head and store stages, it is the error from the store, such as ErrDuplicateID,
	// ErrUnsigned, ErrHeadMoved, or a *[PrunedError].
	Err error
}

// Error returns the message of the cause. If the outcome is unknown, the message also describes how
// to determine it.
func (e *IssueError) Error() string {
	if e.Stored == StoredUnknown && e.Temporary {
		return fmt.Sprintf("ledger: it is not known whether the receipt is stored; issue the same draft again: %v", e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *IssueError) Unwrap() error { return e.Err }

// These are the stages, in order.
const (
	stageAccept = "accept" // the issuer is incomplete or closed, or the context ended before work on the draft began
	stageSeal   = "seal"   // the draft is invalid or contains secrets
	stageHead   = "head"   // the head of the stream could not be read
	stageSign   = "sign"   // the signer failed
	stageStore  = "store"  // the receipt was not appended, or it is not known whether it was
)

// Stored states whether a receipt is stored. The zero value is StoredUnknown.
type Stored uint8

const (
	StoredUnknown Stored = iota
	StoredNo
	StoredYes
)

// refused returns the error for a draft that cannot become a receipt.
func refused(err error) error { return &IssueError{stageSeal, StoredNo, false, err} }

// storedError returns the error for a receipt_id that is already stored, or for which the outcome
// is unknown.
func storedError(err error) error {
	e := &IssueError{Stage: stageStore, Err: err}
	switch {
	case errors.Is(err, ErrUnsigned):
		e.Stored = StoredYes
	case errors.Is(err, ErrDuplicateID):
		e.Stored = StoredNo
	case errors.As(err, new(*PrunedError)): // the content of the stored receipt is not available for a comparison
	default:
		e.Temporary = true
	}
	return e
}
