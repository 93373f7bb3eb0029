package canon

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Code identifies the cause of a syntax error. Codes are never renamed. Codes that callers need
// for comparisons have exported constants. The other codes are duplicate_name, invalid_utf8,
// lone_surrogate, number_range, trailing_data, and empty_input.
type Code string

const (
	CodeSyntax        Code = "syntax"         // not a JSON text (RFC 8259)
	codeDuplicateName Code = "duplicate_name" // two members with the same name after unescaping (RFC 7493 section 2.3)
	codeInvalidUTF8   Code = "invalid_utf8"   // bytes that are not UTF-8 (RFC 8259 section 8.1)
	codeLoneSurrogate Code = "lone_surrogate" // half a surrogate pair (RFC 7493 section 2.1)
	codeNumberRange   Code = "number_range"   // outside the range of a finite IEEE-754 double (RFC 8785 section 3.2.2.3)
	CodeDepthLimit    Code = "depth_limit"    // nesting deeper than the limit
	CodeSizeLimit     Code = "size_limit"     // longer than the limit
	codeTrailingData  Code = "trailing_data"  // bytes after the value
	codeEmptyInput    Code = "empty_input"    // no value
)

// A SyntaxError describes why input was rejected, and where the problem is.
type SyntaxError struct {
	Offset  int    // byte offset, from 0
	Line    int    // from 1; lines end with LF
	Column  int    // in bytes, from 1
	Pointer string // RFC 6901 pointer to the innermost value that had begun; truncated with "…" after 256 bytes
	Code    Code
	Detail  string // describes the expected and the actual input
	Hint    string // the probable cause; often empty
}

// Error returns the location and the detail on one line, for example
//
//	line 3, column 7 (offset 41, at "/a/b"): duplicate member name "b"
func (e *SyntaxError) Error() string {
	at := ""
	if e.Pointer != "" {
		at = fmt.Sprintf(", at %q", e.Pointer) // quoted, because the pointer contains untrusted text
	}
	return fmt.Sprintf("line %d, column %d (offset %d%s): %s", e.Line, e.Column, e.Offset, at, e.Detail)
}

// found describes the byte or character at an offset, for use in a message.
func found(src []byte, offset int) string {
	if offset >= len(src) {
		return "the end of the input"
	}
	r, size := utf8.DecodeRune(src[offset:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02x", src[offset])
	}
	return fmt.Sprintf("%q", r)
}

// hint returns the probable cause of an error that is typical of a common kind of damage, or "" for
// any other error.
func hint(src []byte, e *SyntaxError) string {
	const resaved = "; it was probably re-saved or pasted, ask for it as an attachment"
	rest := src[e.Offset:]

	// The beginning of the file is checked first, because it can explain any later error.
	switch {
	case e.Code == CodeSizeLimit: // the limit applies regardless of the content
		return ""
	case e.Code == codeEmptyInput:
		return "it is empty: check the path, or whatever should have written it"
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		return "the file starts with a byte order mark" + resaved
	case len(bytes.Trim(src[:min(len(src), 64)], "\x00")) == 0:
		return "the file begins with NUL bytes alone: its content was lost, as by a crash or a full disk; ask for it again"
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")),
		len(src) > 1 && (src[0] == 0 || src[1] == 0):
		return "the file looks like UTF-16, JSON is UTF-8" + resaved
	case e.Code == CodeSyntax && (bytes.HasPrefix(rest, []byte("“")) || bytes.HasPrefix(rest, []byte("”")) ||
		bytes.HasPrefix(rest, []byte("‘")) || bytes.HasPrefix(rest, []byte("’"))):
		return "the file has curly quotation marks" + resaved
	case e.Code == CodeSyntax && e.Column == 1 && bytes.HasPrefix(rest, []byte(">")):
		return "the file looks like a quoted mail" + resaved
	case e.Code == codeTrailingData && (rest[0] == '{' || rest[0] == '['):
		return "there are two documents in one file; give each a file of its own"
	}

	return ""
}

// These are limits, in bytes, on untrusted text in a message.
const (
	maxPointer = 256
	maxQuoted  = 80
)

// A stop is a position at which parsing stopped.
type stop struct {
	*parser
	offset int
}

// pointer returns the RFC 6901 pointer to the value at which parsing stopped. The pointer contains
// one token for each container that is still open.
func (s stop) pointer() string {
	var open []uint32 // innermost first
	for at := s.open; at != none; at = s.nodes[at].next {
		open = append(open, at)
	}

	// The loop goes from the outermost container to the innermost. If parsing stopped between two
	// values, the pointer refers to their container.
	var b []byte
	for i := len(open) - 1; i >= 0 && len(b) <= maxPointer; i-- {
		child := uint32(len(s.nodes))
		if i > 0 {
			child = open[i-1]
		} else if s.between(open[0]) {
			break
		}
		b = s.appendStep(b, open[i], child)
	}

	return untrusted.Cut(b, maxPointer)
}

// between reports whether parsing stopped at a place in an open container that belongs to none of
// its values. In an object, this is any place before the end of a member name. In an array, it is a
// place after an element and before the following comma.
func (s stop) between(container uint32) bool {
	last := uint32(none)
	for at := container + 1; at < uint32(len(s.nodes)); at = s.nodes[at].next {
		last = at
	}
	if n := &s.nodes[container]; n.kind == KindObject {
		return n.aux == none || n.aux != last
	}
	return last != none && bytes.IndexByte(s.src[s.nodes[last].end:s.offset], ',') < 0
}

// appendStep appends the reference token for a child of an open container to b. The child may not
// exist yet.
func (s stop) appendStep(b []byte, container, child uint32) []byte {
	if s.nodes[container].kind == KindObject {
		return AppendToken(b, string(s.text(s.nodes[container].aux)))
	}
	index := 0
	for at := container + 1; at < child; at = s.nodes[at].next {
		index++
	}
	return fmt.Appendf(b, "/%d", index)
}

// A PointerError describes why a string is not an RFC 6901 pointer.
type PointerError struct {
	Pointer string
	Offset  int // byte offset, from 0
	Detail  string
}

// Error returns a message with the pointer, the offset, and the detail.
func (e *PointerError) Error() string {
	return fmt.Sprintf("json pointer %q, byte %d: %s", untrusted.Cut(e.Pointer, maxQuoted), e.Offset, e.Detail)
}

// A digestError describes why a string is not a digest.
type digestError struct{ Text string }

func (e *digestError) Error() string {
	return fmt.Sprintf("expected sha256: and 64 lowercase hexadecimal digits, found %q", untrusted.Cut(e.Text, maxQuoted))
}
