package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// errLong says that a line was longer than is read. It was passed over.
var errLong = errors.New("the line is too long")

// Lines reads lines of at most so many bytes, with their line feeds.
type lines struct {
	from *bufio.Reader
	most int
}

// next returns the next line that is not blank. What comes before the end without a line
// feed is a line, too: of an object no beginning is another object, so that a half one
// cannot be taken for a whole one.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (l *lines) line() (line []byte, err error) {
	long, some := false, false
	for {
		part, err := l.from.ReadSlice('\n')
		some = some || len(part) > 0
		if long = long || len(line)+len(part) > l.most; long {
			line = nil // nothing of it is needed
		} else {
			line = event.AppendPart(line, part, l.most)
		}

		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !(some && errors.Is(err, io.EOF)):
			return nil, err
		case long:
			return nil, errLong
		}
		return line, nil
	}
}
