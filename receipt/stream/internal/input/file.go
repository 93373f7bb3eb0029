package input

import (
	"bufio"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/internal/unpack"
)

// A Kind is the format of an input.
type Kind uint8

const (
	Sniffed  Kind = iota // detected from the beginning of the input
	JSON                 // one document: a receipt, a list, or an array of receipts
	Lines                // one JSON document per line (JSONL, NDJSON)
	CBOR                 // one item
	Sequence             // a sequence of items (RFC 8742)
)

// String returns the name that ParseKind in package stream accepts, or "" for Sniffed.
func (k Kind) String() string {
	if names := [...]string{"", "json", "lines", "cbor", "cborseq"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// A File is an input, with the options for reading it.
type File struct {
	Name  string // its extension may determine the format
	Kind  Kind
	Index int // selects the document with this index, as in reports; 0 selects all documents
	Open  func() (io.ReadCloser, error)

	Packed  unpack.Options
	Wrapped bool      // receipts are inside signed envelopes
	Meter   func(int) // called with the number of bytes of each read
}

// An Opened is an input that is being split into documents.
type Opened struct {
	cutter
	Close func()
}

// NewBuffer returns a buffer that can be used for several inputs in sequence. If there is only one
// input, size is the size of that input, so that a small input fits entirely. If the size is not
// known, size is 0.
func NewBuffer(size int64) *bufio.Reader {
	most := int64(readBytes)
	if size > 0 {
		most = min(most, size+1)
	}
	return bufio.NewReaderSize(nil, int(most))
}

// Cut opens and decompresses an input and detects its format. The input is read through buffer
// until the result is closed.
func (in *File) Cut(buffer *bufio.Reader) (*Opened, error) {
	content, err := in.Open()
	if err != nil {
		return nil, err
	}

	from := &metered{Reader: content, meter: in.Meter}
	buffer.Reset(from)
	plain, compressed, done, err := unpack.Plain(buffer, in.Packed, &from.count)
	if err != nil {
		content.Close()
		return nil, err
	}

	// The decompressor is closed before the compressed content.
	closer := func() { done(); content.Close() }
	cut, err := cutterFor(plain, in.Kind, in.Name, compressed, in.Wrapped)
	if err != nil {
		closer()
		return nil, err
	}

	// To find a document by its index, the preceding documents are counted.
	if in.Index > 0 {
		cut = &chosen{cutter: cut, index: in.Index}
	}
	return &Opened{cut, closer}, nil
}

// Hurry makes an input of lines return each line as soon as it has been read, because a process
// that writes drafts to a pipe may wait for the first result before it writes the second draft.
func (o *Opened) Hurry() {
	if lines, is := o.cutter.(*lineCutter); is {
		lines.eager = true
	}
}

// A metered reader counts the bytes that are read. It returns the same error again for later reads,
// so that a lookahead does not lose the error.
type metered struct {
	io.Reader
	meter func(int)
	count int64
	err   error
}

func (m *metered) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.Reader.Read(p)
	m.meter(n)
	m.count += int64(n)
	m.err = err
	return n, err
}
