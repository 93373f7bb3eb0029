package input

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// Sizes of reading.
const (
	readBytes = 256 << 10 // size of the buffer for an input
	// MaxGap is the maximum number of consecutive bytes that are skipped without a document, such
	// as blank lines or the rest of a line that is too long. If there are more, reading stops.
	MaxGap = 1 << 30
	// maxPackedGap is the corresponding limit for a compressed input, in which such bytes are cheap
	// to create.
	maxPackedGap = 64 << 20
)

// A Piece contains one document from an input: its bytes, or the reason why there are no bytes.
type Piece struct {
	Data   []byte // valid until the next call to Next, unless Kept is set
	Kept   bool   // Data does not share memory with the cutter
	Index  int    // number of the line, item, or element, from 1
	CBOR   bool   // Data is CBOR
	last   bool   // the last line of several, without a line ending, so it may be truncated
	Single bool   // the input contains no other document
	fault  *Fault // the reason why Data is not set
}

// A Fault is the reason why a piece is not a document: the input could not be split, the piece is
// not an archived document, or the piece is truncated.
type Fault struct {
	Code         receipt.Code
	place        string // location within the piece; "" if the detail contains the location
	Detail, Hint string
	Torn         bool // the input ends inside the document
}

// Text returns a piece for a document that has already been separated from the input.
func Text(text []byte, index int, single bool) Piece {
	p := Piece{Data: text, Index: index, Single: single}
	if len(text) > maxDocument {
		p.Data, p.fault = nil, &Fault{Code: receipt.CodeSizeLimit, Detail: fmt.Sprintf("expected at most %d bytes, found %d", maxDocument, len(text))}
	}
	return p
}

// Words returns the detail, with the location if there is one.
func (f *Fault) Words() string {
	if f.place == "" {
		return f.Detail
	}
	return f.place + ": " + f.Detail
}
