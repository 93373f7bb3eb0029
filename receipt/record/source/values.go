package source

import (
	"bytes"
	"io"
	"strings"
)

// value returns the next object of a text that is JSON values wherever its lines end: one,
// several, or an array of them.
func (l *lines) value() (text []byte, overlong bool, err error) {
	l.buf = l.buf[:0]
	depth, quoted, escaped := 0, false, false
	for {
		part, err := l.chunk()
		if err != nil && err != io.EOF {
			return nil, false, err
		}

		from := 0 // where the object begins in this part
		if depth == 0 {
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

		// RFC 8259 section 7: brackets within strings are none.
		for i := from; i < len(part); i++ {
			switch c := part[i]; {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					l.count++
					l.rest = part[i+1:]
					l.ended = true
					if overlong {
						return nil, true, nil
					}
					l.buf = append(l.buf, part[from:i+1]...)
					return l.buf, false, nil
				}
			}
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

// looks reports whether a text begins as an export of OTLP does, wherever its lines end.
func looks(head []byte) bool {
	text := strings.TrimPrefix(string(bytes.Join(bytes.Fields(bytes.TrimPrefix(head, []byte("\ufeff"))), nil)), "[")
	for _, name := range []string{"resourceSpans", "resourceLogs", "resourceMetrics", "batches"} {
		if strings.HasPrefix(text, `{"`+name+`":[`) {
			return true
		}
	}
	return false
}
