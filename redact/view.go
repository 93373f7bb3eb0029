package redact

import (
	"bytes"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a string with one level of encoding removed, together with a mapping to positions in
// the original string.
type view struct {
	text  []byte
	marks []mark // ascending
}

// A mark states that the bytes from offset at in a view correspond to the bytes from offset source
// in the original string.
type mark struct{ at, source uint32 }

// source converts a position in the view to a position in the original string.
func (v *view) source(at int) int {
	i := sort.Search(len(v.marks), func(i int) bool { return int(v.marks[i].at) > at }) - 1
	return int(v.marks[i].source) + at - int(v.marks[i].at)
}

// A level describes an encoding of text within text: the first byte of its escapes, and a decoder
// for them.
type level struct {
	begins  byte
	decoder func([]byte) (decoded []byte, size int)
}

func levels() [2]level { return [...]level{{'%', percent}, {'\\', escape}} }

// decode removes one level of an encoding from a string. It returns false if the string contains no
// escapes of that encoding. The decoder returns the decoded form of the escape at the beginning of
// its argument, and the length of that escape.
func decode(source []byte, begins byte, decoder func([]byte) (decoded []byte, size int)) (view, bool) {
	// Most strings contain no escapes.
	at := bytes.IndexByte(source, begins)
	if at < 0 {
		return view{}, false
	}

	v := view{text: make([]byte, 0, len(source)), marks: []mark{{0, 0}}}

	copied := 0
	for at < len(source) {
		decoded, size := []byte(nil), 0
		if source[at] == begins {
			decoded, size = decoder(source[at:])
		}
		if size == 0 {
			at++
			continue
		}

		// Both ends of the escape are marked, so that positions can be mapped to the original
		// string.
		v.text = append(v.text, source[copied:at]...)
		v.mark(at)
		v.text = append(v.text, decoded...)
		at += size
		v.mark(at)
		copied = at
	}

	if copied == 0 {
		return view{}, false
	}
	v.text = append(v.text, source[copied:]...)
	return v, true
}

func (v *view) mark(source int) {
	m := mark{uint32(len(v.text)), uint32(source)}
	if last := &v.marks[len(v.marks)-1]; last.at == m.at {
		*last = m
		return
	}
	v.marks = append(v.marks, m)
}

// percent decodes %xx (RFC 3986 section 2.1).
func percent(s []byte) ([]byte, int) {
	if len(s) < 3 || !isHex(s[1]) || !isHex(s[2]) {
		return nil, 0
	}
	return []byte{hexValue(s[1])<<4 | hexValue(s[2])}, 3
}

// escape decodes a JSON escape sequence (RFC 8259 section 7), which may occur in JSON text within a
// string.
func escape(s []byte) ([]byte, int) {
	if len(s) < 2 {
		return nil, 0
	}

	switch s[1] {
	case '"', '\\', '/':
		return s[1:2], 2
	case 'b', 'f':
		return []byte{' '}, 2
	case 'n':
		return []byte{'\n'}, 2
	case 'r':
		return []byte{'\r'}, 2
	case 't':
		return []byte{'\t'}, 2
	}

	// The sequence is \uXXXX, or two such sequences for a surrogate pair (RFC 8259 section 7).
	r, ok := unicodeEscape(s)
	if !ok {
		return nil, 0
	}
	if low, ok := unicodeEscape(s[6:]); ok && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(nil, pair), 12
		}
	}

	return utf8.AppendRune(nil, r), 6
}

func unicodeEscape(s []byte) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range s[2:6] {
		if !isHex(c) {
			return 0, false
		}
		r = r<<4 | rune(hexValue(c))
	}
	return r, true
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// Agents record the tools of MCP servers under names of the form mcp__SERVER__TOOL. In a pattern,
// "_" is a word character, so there is no word boundary between "__" and a token.
const (
	toolPrefix = "mcp__"
	joint      = "__"

	// part replaces the "__" between the parts of such a name. It occurs in no pattern and contains
	// no word character.
	part = "\x1f\x1f"
)

// nameEnds contains bytes that cannot occur in a name, and maxToolName is the maximum length of a
// name.
const (
	nameEnds    = " \t\r\n\"'`,;()[]{}<>\\"
	maxToolName = 512
)

// toolNames yields the names of tools in a text with their parts separated, and where they
// begin: first separated only after mcp and SERVER, because a token may contain a joint, and
// then at all joints.
func toolNames(text []byte, yield func(name []byte, at int)) {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(toolPrefix))
		if i < 0 {
			return
		}
		begin := from + i
		name := text[begin:min(begin+maxToolName, len(text))]
		if end := bytes.IndexAny(name, nameEnds); end >= 0 {
			name = name[:end]
		}
		from = begin + len(name)
		if len(name) == len(toolPrefix) {
			continue
		}

		parted := bytes.Replace(name, []byte(joint), []byte(part), 2)
		yield(parted, begin)
		if all := bytes.ReplaceAll(name, []byte(joint), []byte(part)); !bytes.Equal(all, parted) {
			yield(all, begin)
		}
	}
}
