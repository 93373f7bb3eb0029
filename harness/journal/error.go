package journal

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ErrNotWritten says that there was no room for a commit, and that nothing of it is in the file: it
// may be appended again.
var ErrNotWritten = errors.New("journal: the commit was not written")

// ErrInUse says that another program has the journal open.
var ErrInUse = errors.New("journal: another program has it open")

// A DamageError says that a line of a journal is not as it was written, and that no crash while
// it was written explains that.
type DamageError struct {
	Path string
	Line int // from 1
	Err  error
}

// Error gives all of it.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal: %q, line %d: %v; restore the file from a copy", e.Path, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// notWritten is the error of a commit of which the file holds nothing.
func notWritten(err error) error {
	e := protocol.Busy(1, "nothing was done: there is no room to write down what happens")
	e.Cause = fmt.Errorf("%w: %w", ErrNotWritten, err)
	return e
}

// ErrTooLong says that a commit is longer than [MaxLine], and that nothing of it was written.
var ErrTooLong = errors.New("journal: the commit is longer than a line may be")

// tooLong is the error of a commit whose line would have so many bytes.
func tooLong(bytes int) error {
	e := protocol.TooLarge(MaxLine, "")
	e.Cause = fmt.Errorf("%w: %d bytes, expected at most %d", ErrTooLong, bytes, MaxLine)
	return e
}
