package canon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// string parses the string whose opening quotation mark is at start (RFC 8259 section 7). A string
// without a backslash is canonical, because RFC 8785 section 3.2.2.2 escapes only characters for
// which JSON requires an escape.
func (p *parser) string(start int) (int, error) {
	i := start + 1
	for {
		i = plain(p.src, i)
		if i == len(p.src) {
			return i, p.expected("the closing quote of a string", i)
		}

		switch c := p.src[i]; {
		case c == '"':
			p.add(KindString, start, i+1, none, true)
			return i + 1, nil
		case c == '\\':
			return p.escaped(start, i)
		default:
			size, err := p.character(i)
			if err != nil {
				return i, err
			}
			i += size
		}
	}
}

// escaped parses the rest of a string from its first backslash on, and stores the unescaped
// content.
func (p *parser) escaped(start, i int) (int, error) {
	begin, clean := len(p.unescaped), true
	p.unescaped = append(p.unescaped, p.src[start+1:i]...)
	for {
		run := plain(p.src, i)
		p.unescaped = append(p.unescaped, p.src[i:run]...)
		if i = run; i == len(p.src) {
			return i, p.expected("the closing quote of a string", i)
		}

		switch c := p.src[i]; {
		case c == '"':
			p.spans = append(p.spans, span{uint32(begin), uint32(len(p.unescaped))})
			p.add(KindString, start, i+1, uint32(len(p.spans)-1), clean)
			return i + 1, nil
		case c == '\\':
			r, size, err := p.escape(i)
			if err != nil {
				return i, err
			}
			p.unescaped = utf8.AppendRune(p.unescaped, r)
			// In canonical form, each character has exactly one spelling (RFC 8785 section
			// 3.2.2.2).
			clean = clean && minimal(r, p.src[i:i+size])
			i += size
		default:
			size, err := p.character(i)
			if err != nil {
				return i, err
			}
			p.unescaped = append(p.unescaped, p.src[i:i+size]...)
			i += size
		}
	}
}

// minimal reports whether sequence is the canonical spelling of r (RFC 8785 section 3.2.2.2).
func minimal(r rune, sequence []byte) bool {
	if r >= 0x20 && r != '"' && r != '\\' {
		return false // these characters must not be escaped
	}
	var buf [6]byte
	return bytes.Equal(appendEscape(buf[:0], byte(r)), sequence)
}

// character checks the byte at which [plain] stopped: a control character, which is not allowed
// without an escape, or the first byte of a non-ASCII character.
func (p *parser) character(i int) (size int, err error) {
	if c := p.src[i]; c < 0x20 {
		return 0, p.fail(CodeSyntax, i, fmt.Sprintf(`expected the control character 0x%02x to be escaped as \u%04x`, c, c))
	}
	r, size := utf8.DecodeRune(p.src[i:])
	if r == utf8.RuneError && size == 1 {
		return 0, p.fail(codeInvalidUTF8, i, fmt.Sprintf("expected UTF-8, found the byte 0x%02x", p.src[i]))
	}
	return size, nil
}

// escape parses the escape sequence at i (RFC 8259 section 7). It parses a surrogate pair as a
// single character.
func (p *parser) escape(i int) (r rune, size int, err error) {
	if i+1 < len(p.src) {
		switch c := p.src[i+1]; c {
		case '"', '\\', '/':
			return rune(c), 2, nil
		case 'b':
			return '\b', 2, nil
		case 'f':
			return '\f', 2, nil
		case 'n':
			return '\n', 2, nil
		case 'r':
			return '\r', 2, nil
		case 't':
			return '\t', 2, nil
		case 'u':
			return p.unicodeEscape(i)
		}
	}
	return 0, 0, p.expected(`one of "\/bfnrtu after the backslash`, i+1)
}

func (p *parser) unicodeEscape(i int) (rune, int, error) {
	first, ok := hex4(p.src, i+2)
	if !ok {
		return 0, 0, p.fail(CodeSyntax, i, `expected four hexadecimal digits after \u`)
	}
	if !utf16.IsSurrogate(first) {
		return first, 6, nil
	}

	// A character beyond U+FFFF is written as two escape sequences (RFC 8259 section 7).
	if i+7 < len(p.src) && p.src[i+6] == '\\' && p.src[i+7] == 'u' {
		if second, ok := hex4(p.src, i+8); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12, nil
			}
		}
	}

	return 0, 0, p.fail(codeLoneSurrogate, i, fmt.Sprintf(`expected a surrogate pair, found \u%04x alone`, first))
}

func hex4(src []byte, i int) (rune, bool) {
	if i+4 > len(src) {
		return 0, false
	}

	// The letters A to F may be in uppercase or lowercase (RFC 8259 section 7).
	var r rune
	for _, c := range src[i : i+4] {
		if 'A' <= c && c <= 'F' {
			c |= 0x20
		}
		digit := hexDigit(c)
		if digit > 15 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}

	return r, true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the position of the first byte at or after i that is not a plain character of a
// string. Such a byte is a quotation mark, a backslash, a control character, or part of a non-ASCII
// character. The function plain tests eight bytes at a time.
func plain(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		if h := hits(src[i : i+8]); h != 0 {
			return i + bits.TrailingZeros64(h)/8
		}
	}
	for i < len(src) && src[i] >= 0x20 && src[i] < 0x80 && src[i] != '"' && src[i] != '\\' {
		i++
	}
	return i
}

// hits sets the high bit of each of the eight bytes that is not a plain character of a string. In a
// non-ASCII byte, the high bit is already set. The subtractions set the high bit of the other
// bytes, and sometimes of a non-ASCII byte, which is a hit in any case. A borrow can affect only
// bytes above the lowest hit, and the caller uses only the lowest hit.
func hits(eight []byte) uint64 {
	w := binary.LittleEndian.Uint64(eight)
	return (w | (w - ones*0x20) | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones)) & highs
}

// AppendString appends the canonical form of a string (RFC 8785 section 3.2.2.2) to dst, in
// quotation marks. It uses the two-character escapes \" \\ \b \t \n \f \r, and \u00xx with
// lowercase digits for other control characters. All other characters are unchanged. The text must
// be valid UTF-8.
func AppendString[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		dst = appendEscape(dst, c)
	}
	return append(append(dst, text[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}

	// Digits in escapes are in lowercase (RFC 8785 section 3.2.2.2).
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
