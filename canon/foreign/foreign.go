// Package foreign makes text that somebody else wrote fit for a message: bounded,
// quoted, and with nothing in it that a terminal would obey. Every package of this
// module words its errors and reports by it.
//
// The exported names may still change.
package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Head returns the start of a text: at most so many bytes, and no part of a character.
func Head[T ~string | ~[]byte](text T, most int) T {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Cut returns the start of a text, and dots where it goes on. Whoever prints it must
// quote or escape it.
func Cut[T ~string | ~[]byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return string(Head(text, most)) + "…"
}

// Quote quotes the start of a text in ASCII, as %+q does; dots after the quotes say
// that it goes on.
func Quote[T ~string | ~[]byte](text T, most int) string {
	if len(text) <= most {
		return fmt.Sprintf("%+q", text)
	}
	return fmt.Sprintf("%+q…", Head(text, most))
}

// Number says how long a number is that a message is about, and not which: it may be
// one of an account, in the place of another.
func Number[T ~string | ~[]byte](text T) string {
	if len(text) == 1 {
		return "a number of 1 character"
	}
	return fmt.Sprintf("a number of %d characters", len(text))
}

// Unsafe reports whether a terminal might obey a character, or a reader not see it.
func Unsafe(r rune) bool {
	switch r {
	case utf8.RuneError, '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // the latter are blank letters
		return true
	}
	return !unicode.IsPrint(r)
}

// Escape makes a text safe to show on one line of a terminal, a log or a page: what
// is [Unsafe], and bytes that are not UTF-8, are written as escapes.
func Escape(s string) string {
	if plain(s) || !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
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

// plain reports whether all of a text is ASCII that shows: most is, and quickly seen to be.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
