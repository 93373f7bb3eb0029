package files

import (
	"bytes"
	"errors"
	"io"
)

// A locator finds documents again, in order, in the file from which they were extracted. It may
// find an earlier copy of a document, which does not matter, because the bytes are equal. A locator
// uses up to twice as much memory as the longest document.
type locator struct {
	r    io.ReaderAt
	buf  []byte // bytes that may contain the next document
	base int64  // offset of buf in the file
	at   int    // position in buf at which the search continues
}

// locateBytes is the number of bytes that are read at a time.
const locateBytes = 256 << 10

var errMoved = errors.New("the file changed while it was being indexed")

// find returns the offset of the next occurrence of doc.
func (l *locator) find(doc []byte) (offset int64, err error) {
	for {
		if i := bytes.Index(l.buf[l.at:], doc); i >= 0 {
			offset = l.base + int64(l.at+i)
			l.at += i + len(doc)
			return offset, nil
		}

		l.at = max(l.at, len(l.buf)-len(doc)+1) // doc may begin near the end of buf
		if err := l.more(len(doc)); err != nil {
			return 0, err
		}
	}
}

// more reads at least as many bytes as are searched again, so the total work is linear.
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
