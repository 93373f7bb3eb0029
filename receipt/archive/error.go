package archive

import (
	"bytes"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// These are the codes of an [ItemError], with the same spelling as in reports.
const (
	codeSyntax           = "syntax"                 // CBOR that is malformed (RFC 8949 appendix F) or truncated
	codeNonDeterministic = "non_deterministic_cbor" // well-formed, but not the output of Append for any value
	codeDuplicateName    = "duplicate_name"         // key that occurs twice in a map (RFC 8949 section 5.3.1)
	codeInvalidUTF8      = "invalid_utf8"           // string that is not UTF-8 (RFC 8949 section 5.3.1)
	codeNumberRange      = "number_range"           // NaN or infinity
	codeNumberPrecision  = "number_precision"       // integral number outside ±(2^53−1)
	codeDepthLimit       = "depth_limit"            // nesting deeper than receipt.MaxDepth
	codeSizeLimit        = "size_limit"             // item longer than MaxItemBytes, or JSON longer than receipt.MaxBytes
	codeTrailingData     = "trailing_data"          // bytes after the item
	codeEmptyInput       = "empty_input"            // no item
)

// An ItemError describes why a value cannot be archived or why data is not an archive, and where
// the problem is. If there are several problems, it describes the first one.
type ItemError struct {
	// Offset is the position of the problem in bytes, from 0: in the item for ToJSON, in the
	// sequence for Reader.Next, and in the JSON source for Append.
	Offset int64

	// Code is one of syntax, non_deterministic_cbor, duplicate_name, invalid_utf8, number_range,
	// number_precision, depth_limit, size_limit, trailing_data, and empty_input. These codes will
	// not be renamed.
	Code string

	Detail string // what was expected and what was found
	Hint   string // probable cause; often empty

	cut bool // whether the input ends inside the item
}

// Unwrap returns io.ErrUnexpectedEOF if the sequence ends inside an item that is well-formed up to
// that point. Otherwise, it returns nil.
func (e *ItemError) Unwrap() error {
	if e.cut {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Error returns the position and the detail as one line, such as
//
//	offset 17: expected no tag, found tag 1
func (e *ItemError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Detail) }

// refuse returns an error for an item or a sequence that begins with start.
func refuse(start []byte, offset int64, code, format string, args ...any) *ItemError {
	return &ItemError{Offset: offset, Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint(start)}
}

// hint describes the common mistake that start suggests, or returns "".
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

// clip truncates untrusted text that is quoted in a message.
func clip[T ~string | ~[]byte](text T) string { return untrusted.Cut(text, 80) }

// byteAt returns a description of the byte at a position, for use in a message.
func byteAt(b []byte, at int) string {
	if at >= len(b) {
		return "the end"
	}
	return fmt.Sprintf("the byte 0x%02x", b[at])
}
