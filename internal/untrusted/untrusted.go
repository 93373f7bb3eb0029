// Package untrusted prepares untrusted text for messages. It truncates and quotes text, and escapes
// characters that a terminal would interpret. All packages of this module use it to format errors
// and reports.
package untrusted

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Head returns the longest prefix of a string that has at most the given number of bytes and does
// not end with a partial character.
func Head[T ~string | ~[]byte](text T, most int) T {
	if len(text) <= most {
		return text
	}

	// A cut inside a character would leave bytes that are not valid UTF-8.
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Cut returns the start of a string, followed by "…" if the string is longer. Callers that print
// the result must quote or escape it.
func Cut[T ~string | ~[]byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return string(Head(text, most)) + "…"
}

// Quote quotes the start of a string in ASCII, as %+q does. If the text is longer, "…" follows the
// closing quote.
func Quote[T ~string | ~[]byte](text T, most int) string {
	if len(text) <= most {
		return fmt.Sprintf("%+q", text)
	}
	return fmt.Sprintf("%+q…", Head(text, most))
}

// Number describes a number by its length instead of its value, because a misplaced number, such as
// an account number, may be confidential.
func Number[T ~string | ~[]byte](text T) string {
	if len(text) == 1 {
		return "a number of 1 character"
	}
	return fmt.Sprintf("a number of %d characters", len(text))
}

// Unsafe reports whether a terminal might interpret a character, or whether a reader might not see
// it.
func Unsafe(r rune) bool {
	switch r {
	case utf8.RuneError, '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // all but RuneError are blank letters
		return true
	}
	return !unicode.IsPrint(r)
}

// Escape returns a form of the text that is safe to display on one line of a terminal, a log, or a
// page. Characters that are [Unsafe] and bytes that are not valid UTF-8 are escaped.
func Escape(s string) string {
	if plain(s) || !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}

	// Bytes that are not valid UTF-8 are escaped one by one, so that no part of the text is lost.
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

// plain reports whether a string consists of printable ASCII characters. Most strings do, and this
// check is fast.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
