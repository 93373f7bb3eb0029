package bundle

import (
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A step is a member name or, if the index is not negative, an element index.
type step struct {
	name  string
	index int
}

// appendStep appends a step in path syntax: .name if the name consists only of ASCII letters,
// digits, and underscores, ["name"] for any other name, and [n] for an element.
func appendStep(path []byte, s step) []byte {
	if s.index >= 0 {
		return append(strconv.AppendInt(append(path, '['), int64(s.index), 10), ']')
	}
	if isPlain(s.name) {
		return append(append(path, '.'), s.name...)
	}
	return append(canon.AppendString(append(path, '['), s.name), ']')
}

func isPlain(name string) bool {
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// parsePath parses a path in the form that appendStep writes, with a leading $. It reports false
// for any other string.
func parsePath(path string) (steps []step, ok bool) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		var s step
		s, rest, ok = parseStep(rest)
		steps = append(steps, s)
	}
	return steps, ok
}

func parseStep(path string) (s step, rest string, ok bool) {
	if name, dotted := strings.CutPrefix(path, "."); dotted {
		end := len(name)
		if i := strings.IndexAny(name, ".["); i >= 0 {
			end = i
		}
		return step{name[:end], -1}, name[end:], isPlain(name[:end])
	}

	inner, bracket := strings.CutPrefix(path, "[")
	if !bracket {
		return step{}, "", false
	}

	if !strings.HasPrefix(inner, `"`) {
		digits, rest, found := strings.Cut(inner, "]")
		n, err := strconv.ParseUint(digits, 10, 31)
		return step{"", int(n)}, rest, found && err == nil && strconv.FormatUint(n, 10) == digits
	}

	// A quoted name is a JSON string and ends where that string ends.
	end := 1
	for end < len(inner) && inner[end] != '"' {
		if inner[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(inner) || !strings.HasPrefix(inner[end+1:], "]") {
		return step{}, "", false
	}

	// Only the spelling that appendStep writes is accepted.
	doc, err := canon.Parse([]byte(inner[:end+1]))
	if err != nil || !doc.IsCanonical() || isPlain(doc.Root().String()) {
		return step{}, "", false
	}
	return step{doc.Root().String(), -1}, inner[end+2:], true
}

// pointerOf returns the JSON Pointer (RFC 6901) for the same location.
func pointerOf(steps []step) string {
	var b []byte
	for _, s := range steps {
		if s.index >= 0 {
			b = strconv.AppendInt(append(b, '/'), int64(s.index), 10)
			continue
		}
		b = canon.AppendToken(b, s.name)
	}
	return string(b)
}
