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
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// maxEcho is the maximum number of bytes of a request that an error may repeat.
const maxEcho = 64

// An Error describes why a request failed. If a handler returns an Error, the client receives it in
// the protocol's envelope, without Cause.
type Error struct {
	Code    Code
	Message string // for people; untrusted text in it is quoted and truncated, and it contains no secrets
	Param   string // the invalid part of the request, or ""
	Details map[string]any
	Status  int         // 0 means the default status of the code
	Type    string      // "" means the default type of the code
	Header  http.Header // sent in addition to the headers of every response
	Cause   error       // only for the log, never for the client
}

// Error returns the code, the message, and the cause, for use in a log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns Cause.
func (e *Error) Unwrap() error { return e.Cause }

// status returns the HTTP status of the error response.
func (e *Error) status() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.row().status
}

// with sets a response header and returns e.
func (e *Error) with(name, value string) *Error {
	if e.Header == nil {
		e.Header = http.Header{}
	}
	e.Header.Set(name, value)
	return e
}

// errorOf returns err if it is an [*Error], or the [*Error] that it wraps. Any other error becomes
// the cause of an internal error, so that clients never see it.
func errorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Internal(err, "the request could not be answered")
}

// Invalid returns a 400 error for an invalid part of a request: a parameter, a header, a member, or
// "" for the entire request. The format must quote and truncate untrusted text, for example with
// %.40q.
func Invalid(param, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Param: cut(param), Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a 404 error, which is the same for absent and hidden resources.
func NotFound() *Error {
	return &Error{Code: CodeNotFound, Message: "the resource does not exist or is not visible"}
}

// methodNotAllowed returns a 405 error for a path that is routed only for other methods. The
// protocol's closed list of codes has no code for this error.
func methodNotAllowed(allowed ...string) *Error {
	allow := strings.Join(slices.Compact(slices.Sorted(slices.Values(allowed))), ", ")
	e := &Error{Code: CodeInvalid, Status: http.StatusMethodNotAllowed, Message: "expected the method " + allow}
	return e.with("Allow", allow)
}

// Conflict returns a 409 error for a request that the current state does not allow.
func Conflict(message string) *Error { return &Error{Code: CodeConflict, Message: message} }

// Expired returns a 410 error for a position in a list or a log that no longer exists or never
// existed. param is the name of the cursor: cursor, after_event_id, or Last-Event-ID.
func Expired(param string) *Error {
	return &Error{Code: CodeExpired, Param: param, Message: "the item of this cursor no longer exists; start without a cursor"}
}

// Internal returns a 500 error. The client receives only the message, not the cause.
func Internal(cause error, message string) *Error {
	return &Error{Code: CodeInternal, Message: message, Cause: cause}
}

// Busy returns a 503 error that asks the client to retry after the given number of seconds.
func Busy(seconds int, message string) *Error {
	e := &Error{Code: CodeUnavailable, Message: message}
	return e.with("Retry-After", strconv.Itoa(max(seconds, 1)))
}

// tooLarge returns a 413 error for a body that exceeds a limit; instead describes the alternative.
func tooLarge(limit int64, instead string) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("expected a body of at most %d bytes, found more%s", limit, instead)}
}

// ClientClosed returns a 499 error for a client that has disconnected. This error is only logged.
func ClientClosed(cause error) *Error {
	return &Error{Code: CodeClientClosed, Message: "the client disconnected", Cause: cause}
}

// cut truncates untrusted text.
func cut(text string) string { return untrusted.Cut(text, maxEcho) }

// An envelope is the form in which the protocol represents an error.
type envelope struct {
	Error envelopeError `json:"error"`
}

// An envelopeError is the content of an envelope.
type envelopeError struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	Param     *string        `json:"param"`
	RequestID string         `json:"request_id"`
	Details   map[string]any `json:"details"`
}

// Envelope returns the value that is sent to a client as JSON.
func (e *Error) Envelope(requestID string) any {
	out := envelopeError{Code: e.Code.row().code, Message: e.Message, Type: cmp.Or(e.Type, e.Code.row().kind), RequestID: requestID, Details: e.Details}
	if e.Param != "" {
		out.Param = &e.Param
	}
	if e.Details == nil {
		out.Details = map[string]any{}
	}
	return envelope{out}
}

// A Code identifies a kind of error for programs. The protocol does not allow any other codes.
type Code string

// These are the codes that the protocol defines.
const (
	CodeInvalid      Code = "invalid_request"              // 400: the request is malformed or has an invalid value
	CodeTransition   Code = "invalid_state_transition"     // 400: the resource is in a state that does not allow the operation
	CodeAuth         Code = "unauthenticated"              // 401: the key is missing or invalid
	CodeForbidden    Code = "permission_denied"            // 403: the client lacks the required permission
	CodeNotFound     Code = "resource_not_found"           // 404: the resource is absent or hidden
	CodeConflict     Code = "conflict"                     // 409: the current state does not allow the request
	CodeKeyReused    Code = "idempotency_key_reused"       // 409: the key was used with another body
	CodeExpired      Code = "cursor_expired"               // 410: the position in the list or log no longer exists
	CodeTooLarge     Code = "payload_too_large"            // 413: a limit is exceeded
	CodePolicy       Code = "policy_violation"             // 422: a policy on personas, quotas, approvals, or capabilities is violated
	CodeLocked       Code = "resource_locked"              // 423: a branch, a worker, or a lease holds the resource
	CodeVersion      Code = "unsupported_protocol_version" // 426: the protocol version is missing or unsupported
	CodeRate         Code = "rate_limited"                 // 429: the client has exceeded its limits
	CodeClientClosed Code = "client_closed_request"        // 499: the client has disconnected
	CodeInternal     Code = "internal_error"               // 500: internal error
	CodeUpstream     Code = "upstream_unavailable"         // 502: a service that the server depends on failed
	CodeUnavailable  Code = "service_unavailable"          // 503: draining, saturated
	CodeDeadline     Code = "deadline_exceeded"            // 504: timeout
)

// A codeRow contains a code with its default status and type.
type codeRow struct {
	code   Code
	status int
	kind   string
}

// codes is the table of codes from the protocol, in the same order.
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

// statusClientClosed is not defined by any RFC. This status is only logged.
const statusClientClosed = 499

// row returns the row of the table for a code. A code that is not in the table is a mistake in the
// server, and is treated as an internal error.
func (c Code) row() codeRow {
	for _, row := range codes {
		if row.code == c {
			return row
		}
	}
	return CodeInternal.row()
}

// WithoutText removes quoted input from a syntax error. The input may be a key that was pasted into
// a file or sent by mistake.
func WithoutText(err error) error {
	if syntax, ok := err.(*canon.SyntaxError); ok {
		return fmt.Errorf("%s at byte %d", syntax.Code, syntax.Offset)
	}
	return err
}

// logged escapes and truncates a string for a log.
func logged(text string) string { return untrusted.Escape(untrusted.Cut(text, 1000)) }
