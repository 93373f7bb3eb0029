package receipt

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// AppendJSON appends a report, a summary or any other value as JSON on one line,
// with escapes for what encoding/json leaves raw in strings although a terminal
// or an editor might obey it: DEL, C1 controls, bidirectional overrides,
// invisible characters. What it returns with an error is dst.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	if r, ok := v.(*Report); ok && r.writable() {
		return r.appendJSON(dst)
	}
	return appendReflected(dst, v)
}

func appendReflected(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return dst, err
	}

	// RFC 8259 section 7: an escape beyond U+FFFF is a surrogate pair.
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < 0x7f || !foreign.Unsafe(r): // Marshal escapes the controls among these
			dst = append(dst, text[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		text = text[n:]
	}

	return dst, nil
}
