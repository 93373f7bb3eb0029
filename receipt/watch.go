package receipt

import (
	"fmt"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/redact"
)

// A Piece is one of the [Evidence].
type Piece struct {
	Kind  string // "proof", "batch", "disclosures" or "materials"
	Index int    // in its list, from 0; 0 for the materials

	// Part names the values that belong to no receipt, of disclosures that name none and of
	// which others do; otherwise "".
	Part string
}

// A pieceKind is a list of the evidence.
type pieceKind uint8

const (
	pieceProof pieceKind = iota
	pieceBatch
	pieceDisclosures
	pieceMaterials
)

// String returns the name, as [Piece] has it.
func (k pieceKind) String() string {
	return [...]string{"proof", "batch", "disclosures", "materials"}[k]
}

// String returns a name for a person, such as "proof 2".
func (p Piece) String() string {
	switch p.Kind {
	case pieceProof.String():
		return fmt.Sprintf("proof %d", p.Index+1)
	case pieceBatch.String():
		return fmt.Sprintf("batch %d", p.Index+1)
	case pieceDisclosures.String():
		return fmt.Sprintf("disclosure file %d", p.Index+1)
	}
	return "the files to look up"
}

// Watch returns a copy of v that notes which of its evidence has to do with the
// receipts that it judges. Evidence that nobody needed shows nothing, though whoever
// brought it meant it to: package stream says so, and leaves the input undecided. Its
// reports therefore leave a receipt alone to which no disclosures belong.
//
// idle returns what had to do with no receipt so far: proofs and batches that
// neither showed nor contradicted anything, disclosures of other receipts or of
// nothing, files when no receipt names any by digest. It is safe for concurrent use.
func (v *Verifier) Watch() (watching *Verifier, idle func() []Piece) {
	c := *v
	given := 0 // a checkpoint over all receipts is not part of the evidence
	for i := range v.evidence.proofs {
		if !v.evidence.proofs[i].whole {
			given++
		}
	}

	// The verifier and what lists them share the flags.
	var seen watched
	seen.pieces[pieceProof] = make([]atomic.Bool, given)
	seen.pieces[pieceBatch] = make([]atomic.Bool, len(v.evidence.batches))
	seen.pieces[pieceDisclosures] = make([]atomic.Bool, len(v.evidence.disclosures))
	if v.evidence.materials != nil {
		seen.pieces[pieceMaterials] = make([]atomic.Bool, 1)
	}
	seen.fields = make([][]atomic.Bool, len(v.evidence.disclosures))
	for i, d := range v.evidence.disclosures {
		seen.fields[i] = make([]atomic.Bool, len(d.Fields))
	}

	c.watched = seen
	return &c, func() []Piece { return seen.idle(v.evidence.disclosures) }
}

// watched has a flag for each piece of evidence, by kind, and for each disclosed value. Of
// a verifier that nobody watches it is empty.
type watched struct {
	pieces [pieceMaterials + 1][]atomic.Bool
	fields [][]atomic.Bool
}

// see notes that a piece shows or contradicts a receipt.
func (w *watched) see(kind pieceKind, i int) {
	if i < len(w.pieces[kind]) {
		w.pieces[kind][i].Store(true)
	}
}

// seeField notes that a value of disclosures that name no receipt belongs to one.
func (w *watched) seeField(i, k int) {
	if i < len(w.fields) {
		w.fields[i][k].Store(true)
	}
}

// seeAll notes that the report tells of all of a kind: that none of it fits, or
// why it was not looked at.
func (w *watched) seeAll(kinds ...pieceKind) {
	for _, kind := range kinds {
		for i := range w.pieces[kind] {
			w.pieces[kind][i].Store(true)
		}
	}
}

// idle lists what was not seen.
func (w *watched) idle(disclosures []*redact.Disclosures) (list []Piece) {
	for kind := range w.pieces {
		for i := range w.pieces[kind] {
			if w.pieces[kind][i].Load() {
				continue
			}
			piece := Piece{Kind: pieceKind(kind).String(), Index: i}
			if pieceKind(kind) != pieceDisclosures {
				list = append(list, piece)
				continue
			}

			// All of its values have to belong to receipts, if not all to the same.
			fields := disclosures[i].Fields
			var rest []string
			for k := range w.fields[i] {
				if !w.fields[i][k].Load() {
					rest = append(rest, foreign.Cut(fields[k].Field, 256))
				}
			}
			if len(rest) > 0 && len(rest) < len(fields) {
				piece.Part = quotedList(rest)
			}
			if len(rest) > 0 || len(fields) == 0 {
				list = append(list, piece)
			}
		}
	}
	return list
}
