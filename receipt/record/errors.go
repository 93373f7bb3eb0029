package record

import (
	"errors"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// An Error describes an event or a frame that was refused: Index, which call of Add it was,
// from 1; ID and Kind of the event; Pointer, a JSON Pointer into it; Code; and Detail. It
// holds no content of payloads.
type Error = event.Error

// A Code is the cause for which an event or a frame is refused, such as conflict, gap, or
// limit. Codes are never renamed.
type Code = event.Code

// Causes that a caller can remove, by naming the task or the session that is meant, or by
// reading the log as another kind.
const (
	CodeMalformed = event.CodeMalformed // not an event
	CodeOtherTask = event.CodeOtherTask // a second task
	CodeSession   = event.CodeSession   // a second session
)

// A LimitError describes a limit that was exceeded: its Name, Most, what it counts, what to
// do, and how many were Found.
type LimitError = event.LimitError

// A LineError is an error at a line of a log: Line, from 1, and Err, such as an *[Error].
type LineError = event.LineError

// ErrNotEnded says that no terminal event has come yet: only a task that has
// ended gets a receipt.
var ErrNotEnded = errors.New("record: the task has not ended: no task.completed, task.failed or task.canceled was recorded")

// ErrEmpty says that a log has no line.
var ErrEmpty = errors.New("record: the input is empty: expected a line for each event")

// An OptionError says that a field of Options has a value that cannot be.
type OptionError struct {
	Name   string // of the field
	Detail string // what was found and what was expected
}

// Error gives both.
func (e *OptionError) Error() string { return "record: options: " + e.Name + " " + e.Detail }

// A MissingError names what neither the events nor the options say and a receipt
// cannot do without.
type MissingError struct{ Names []string } // names of fields of Options

// Error lists the names.
func (e *MissingError) Error() string {
	return "record: neither the events nor the options say: " + strings.Join(e.Names, ", ")
}
