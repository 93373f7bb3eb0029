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
	Sniffed  Kind = iota // detected from the first bytes
	JSON                 // one document: a receipt, a list, or an array of receipts
	Lines                // one JSON document per line (JSONL, NDJSON)
	CBOR                 // one item
	Sequence             // a sequence of items (RFC 8742)
)

// String returns the name that ParseKind of package stream parses; "" for Sniffed.
func (k Kind) String() string {
	if names := [...]string{"", "json", "lines", "cbor", "cborseq"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// A File is an input, together with the options for reading it.
type File struct {
	Name  string // the name's extension may determine the format
	Kind  Kind
	Index int // selects one document, with the numbering of reports; 0 selects all documents
	Open  func() (io.ReadCloser, error)

	Packed  unpack.Options
	Wrapped bool      // signed envelopes contain receipts
	Meter   func(int) // called with the size of every read
}

// An Opened input is being cut into documents.
type Opened struct {
	cutter
	Close func()
}

// NewBuffer returns a buffer for reading inputs one after the other. size is the size of the only
// input, or 0 if the size is unknown, so that a small input fits into the buffer together with its
// end.
func NewBuffer(size int64) *bufio.Reader {
	most := int64(readBytes)
	if size > 0 {
		most = min(most, size+1)
	}
	return bufio.NewReaderSize(nil, int(most))
}

// Cut opens and decompresses an input, and detects its format. The input is read through buffer
// until it is closed.
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

	// The decompressor is closed before the content.
	closer := func() { done(); content.Close() }
	cut, err := cutterFor(plain, in.Kind, in.Name, compressed, in.Wrapped)
	if err != nil {
		closer()
		return nil, err
	}

	// A document is located by counting the documents that precede it.
	if in.Index > 0 {
		cut = &chosen{cutter: cut, index: in.Index}
	}
	return &Opened{cut, closer}, nil
}

// Hurry makes a line-based input return each line as soon as it has been read, because a process
// that writes drafts to a pipe may wait for the first result before it writes the second draft.
func (o *Opened) Hurry() {
	if lines, is := o.cutter.(*lineCutter); is {
		lines.eager = true
	}
}

// metered counts bytes that are read. An error is final, so that a lookahead does not lose
// it.
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
