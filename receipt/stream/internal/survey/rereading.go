package survey

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// A Rereading compares the second pass over sources with the first. The results of the first pass
// apply only to the same content. A nil Rereading represents a single pass.
type Rereading struct {
	one, two hash.Hash
}

// NewRereading returns a Rereading for sources that have not been read yet.
func NewRereading() *Rereading { return &Rereading{sha256.New(), sha256.New()} }

// Before adds an item of the first pass.
func (r *Rereading) Before(it *Item) { r.add(r.one, it) }

// Again adds an item of the second pass.
func (r *Rereading) Again(it *Item) {
	if r != nil {
		r.add(r.two, it)
	}
}

// Same reports whether both passes read the same content.
func (r *Rereading) Same() bool {
	return r == nil || bytes.Equal(r.one.Sum(nil), r.two.Sum(nil))
}

// add adds everything that the second pass relies on. This includes whether a document was skipped
// because it is not a receipt: an unreadable document excuses a missing link only because it is
// itself a finding.
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
