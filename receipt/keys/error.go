package keys

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// A SetError says why a key, or a file of keys, was refused. It never holds
// private key material.
type SetError struct {
	Code    receipt.Code // weak_key or invalid_key_set
	KeyID   string       // kid of the key, when it has one
	Index   int          // place of the key in the set, from 0; -1: the file as a whole, or a single key
	Pointer string       // RFC 6901
	Detail  string       // what was found and what to do

	// Form is what the file is instead, where there is a way to make of it what was
	// expected: "PEM", "PEM private key", "OpenSSH", "JWK" or "private JWK"; else "".
	Form string

	err error
}

// Error gives the place and the detail on one line.
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

// Unwrap returns the error of package canon when the file is not strict JSON.
func (e *SetError) Unwrap() error { return e.err }

func invalid(pointer, format string, args ...any) *SetError {
	return &SetError{Code: receipt.CodeInvalidKeySet, Index: -1, Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

func weak(pointer, format string, args ...any) *SetError {
	return &SetError{Code: receipt.CodeWeakKey, Index: -1, Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

// form says what the file is instead.
func (e *SetError) form(name string) *SetError {
	e.Form = name
	return e
}

// of names the key that an error is about.
func (e *SetError) of(id string) *SetError {
	e.KeyID = id
	return e
}

// at places an error about a single key in a set.
func (e *SetError) at(index int) *SetError {
	e.Index, e.Pointer = index, fmt.Sprintf("/keys/%d", index)+e.Pointer
	return e
}

const maxQuoted = 64 // bytes of foreign text in a message

func quote[T ~string | ~[]byte](s T) string { return foreign.Quote(s, maxQuoted) }
