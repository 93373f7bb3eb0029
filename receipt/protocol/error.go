package serve

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// Codes of errors, of the closed list of the protocol.
const (
	codeInvalid      = "invalid_request"
	codeAuth         = "unauthenticated"
	codeForbidden    = "permission_denied"
	codeNotFound     = "resource_not_found"
	codeConflict     = "conflict"
	codeExpired      = "cursor_expired"
	codeKeyReused    = "idempotency_key_reused"
	codeTooLarge     = "payload_too_large"
	codeVersion      = "unsupported_protocol_version"
	codeInternal     = "internal_error"
	codeUnavailable  = "service_unavailable"
	codeDeadline     = "deadline_exceeded"
	typeRequest      = "request_error"
	typeServer       = "server_error"
	maxEcho          = 64 // bytes of a request that an error repeats
	retryAfterSecond = 1
)

// A fault is why a request is not answered as it asks.
type fault struct {
	status  int
	code    string
	message string // for a person; foreign text in it is quoted and cut
	param   string // what of the request is at fault; "" for none
	details map[string]any
	header  http.Header // beside the usual ones
	cause   error       // for the log, never for the client
}

// Error gives the code and the message, and for the log the cause.
func (f *fault) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.code, f.message, f.cause)
	}
	return f.code + ": " + f.message
}

// kind is the type that the protocol pairs with a code.
func (f *fault) kind() string {
	switch f.code {
	case codeAuth:
		return "auth_error"
	case codeForbidden:
		return "permission_error"
	case codeNotFound, codeExpired:
		return "not_found_error"
	case codeConflict, codeKeyReused:
		return "conflict_error"
	case codeDeadline:
		return "upstream_error"
	case codeInternal, codeUnavailable:
		return typeServer
	}
	return typeRequest
}

func (f *fault) with(name, value string) *fault {
	if f.header == nil {
		f.header = http.Header{}
	}
	f.header.Set(name, value)
	return f
}

// invalid says what is wrong with a part of a request.
func invalid(param, format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, code: codeInvalid, param: cut(param), message: fmt.Sprintf(format, args...)}
}

// notFound is the same for what is absent and for what is hidden.
func notFound() *fault {
	return &fault{status: http.StatusNotFound, code: codeNotFound, message: "there is no such resource, or it may not be seen"}
}

// expired is for a cursor whose place is gone, if it ever was there.
func expired() *fault {
	return &fault{status: http.StatusGone, code: codeExpired, param: "cursor", message: "the place that this cursor names is gone; begin without one"}
}

// moved is for a receipt that was there, and is in an archive now. Who may see all receipts
// is told where it is.
func moved(p *PrunedError, reach *Reach) *fault {
	f := &fault{status: http.StatusGone, code: codeNotFound, message: "the receipt was pruned: an archive has it, and its hash is left",
		details: map[string]any{"pruned": true, "receipt_hash": p.Hash}}
	if reach.All() {
		f.details["checkpoint"], f.details["archive"], f.details["archive_sha256"] = string(p.Checkpoint), p.Archive, p.Digest
	}
	return f
}

func internal(cause error, message string) *fault {
	return &fault{status: http.StatusInternalServerError, code: codeInternal, message: message, cause: cause}
}

// busy asks the client to come again.
func busy(message string) *fault {
	f := &fault{status: http.StatusServiceUnavailable, code: codeUnavailable, message: message}
	return f.with("Retry-After", strconv.Itoa(retryAfterSecond))
}

// tooLarge refuses a body beyond a limit; instead says what may be sent in its place.
func tooLarge(limit int64, instead string) *fault {
	return &fault{status: http.StatusRequestEntityTooLarge, code: codeTooLarge,
		message: fmt.Sprintf("expected a body of at most %d bytes, found more%s", limit, instead)}
}

func unsupportedMedia(param, format string, args ...any) *fault {
	f := invalid(param, format, args...)
	f.status = http.StatusUnsupportedMediaType
	return f
}

// cut bounds foreign text.
func cut(text string) string { return foreign.Cut(text, maxEcho) }

// envelope is the protocol's form of an error.
type envelope struct {
	Error envelopeError `json:"error"`
}

type envelopeError struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	Param     *string        `json:"param"`
	RequestID string         `json:"request_id"`
	Details   map[string]any `json:"details"`
}

func (f *fault) envelope(requestID string) envelope {
	e := envelopeError{Code: f.code, Message: f.message, Type: f.kind(), RequestID: requestID, Details: f.details}
	if f.param != "" {
		e.Param = &f.param
	}
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	return envelope{e}
}
