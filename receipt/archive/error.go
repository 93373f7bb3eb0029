package archive

import (
	"bytes"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// The codes of an [ItemError]. They are spelled as in reports.
const (
	codeSyntax           = "syntax"                 // malformed (RFC 8949 appendix F) or truncated CBOR
	codeNonDeterministic = "non_deterministic_cbor" // well-formed, but not an output of Append for any value
	codeDuplicateName    = "duplicate_name"         // duplicate keys in a map (RFC 8949 section 5.3.1)
	codeInvalidUTF8      = "invalid_utf8"           // text that is not UTF-8 (RFC 8949 section 5.3.1)
	codeNumberRange      = "number_range"           // NaN or an infinity
	codeNumberPrecision  = "number_precision"       // integral and outside ±(2^53−1)
	codeDepthLimit       = "depth_limit"            // nested deeper than receipt.MaxDepth
	codeSizeLimit        = "size_limit"             // longer than MaxItemBytes, or than receipt.MaxBytes as JSON
	codeTrailingData     = "trailing_data"          // bytes after the item
	codeEmptyInput       = "empty_input"            // no item at all
)

// An ItemError describes why and where a value cannot be archived, or why and where bytes are not
// an archive. It describes the first problem.
type ItemError struct {
	// Offset is in bytes from 0: in the item for ToJSON, in the sequence for Reader.Next, and in
	// the JSON source for Append.
	Offset int64

	// Code is one of syntax, non_deterministic_cbor, duplicate_name, invalid_utf8,
	// number_range, number_precision, depth_limit, size_limit, trailing_data, and empty_input.
	// Codes are never renamed.
	Code string

	Detail string // the expected and the actual input
	Hint   string // the probable cause; often empty

	cut bool // the input ends inside the item
}

// Unwrap returns io.ErrUnexpectedEOF if the item is well formed but truncated by the end of a
// sequence. Otherwise, it returns nil.
func (e *ItemError) Unwrap() error {
	if e.cut {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Error returns the location and the detail on one line, such as
//
//	offset 17: expected no tag, found tag 1
func (e *ItemError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Detail) }

// refuse returns the error for an item or sequence that begins with start.
func refuse(start []byte, offset int64, code, format string, args ...any) *ItemError {
	return &ItemError{Offset: offset, Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint(start)}
}

// hint recognizes common mistakes.
func hint(start []byte) string {
	text := bytes.TrimLeft(start[:min(len(start), 256)], space)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return ""
	}
	if next := bytes.TrimLeft(text[1:], space); len(next) == 0 || bytes.IndexByte([]byte(`"{}[]tfn-0123456789`), next[0]) >= 0 {
		return "the input looks like JSON text, not like CBOR; give it as JSON"
	}
	return ""
}

const space = " \t\r\n"

// clip truncates foreign text before a message quotes it.
func clip[T ~string | ~[]byte](text T) string { return untrusted.Cut(text, 80) }

// byteAt describes the byte at a position, for use in a message.
func byteAt(b []byte, at int) string {
	if at >= len(b) {
		return "the end"
	}
	return fmt.Sprintf("the byte 0x%02x", b[at])
}
