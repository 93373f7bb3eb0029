package receipt

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
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
		case r < 0x7f || !Unsafe(r): // Marshal escapes the controls among these
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

// Unsafe reports whether a terminal might obey a character of foreign text, or a
// reader not see it.
func Unsafe(r rune) bool {
	switch r {
	case utf8.RuneError, '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // the latter are blank letters
		return true
	}
	return !unicode.IsPrint(r)
}

// EscapeLine makes foreign text safe to show on one line of a terminal, a log or a
// page: what is [Unsafe], and bytes that are not UTF-8, are written as escapes.
func EscapeLine(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}

	// Bytes that are not UTF-8 are shown one by one, so that nothing of the text is lost.
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Unsafe(r):
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", string(r)), `"`))
		default:
			b.WriteRune(r)
		}
		i += size
	}

	return b.String()
}
