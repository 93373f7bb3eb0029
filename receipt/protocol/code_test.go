package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestCodes verifies that the table matches the protocol and has one row for each of its 18 codes.
func TestCodes(t *testing.T) {
	const table = `400 invalid_request request_error
400 invalid_state_transition request_error
401 unauthenticated auth_error
403 permission_denied permission_error
404 resource_not_found not_found_error
409 conflict conflict_error
409 idempotency_key_reused conflict_error
410 cursor_expired not_found_error
413 payload_too_large request_error
422 policy_violation permission_error
423 resource_locked conflict_error
426 unsupported_protocol_version request_error
429 rate_limited rate_limit_error
499 client_closed_request request_error
500 internal_error server_error
502 upstream_unavailable upstream_error
503 service_unavailable server_error
504 deadline_exceeded upstream_error`
	var lines []string
	for _, row := range codes {
		lines = append(lines, fmt.Sprint(row.status, " ", row.code, " ", row.kind))
	}
	if got := strings.Join(lines, "\n"); got != table {
		t.Errorf("the table is\n%s\nexpected\n%s", got, table)
	}
}

// TestClosedCodes verifies that a code that is not in the protocol's list is never sent.
func TestClosedCodes(t *testing.T) {
	e := &Error{Code: "teapot", Message: "short and stout"}
	text, err := json.Marshal(e.Envelope("r1"))
	const want = `{"error":{"code":"internal_error","message":"short and stout","type":"server_error","param":null,"request_id":"r1","details":{}}}`
	if err != nil || string(text) != want || e.status() != 500 {
		t.Errorf("%d %s, %v", e.status(), text, err)
	}
}

// TestEnvelope verifies that the envelope contains every part of an error except its cause.
func TestEnvelope(t *testing.T) {
	cause := fmt.Errorf("open /etc/secret: %w", io.ErrUnexpectedEOF)
	e := Invalid("limit", "limit is a number, found %.40q", "a\nb")
	e.Details, e.Cause = map[string]any{"n": 1}, cause
	text, err := json.Marshal(e.Envelope("r1"))
	const want = `{"error":{"code":"invalid_request","message":"limit is a number, found \"a\\nb\"","type":"request_error","param":"limit","request_id":"r1","details":{"n":1}}}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	if !strings.Contains(e.Error(), "/etc/secret") || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("the log does not see the cause: %v", e)
	}
	if long := Invalid(strings.Repeat("p", 1000), "x").Param; len(long) > 80 {
		t.Errorf("a param of %d bytes", len(long))
	}
}

// TestErrorOf verifies that the text of an unknown error is not sent to the client.
func TestErrorOf(t *testing.T) {
	plain := errorOf(errors.New("dial 10.0.0.1: refused"))
	if plain.status() != 500 || strings.Contains(fmt.Sprint(plain.Envelope("")), "10.0.0.1") {
		t.Errorf("%v", plain.Envelope(""))
	}
	if e := errorOf(fmt.Errorf("task: %w", Conflict("the task has ended"))); e.status() != 409 || e.Message != "the task has ended" {
		t.Errorf("%v", e)
	}
	if e := Busy(7, "later"); e.status() != 503 || e.Header.Get("Retry-After") != "7" {
		t.Errorf("%v %v", e, e.Header)
	}
}
