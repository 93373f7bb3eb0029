package aggregate

import (
	"maps"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// verdicts counts receipts by verdict and by the time that they state, the refuted ones
// too: there that time may be as false as the rest.
type verdicts struct {
	unit    unit
	bins    map[time.Time]*judged
	untimed int // without a time that was told and can be read
}

// judged counts receipts by verdict; what is only intact is undecided.
type judged struct {
	Verified  int `json:"verified"`
	Refuted   int `json:"refuted"`
	Undecided int `json:"undecided"`
}

func (j *judged) add(rep *receipt.Report) {
	switch {
	case rep.Verdict == receipt.Refuted:
		j.Refuted++
	case rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeFull:
		j.Verified++
	default:
		j.Undecided++
	}
}

func (v *verdicts) add(rep *receipt.Report, s statement) {
	completed, ok := completedAt(s)
	if !ok {
		v.untimed++
		return
	}
	if v.bins == nil {
		v.bins = map[time.Time]*judged{}
	}

	v.bin(v.unit.start(completed)).add(rep)
	for len(v.bins) > MaxBins && v.unit < century {
		v.coarsen()
	}
}

// completedAt is when the task ended, in the years that have a text, if the source told it.
func completedAt(s statement) (time.Time, bool) {
	if s.untold.Has("/lifecycle/completed_at") {
		return time.Time{}, false
	}
	t, err := receipt.ParseTime(s.Member("lifecycle").Member("completed_at").Text())
	y := t.UTC().Year() // an offset can lead out of those years
	return t, err == nil && y >= 0 && y <= 9999
}

func (v *verdicts) bin(start time.Time) *judged {
	if v.bins[start] == nil {
		v.bins[start] = new(judged)
	}
	return v.bins[start]
}

func (v *verdicts) coarsen() {
	fine := v.bins
	v.unit++
	v.bins = map[time.Time]*judged{}
	for start, j := range fine {
		b := v.bin(v.unit.start(start))
		b.Verified += j.Verified
		b.Refuted += j.Refuted
		b.Undecided += j.Undecided
	}
}

type verdictsJSON struct {
	Unit    string           `json:"unit"`
	Bins    []verdictBinJSON `json:"bins"`
	Untimed int              `json:"untimed"`
}

type verdictBinJSON struct {
	Start string `json:"from"`  // RFC 3339, UTC
	Empty int    `json:"empty"` // as of the other bins
	*judged
}

func (v *verdicts) json() verdictsJSON {
	shown := *v
	starts := shown.starts()
	for shown.unit < century && shown.unit.sparse(starts) {
		shown.coarsen()
		starts = shown.starts()
	}

	j := verdictsJSON{Unit: shown.unit.String(), Bins: []verdictBinJSON{}, Untimed: v.untimed}
	for i, start := range starts {
		b := verdictBinJSON{Start: receipt.At(start).String(), judged: shown.bins[start]}
		if i > 0 {
			b.Empty = shown.unit.between(starts[i-1], start) - 1
		}
		j.Bins = append(j.Bins, b)
	}
	return j
}

func (v *verdicts) starts() []time.Time {
	return slices.SortedFunc(maps.Keys(v.bins), time.Time.Compare)
}
