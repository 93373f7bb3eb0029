package keys

import (
	"crypto/ed25519"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

const (
	// tableAfter is how many signatures of a key a [Set] checks before it makes a
	// table for it. The table of the base point takes as long as about a hundred
	// checks without tables, that of a key as about thirty. So whoever is about
	// to stop has at most waited twice as long as needed, and after some two hundred
	// more the time is won back.
	tableAfter = 128

	// maxTables is how many keys of a Set get a table: those that are the first to
	// be used often.
	maxTables = 16
)

// A trusted key is one of a [Set], which may make a table for it.
type trusted struct {
	*PublicKey
	uses  atomic.Uint64 // counted until there is a table
	table atomic.Pointer[fixedbase.Key]
}

// tables makes the tables of a Set. All of them share the one of the base point.
type tables struct {
	base    func() *fixedbase.Base // once, when it is first asked for
	claimed atomic.Int64           // of maxTables; keys that came too late count too
}

// of returns the table of the key, or nil, with which nothing changes but speed. It
// counts the call as a use, and makes the table when it is time: one caller has to
// wait for that, others go without meanwhile.
func (t *tables) of(k *trusted, plain bool) *fixedbase.Key {
	if plain || k.Algorithm != Ed25519 {
		return nil
	}
	if table := k.table.Load(); table != nil {
		return table
	}
	if k.uses.Add(1) != tableAfter || t.claimed.Add(1) > maxTables {
		return nil
	}

	// One call alone has counted to tableAfter, so nobody makes the table twice.
	table, err := t.base().NewKey(k.material.(ed25519.PublicKey))
	if err != nil { // never: a set has no key that is not a point
		return nil
	}
	k.table.Store(table)
	return table
}
