package ledger

import (
	"errors"
	"fmt"
)

// ErrClosed indicates that the issuer was closed before it accepted the draft.
var ErrClosed = errors.New("ledger: the issuer is closed; issue the draft with another one")

// An IssueError is the error that [Issuer.Issue] returns. A draft can always be issued again,
// because that never creates a second receipt. Retrying is useful if Temporary is set:
//
//	sealed, err := issuer.Issue(ctx, draft)
//	if failed, ok := errors.AsType[*ledger.IssueError](err); ok && failed.Temporary {
//		// issue the same draft again later
//	}
type IssueError struct {
	Stage     string // stage of Issue, in order: accept, seal, head (reading the stream's head), sign, store
	Stored    Stored // whether the draft's receipt is stored
	Temporary bool   // the same draft may succeed later, because the store, the signer, or a context failed

	// Err is the cause. It is a *[receipt.InvalidError] or a *[SecretsError] at the seal stage, the
	// signer's error at the sign stage, and the store's error at the head and store stages, such as
	// ErrDuplicateID, ErrUnsigned, ErrHeadMoved, or a *[PrunedError].
	Err error
}

// Error returns the text of the cause. If the outcome is unknown, it also describes how to
// determine the outcome.
func (e *IssueError) Error() string {
	if e.Stored == StoredUnknown && e.Temporary {
		return fmt.Sprintf("ledger: it is not known whether the receipt is stored; issue the same draft again: %v", e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *IssueError) Unwrap() error { return e.Err }

// The stages, in order.
const (
	stageAccept = "accept" // the issuer is incomplete or closed, or the context ended before any work began
	stageSeal   = "seal"   // the draft is invalid or contains secrets
	stageHead   = "head"   // the stream's head could not be read
	stageSign   = "sign"   // the signer failed
	stageStore  = "store"  // the receipt was not appended, or the outcome is unknown
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

// storedError returns the error for a receipt_id that is already stored, or whose outcome is
// unknown.
func storedError(err error) error {
	e := &IssueError{Stage: stageStore, Err: err}
	switch {
	case errors.Is(err, ErrUnsigned):
		e.Stored = StoredYes
	case errors.Is(err, ErrDuplicateID):
		e.Stored = StoredNo
	case errors.As(err, new(*PrunedError)): // its content is not available for comparison
	default:
		e.Temporary = true
	}
	return e
}
