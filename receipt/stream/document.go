package stream

import (
	"io"

	"github.com/receiptkit/receiptkit/receipt"
)

// Sizes of reading.
const (
	readBytes = 256 << 10 // the buffer of an input
	// MaxGap is how many bytes without a document, such as blank lines or the
	// rest of a line that is too long, are skipped before an input is given up.
	MaxGap = 1 << 30
	// maxPackedGap is the same in a compressed input, where bytes cost nothing.
	maxPackedGap = 64 << 20
)

// A document is one piece of an input as it was cut out: bytes to judge, or the
// reason why there are none.
type document struct {
	data   []byte // valid until the next call
	index  int    // line, item or element, from 1
	cbor   bool   // data is CBOR
	last   bool   // a last line without its line end: it may have been cut off
	single bool   // the input holds nothing else
	fault  *fault // instead of data
}

// A fault is why a document could not be cut out of an input.
type fault struct {
	code         receipt.Code
	detail, hint string
	torn         bool // the input ends in the middle of it
}

// A splitter cuts an input into documents. The error is io.EOF at the end, and
// otherwise says why the rest of the input cannot be read.
type splitter interface {
	next() (document, error)
	// ready reports whether the next document can be had without waiting for
	// more input.
	ready() bool
}

// A listed input is, or was found to be, a list of documents.
type listed struct {
	list []document
}

func (l *listed) ready() bool { return true }

func (l *listed) next() (document, error) {
	if len(l.list) == 0 {
		return document{}, io.EOF
	}
	d := l.list[0]
	l.list = l.list[1:]
	return d, nil
}
