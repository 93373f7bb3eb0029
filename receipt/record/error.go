package record

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
)

// A Code names one cause for which an event or a frame is refused. Codes are
// never renamed.
type Code string

const (
	CodeMalformed  Code = "malformed"   // not an I-JSON object, or an envelope whose required members are missing or of another type
	CodePayload    Code = "payload"     // a member of the payload has another type or value than its kind allows
	CodeConflict   Code = "conflict"    // one event id with two contents
	CodeOrder      Code = "order"       // a sequence that is not higher than the one before it of the same resource
	CodeGap        Code = "gap"         // a sequence of the task that leaves one out
	CodeOtherTask  Code = "other_task"  // a second task, and no Options.TaskID that says which is meant
	CodeTransition Code = "transition"  // a state that the task cannot go to from where it is
	CodeAfterEnd   Code = "after_end"   // an event after the terminal one that would have changed the receipt
	CodeLimit      Code = "limit"       // more events, entries or bytes than are kept
	CodeCurrency   Code = "currency"    // costs in two currencies, which cannot be added
	CodeTime       Code = "time"        // a frame of which nothing tells the time
	CodeAmbiguous  Code = "ambiguous"   // a response that two open requests could have
	CodeReplay     Code = "replay"      // an event that only a replay has, and no replay.started, or two substitutions of one key
	CodeSession    Code = "session"     // a second session, and no Options.SessionID that says which is meant
	CodeTwoFormats Code = "two_formats" // a line of an event log among frames, or the other way round
)

// An Error says which event or frame was refused, and why. It holds no content
// of payloads.
type Error struct {
	Index   int    // which call of Add it was, from 1
	ID      string // of the event
	Kind    string // of the event or the frame
	Pointer string // RFC 6901, into the event or the frame; "" when it is the whole
	Code    Code
	Detail  string // what was expected and what was found

	err error
}

// Error gives the place and the detail on one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("event %d", e.Index)
	if e.Kind != "" {
		text += ", " + quote(e.Kind)
	}
	if e.ID != "" {
		text += ", id " + quote(e.ID)
	}
	if e.Pointer != "" {
		text += ", at " + quote(e.Pointer)
	}
	return fmt.Sprintf("record: %s: %s: %s", text, e.Code, e.Detail)
}

// Unwrap returns the *[LimitError] of a limit, and the error of package canon when
// the text is not strict JSON.
func (e *Error) Unwrap() error { return e.err }

// unparsed is the error for a text that is not strict JSON.
func unparsed(index int, kind string, err error) *Error {
	e := &Error{Index: index, Kind: kind, Code: CodeMalformed, Detail: err.Error(), err: err}
	var syntax *canon.SyntaxError
	var limit *LimitError
	if errors.As(err, &limit) {
		e.Code = CodeLimit
	}
	if errors.As(err, &syntax) && (syntax.Code == canon.CodeSizeLimit || syntax.Code == canon.CodeDepthLimit) {
		e.Code = CodeLimit
	}
	return e
}

// ErrNotEnded says that no terminal event has come yet: only a task that has
// ended gets a receipt.
var ErrNotEnded = errors.New("record: the task has not ended: no task.completed, task.failed or task.canceled was recorded")

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

const maxQuoted = 64 // bytes of foreign text in a message

func quote(s string) string {
	if len(s) <= maxQuoted {
		return fmt.Sprintf("%+q", s)
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%+q…", s[:cut])
}
