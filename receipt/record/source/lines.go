package source

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Maximum sizes of a line and of a log that is a single value, in bytes. Longer lines are skipped
// and counted. Agents write tool results and images on a single line.
const (
	maxLine  = 64 << 20
	maxValue = 256 << 20
)

const readBytes = 256 << 10

// lines returns the nonblank lines of a log. Only a line feed ends a line, because strings may
// contain U+2028 unescaped.
type lines struct {
	in    *bufio.Reader
	sum   hash.Hash
	bytes int64
	count int // number of nonblank lines
	buf   []byte
	ended bool // the latest line ended with a line feed
	whole bool // values that span lines are supported; see value
	rest  []byte
}

// A rawLine is an unparsed line.
type rawLine struct {
	text     []byte // empty if the line is too long; valid until the next line
	overlong bool
	end      int64 // number of bytes up to and including the line ending
}

// newLines reads lines. It computes the digest of the input unless the input provides one.
func newLines(in Input) *lines {
	if in.Sum != nil {
		return &lines{in: bufio.NewReaderSize(in, readBytes)}
	}
	l := &lines{sum: sha256.New()}
	l.in = bufio.NewReaderSize(io.TeeReader(in, l.sum), readBytes)
	return l
}

// next returns the next line, or io.EOF after the last line.
func (l *lines) next() (rawLine, error) {
	for {
		read := l.line
		if l.whole {
			read = l.value
		}
		text, overlong, err := read()
		if err != nil {
			return rawLine{}, err
		}

		// The line ending and surrounding spaces are not part of the value.
		if !l.whole {
			text = bytes.TrimSpace(text)
		}
		if len(text) > 0 || overlong {
			l.count++
			return rawLine{text, overlong, l.bytes}, nil
		}
	}
}

// line returns a line including its end, or reports that the line is too long.
func (l *lines) line() (text []byte, overlong bool, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		first := l.bytes == 0
		if l.bytes += int64(len(part)); first {
			part = bytes.TrimPrefix(part, []byte("\ufeff"))
		}

		switch {
		case err == nil:
			l.ended = true
		case err != bufio.ErrBufferFull && err != io.EOF:
			return nil, false, err
		}

		// Most lines fit into the reader's buffer.
		if err == nil && len(l.buf) == 0 && !overlong {
			return part, false, nil
		}
		// The first line may be an entire log that is a single value.
		most := maxLine
		if l.count == 0 {
			most = maxValue
		}
		if overlong = overlong || len(l.buf)+len(part) > most; overlong {
			l.buf = l.buf[:0]
		} else {
			l.buf = event.AppendPart(l.buf, part, most)
		}

		switch {
		case err == nil:
			return l.buf, overlong, nil
		case err == io.EOF && len(l.buf) == 0 && !overlong:
			return nil, false, io.EOF
		case err == io.EOF:
			l.ended = false
			return l.buf, overlong, nil
		}
	}
}

// read returns the digest and the number of all bytes.
func (l *lines) read(in Input) (canon.Digest, int64) {
	if in.Sum != nil {
		return in.Sum()
	}
	return canon.Digest(l.sum.Sum(nil)), l.bytes
}

// from returns a line and the next maxLook bytes after it.
func (l *lines) from(line []byte) []byte {
	more, _ := l.in.Peek(maxLook)
	return bytes.Join([][]byte{line, more}, []byte("\n"))
}

// A nesting is the state of a scan for the end of a JSON value.
type nesting struct {
	depth           int // of brackets
	quoted, escaped bool
}

// scan reads the next part of the value, and returns the number of bytes up to the end of the
// value, or 0 if the value continues. Brackets inside strings are ordinary characters (RFC 8259
// section 7).
func (n *nesting) scan(part []byte) int {
	for i, c := range part {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted && c == '\\':
			n.escaped = true
		case c == '"':
			n.quoted = !n.quoted
		case n.quoted:
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			// The value ends when all of its brackets are closed.
			if n.depth--; n.depth == 0 {
				return i + 1
			}
		}
	}

	return 0
}

// value returns the next object in a log whose JSON values may span lines: one value, several
// values, or an array of values. Anything between objects is returned unchanged, so that it is
// counted as unreadable.
func (l *lines) value() (text []byte, overlong bool, err error) {
	l.buf = l.buf[:0]
	var n nesting
	for {
		part, err := l.chunk()
		if err != nil && err != io.EOF {
			return nil, false, err
		}

		from := 0 // offset of the object in this part
		if n.depth == 0 {
			between := part
			if from = bytes.IndexByte(part, '{'); from >= 0 {
				between = part[:from]
			}
			if strange := bytes.Trim(between, "[], \t\r\n\ufeff"); len(strange) > 0 {
				l.buf, l.rest = append(l.buf, strange...), part[len(between):]
				return l.buf, false, nil
			}
			if from < 0 {
				if err == io.EOF {
					return nil, false, io.EOF
				}
				continue
			}
		}

		if size := n.scan(part[from:]); size > 0 {
			l.rest = part[from+size:]
			l.ended = true
			if overlong {
				return nil, true, nil
			}
			l.buf = append(l.buf, part[from:from+size]...)
			return l.buf, false, nil
		}

		if overlong = overlong || len(l.buf)+len(part)-from > maxValue; overlong {
			l.buf = l.buf[:0]
		} else {
			l.buf = event.AppendPart(l.buf, part[from:], maxValue)
		}

		// The log ends in the middle of an object.
		if err == io.EOF {
			l.ended = false
			return l.buf, overlong, nil
		}
	}
}

// chunk returns bytes that have not been scanned yet.
func (l *lines) chunk() ([]byte, error) {
	if len(l.rest) > 0 {
		part := l.rest
		l.rest = nil
		return part, nil
	}
	part, err := l.in.ReadSlice('\n')
	l.bytes += int64(len(part))
	if len(part) > 0 {
		err = nil
	}
	return part, err
}

// replacement is the JSON escape of U+FFFD.
const replacement = `\ufffd`

// whole replaces lone surrogates (RFC 8259, section 7), which agents write when they cut text in
// the middle of a character outside the Basic Multilingual Plane. It returns nil if there are no
// lone surrogates. A digest of the result would not be a digest of the original text.
func whole(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		at := bytes.IndexByte(text[i:], '\\')
		if at < 0 || i+at+1 >= len(text) {
			break
		}
		i += at
		if text[i+1] != 'u' {
			i += 2
			continue
		}

		// A surrogate pair represents one character. A lone surrogate is replaced with a character
		// whose escape has the same length.
		switch half := surrogate(text[i:]); {
		case half == 'h' && surrogate(text[i+6:]) == 'l':
			i += 12
		case half != 0:
			if out == nil {
				out = bytes.Clone(text)
			}
			copy(out[i:], replacement)
			i += 6
		default:
			i += 2
		}
	}

	return out
}

// surrogate returns 'h' for the escape of a high surrogate, 'l' for the escape of a low surrogate,
// and 0 for anything else.
func surrogate(text []byte) byte {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}

	for _, c := range text[3:6] {
		if !bytes.ContainsRune([]byte("0123456789abcdefABCDEF"), rune(c)) {
			return 0
		}
	}

	// The high surrogates are D800 to DBFF, and the low surrogates are DC00 to DFFF.
	switch text[3] | 0x20 {
	case '8', '9', 'a', 'b':
		return 'h'
	case 'c', 'd', 'e', 'f':
		return 'l'
	}

	return 0
}
