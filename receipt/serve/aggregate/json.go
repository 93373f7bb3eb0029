package aggregate

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// An aggregateJSON is the form that the page reads.
type aggregateJSON struct {
	Unit       string    `json:"unit"` // hour, day, month, year or century
	Currencies []string  `json:"currencies"`
	Totals     pair      `json:"totals"`
	Bins       []binJSON `json:"bins"` // those that are not empty, by time
	LeftOut    leftOut   `json:"left_out"`

	Verdicts verdictsJSON `json:"verdicts"` // of all receipts, also those that are left out
	Models   modelsJSON   `json:"models"`   // the largest by entries
	Keys     rankedJSON   `json:"keys"`     // receipts by the trusted key of the issuer; "": none
	Paths    rankedJSON   `json:"paths"`    // entries of fs_writes by path
}

type binJSON struct {
	Start string `json:"start"` // RFC 3339, UTC
	Empty int    `json:"empty"` // how many empty bins lie between the one before and this one
	pair
}

// MarshalJSON writes the sums; amounts and bytes are decimals in strings. The
// unit is the shortest by which the bins make a chart that is not mostly gaps.
func (a *Aggregate) MarshalJSON() ([]byte, error) {
	// A copy is made coarser: more receipts may still come.
	shown := *a
	starts := shown.starts()
	for shown.unit < century && shown.unit.sparse(starts) {
		shown.coarsen()
		starts = shown.starts()
	}

	// The sums of all receipts are the same in every unit.
	j := aggregateJSON{Unit: shown.unit.String(), Currencies: []string{}, Totals: a.totals, Bins: []binJSON{}, LeftOut: a.out,
		Verdicts: a.verdicts.json(), Models: a.ranked.modelsJSON(), Keys: rankedOf(&a.ranked.keys), Paths: rankedOf(&a.ranked.files)}
	if a.bins == nil {
		j.Totals = newPair()
	}

	j.Currencies = append(j.Currencies, slices.Sorted(maps.Keys(a.currencies))...)
	for i, start := range starts {
		b := binJSON{Start: receipt.At(start).String(), pair: shown.bins[start]}
		if i > 0 {
			b.Empty = shown.unit.between(starts[i-1], start) - 1
		}
		j.Bins = append(j.Bins, b)
	}

	return json.Marshal(j)
}

func (a *Aggregate) starts() []time.Time {
	return slices.SortedFunc(maps.Keys(a.bins), time.Time.Compare)
}

// sparse reports whether more bins than not are followed by a long gap, or
// whether too many columns would be needed. One receipt of another century makes
// one long gap, and so does not decide.
func (u unit) sparse(starts []time.Time) bool {
	const (
		long    = 7 // bins; a longer gap is drawn as a break, as wide as a bin
		columns = 120
	)

	breaks, width := 0, len(starts)
	for i := 1; i < len(starts); i++ {
		if gap := u.between(starts[i-1], starts[i]); gap > long {
			breaks++
			width++
		} else {
			width += gap - 1
		}
	}
	return 2*breaks > len(starts)-1 || width > columns
}
