package archive

import (
	"errors"
	"fmt"
	"io"
)

// A Reader reads a CBOR sequence (RFC 8742) item by item. Its memory is at most twice the size of
// the longest item read so far. Before it returns an item, it reads no further than the end of that
// item, except for bytes that a single Read of the source returned.
type Reader struct {
	source io.Reader
	failed error // error from the source, returned once the buffered bytes are used up
	err    error // the result of all further calls

	buf   []byte // bytes that were read but not yet used
	begin int    // position of the current item in buf
	size  int    // length of the part of the current item that was examined

	index  int
	offset int64 // offset of buf[begin] in the sequence
}

const firstBuffer = 64 << 10

// NewReader returns a Reader for r.
func NewReader(r io.Reader) *Reader { return &Reader{source: r} }

// Index returns the number of the item that Next last returned or rejected, counted from 1. It
// returns 0 before the first item.
func (r *Reader) Index() int { return r.index }

// Offset returns the position of that item in the sequence, in bytes from 0. After Next has
// returned io.EOF, Offset is the length of the sequence.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the bytes of the next item, which are valid until the next call. Items are well
// formed and have definite lengths. [Codec.ToJSON] checks whether an item is an archive. At the end
// of the sequence, the error is io.EOF. If an item is malformed, truncated, too long, or has an
// indefinite length, the error is an *[ItemError]. Other errors are the source's errors. Every
// error ends the sequence, and all later calls return the same error, because the start of the next
// item is unknown.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}

	// RFC 8742: a sequence has no end marker. If no item begins here, the sequence is complete.
	r.begin += r.size
	r.offset += int64(r.size)
	r.size = 0
	if err := r.more(1); err != nil {
		r.err = err
		return nil, err
	}

	r.index++
	if err := r.item(); err != nil {
		r.err = r.cutOff(err)
		return nil, r.err
	}
	end := r.begin + r.size
	return r.buf[r.begin:end:end], nil
}

// cutOff returns the error for the end of the input inside an item.
func (r *Reader) cutOff(err error) error {
	if err != io.EOF {
		return err
	}
	cut := r.refuse(len(r.buf)-r.begin, codeSyntax, "expected the rest of item %d, begun at offset %d, found the end of the input", r.index, r.offset)
	cut.cut = true
	return cut
}

// item finds the end of the current item. With definite lengths, it is sufficient to count the
// remaining values.
func (r *Reader) item() error {
	for pending := uint64(1); pending > 0; pending-- {
		h, err := r.head()
		if err != nil {
			return err
		}

		// RFC 8949 section 3.1: the argument is a length in bytes, or a number of further values.
		content := uint64(0)
		switch h.major {
		case majorBytes, majorText:
			content = h.arg
		case majorArray:
			pending += min(h.arg, MaxItemBytes)
		case majorMap:
			pending += 2 * min(h.arg, MaxItemBytes)
		case majorTag:
			pending++
		}

		// An item is too long if it cannot end within the limit, regardless of how much of it has
		// been read. Each pending value takes at least one byte.
		if content > MaxItemBytes || uint64(r.size+h.size)+content+pending-1 > MaxItemBytes {
			return r.refuse(r.size, codeSizeLimit, "expected an item of at most %d bytes, found %s in item %d, begun at offset %d", MaxItemBytes, h, r.index, r.offset)
		}
		if err := r.more(h.size + int(content)); err != nil {
			return err
		}
		r.size += h.size + int(content)
	}

	return nil
}

// head returns the head of the next value of the item.
func (r *Reader) head() (head, error) {
	for {
		if h, whole := readHead(r.buf[r.begin+r.size:]); whole {
			if code, found := h.malformed(); code != "" {
				return h, r.refuse(r.size, code, "expected a CBOR item of definite length, found %s in item %d, begun at offset %d", found, r.index, r.offset)
			}
			return h, nil
		}
		if err := r.more(len(r.buf) - r.begin - r.size + 1); err != nil {
			return head{}, err
		}
	}
}

// refuse returns an error at a position in the current item.
func (r *Reader) refuse(at int, code, format string, args ...any) *ItemError {
	return refuse(r.buf[r.begin:], r.offset+int64(at), code, format, args...)
}

// more reads until n bytes follow the known part of the item. The error is the source's error, or
// io.EOF at its end.
func (r *Reader) more(n int) error {
	for len(r.buf)-r.begin-r.size < n {
		if r.failed != nil {
			return r.failed
		}
		r.makeRoom()
		if err := r.read(); err != nil {
			r.failed = err // returned after the bytes that were read with it
		}
	}
	return nil
}

// makeRoom makes room for a Read by moving the current item to the front, or by doubling the buffer
// if the item fills most of it.
func (r *Reader) makeRoom() {
	if len(r.buf) < cap(r.buf) {
		return
	}
	kept := r.buf[r.begin:]
	into := r.buf[:0]
	if len(kept) > cap(r.buf)/2 || cap(r.buf) == 0 {
		into = make([]byte, 0, max(firstBuffer, 2*len(kept)))
	}
	r.buf = append(into, kept...)
	r.begin = 0
}

func (r *Reader) read() error {
	const patience = 100 // as bufio has
	for range patience {
		n, err := r.source.Read(r.buf[len(r.buf):cap(r.buf)])
		if n < 0 || n > cap(r.buf)-len(r.buf) {
			return errors.New("archive: the source claims to have read more than there was room for")
		}
		r.buf = r.buf[:len(r.buf)+n]
		if n > 0 || err != nil {
			return err
		}
	}
	return fmt.Errorf("archive: %w", io.ErrNoProgress)
}
