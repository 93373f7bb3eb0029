// Package unpack reads what is compressed with gzip or zstd, and what is not, alike: its
// first bytes say which. Memory is bounded, whatever the data says.
package unpack

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Windows of zstd: how much of its output a decoder has to keep in memory.
const (
	maxWindow     = 8 << 20   // what every zstd level up to 19 needs
	MaxLongWindow = 128 << 20 // what zstd --long needs
)

// Options say how an input may be compressed.
type Options struct {
	Long  bool // zstd with windows up to MaxLongWindow
	Ratio int  // how many bytes it may hold for each of its own; 0: any number
}

// bufferBytes are read at once.
const bufferBytes = 256 << 10

var errNested = errors.New("a compressed file inside a compressed file; decompress it once")

// Plain returns what r holds, decompressed when its first bytes say that it
// is gzip (RFC 1952, several members are one file) or zstd (RFC 8878). Memory is
// bounded by the window, whatever the data says. read counts what was read into r.
func Plain(r *bufio.Reader, packed Options, read *int64) (plain *bufio.Reader, compressed bool, closer func(), err error) {
	nothing := func() {}
	var inner func([]byte) (int, error)
	var format string
	closer = nothing

	switch head, _ := r.Peek(4); {
	case isGzip(head):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, true, nothing, broken("gzip", err)
		}
		// RFC 1952 section 2.2: a file is a series of members.
		z.Multistream(false)
		inner, format = (&members{z, r}).read, "gzip"
	case isZstd(head):
		// RFC 8878 section 3.1.1.1.2: a frame says which window it needs. A
		// decoder may refuse it.
		window := uint64(maxWindow)
		if packed.Long {
			window = MaxLongWindow
		}
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, true, nothing, broken("zstd", err)
		}
		inner, closer, format = d.Read, d.Close, "zstd"
	default:
		return r, false, nothing, nil
	}

	from := &decompressor{inner: inner, format: format, ratio: int64(packed.Ratio), read: func() int64 { return *read - int64(r.Buffered()) }}
	plain = bufio.NewReaderSize(from, bufferBytes)
	if head, _ := plain.Peek(4); Packed(head) {
		closer()
		return nil, true, nothing, errNested
	}

	return plain, true, closer, nil
}

// Packed reports whether data begins as something that [Plain] decompresses.
func Packed(data []byte) bool { return isGzip(data) || isZstd(data) }

// isGzip reports the beginning of a member (RFC 1952 section 2.3.1).
func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// isZstd reports a frame (RFC 8878 section 3.1.1), or one of the skippable frames that
// may precede it (section 3.1.2).
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// members reads the members of a gzip file one after another. gzip.Reader does so
// too, but takes a line end after the last one for a file that was cut off.
type members struct {
	current *gzip.Reader
	behind  *bufio.Reader // what follows it
}

func (m *members) read(p []byte) (int, error) {
	for { // a member may be empty
		n, err := m.current.Read(p)
		if err == io.EOF {
			err = m.next()
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// next begins the next member; io.EOF says that there is none.
func (m *members) next() error {
	switch head, err := m.behind.Peek(2); {
	case len(head) == 0:
		return err
	case !isGzip(head):
		return gzip.ErrHeader
	}
	if err := m.current.Reset(m.behind); err != nil {
		return err
	}
	m.current.Multistream(false)
	return nil
}

// A decompressor bounds what it makes of what it reads, and names itself in errors.
type decompressor struct {
	inner  func([]byte) (int, error)
	format string
	ratio  int64        // bytes for each compressed one, beyond freeBytes; 0: any number
	read   func() int64 // compressed bytes so far
	total  int64
}

// freeBytes are what any input may hold: a few receipts may be alike.
const freeBytes = 1 << 20

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.inner(p)

	// What a stranger sends is not to grow without bound.
	if d.total += int64(n); d.ratio > 0 && d.total > freeBytes+d.ratio*d.read() {
		n, err = 0, fmt.Errorf("it holds more than %d bytes for each of its own", d.ratio)
	}
	if err != nil && err != io.EOF {
		err = broken(d.format, err)
	}
	return n, err
}

// An Error says that an input ended or broke inside its compression,
// or needs more memory than is given to it. What came before was read.
type Error struct {
	Format string // gzip or zstd
	Hint   string // what to do
	Wide   bool   // it could be read with a window of up to MaxLongWindow bytes
	err    error
}

// Error names the format and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Format, e.err) }

// Unwrap returns the decoder's error.
func (e *Error) Unwrap() error { return e.err }

func broken(format string, err error) error {
	e := &Error{Format: format, err: err}
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded):
		e.err = fmt.Errorf("it needs a window of more than %d MiB", maxWindow>>20)
		e.Hint, e.Wide = fmt.Sprintf("windows of up to %d MiB can be allowed", MaxLongWindow>>20), true
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.err, e.Hint = errors.New("the file ends in its middle"), "it was cut off; get it again"
	case errors.Is(err, gzip.ErrChecksum):
		e.err, e.Hint = errors.New("its checksum does not fit what it holds"), "it is damaged; get it again"
	case errors.Is(err, gzip.ErrHeader):
		e.err = errors.New("what follows the compressed data, or begins it, is not gzip")
	}
	return e
}
