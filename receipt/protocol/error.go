package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
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

// A Code says to a program what is wrong with a request. The list of the protocol is
// closed: there is none but these.
type Code string

// The codes of the protocol.
const (
	CodeInvalid      Code = "invalid_request"              // 400: a bad form or value
	CodeTransition   Code = "invalid_state_transition"     // 400: the life of the resource does not allow it
	CodeAuth         Code = "unauthenticated"              // 401: no key, or a wrong one
	CodeForbidden    Code = "permission_denied"            // 403: the client may not
	CodeNotFound     Code = "resource_not_found"           // 404: absent or hidden
	CodeConflict     Code = "conflict"                     // 409: not as things are now
	CodeKeyReused    Code = "idempotency_key_reused"       // 409: the key came with another body
	CodeExpired      Code = "cursor_expired"               // 410: the place is gone
	CodeTooLarge     Code = "payload_too_large"            // 413: beyond a limit
	CodePolicy       Code = "policy_violation"             // 422: persona, quota, approval, capability
	CodeLocked       Code = "resource_locked"              // 423: held by a branch, a worker, a lease
	CodeVersion      Code = "unsupported_protocol_version" // 426: no version, or another
	CodeRate         Code = "rate_limited"                 // 429: too much for this client
	CodeClientClosed Code = "client_closed_request"        // 499: the client went away
	CodeInternal     Code = "internal_error"               // 500: a mistake of the server
	CodeUpstream     Code = "upstream_unavailable"         // 502: what the server depends upon failed
	CodeUnavailable  Code = "service_unavailable"          // 503: draining, saturated
	CodeDeadline     Code = "deadline_exceeded"            // 504: it took too long
)

// A codeRow is a code, the status it is answered with, and the type that is paired with it.
type codeRow struct {
	code   Code
	status int
	kind   string
}

// codes is the table of the protocol, in its order.
var codes = [...]codeRow{
	{CodeInvalid, http.StatusBadRequest, "request_error"},
	{CodeTransition, http.StatusBadRequest, "request_error"},
	{CodeAuth, http.StatusUnauthorized, "auth_error"},
	{CodeForbidden, http.StatusForbidden, "permission_error"},
	{CodeNotFound, http.StatusNotFound, "not_found_error"},
	{CodeConflict, http.StatusConflict, "conflict_error"},
	{CodeKeyReused, http.StatusConflict, "conflict_error"},
	{CodeExpired, http.StatusGone, "not_found_error"},
	{CodeTooLarge, http.StatusRequestEntityTooLarge, "request_error"},
	{CodePolicy, http.StatusUnprocessableEntity, "permission_error"},
	{CodeLocked, http.StatusLocked, "conflict_error"},
	{CodeVersion, http.StatusUpgradeRequired, "request_error"},
	{CodeRate, http.StatusTooManyRequests, "rate_limit_error"},
	{CodeClientClosed, statusClientClosed, "request_error"},
	{CodeInternal, http.StatusInternalServerError, "server_error"},
	{CodeUpstream, http.StatusBadGateway, "upstream_error"},
	{CodeUnavailable, http.StatusServiceUnavailable, "server_error"},
	{CodeDeadline, http.StatusGatewayTimeout, "upstream_error"},
}

// statusClientClosed is of no RFC: nobody reads it but the log.
const statusClientClosed = 499

// row returns the row of a code. What is not in the closed list is a mistake of ours, and
// is told as such.
func (c Code) row() codeRow {
	for _, row := range codes {
		if row.code == c {
			return row
		}
	}
	return CodeInternal.row()
}

// Status returns the HTTP status of a code; 500 for what is none.
func (c Code) Status() int { return c.row().status }

// Type returns the type that the protocol pairs with a code; server_error for what is none.
func (c Code) Type() string { return c.row().kind }

// WithoutText keeps of a syntax error what cannot hold a key that was pasted into a file,
// or sent, by mistake.
func WithoutText(err error) error {
	if syntax, ok := err.(*canon.SyntaxError); ok {
		return fmt.Errorf("%s at byte %d", syntax.Code, syntax.Offset)
	}
	return err
}

// Clean takes out of a text what would begin a new line, and bounds it: for a log.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if foreign.Unsafe(r) {
			return '?'
		}
		return r
	}, text)
	return foreign.Cut(text, 1000)
}
