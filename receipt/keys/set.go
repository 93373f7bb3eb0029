package keys

import (
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// These are the limits on trust files.
const (
	MaxSetBytes = 4 << 20
	MaxKeys     = 10_000
	maxDepth    = 32 // unknown members may be nested
)

// A Set contains the keys of a trust file. It implements [receipt.LogTrust]. It is immutable and
// safe for concurrent use.
type Set struct {
	keys   []*PublicKey
	byID   map[string]*trusted
	tables tables
}

var (
	_ receipt.LogTrust = (*Set)(nil)
	_ receipt.RawTrust = (*Set)(nil)
)

// ParseSet parses a trust file. The error is a *[SetError].
func ParseSet(data []byte) (*Set, error) {
	f, err := ParseFile(data)
	if err != nil {
		return nil, err
	}
	return index(f.keys)
}

// NewSet returns a Set that contains the given keys. The error is a *[SetError].
func NewSet(keys ...*PublicKey) (*Set, error) {
	var f File
	if err := f.Add(keys...); err != nil {
		return nil, err
	}
	return index(cloneAll(f.keys))
}

func index(keys []*PublicKey) (*Set, error) {
	switch {
	case len(keys) == 0:
		return nil, invalid("/keys", "no keys; with none every signature would be unknown")
	case len(keys) > MaxKeys:
		return nil, invalid("/keys", "%d keys, at most %d are read", len(keys), MaxKeys)
	}

	// Entries refer to keys only by their kids, so these must be unique.
	s := &Set{keys: keys, byID: make(map[string]*trusted, len(keys))}
	s.tables.base = sync.OnceValue(fixedbase.NewBase)
	for i, k := range keys {
		if s.byID[k.ID] != nil {
			return nil, invalid("/kid", "another key has the same kid, so a signature could be judged by either").at(i).of(k.ID)
		}
		if k.Algorithm == MLDSA44 && !k.Has(receipt.RoleCheckpoint) && !k.Has(receipt.RoleWitness) {
			return nil, invalid("/roles", "an ML-DSA-44 key signs only checkpoints, so it needs the role checkpoint or witness").at(i).of(k.ID)
		}
		s.byID[k.ID] = &trusted{PublicKey: k}
	}

	return s, nil
}

// With returns a Set that contains additional keys. As in a file, a revocation affects all keys
// with the same material, unless its reason is [receipt.ReasonSuperseded].
func (s *Set) With(others ...*PublicKey) (*Set, error) {
	if len(others) == 0 {
		return s, nil
	}
	return NewSet(append(s.Keys(), others...)...)
}

// Len returns the number of keys.
func (s *Set) Len() int { return len(s.keys) }

// Keys returns copies of the keys, in file order.
func (s *Set) Keys() []*PublicKey { return cloneAll(s.keys) }

// NoteKeys implements [receipt.LogTrust]. The keys are in file order.
func (s *Set) NoteKeys() []receipt.NoteKey {
	list := make([]receipt.NoteKey, len(s.keys))
	for i, k := range s.keys {
		list[i] = receipt.NoteKey{Key: &k.clone().Key, Public: k.material}
	}
	return list
}

// CheckRaw implements [receipt.RawTrust]. The message may consist of any bytes. Exactly these bytes
// are signed. The algorithm is determined by the trusted key.
func (s *Set) CheckRaw(message []byte, sig *receipt.ForeignSignature) (*receipt.Key, *receipt.SignatureError) {
	candidates := rawKeys(s, sig)
	if len(candidates) == 0 {
		return nil, refuse(receipt.CodeUnknownKey, "%s is not among the trusted keys (%d)", rawName(sig), len(s.keys))
	}
	var first *receipt.SignatureError
	for _, k := range candidates {
		err := checkRaw(k, message, sig)
		if err == nil {
			return &k.Key, nil
		}
		if first == nil {
			first = err
		}
	}
	return &candidates[0].Key, first
}

func cloneAll(keys []*PublicKey) []*PublicKey {
	list := make([]*PublicKey, len(keys))
	for i, k := range keys {
		list[i] = k.clone()
	}
	return list
}

// ended applies each revocation to all keys that have the same material, and returns the resulting
// keys. This is necessary because a signature names its key by ID, and the ID is not covered by the
// hash. If only one ID were revoked, someone with a stolen key could use an ID that is not revoked.
// A superseded key is revoked only under the superseded ID, because its owner may still use it
// under a different ID. The keys passed to ended are not modified.
func ended(keys []*PublicKey) []*PublicKey {
	first := map[[32]byte]*receipt.Revocation{}
	for _, k := range keys {
		if r := k.Revoked; stolen(r) && earlier(r, first[k.Thumbprint]) {
			first[k.Thumbprint] = r
		}
	}

	list := slices.Clone(keys)
	for i, k := range list {
		if r := first[k.Thumbprint]; r != nil && !(stolen(k.Revoked) && k.Revoked.At.Equal(r.At)) {
			list[i] = revoked(k, r.At, r.Reason)
		}
	}
	return list
}

// stolen reports whether a revocation rejects all of a key's signatures, regardless of the dates
// that they state.
func stolen(r *receipt.Revocation) bool { return r != nil && r.Reason != receipt.ReasonSuperseded }

// earlier reports whether other is nil or r revokes its key before other does.
func earlier(r, other *receipt.Revocation) bool { return other == nil || r.At.Before(other.At) }

// revoked returns a copy of the key with an additional revocation. If the key was already
// superseded, it expires at that time. The reason is that the new revocation does not apply to data
// that a witness observed before the revocation, but it must apply to receipts that were signed
// after the key was superseded.
func revoked(k *PublicKey, at time.Time, reason string) *PublicKey {
	c := k.clone()
	if r := k.Revoked; r != nil && !stolen(r) {
		switch {
		case !r.At.After(c.NotBefore): // the key was never valid, which a file cannot express in any other way
			if r.At.Before(at) {
				at = r.At
			}
		case c.NotAfter.IsZero() || r.At.Before(c.NotAfter):
			c.NotAfter = r.At
		}
	}
	c.Revoked = &receipt.Revocation{At: at, Reason: reason}
	return c
}
