package attest

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Error says why something is no attestation of a receipt, or cannot become one.
type Error struct {
	// Code is attestation_invalid or attestation_mismatch for what is malformed or
	// contradicts itself, and attestation_unsupported for what may be true and is of
	// another kind than is judged here. A payload that is not strict JSON has the code of
	// that.
	Code    receipt.Code
	Pointer string // RFC 6901, into the bundle; "" for what is not read from one
	Detail  string // what was expected and what was found
}

// Error gives the place and the detail on one line.
func (e *Error) Error() string {
	text := "attestation: "
	if e.Pointer != "" {
		text += fmt.Sprintf("at %s: ", foreign.Quote(e.Pointer, maxQuoted))
	}
	return text + e.Detail
}

// Supported reports whether it is of the kind that is judged here: what is not may be true
// all the same.
func (e *Error) Supported() bool { return e.Code != receipt.CodeAttestationUnsupported }

func invalid(pointer, format string, args ...any) *Error {
	return &Error{receipt.CodeAttestationInvalid, pointer, fmt.Sprintf(format, args...)}
}

func unsupported(pointer, format string, args ...any) *Error {
	return &Error{receipt.CodeAttestationUnsupported, pointer, fmt.Sprintf(format, args...)}
}

// notStrict words why a text is not strict JSON.
func notStrict(pointer, what string, err error) *Error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return invalid(pointer, "%s: %v", what, err)
	}
	return &Error{receipt.Code(syntax.Code), pointer, fmt.Sprintf("%s, line %d, column %d: %s", what, syntax.Line, syntax.Column, syntax.Detail)}
}

const maxQuoted = 80 // bytes of foreign text in a message

func quote[T ~string | ~[]byte](s T) string { return foreign.Quote(s, maxQuoted) }
