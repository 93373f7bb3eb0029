package files

import (
	"bytes"
	"errors"
	"io"
)

// A locator finds documents again in the file from which they were extracted, in order. The found
// bytes equal those of the document, so it does not matter if they are an earlier copy. It holds up
// to twice the size of the longest document.
type locator struct {
	r    io.ReaderAt
	buf  []byte // bytes that may still be needed
	base int64  // of buf in the file
	at   int    // in buf, where the next document is sought
}

// locateBytes is the number of bytes that are read at a time.
const locateBytes = 256 << 10

var errMoved = errors.New("the file changed while it was being indexed")

// find returns where the next occurrence of doc begins.
func (l *locator) find(doc []byte) (offset int64, err error) {
	for {
		if i := bytes.Index(l.buf[l.at:], doc); i >= 0 {
			offset = l.base + int64(l.at+i)
			l.at += i + len(doc)
			return offset, nil
		}

		l.at = max(l.at, len(l.buf)-len(doc)+1) // it may begin in the buffered bytes
		if err := l.more(len(doc)); err != nil {
			return 0, err
		}
	}
}

// more reads at least as many bytes as are searched again, so the work is linear.
func (l *locator) more(n int) error {
	kept := copy(l.buf, l.buf[l.at:])
	l.base, l.at, l.buf = l.base+int64(l.at), 0, l.buf[:kept]
	if room := kept + max(n, locateBytes); cap(l.buf) < room {
		l.buf = append(make([]byte, 0, room), l.buf...)
	}

	count, err := l.r.ReadAt(l.buf[kept:cap(l.buf)], l.base+int64(kept))
	l.buf = l.buf[:kept+count]
	switch {
	case count > 0:
		return nil
	case err == io.EOF:
		return errMoved
	}
	return err
}
