package rows

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
)

// How many bytes of a text a cell holds.
const (
	mostText  = 256
	mostWords = 1024 // of a sentence of ours, which quotes and cuts what is foreign
)

// appendCut appends a text; of one that is too long its beginning, dots, and the SHA-256
// of all of it. What was cut is longer than any text that was not, so no text can be
// made that looks like another one that was cut.
func appendCut[T ~string | ~[]byte](b []byte, text T) []byte {
	if len(text) <= mostText {
		return append(b, text...)
	}
	whole := sha256.Sum256([]byte(text))
	b = append(append(b, foreign.Head(text, mostText)...), "…sha256:"...)
	return hex.AppendEncode(b, whole[:])
}

// cut is appendCut for a text that may be the name of a file, and not UTF-8.
func cut(text string) string {
	if !utf8.ValidString(text) {
		text = foreign.Escape(text)
	}
	if len(text) <= mostText {
		return text
	}
	return string(appendCut(nil, text))
}

// words is a sentence, for people.
func words(text string) string {
	if !utf8.ValidString(text) {
		text = foreign.Escape(text)
	}
	return foreign.Cut(text, mostWords)
}

// appendStream appends what names a stream, as a JSON array.
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
