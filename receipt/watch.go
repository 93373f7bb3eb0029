package receipt

import (
	"fmt"
	"sync/atomic"
)

// A Piece is one of the [Evidence].
type Piece struct {
	Kind  string // "proof", "batch", "disclosures" or "materials"
	Index int    // in its list, from 0; 0 for the materials
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
// brought it meant it to: package stream says so, and leaves the input undecided.
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
	seen[pieceProof] = make([]atomic.Bool, given)
	seen[pieceBatch] = make([]atomic.Bool, len(v.evidence.batches))
	seen[pieceDisclosures] = make([]atomic.Bool, len(v.evidence.disclosures))
	if v.evidence.materials != nil {
		seen[pieceMaterials] = make([]atomic.Bool, 1)
	}
	c.watched = seen
	return &c, seen.idle
}

// watched has a flag for each piece of evidence, by kind. Of a verifier that
// nobody watches it is empty.
type watched [pieceMaterials + 1][]atomic.Bool

// see notes that a piece shows or contradicts a receipt.
func (w *watched) see(kind pieceKind, i int) {
	if i < len(w[kind]) {
		w[kind][i].Store(true)
	}
}

// seeAll notes that the report tells of all of a kind: that none of it fits, or
// why it was not looked at.
func (w *watched) seeAll(kinds ...pieceKind) {
	for _, kind := range kinds {
		for i := range w[kind] {
			w[kind][i].Store(true)
		}
	}
}

// idle lists what was not seen.
func (w *watched) idle() (list []Piece) {
	for kind := range w {
		for i := range w[kind] {
			if !w[kind][i].Load() {
				list = append(list, Piece{pieceKind(kind).String(), i})
			}
		}
	}
	return list
}
