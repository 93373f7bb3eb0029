package redact

import (
	"bytes"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a text with one level of an encoding taken off, and the way back to
// the text it was made of.
type view struct {
	text  []byte
	marks []mark // ascending
}

// A mark says that from at in the view on, bytes are those from source on.
type mark struct{ at, source uint32 }

// source returns where in the source a byte of the view begins.
func (v *view) source(at int) int {
	i := sort.Search(len(v.marks), func(i int) bool { return int(v.marks[i].at) > at }) - 1
	return int(v.marks[i].source) + at - int(v.marks[i].at)
}

// A level is one encoding of a text within a text: what an escape begins with, and what
// decodes it.
type level struct {
	begins  byte
	decoder func([]byte) (decoded []byte, size int)
}

func levels() [2]level { return [...]level{{'%', percent}, {'\\', escape}} }

// decode takes one level off a text. It reports false when there is none. The
// decoder returns what the source begins with, and how long that is there.
func decode(source []byte, begins byte, decoder func([]byte) (decoded []byte, size int)) (view, bool) {
	// Most texts have no escapes.
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

		// Both ends are marked, so that places are found again in the source.
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

// escape decodes an escape of JSON (RFC 8259 section 7): of a JSON text within a
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

	// \uXXXX, of which a surrogate pair is two (RFC 8259 section 7).
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

// Agents log the tools of MCP servers as mcp__SERVER__TOOL. To a pattern "_" is a letter:
// a token behind "__" begins no word, and one before it ends none.
const (
	toolPrefix = "mcp__"
	joint      = "__"

	// part stands in the place of a joint: no pattern has it, and no word does.
	part = "\x1f\x1f"
)

// nameEnds are bytes that stand in no name, and maxToolName bounds one.
const (
	nameEnds    = " \t\r\n\"'`,;()[]{}<>\\"
	maxToolName = 512
)

// toolNames yields the names of tools in a text, and where they begin, in their parts: first
// with the joints behind mcp and SERVER alone, as a token may have one of its own, then with
// all of them.
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
