package attest

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Error describes why a document is not an attestation of a receipt, or why a receipt cannot be
// attested.
type Error struct {
	// Code is attestation_invalid if a document is malformed, attestation_mismatch if it is
	// contradictory, and attestation_unsupported if its kind is unsupported. A document of an
	// unsupported kind may be valid. If the payload is not strict JSON, Code is the code of the
	// syntax error.
	Code    receipt.Code
	Pointer string // JSON Pointer (RFC 6901) into the bundle; "" if the error is not about a bundle
	Detail  string // the expected and the actual value
}

// Error returns the location and the detail on one line.
func (e *Error) Error() string {
	text := "attestation: "
	if e.Pointer != "" {
		text += fmt.Sprintf("at %s: ", untrusted.Quote(e.Pointer, maxQuoted))
	}
	return text + e.Detail
}

// Supported reports whether the kind of the document is supported. A document of an unsupported
// kind may be valid.
func (e *Error) Supported() bool { return e.Code != receipt.CodeAttestationUnsupported }

func invalid(pointer, format string, args ...any) *Error {
	return &Error{receipt.CodeAttestationInvalid, pointer, fmt.Sprintf(format, args...)}
}

func unsupported(pointer, format string, args ...any) *Error {
	return &Error{receipt.CodeAttestationUnsupported, pointer, fmt.Sprintf(format, args...)}
}

// notStrict returns the error for input that is not strict JSON.
func notStrict(pointer, what string, err error) *Error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return invalid(pointer, "%s: %v", what, err)
	}
	return &Error{receipt.Code(syntax.Code), pointer, fmt.Sprintf("%s, line %d, column %d: %s", what, syntax.Line, syntax.Column, syntax.Detail)}
}

const maxQuoted = 80 // maximum number of bytes of untrusted text in a message

func quote[T ~string | ~[]byte](s T) string { return untrusted.Quote(s, maxQuoted) }
