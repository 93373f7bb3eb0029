package redact

import (
	"bytes"
	"slices"
	"strings"
)

// masked reports whether text consists only of a placeholder. The placeholder may be from this
// package, from a session bundle, from a recording (for a path outside the workspace), or from
// another program that uses a common placeholder.
func masked(text []byte) bool {
	if len(text) > 0 && remnantAt(text) == len(text) || string(text) == urlPlaceholder {
		return true
	}

	if label, ok := bytes.CutPrefix(text, []byte("(outside ")); ok {
		return isOutside(string(label))
	}
	switch lower := strings.ToLower(string(text)); lower {
	case "[redacted]", "<redacted>", "(redacted)", "redacted", "[withheld]", "<withheld>", "(withheld)", "withheld":
		return true
	default:
		return len(lower) >= 3 && strings.Trim(lower, "*") == ""
	}
}

// isOutside reports whether the rest of a label has a form that recordings use. The classes are
// those of package event.
func isOutside(label string) bool {
	if label == "the workspace)" {
		return true
	}
	number, class, _ := strings.Cut(label, ": ")
	switch class {
	case "git hook)", "git directory)", "agent directory)", "temporary)", "below home)", "system)", "elsewhere)":
		return number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == ""
	}
	return false
}

// remnantAt returns the length of the placeholder at the beginning of text, or 0 if there is none.
// The placeholder may contain any name, because it is not known which policy wrote it.
func remnantAt(text []byte) int {
	for _, known := range []string{placeholder, withheld} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}
	rest, ok := bytes.CutPrefix(text, []byte("<redacted:"))
	if !ok {
		return 0
	}

	// <redacted:NAME> or <redacted:NAME:LENGTH>. A name consists only of these characters.
	name := bytes.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789_-")
	if len(name) == len(rest) {
		return 0
	}
	if digits, ok := bytes.CutPrefix(name, []byte(":")); ok {
		name = bytes.TrimLeft(digits, "0123456789")
		if n := len(digits) - len(name); n == 0 || n > maxLength {
			return 0
		}
	}
	if len(name) == 0 || name[0] != '>' {
		return 0
	}
	return len(text) - len(name) + 1
}

// maxVariants is the maximum number of strings that are compared. Each round of each URL rule
// results in one string, and later rounds rarely find anything.
const maxVariants = 16

// isRemnant reports whether left can be the result of redacting whole. Detectors leave
// placeholders. The URL rules remove user information without leaving a trace, so they are applied
// to the original string, in any order and any number of times.
func isRemnant(left, whole []byte) bool {
	if !hasSlashes(whole) {
		return covers(left, whole)
	}

	rules := []urlRule{newURLRule(URLsWhole, false), newURLRule(URLsWhole, true), newURLRule(URLsAnywhere, false), newURLRule(URLsAnywhere, true)}

	variants := [][]byte{whole}
	for i := 0; i < len(variants); i++ {
		if covers(left, variants[i]) {
			return true
		}
		for _, u := range rules {
			c := cleaned{text: variants[i]}
			c.apply(union(u.deep(nil, c.text)))
			known := slices.ContainsFunc(variants, func(v []byte) bool { return bytes.Equal(v, c.text) })
			if !known && len(variants) < maxVariants {
				variants = append(variants, c.text)
			}
		}
	}
	return false
}

// hasSlashes reports whether text contains the two slashes of a URL, either as written or with one
// level of escapes removed.
func hasSlashes(text []byte) bool {
	if bytes.Contains(text, []byte("//")) {
		return true
	}
	for _, l := range levels() {
		if v, ok := decode(text, l.begins, l.decoder); ok && bytes.Contains(v.text, []byte("//")) {
			return true
		}
	}
	return false
}

// covers reports whether left is equal to whole if each placeholder in left represents some part of
// whole. The placeholder of a URL parameter represents part of a single parameter. This part ends
// before a fragment, but may extend beyond the value if a detector has found a secret that begins
// in the value.
func covers(left, whole []byte) bool {
	at, parameter := 0, false
	literal := func() []byte { // returns the text up to the next placeholder, and skips that placeholder
		start := at
		for ; at < len(left); at++ {
			n := 0
			switch c := left[at]; {
			case c == '[' || c == '<':
				n, parameter = remnantAt(left[at:]), false
			case c == '%' && bytes.HasPrefix(left[at:], []byte(urlPlaceholder)):
				n, parameter = len(urlPlaceholder), true
			}
			if n > 0 {
				at += n
				return left[start : at-n]
			}
		}
		at++ // no placeholder follows
		return left[start:]
	}

	// The original string must begin with the text before the first placeholder.
	first := literal()
	if at > len(left) {
		return bytes.Equal(left, whole)
	}
	whole, ok := bytes.CutPrefix(whole, first)
	if !ok {
		return false
	}
	for {
		within := parameter // whether the placeholder before next is for a URL parameter
		next := literal()
		last := at > len(left)
		i := bytes.Index(whole, next)
		if last {
			i = len(whole) - len(next)
		}
		if i < 0 || !bytes.HasPrefix(whole[i:], next) || within && bytes.ContainsAny(whole[:i], "&;") {
			return false
		}
		if last {
			return true
		}
		whole = whole[i+len(next):]
	}
}
