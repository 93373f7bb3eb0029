package input

import (
	"bufio"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/receipt/unpack"
)

// A Kind is how an input holds its receipts.
type Kind uint8

const (
	Sniffed  Kind = iota // found out from its first bytes
	JSON                 // one document: a receipt, a list or an array of them
	Lines                // a JSON document a line (JSONL, NDJSON)
	CBOR                 // one item
	Sequence             // items one after the other (RFC 8742)
)

// String returns the name as ParseKind of package stream reads it; "" for Sniffed.
func (k Kind) String() string {
	if names := [...]string{"", "json", "lines", "cbor", "cborseq"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// A File is what is read, and how.
type File struct {
	Name  string // which may say what it holds
	Kind  Kind
	Index int // of the one document that is read, as reports count; 0: all of them
	Open  func() (io.ReadCloser, error)

	Packed  unpack.Options
	Wrapped bool      // receipts in signed envelopes are receipts
	Meter   func(int) // sees every byte read
}

// An Opened input is being cut into documents.
type Opened struct {
	cutter
	Close func()
}

// NewBuffer returns what inputs are read through, one after the other. A size is how many
// bytes the only one has, when that is known: a small one then fits with its end. 0: unknown.
func NewBuffer(size int64) *bufio.Reader {
	most := int64(readBytes)
	if size > 0 {
		most = min(most, size+1)
	}
	return bufio.NewReaderSize(nil, int(most))
}

// Cut opens, decompresses and sniffs an input, which is read through buffer until it is
// closed.
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

	closer := func() { done(); content.Close() }
	cut, err := cutterFor(plain, in.Kind, in.Name, compressed, in.Wrapped)
	if err != nil {
		closer()
		return nil, err
	}

	// One document is found by counting those before it.
	if in.Index > 0 {
		cut = &chosen{cutter: cut, index: in.Index}
	}
	return &Opened{cut, closer}, nil
}

// Hurry makes an input of lines hand each of them out as soon as it is there: a process that
// writes drafts into a pipe may wait for the first result before it writes the second draft.
func (o *Opened) Hurry() {
	if lines, is := o.cutter.(*lineCutter); is {
		lines.eager = true
	}
}

// metered tells how much was read. An error is final: looking ahead must not
// swallow it.
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
