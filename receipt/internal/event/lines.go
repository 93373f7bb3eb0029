package event

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
)

// Lines reads the nonblank lines of a log.
type Lines struct {
	in     *bufio.Reader
	number int
	next   int64 // offset of the line that is read next
	start  int64 // offset of the latest line that was read
	buf    []byte
}

// NewLines returns a Lines that reads from in.
func NewLines(in io.Reader) *Lines { return &Lines{in: bufio.NewReader(in)} }

// Next returns the next nonblank line, or io.EOF after the last line. The line is valid until the
// next call. If a line is too long, the error is a *[LineError].
func (l *Lines) Next() ([]byte, error) {
	for {
		l.start = l.next
		line, err := l.in.ReadSlice('\n') // most lines fit into the buffer of the reader
		if err == bufio.ErrBufferFull {
			l.buf = append(l.buf[:0], line...)
			for err == bufio.ErrBufferFull && len(l.buf) <= MaxLine {
				line, err = l.in.ReadSlice('\n')
				l.buf = AppendPart(l.buf, line, MaxLine)
			}
			line = l.buf
		}

		// The rest of a line that exceeds the limit is not read.
		l.next += int64(len(line))
		if len(line) > 0 {
			l.number++
		}
		switch {
		case err == bufio.ErrBufferFull:
			return nil, &LineError{l.number, OverLimit(l.number, "MaxLine", int64(len(line)))}
		case err != nil && err != io.EOF:
			return nil, err
		}

		if text := bytes.TrimSpace(line); len(text) > 0 {
			return text, nil
		}
		if err == io.EOF {
			return nil, io.EOF
		}
	}
}

// Each calls do for each nonblank line. The arguments are the line number, starting at 1, and
// either the document or, if the line is not strict JSON, an error. The document is valid only
// until do returns. If do returns an *[Error], Each returns a *[LineError] that contains it.
func Each(in io.Reader, do func(line int, doc *canon.Document, wrong *Error) error) error {
	lines, doc := NewLines(in), new(canon.Document)
	for n := 1; ; n++ {
		text, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}

		var wrong *Error
		if err := Parse(doc, text); err != nil {
			wrong = Unparsed(n, "", err)
		}
		err = do(lines.Line(), doc, wrong)
		var refused *Error
		if errors.As(err, &refused) {
			return &LineError{lines.Line(), refused}
		}
		if err != nil {
			return err
		}
	}
}

// AppendPart appends part to a line. The argument "most" is the maximum length of a line in bytes.
// If necessary, AppendPart doubles the capacity, because append would grow a long line by only a
// quarter and copy it five times.
func AppendPart(line, part []byte, most int) []byte {
	if need := len(line) + len(part); need > cap(line) {
		room := max(min(2*cap(line), most), need)
		line = append(make([]byte, 0, room), line...)
	}
	return append(line, part...)
}

// A LineError adds a line number to an error.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error returns the line number and the message of the error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the underlying error, such as an *[Error].
func (e *LineError) Unwrap() error { return e.Err }

// Line returns the number of the latest line, from 1.
func (l *Lines) Line() int { return l.number }

// Offset returns the offset of the latest line, in bytes.
func (l *Lines) Offset() int64 { return l.start }
