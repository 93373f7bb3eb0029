package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Pretty appends a JSON text indented by two spaces, as people and most tools
// print it.
func Pretty(dst, text []byte) []byte {
	b := bytes.NewBuffer(dst)
	if err := json.Indent(b, text, "", "  "); err != nil {
		panic(err) // receipts of this package are JSON
	}
	return b.Bytes()
}

// ASCII appends a JSON text with every character beyond ASCII written as \uXXXX
// (RFC 8259 section 7), as json.dumps of Python does.
func ASCII(dst, text []byte) []byte {
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst, text = append(dst, text[0]), text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		for _, unit := range utf16.AppendRune(nil, r) {
			dst = fmt.Appendf(dst, `\u%04x`, unit)
		}
	}
	return dst
}
