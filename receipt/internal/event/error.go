package event

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Code is the reason why an event or a frame is refused. Codes are never renamed.
type Code string

const (
	CodeMalformed  Code = "malformed"   // not an I-JSON object, or required envelope members are missing or of another type
	CodePayload    Code = "payload"     // a payload member has a type or value that the kind does not allow
	CodeConflict   Code = "conflict"    // two events with the same ID but different contents
	CodeOrder      Code = "order"       // a sequence not higher than the previous one of the resource
	CodeGap        Code = "gap"         // a missing sequence number of the task
	CodeOtherTask  Code = "other_task"  // a second task, but none was selected
	CodeTransition Code = "transition"  // a state that cannot follow the current state
	CodeAfterEnd   Code = "after_end"   // an event after the terminal event that would change the receipt
	CodeLimit      Code = "limit"       // too many events, entries, or bytes
	CodeCurrency   Code = "currency"    // costs in two currencies, which cannot be added
	CodeTime       Code = "time"        // a frame without a time
	CodeAmbiguous  Code = "ambiguous"   // a response that could answer either of two open requests
	CodeReplay     Code = "replay"      // a replay without replay.started, or two substitutions with the same key
	CodeSession    Code = "session"     // a second session, but none was selected
	CodeTwoFormats Code = "two_formats" // a line of an event log among frames, or the reverse
)

// An Error describes a refused event or frame. It contains no content of payloads.
type Error struct {
	Index   int    // number of the call of Add, from 1
	ID      string // of the event
	Kind    string // of the event or the frame
	Pointer string // JSON Pointer (RFC 6901) into the event or the frame; "" for the entire event or frame
	Code    Code
	Detail  string // the actual value and the expected values

	err error
}

// Error returns the location and the detail on one line.
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

// Unwrap returns a *[LimitError] if a limit was exceeded, or an error of package canon if the text
// is not strict JSON.
func (e *Error) Unwrap() error { return e.err }

// Unparsed returns the error for text that is not strict JSON.
func Unparsed(index int, kind string, err error) *Error {
	e := &Error{Index: index, Kind: kind, Code: CodeMalformed, Detail: err.Error(), err: err}
	var limit *LimitError
	if errors.As(err, &limit) {
		e.Code = CodeLimit
	}

	// Only the column is useful, because the caller knows the line number.
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

const maxQuoted = 64 // maximum bytes of untrusted text in a message

// Quote quotes untrusted text for a message.
func Quote(s string) string { return untrusted.Quote(s, maxQuoted) }
