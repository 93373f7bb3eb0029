package survey

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// A Rereading compares the second reading of sources with the first: what that one
// found out must not be believed of anything else. Nil stands for a single reading.
type Rereading struct {
	one, two hash.Hash
}

// NewRereading returns a rereading of sources that are not read yet.
func NewRereading() *Rereading { return &Rereading{sha256.New(), sha256.New()} }

// Before takes an item of the first reading.
func (r *Rereading) Before(it *Item) { r.add(r.one, it) }

// Again takes an item of the second reading.
func (r *Rereading) Again(it *Item) {
	if r != nil {
		r.add(r.two, it)
	}
}

// Same reports whether both readings were of the same.
func (r *Rereading) Same() bool {
	return r == nil || bytes.Equal(r.one.Sum(nil), r.two.Sum(nil))
}

// add adds what the second reading relies on. That a document is not a receipt and
// was left out matters too: what is unreadable excuses a missing link only
// because it is a finding itself.
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
