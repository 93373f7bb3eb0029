package input

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// Sizes of reading.
const (
	readBytes = 256 << 10 // the buffer of an input
	// MaxGap is the maximum number of bytes without a document, such as blank lines or the rest of
	// a line that is too long, that are skipped before reading is abandoned.
	MaxGap = 1 << 30
	// maxPackedGap is the corresponding limit for a compressed input, in which such bytes cost the
	// sender nothing.
	maxPackedGap = 64 << 20
)

// A Piece is one document that was cut from an input: its bytes, or the reason why there are no
// bytes.
type Piece struct {
	Data   []byte // valid until the next call, unless Kept is set
	Kept   bool   // Data has its own memory
	Index  int    // number of the line, item, or element, from 1
	CBOR   bool   // Data is CBOR
	last   bool   // the last of several lines, without a line end, so it may be truncated
	Single bool   // the input contains no other document
	fault  *Fault // set instead of Data
}

// A Fault is the reason why a piece is not a document: nothing could be cut from the input, the
// piece is not an archive, or it is truncated.
type Fault struct {
	Code         receipt.Code
	place        string // location in the piece; "" if the detail contains it
	Detail, Hint string
	Torn         bool // the input ends inside the document
}

// Text returns the piece for a document that has already been cut out.
func Text(text []byte, index int, single bool) Piece {
	p := Piece{Data: text, Index: index, Single: single}
	if len(text) > maxDocument {
		p.Data, p.fault = nil, &Fault{Code: receipt.CodeSizeLimit, Detail: fmt.Sprintf("expected at most %d bytes, found %d", maxDocument, len(text))}
	}
	return p
}

// Words returns the detail with its location.
func (f *Fault) Words() string {
	if f.place == "" {
		return f.Detail
	}
	return f.place + ": " + f.Detail
}
