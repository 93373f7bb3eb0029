package survey

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// A Rereading checks that the second pass over the sources reads the same content as the first
// pass. The results of the first pass apply only to that content. A nil Rereading means that there
// is only one pass.
type Rereading struct {
	one, two hash.Hash
}

// NewRereading returns a Rereading for sources of which nothing has been read yet.
func NewRereading() *Rereading { return &Rereading{sha256.New(), sha256.New()} }

// Before adds an item that the first pass has read.
func (r *Rereading) Before(it *Item) { r.add(r.one, it) }

// Again adds an item that the second pass has read.
func (r *Rereading) Again(it *Item) {
	if r != nil {
		r.add(r.two, it)
	}
}

// Same reports whether both passes have read the same content.
func (r *Rereading) Same() bool {
	return r == nil || bytes.Equal(r.one.Sum(nil), r.two.Sum(nil))
}

// add adds all properties of an item on which the second pass relies. They include whether a
// document was skipped because it is not a receipt. An unreadable document may excuse a missing
// link, but a skipped document may not, because there is no finding for it.
func (*Rereading) add(h hash.Hash, it *Item) {
	f := &it.Facts
	h.Write([]byte{flag(f.Placed), flag(it.Other != "")})
	if !f.Placed {
		return
	}
	h.Write(f.Link.Hash[:])
	h.Write(f.Link.Previous[:])
	h.Write(f.Computed[:])
	h.Write(f.ID[:])
}
