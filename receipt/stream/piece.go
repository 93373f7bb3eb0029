package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// Sizes of reading.
const (
	readBytes = 256 << 10 // the buffer of an input
	// maxGap is how many bytes without a document, such as blank lines or the
	// rest of a line that is too long, are skipped before an input is given up.
	maxGap = 1 << 30
	// maxPackedGap is the same in a compressed input, where bytes cost nothing.
	maxPackedGap = 64 << 20
)

// A piece is one document of an input as it was cut out: bytes, or the reason why
// there are none.
type piece struct {
	data   []byte // valid until the next call, unless it is kept
	kept   bool   // data is nobody's memory but its own
	index  int    // line, item or element, from 1
	cbor   bool   // data is CBOR
	last   bool   // a last line without its line end, and not one document of its own: it may have been cut off
	single bool   // the input holds nothing else
	fault  *fault // instead of data
}

// A fault is why a document could not be cut out of an input.
// A fault is why a piece is not a document: none could be cut out of the input, or
// the one that was is not an archive, or breaks off.
type fault struct {
	code         receipt.Code
	place        string // in the piece; "" when detail says it
	detail, hint string
	torn         bool // the input ends in the middle of it
}

// words is the detail with its place.
func (f *fault) words() string {
	if f.place == "" {
		return f.detail
	}
	return f.place + ": " + f.detail
}
