package aggregate

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Limits for counting by name. Entries beyond these limits are counted without their names.
const (
	maxModels = 64
	maxKeys   = 256
	maxFiles  = 10_000
	maxListed = 20  // number of rows that are displayed, starting with the largest
	maxName   = 512 // bytes in a name
)

// A tally counts by name in limited memory, because it stores only the first names that occur.
type tally[T any] struct {
	rows map[string]*T
	more int // entries whose name is not stored
}

// of returns the row for a name, or nil if the name is not stored.
func (t *tally[T]) of(name string, most int) *T {
	if row := t.rows[name]; row != nil {
		return row
	}

	// A name that exceeds the limits has no row.
	if len(t.rows) >= most || len(name) > maxName {
		return nil
	}
	if t.rows == nil {
		t.rows = map[string]*T{}
	}
	t.rows[name] = new(T)
	return t.rows[name]
}

// largest returns the names of the largest rows in descending order and the number of nonempty
// rows.
func (t *tally[T]) largest(size func(*T) int) (names []string, count int) {
	for name, row := range t.rows {
		if size(row) > 0 {
			names = append(names, name)
		}
	}

	// Rows of the same size are sorted by name.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(size(t.rows[b]), size(t.rows[a])), cmp.Compare(a, b))
	})
	return names[:min(len(names), maxListed)], len(names)
}

// ranked counts by the names that matter to auditors: models, keys, and files.
type ranked struct {
	models tally[model]
	keys   tally[split]
	files  tally[split]
}

// split counts verified receipts separately from all others.
type split struct {
	Verified int `json:"verified"`
	Other    int `json:"other"`
}

func (s *split) sum() int { return s.Verified + s.Other }

// add adds n to a row of a tally, or to the entries without a name if there is no row.
func add(t *tally[split], row *split, verified bool, n int) {
	switch {
	case row == nil:
		t.more += n
	case verified:
		row.Verified += n
	default:
		row.Other += n
	}
}

// read sets the contribution of a receipt to the counts by name.
func (r *ranked) read(p *part, rep *receipt.Report, s statement) {
	p.models = readModels(&r.models, s, p.currency)

	writes := s.Member("side_effects").Member("fs_writes")
	p.files = make([]*split, 0, writes.Len())
	for _, w := range writes.Elements() {
		p.files = append(p.files, r.files.of(w.Member("path").String(), maxFiles))
	}
	p.key = r.keys.of(signer(rep), maxKeys)
}

// apply adds a part n times.
func (r *ranked) apply(p *part, n int) {
	for i := range p.models {
		if e := &p.models[i]; e.row == nil {
			r.models.more += n
		} else {
			e.row.apply(p, e, n)
		}
	}
	for _, row := range p.files {
		add(&r.files, row, p.verified, n)
	}
	add(&r.keys, p.key, p.verified, n)
}

// signer returns the ID of the trusted key that signed as the issuer, or "" if there is none.
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
	Names int         `json:"names"` // number of kept names
	More  int         `json:"more"`  // entries of names that are not kept
}

func rankedOf(t *tally[split]) rankedJSON {
	names, count := t.largest((*split).sum)
	j := rankedJSON{Rows: []rankedRow{}, Names: count, More: t.more}
	for _, name := range names {
		j.Rows = append(j.Rows, rankedRow{name, t.rows[name]})
	}
	return j
}
