package event

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Code identifies the reason why an event or a frame is refused. Codes are never renamed.
type Code string

const (
	CodeMalformed  Code = "malformed"   // the event is not an I-JSON object, or a required envelope member is missing or has the wrong type
	CodePayload    Code = "payload"     // a payload member has a type or value that is not allowed for this kind of event
	CodeConflict   Code = "conflict"    // two events have the same ID but different contents
	CodeOrder      Code = "order"       // a sequence number is not higher than the previous sequence number of the same resource
	CodeGap        Code = "gap"         // a sequence number of the task is missing
	CodeOtherTask  Code = "other_task"  // there is a second task, but the scope selects none
	CodeTransition Code = "transition"  // the task cannot change from its current state to this state
	CodeAfterEnd   Code = "after_end"   // an event after the terminal event would change the receipt
	CodeLimit      Code = "limit"       // there are too many events, entries, or bytes
	CodeCurrency   Code = "currency"    // costs are in two currencies, so they cannot be added
	CodeTime       Code = "time"        // a frame has no time
	CodeAmbiguous  Code = "ambiguous"   // a response could answer either of two open requests
	CodeReplay     Code = "replay"      // a replay has no replay.started event, or two substitutions have the same key
	CodeSession    Code = "session"     // there is a second session, but the scope selects none
	CodeTwoFormats Code = "two_formats" // a line of an event log is among frames, or a frame is among events
)

// An Error describes why an event or a frame was refused. It never contains the content of a
// payload.
type Error struct {
	Index   int    // number of the call to Add, from 1
	ID      string // of the event
	Kind    string // kind of the event or the frame
	Pointer string // JSON Pointer (RFC 6901) to a value in the event or the frame; "" for all of it
	Code    Code
	Detail  string // actual and expected value

	err error
}

// Error returns the location and the detail, on one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("event %d", e.Index)
	if e.Kind != "" {
		text += ", " + Quote(e.Kind)
	}
	if e.ID != "" {
		text += ", id " + Quote(e.ID)
	}
	if e.Pointer != "" {
		text += ", at " + Quote(e.Pointer)
	}
	return fmt.Sprintf("record: %s: %s: %s", text, e.Code, e.Detail)
}

// Unwrap returns a *[LimitError] if a limit was exceeded, or an error from package canon if the
// event is not strict JSON.
func (e *Error) Unwrap() error { return e.err }

// Unparsed returns the error for an event that is not strict JSON.
func Unparsed(index int, kind string, err error) *Error {
	e := &Error{Index: index, Kind: kind, Code: CodeMalformed, Detail: err.Error(), err: err}
	var limit *LimitError
	if errors.As(err, &limit) {
		e.Code = CodeLimit
	}

	// The message contains only the column, because the caller adds the line number.
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.Line == 1 {
			e.Detail = fmt.Sprintf("column %d: %s", syntax.Column, syntax.Detail)
		}
		if syntax.Code == canon.CodeSizeLimit || syntax.Code == canon.CodeDepthLimit {
			e.Code = CodeLimit
		}
	}
	return e
}

// OverLimit returns the error for an event that exceeds a limit.
func OverLimit(index int, name string, found int64) *Error {
	limit := exceeded(name, found)
	return &Error{Index: index, Code: CodeLimit, Detail: limit.Error(), err: limit}
}

const maxQuoted = 64 // maximum length of untrusted text in a message, in bytes

// Quote quotes untrusted text for a message.
func Quote(s string) string { return untrusted.Quote(s, maxQuoted) }
