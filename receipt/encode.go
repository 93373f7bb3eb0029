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

	for {
		n := plain(text)
		dst, text = append(dst, text[:n]...), text[n:]
		if len(text) == 0 {
			return dst, nil
		}

		r, n := utf8.DecodeRune(text)
		dst, text = appendRune(dst, r, text[:n]), text[n:]
	}
}

// plain returns how many bytes a text begins with that stay as they are: ASCII, of which
// Marshal escapes the controls, but for DEL.
func plain(text []byte) int {
	for i, c := range text {
		if c >= 0x7f {
			return i
		}
	}
	return len(text)
}

func appendRune(dst []byte, r rune, text []byte) []byte {
	switch {
	case !foreign.Unsafe(r):
		return append(dst, text...)
	case r > 0xffff: // RFC 8259 section 7: an escape is a surrogate pair
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}
