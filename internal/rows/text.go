package rows

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// Maximum sizes of strings in a cell, in bytes.
const (
	mostText  = 256
	mostWords = 1024 // limit for this module's sentences, in which untrusted text is quoted and truncated
)

// appendCut appends a string of limited length. If the string is too long, appendCut appends its
// beginning, "…", and the SHA-256 of the entire string. A truncated string is longer than any
// string that was not truncated, so the two cannot be confused.
func appendCut[T ~string | ~[]byte](b []byte, text T) []byte {
	if len(text) <= mostText {
		return append(b, text...)
	}
	whole := sha256.Sum256([]byte(text))
	b = append(append(b, untrusted.Head(text, mostText)...), "…sha256:"...)
	return hex.AppendEncode(b, whole[:])
}

// cut is like appendCut, but for a string that may be a file name or invalid UTF-8.
func cut(text string) string {
	if !utf8.ValidString(text) {
		text = untrusted.Escape(text)
	}
	if len(text) <= mostText {
		return text
	}
	return string(appendCut(nil, text))
}

// words truncates a sentence that is written for people.
func words(text string) string {
	if !utf8.ValidString(text) {
		text = untrusted.Escape(text)
	}
	return untrusted.Cut(text, mostWords)
}

// appendStream appends the name of a stream as a JSON array.
func appendStream(b, issuer, tenant []byte, hasTenant bool, workspace []byte) []byte {
	var scratch [2 * mostText]byte
	quoted := func(text []byte) []byte { return canon.AppendString(b, appendCut(scratch[:0], text)) }

	b = append(b, '[')
	b = append(quoted(issuer), ',')
	if hasTenant {
		b = quoted(tenant)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, ',')
	return append(quoted(workspace), ']')
}
