package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An origin is a source, with the form in which it contains receipts.
type origin struct {
	stream.Source
	form form
}

// A form specifies how the bytes of a receipt are located and read.
type form uint8

const (
	formJSON   form = iota // read from an offset, without conversion
	formCBOR               // read from an offset, as a CBOR item
	formPacked             // read by decompressing all preceding bytes
)

// A readerAt is a source of bytes, such as a file.
type readerAt interface {
	io.ReaderAt
	io.ReadCloser
}

var errEmpty = errors.New("empty")

// openOrigin opens a source and determines its form from the first bytes.
func openOrigin(s stream.Source) (origin, readerAt, error) {
	o := origin{Source: s}
	file, err := o.open()
	if err != nil {
		return o, nil, err
	}

	// Four bytes are enough to distinguish the forms.
	head := make([]byte, 4)
	n, err := file.ReadAt(head, 0)
	if head = head[:n]; err != nil && err != io.EOF {
		file.Close()
		return o, nil, err
	}

	switch {
	case n == 0:
		file.Close()
		return o, nil, errEmpty
	case unpack.Format(head) != "":
		o.form = formPacked
	case isCBOR(head):
		o.form = formCBOR
	}

	return o, file, nil
}

// isCBOR reports whether package stream treats text as CBOR. This is the case if text begins with a
// map, an array, or a tag (major types 4 to 6, RFC 8949 section 3.1).
func isCBOR(head []byte) bool { return len(head) > 0 && head[0] >= 0x80 && head[0] < 0xe0 }

func (o *origin) open() (readerAt, error) {
	opened, err := o.Open()
	if err != nil {
		return nil, err
	}
	file, ok := opened.(readerAt)
	if !ok {
		opened.Close()
		return nil, errors.New("not a file: receipts must be in files to be read again")
	}
	return file, nil
}

// sizeOf returns the size of a file, or -1 if the size is not known.
func sizeOf(file readerAt) int64 {
	if s, ok := file.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil {
			return info.Size()
		}
	}
	return -1
}

// openTo returns a function that opens a file but reads it only up to the given size.
func openTo(open func() (io.ReadCloser, error), size int64) func() (io.ReadCloser, error) {
	if size < 0 {
		return open
	}
	return func() (io.ReadCloser, error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(file, size), file}, nil
	}
}

// read returns the receipt of an entry, converted to JSON. If the bytes have changed since they
// were indexed, the error is serve.ErrChanged.
func (o *origin) read(e *entry, codec *archive.Codec) ([]byte, error) {
	if o.form == formPacked {
		return o.unpack(e)
	}

	file, err := o.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()

	data := make([]byte, e.length)
	if _, err := file.ReadAt(data, e.offset); err == io.EOF {
		return nil, serve.ErrChanged
	} else if err != nil {
		return nil, err
	}

	// Bytes that have changed are never served.
	switch {
	case canon.Sum(data) != e.digest:
		return nil, serve.ErrChanged
	case o.form == formCBOR:
		return codec.ToJSON(data)
	}

	return data, nil
}

// unpack returns a document from a compressed file, or the receipt inside an envelope. A document
// that could be read when it was indexed but cannot be read now has changed.
func (o *origin) unpack(e *entry) ([]byte, error) {
	text, err := o.Find(int(e.index), false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if err != nil {
		return nil, serve.ErrChanged
	}

	if text = bytes.TrimSpace(text); canon.Sum(text) == e.digest {
		return text, nil
	}

	// The entry may refer to the receipt inside an API envelope.
	payload, err := stream.Receipt(new(canon.Document), text)
	if err != nil || canon.Sum(payload) != e.digest {
		return nil, serve.ErrChanged
	}

	return bytes.Clone(payload), nil
}
