package protocol

import "net/http"

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
