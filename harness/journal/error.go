package journal

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ErrNotWritten indicates that there was no space for a commit and that the file contains no part
// of it. The commit can be appended again.
var ErrNotWritten = errors.New("journal: the commit was not written")

// ErrInUse indicates that another program has the journal open.
var ErrInUse = errors.New("journal: another program has it open")

// A DamageError indicates that a line in a journal differs from what was written, and that a crash
// during writing cannot explain the difference.
type DamageError struct {
	Path string
	Line int // from 1
	Err  error
}

// Error returns the path, the line number, and the cause.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal: %q, line %d: %v; restore the file from a copy", e.Path, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// notWritten returns the error for a commit that left nothing in the file.
func notWritten(err error) error {
	e := protocol.Busy(1, "nothing was done: there is no room to record events")
	e.Cause = fmt.Errorf("%w: %w", ErrNotWritten, err)
	return e
}

// ErrTooLong indicates that a commit is longer than [MaxLine] and that no part of it was written.
var ErrTooLong = errors.New("journal: the commit is longer than a line may be")

// tooLong returns the error for a commit whose line would have the given length.
func tooLong(bytes int) error {
	e := &protocol.Error{Code: protocol.CodeTooLarge, Message: fmt.Sprintf("expected a body of at most %d bytes, found more", MaxLine)}
	e.Cause = fmt.Errorf("%w: %d bytes, expected at most %d", ErrTooLong, bytes, MaxLine)
	return e
}
