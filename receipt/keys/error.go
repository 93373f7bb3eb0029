package keys

import (
	"fmt"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// A SetError describes why a key or a key file was rejected. It never contains private key
// material.
type SetError struct {
	Code    receipt.Code // weak_key or invalid_key_set
	KeyID   string       // kid of the key, if it has one
	Index   int          // index of the key in the set, starting at 0; -1 for a single key or the entire file
	Pointer string       // RFC 6901
	Detail  string       // what is wrong, and sometimes what to do

	// Form is the format that the file actually has, if the file can be converted: "PEM", "PEM
	// private key", "OpenSSH", "JWK", or "private JWK". Otherwise, it is "".
	Form string

	err error
}

// Error returns the location and the detail on one line.
func (e *SetError) Error() string {
	text := "key file: "
	if e.err == nil && e.Pointer != "" {
		text += fmt.Sprintf("at %s: ", e.Pointer)
	}
	if e.KeyID != "" {
		text += fmt.Sprintf("key %s: ", quote(e.KeyID))
	}
	return text + e.Detail
}

// Unwrap returns the error from package canon if the file is not strict JSON, or nil otherwise.
func (e *SetError) Unwrap() error { return e.err }

func invalid(pointer, format string, args ...any) *SetError {
	return &SetError{Code: receipt.CodeInvalidKeySet, Index: -1, Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

func weak(pointer, format string, args ...any) *SetError {
	return &SetError{Code: receipt.CodeWeakKey, Index: -1, Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

// form sets the format that the file actually has.
func (e *SetError) form(name string) *SetError {
	e.Form = name
	return e
}

// of sets the ID of the key that has the error.
func (e *SetError) of(id string) *SetError {
	e.KeyID = id
	return e
}

// at adds the index of the key in the set to an error about the key.
func (e *SetError) at(index int) *SetError {
	e.Index, e.Pointer = index, fmt.Sprintf("/keys/%d", index)+e.Pointer
	return e
}

const maxQuoted = 64 // maximum length of quoted untrusted text in a message, in bytes

func quote[T ~string | ~[]byte](s T) string { return untrusted.Quote(s, maxQuoted) }
