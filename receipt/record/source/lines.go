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

// MaxLine is how many bytes a line of a log may have. Longer ones are passed over and
// counted: agents write results of tools, and images, into one.
const MaxLine = 64 << 20

// Lines yields the lines of a log that are not blank. They end with a line feed and
// nothing else: U+2028 stands raw in strings.
type lines struct {
	in    *bufio.Reader
	sum   hash.Hash
	bytes int64
	count int // that are not blank
	buf   []byte
	ended bool // the latest line ended with a line feed
	whole bool // values are read, wherever lines end: see value
	rest  []byte
}

const readBytes = 256 << 10

// newLines reads lines. Their digest is made unless another is known.
func newLines(in Input) *lines {
	if in.Sum != nil {
		return &lines{in: bufio.NewReaderSize(in, readBytes)}
	}
	l := &lines{sum: sha256.New()}
	l.in = bufio.NewReaderSize(io.TeeReader(in, l.sum), readBytes)
	return l
}

// next returns a line, and io.EOF after the last. The bytes are valid until the next call.
func (l *lines) next() (text []byte, overlong bool, err error) {
	if l.whole {
		return l.value()
	}
	for {
		text, overlong, err = l.line()
		if err != nil {
			return nil, false, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 || overlong {
			l.count++
			return text, overlong, nil
		}
	}
}

// line returns a line with its end. Of one that is too long nothing is kept.
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

		// Most lines are in the buffer of the reader as they are.
		if err == nil && len(l.buf) == 0 && !overlong {
			return part, false, nil
		}
		if overlong = overlong || len(l.buf)+len(part) > MaxLine; overlong {
			l.buf = l.buf[:0]
		} else {
			l.buf = event.AppendPart(l.buf, part, MaxLine)
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

// read returns the digest of all bytes, as they were given, and how many they are.
func (l *lines) read(in Input) (canon.Digest, int64) {
	if in.Sum != nil {
		return in.Sum()
	}
	return canon.Digest(l.sum.Sum(nil)), l.bytes
}

// from returns a line and what follows it, as far as it is looked at.
func (l *lines) from(line []byte) []byte {
	more, _ := l.in.Peek(maxLook)
	return bytes.Join([][]byte{line, more}, []byte("\n"))
}

// A nesting is the state of a scan for the end of a JSON value.
type nesting struct {
	depth           int // of brackets
	quoted, escaped bool
}

// scan reads the next part of the value and returns the number of its bytes up to the end of
// the value, or 0 if the value continues. Brackets in strings are characters (RFC 8259
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
			if n.depth--; n.depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// value returns the next object of a text that is JSON values wherever its lines end: one,
// several, or an array of them.
func (l *lines) value() (text []byte, overlong bool, err error) {
	l.buf = l.buf[:0]
	var n nesting
	for {
		part, err := l.chunk()
		if err != nil && err != io.EOF {
			return nil, false, err
		}

		from := 0 // where the object begins in this part
		if n.depth == 0 {
			between := part
			if from = bytes.IndexByte(part, '{'); from >= 0 {
				between = part[:from]
			}
			if strange := bytes.Trim(between, "[], \t\r\n\ufeff"); len(strange) > 0 { // what is no object is told as it is
				l.count++
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
			l.count++
			l.rest = part[from+size:]
			l.ended = true
			if overlong {
				return nil, true, nil
			}
			l.buf = append(l.buf, part[from:from+size]...)
			return l.buf, false, nil
		}

		if overlong = overlong || len(l.buf)+len(part)-from > MaxLine; overlong {
			l.buf = l.buf[:0]
		} else {
			l.buf = append(l.buf, part[from:]...)
		}
		if err == io.EOF { // it ends in the middle of an object
			l.count++
			l.ended = false
			return l.buf, overlong, nil
		}
	}
}

// chunk returns bytes that were not looked at yet.
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
