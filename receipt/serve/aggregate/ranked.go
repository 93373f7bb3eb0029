package aggregate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// What is counted by name at most. What is beyond is counted without its name.
const (
	MaxModels = 64
	MaxKeys   = 256
	MaxFiles  = 10_000
	MaxListed = 20  // rows that are shown, the largest
	maxName   = 512 // bytes of a name
)

// A tally counts by name, in bounded memory: the first names that come are kept.
type tally[T any] struct {
	rows map[string]*T
	more int // entries whose name is not kept
}

// of returns the row of a name; nil when it is not kept, which is counted.
func (t *tally[T]) of(name string, most int) *T {
	if row := t.rows[name]; row != nil {
		return row
	}
	if len(t.rows) >= most || len(name) > maxName {
		t.more++
		return nil
	}
	if t.rows == nil {
		t.rows = map[string]*T{}
	}
	t.rows[name] = new(T)
	return t.rows[name]
}

// largest returns the names of the largest rows, the largest first.
func (t *tally[T]) largest(compare func(a, b *T) int) []string {
	names := slices.SortedFunc(maps.Keys(t.rows), func(a, b string) int {
		return cmp.Or(compare(t.rows[b], t.rows[a]), cmp.Compare(a, b))
	})
	return names[:min(len(names), MaxListed)]
}

// ranked is what auditors ask for by name: models, keys, files.
type ranked struct {
	models tally[model]
	keys   tally[split]
	files  tally[split]
}

// split counts verified receipts apart from all others.
type split struct {
	Verified int `json:"verified"`
	Other    int `json:"other"`
}

func (s *split) add(verified bool) {
	if verified {
		s.Verified++
	} else {
		s.Other++
	}
}

func bySize(a, b *split) int { return cmp.Compare(a.Verified+a.Other, b.Verified+b.Other) }

func (r *ranked) add(rep *receipt.Report, s statement, verified bool, currency string) {
	addModels(&r.models, s, verified, currency)
	for _, w := range s.Member("side_effects").Member("fs_writes").Elements() {
		if row := r.files.of(w.Member("path").String(), MaxFiles); row != nil {
			row.add(verified)
		}
	}
	if row := r.keys.of(signer(rep), MaxKeys); row != nil {
		row.add(verified)
	}
}

// signer is the trusted key that signed as the issuer; "" when none did.
func signer(rep *receipt.Report) string {
	for _, s := range rep.Signatures {
		if s.Status == receipt.SignatureValid && s.Role == receipt.RoleIssuer {
			return s.KeyID
		}
	}
	return ""
}

type rankedRow struct {
	Name string `json:"name"`
	*split
}

type rankedJSON struct {
	Rows  []rankedRow `json:"rows"`
	Names int         `json:"names"` // how many there are, as far as they are kept
	More  int         `json:"more"`  // entries of names that are not kept
}

func rankedOf(t *tally[split]) rankedJSON {
	j := rankedJSON{Rows: []rankedRow{}, Names: len(t.rows), More: t.more}
	for _, name := range t.largest(bySize) {
		j.Rows = append(j.Rows, rankedRow{name, t.rows[name]})
	}
	return j
}
