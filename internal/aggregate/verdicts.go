package aggregate

import (
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// verdicts counts receipts by verdict and stated time. It includes refuted receipts, whose time may
// also be wrong.
type verdicts struct {
	bins    timeline[*judged]
	untimed int // receipts without a valid, reported time
}

// judged contains the number of receipts with each verdict; a receipt that is only intact counts as
// undecided.
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

func (*judged) empty() *judged { return new(judged) }

func (j *judged) plus(k *judged) {
	j.Verified += k.Verified
	j.Refuted += k.Refuted
	j.Undecided += k.Undecided
}

func (v *verdicts) add(rep *receipt.Report, s statement) {
	// Receipts without a usable time are counted separately.
	completed, ok := completedAt(s)
	if !ok {
		v.untimed++
		return
	}
	v.bins.at(completed).add(rep)
	v.bins.fit()
}

// completedAt returns the end of the task, if the source reported it and its year has at most four
// digits.
func completedAt(s statement) (time.Time, bool) {
	if s.untold.Has("/lifecycle/completed_at") {
		return time.Time{}, false
	}

	t, err := receipt.ParseTime(s.Member("lifecycle").Member("completed_at").Text())
	y := t.UTC().Year() // in UTC, the year may be out of range
	return t, err == nil && y >= 0 && y <= 9999
}

type verdictsJSON struct {
	Unit    string           `json:"unit"`
	Bins    []verdictBinJSON `json:"bins"`
	Untimed int              `json:"untimed"`
}

type verdictBinJSON struct {
	Start string `json:"from"`  // RFC 3339, UTC
	Empty int    `json:"empty"` // as in the other bins
	*judged
}

func (v *verdicts) json() verdictsJSON {
	shown, starts := v.bins.shown()
	j := verdictsJSON{Unit: shown.unit.String(), Bins: []verdictBinJSON{}, Untimed: v.untimed}
	for i, start := range starts {
		j.Bins = append(j.Bins, verdictBinJSON{receipt.At(start).String(), shown.unit.gap(starts, i), shown.bins[start]})
	}
	return j
}
