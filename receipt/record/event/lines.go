package event

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// A Lines yields the lines that are not blank.
type Lines struct {
	in     *bufio.Reader
	number int
	next   int64 // where the next line begins
	start  int64 // where the latest began
	buf    []byte
}

func NewLines(in io.Reader) *Lines { return &Lines{in: bufio.NewReader(in)} }

// Next returns a line, and io.EOF after the last. The bytes are valid until the next
// call. A line that is too long is a *[LineError].
func (l *Lines) Next() ([]byte, error) {
	for {
		l.buf, l.start = l.buf[:0], l.next
		var err error
		for more := true; more; {
			var part []byte
			part, err = l.in.ReadSlice('\n')
			l.buf = append(l.buf, part...)
			more = err == bufio.ErrBufferFull && len(l.buf) <= MaxLine
		}

		l.next += int64(len(l.buf))
		if len(l.buf) > 0 {
			l.number++
		}
		switch {
		case err == bufio.ErrBufferFull:
			return nil, &LineError{l.number, OverLimit(l.number, "MaxLine", int64(len(l.buf)))}
		case err != nil && err != io.EOF:
			return nil, err
		}

		if text := bytes.TrimSpace(l.buf); len(text) > 0 {
			return text, nil
		}
		if err == io.EOF {
			return nil, io.EOF
		}
	}
}

// A LineError is an error at a line of a log.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error gives the line and the error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error, such as an *[Error].
func (e *LineError) Unwrap() error { return e.Err }

// Line is the number of the line that came last, from 1.
func (l *Lines) Line() int { return l.number }

// Offset is where the line that came last begins, in bytes from the start of the log.
func (l *Lines) Offset() int64 { return l.start }
