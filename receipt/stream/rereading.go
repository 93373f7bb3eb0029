package stream

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// A rereading compares the second reading of sources with the first: what that one
// found out must not be believed of anything else. Nil stands for a single reading.
type rereading struct {
	one, two hash.Hash
}

func newRereading() *rereading { return &rereading{sha256.New(), sha256.New()} }

func (r *rereading) before(it *item) {
	if !it.end {
		r.add(r.one, it)
	}
}

func (r *rereading) again(it *item) {
	if r != nil {
		r.add(r.two, it)
	}
}

func (r *rereading) same() bool {
	return r == nil || bytes.Equal(r.one.Sum(nil), r.two.Sum(nil))
}

// add adds what the second reading relies on. That a document is not a receipt and
// was left out matters too: what is unreadable excuses a missing link only
// because it is a finding itself.
func (*rereading) add(h hash.Hash, it *item) {
	f := &it.facts
	h.Write([]byte{flag(f.placed), flag(it.other != "")})
	if !f.placed {
		return
	}
	h.Write(f.link.Hash[:])
	h.Write(f.link.Previous[:])
	h.Write(f.computed[:])
	h.Write(f.id[:])
}
