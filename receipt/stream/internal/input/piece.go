package input

import (
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

// A Piece is one document of an input as it was cut out: bytes, or the reason why
// there are none.
type Piece struct {
	Data   []byte // valid until the next call, unless it is kept
	Kept   bool   // data is nobody's memory but its own
	Index  int    // line, item or element, from 1
	CBOR   bool   // data is CBOR
	last   bool   // a last line without its line end, and not one document of its own: it may have been cut off
	Single bool   // the input holds nothing else
	fault  *Fault // instead of data
}

// A Fault is why a piece is not a document: none could be cut out of the input, or
// the one that was is not an archive, or breaks off.
type Fault struct {
	Code         receipt.Code
	place        string // in the piece; "" when detail says it
	Detail, Hint string
	Torn         bool // the input ends in the middle of it
}

// Words is the detail with its place.
func (f *Fault) Words() string {
	if f.place == "" {
		return f.Detail
	}
	return f.place + ": " + f.Detail
}
