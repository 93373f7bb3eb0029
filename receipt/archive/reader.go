package archive

import (
	"errors"
	"fmt"
	"io"
)

// A Reader reads the items of a CBOR sequence (RFC 8742) one at a time. Its buffer is at most twice
// as long as the longest item so far, or 64 KiB if that is more. Before it returns an item, it
// reads no bytes after that item, unless a single Read of the source returned those bytes together
// with the end of the item.
type Reader struct {
	source io.Reader
	failed error // error from the source, which is returned after the buffered bytes have been used
	err    error // result of all later calls

	buf   []byte // bytes that have been read but not yet used
	begin int    // position of the current item in buf
	size  int    // number of bytes of the current item that have been parsed

	index  int
	offset int64 // offset of buf[begin] in the sequence
}

const firstBuffer = 64 << 10

// NewReader returns a Reader that reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{source: r} }

// Offset returns the position of the item that Next last returned or rejected, in bytes from 0. After
// Next has returned io.EOF, Offset is the length of the sequence.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the bytes of the next item, which are valid only until the next call. The item is
// well-formed and has only definite lengths. Next does not check whether it is an archive;
// [Codec.ToJSON] does. At the end of the sequence, the error is io.EOF. If an item is malformed,
// truncated, or too long, or has an indefinite length, the error is an *[ItemError]. Any other
// error is from the source. After an error, all later calls return the same error, because it is
// unknown where the next item begins.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}

	// A sequence has no end marker (RFC 8742), so it ends where no item begins.
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

// Damage examines the item that is truncated at the end of the sequence. It returns the reason why
// neither an archive of an object nor a COSE_Sign1 message (RFC 9052) can begin with that item. If
// it finds no such reason, or if no item is truncated, it returns nil.
func (r *Reader) Damage() *ItemError {
	if e := (*ItemError)(nil); !errors.As(r.err, &e) || !e.cut {
		return nil
	}
	bad := malformed(r.buf[r.begin:])
	if bad != nil {
		bad.Offset += r.offset
	}
	return bad
}

// cutOff returns the error for input that ends inside an item.
func (r *Reader) cutOff(err error) error {
	if err != io.EOF {
		return err
	}
	cut := r.refuse(len(r.buf)-r.begin, codeSyntax, "expected the rest of item %d, begun at offset %d, found the end of the input", r.index, r.offset)
	cut.cut = true
	return cut
}

// item finds the end of the current item. All lengths are definite, so it is sufficient to count
// the remaining values.
func (r *Reader) item() error {
	for pending := uint64(1); pending > 0; pending-- {
		h, err := r.head()
		if err != nil {
			return err
		}

		// The argument is a length in bytes or a number of values that follow (RFC 8949 section
		// 3.1).
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

		// An item is too long if it cannot end within the limit, even if little of it has been read
		// so far. Each remaining value takes at least one byte.
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

// head returns the head of the next value in the item.
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

// refuse returns an error about a position in the current item.
func (r *Reader) refuse(at int, code, format string, args ...any) *ItemError {
	return refuse(r.buf[r.begin:], r.offset+int64(at), code, format, args...)
}

// more reads until at least n bytes are available after the parsed part of the item. The error is
// from the source, which returns io.EOF at the end.
func (r *Reader) more(n int) error {
	for len(r.buf)-r.begin-r.size < n {
		if r.failed != nil {
			return r.failed
		}
		r.makeRoom()
		if err := r.read(); err != nil {
			r.failed = err // returned only after the bytes that were read with it have been used
		}
	}
	return nil
}

// makeRoom makes room for a Read. It moves the current item to the start of the buffer or, if the
// item takes up most of the buffer, doubles the buffer.
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
