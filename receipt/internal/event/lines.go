package event

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
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
		l.start = l.next
		line, err := l.in.ReadSlice('\n') // most are in the buffer of the reader as they are
		if err == bufio.ErrBufferFull {
			l.buf = append(l.buf[:0], line...)
			for err == bufio.ErrBufferFull && len(l.buf) <= MaxLine {
				line, err = l.in.ReadSlice('\n')
				l.buf = AppendPart(l.buf, line, MaxLine)
			}
			line = l.buf
		}

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

// Each calls do with each line that is not blank: its number, from 1, and its document, or why
// it is not strict JSON. The document is valid until do returns. An *[Error] that do returns
// becomes a *[LineError].
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

// AppendPart appends a part to a line that is to have no more than most bytes. The room for
// it is doubled, where append would add a quarter and copy what is long five times.
func AppendPart(line, part []byte, most int) []byte {
	if need := len(line) + len(part); need > cap(line) {
		room := max(min(2*cap(line), most), need)
		line = append(make([]byte, 0, room), line...)
	}
	return append(line, part...)
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
