package keys

import (
	"crypto/ed25519"
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// Limits of a trust file.
const (
	MaxSetBytes = 4 << 20
	MaxKeys     = 10_000
	maxDepth    = 32 // unknown members may nest
)

// A Set is the keys of one trust file. It implements [receipt.Trust], does not
// change and is safe for concurrent use. It is a [receipt.LogTrust] too.
type Set struct {
	keys   []*PublicKey
	byID   map[string]*trusted
	tables tables
}

var _ receipt.LogTrust = (*Set)(nil)

// ParseSet reads a trust file. The error is a *[SetError].
func ParseSet(data []byte) (*Set, error) {
	f, err := ParseFile(data)
	if err != nil {
		return nil, err
	}
	return index(f.keys)
}

// NewSet makes a set of keys. The error is a *[SetError].
func NewSet(keys ...*PublicKey) (*Set, error) {
	var f File
	if err := f.Add(keys...); err != nil {
		return nil, err
	}
	return f.Set()
}

func index(keys []*PublicKey) (*Set, error) {
	switch {
	case len(keys) == 0:
		return nil, invalid("/keys", "no keys; with none every signature would be unknown")
	case len(keys) > MaxKeys:
		return nil, invalid("/keys", "%d keys, at most %d are read", len(keys), MaxKeys)
	}

	// An entry names its key by kid alone, so no two keys may have one.
	s := &Set{keys: keys, byID: make(map[string]*trusted, len(keys))}
	s.tables.base = sync.OnceValue(fixedbase.NewBase)
	for i, k := range keys {
		if s.byID[k.ID] != nil {
			return nil, invalid("/kid", "another key has the same kid, so a signature could be judged by either").at(i).of(k.ID)
		}
		s.byID[k.ID] = &trusted{PublicKey: k}
	}

	return s, nil
}

// Len returns the number of keys.
func (s *Set) Len() int { return len(s.keys) }

// Keys returns copies of the keys, in the order of the file.
func (s *Set) Keys() []*PublicKey { return cloneAll(s.keys) }

// NoteKeys implements [receipt.LogTrust]: copies of the keys, in the order of the file.
func (s *Set) NoteKeys() []receipt.NoteKey {
	list := make([]receipt.NoteKey, len(s.keys))
	for i, k := range s.keys {
		public, _ := k.material.(ed25519.PublicKey)
		list[i] = receipt.NoteKey{Key: &k.clone().Key, Public: slices.Clone(public)}
	}
	return list
}

func cloneAll(keys []*PublicKey) []*PublicKey {
	list := make([]*PublicKey, len(keys))
	for i, k := range keys {
		list[i] = k.clone()
	}
	return list
}
