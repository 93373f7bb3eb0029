package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// maxEcho is how many bytes of a request an error repeats.
const maxEcho = 64

// An Error is why a request is not answered as it asks. A handler returns it, and a client
// gets the protocol's envelope of it: all of it but Cause.
type Error struct {
	Code    Code
	Message string // for a person; foreign text in it is quoted and cut, and no secret is in it
	Param   string // what of the request is at fault; "" for none
	Details map[string]any
	Status  int         // 0: that of the code
	Type    string      // "": that of the code
	Header  http.Header // beside the usual ones
	Cause   error       // for the log, never for the client
}

// Error gives the code and the message, and for the log the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns Cause.
func (e *Error) Unwrap() error { return e.Cause }

// HTTPStatus is what the error is answered with.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Status()
}

// With sets a header of the answer, and returns e.
func (e *Error) With(name, value string) *Error {
	if e.Header == nil {
		e.Header = http.Header{}
	}
	e.Header.Set(name, value)
	return e
}

// ErrorOf returns the [*Error] that err is or wraps, and for any other an internal one with
// err as its cause: what no handler has worded, no client reads.
func ErrorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Internal(err, "the request could not be answered")
}

// Invalid says what is wrong with a part of a request: a parameter, a header, a member; ""
// is the whole. Foreign text in the message is quoted and bounded by its format, as %.40q.
func Invalid(param, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Param: cut(param), Message: fmt.Sprintf(format, args...)}
}

// NotFound is the same for what is absent and for what is hidden.
func NotFound() *Error {
	return &Error{Code: CodeNotFound, Message: "there is no such resource, or it may not be seen"}
}

// MethodNotAllowed is for a path that has routes for other methods only. No code of the closed
// list says that.
func MethodNotAllowed(allowed ...string) *Error {
	allow := strings.Join(slices.Compact(slices.Sorted(slices.Values(allowed))), ", ")
	e := &Error{Code: CodeInvalid, Status: http.StatusMethodNotAllowed, Message: "expected the method " + allow}
	return e.With("Allow", allow)
}

// NotImplemented is for what the protocol has, and this server does not. No code of the
// closed list says that.
func NotImplemented(what string) *Error {
	return &Error{Code: CodeInvalid, Status: http.StatusNotImplemented, Type: CodeInternal.Type(), Message: "this server does not implement " + what}
}

// Conflict says why a request cannot be done as things are now.
func Conflict(message string) *Error { return &Error{Code: CodeConflict, Message: message} }

// Expired is for a place in a list or a log that is gone, if it ever was there. param is what
// named it: cursor, after_event_id, Last-Event-ID.
func Expired(param string) *Error {
	return &Error{Code: CodeExpired, Param: param, Message: "the place that this cursor names is gone; begin without one"}
}

// Internal is a mistake of the server. Only the message is for the client.
func Internal(cause error, message string) *Error {
	return &Error{Code: CodeInternal, Message: message, Cause: cause}
}

// Busy asks the client to come again after some seconds.
func Busy(seconds int, message string) *Error {
	e := &Error{Code: CodeUnavailable, Message: message}
	return e.With("Retry-After", strconv.Itoa(max(seconds, 1)))
}

// TooLarge refuses a body beyond a limit; instead says what may be sent in its place.
func TooLarge(limit int64, instead string) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("expected a body of at most %d bytes, found more%s", limit, instead)}
}

// ClientClosed is for a client that left. Nobody reads it but the log.
func ClientClosed(cause error) *Error {
	return &Error{Code: CodeClientClosed, Message: "the client went away", Cause: cause}
}

// cut bounds foreign text.
func cut(text string) string { return foreign.Cut(text, maxEcho) }

// An envelope is the protocol's form of an error.
type envelope struct {
	Error envelopeError `json:"error"`
}

// An envelopeError is what an envelope holds.
type envelopeError struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	Param     *string        `json:"param"`
	RequestID string         `json:"request_id"`
	Details   map[string]any `json:"details"`
}

// Envelope returns what a client gets of an error, to be written as JSON.
func (e *Error) Envelope(requestID string) any {
	out := envelopeError{Code: e.Code.row().code, Message: e.Message, Type: cmp.Or(e.Type, e.Code.Type()), RequestID: requestID, Details: e.Details}
	if e.Param != "" {
		out.Param = &e.Param
	}
	if e.Details == nil {
		out.Details = map[string]any{}
	}
	return envelope{out}
}
