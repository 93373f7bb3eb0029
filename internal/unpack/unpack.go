// Package unpack reads data that is uncompressed or compressed with gzip or zstd, as indicated by
// its first bytes. Its memory use is limited for any data.
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

// Window sizes of zstd, which determine how much output a decoder keeps in memory.
const (
	maxWindow     = 8 << 20   // sufficient for every zstd level up to 19
	MaxLongWindow = 128 << 20 // required by zstd --long
)

// Options specifies which compression is accepted.
type Options struct {
	Long  bool // zstd with windows up to MaxLongWindow
	Ratio int  // maximum number of output bytes per compressed byte; 0 means no limit
}

// bufferBytes is the size of a read.
const bufferBytes = 256 << 10

var errNested = errors.New("a compressed file inside a compressed file; decompress it once")

// Plain returns the content of r. It decompresses the content if the first bytes indicate gzip (RFC
// 1952; several members form one file) or zstd (RFC 8878). The window size limits the memory for
// any data. The caller must keep *read equal to the number of bytes that r has read from its
// source.
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
		// RFC 8878 section 3.1.1.1.2: a frame specifies the window size that it needs. A decoder
		// may reject a frame that needs a larger window.
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
	if head, _ := plain.Peek(4); Format(head) != "" {
		closer()
		return nil, true, nothing, errNested
	}

	return plain, true, closer, nil
}

// Format returns "gzip" or "zstd" if [Plain] decompresses data in this format, and "" otherwise.
func Format(data []byte) string {
	switch {
	case isGzip(data):
		return "gzip"
	case isZstd(data):
		return "zstd"
	}
	return ""
}

// isGzip reports whether head is the beginning of a gzip member (RFC 1952 section 2.3.1).
func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// isZstd reports whether head is the beginning of a zstd frame (RFC 8878 section 3.1.1), or of a
// skippable frame that may precede it (section 3.1.2).
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// members reads the members of a gzip file one after another. gzip.Reader can do this as well, but
// reports a line ending after the last member as a truncated file.
type members struct {
	current *gzip.Reader
	behind  *bufio.Reader // the data after the current member
}

func (m *members) read(p []byte) (int, error) {
	for { // a loop, because a member may be empty
		n, err := m.current.Read(p)
		if err == io.EOF {
			err = m.next()
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// next begins the next member. It returns io.EOF if there are no more members.
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

// A decompressor limits the size of its output relative to its input, and adds the name of the
// format to errors.
type decompressor struct {
	inner  func([]byte) (int, error)
	format string
	ratio  int64        // maximum number of output bytes per compressed byte, beyond freeBytes; 0 means no limit
	read   func() int64 // returns the number of compressed bytes so far
	total  int64
}

// freeBytes is the size of output that the ratio does not limit, because a few similar receipts
// compress well.
const freeBytes = 1 << 20

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.inner(p)

	// Untrusted data must not expand without limit.
	if d.total += int64(n); d.ratio > 0 && d.total > freeBytes+d.ratio*d.read() {
		n, err = 0, fmt.Errorf("it holds more than %d bytes for each of its own", d.ratio)
	}
	if err != nil && err != io.EOF {
		err = broken(d.format, err)
	}
	return n, err
}

// An Error indicates that compressed data is truncated or damaged, or needs more memory than
// permitted. All data before the error has been read.
type Error struct {
	Format string // gzip or zstd
	Hint   string // what to do
	Wide   bool   // a window of up to MaxLongWindow bytes would be sufficient
	err    error
}

// Error returns the format and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Format, e.err) }

// Unwrap returns the decoder's error.
func (e *Error) Unwrap() error { return e.err }

func broken(format string, err error) error {
	e := &Error{Format: format, err: err}
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded):
		e.err = fmt.Errorf("it requires a window of more than %d MiB", maxWindow>>20)
		e.Hint, e.Wide = fmt.Sprintf("windows of up to %d MiB can be allowed", MaxLongWindow>>20), true
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.err, e.Hint = errors.New("the file is truncated"), "it was cut off; get it again"
	case errors.Is(err, gzip.ErrChecksum):
		e.err, e.Hint = errors.New("its checksum does not match its content"), "it is damaged; get it again"
	case errors.Is(err, gzip.ErrHeader):
		e.err = errors.New("the file does not begin with gzip data, or other data follows it")
	}
	return e
}
