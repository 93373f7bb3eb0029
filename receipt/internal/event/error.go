package event

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
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
	CodeOtherTask  Code = "other_task"  // a second task, and nobody says which is meant
	CodeTransition Code = "transition"  // a state that the task cannot go to from where it is
	CodeAfterEnd   Code = "after_end"   // an event after the terminal one that would have changed the receipt
	CodeLimit      Code = "limit"       // more events, entries or bytes than are kept
	CodeCurrency   Code = "currency"    // costs in two currencies, which cannot be added
	CodeTime       Code = "time"        // a frame of which nothing tells the time
	CodeAmbiguous  Code = "ambiguous"   // a response that two open requests could have
	CodeReplay     Code = "replay"      // an event that only a replay has, and no replay.started, or two substitutions of one key
	CodeSession    Code = "session"     // a second session, and nobody says which is meant
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

// Unwrap returns the *[LimitError] of a limit, and the error of package canon when
// the text is not strict JSON.
func (e *Error) Unwrap() error { return e.err }

// Unparsed is the error for a text that is not strict JSON.
func Unparsed(index int, kind string, err error) *Error {
	e := &Error{Index: index, Kind: kind, Code: CodeMalformed, Detail: err.Error(), err: err}
	var limit *LimitError
	if errors.As(err, &limit) {
		e.Code = CodeLimit
	}

	// The place is within the event: a line of its own has the caller's number already.
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

// OverLimit is the error for what goes beyond a limit, of the event of an index.
func OverLimit(index int, name string, found int64) *Error {
	limit := exceeded(name, found)
	return &Error{Index: index, Code: CodeLimit, Detail: limit.Error(), err: limit}
}

const maxQuoted = 64 // bytes of foreign text in a message

// Quote quotes foreign text for a message.
func Quote(s string) string { return foreign.Quote(s, maxQuoted) }
