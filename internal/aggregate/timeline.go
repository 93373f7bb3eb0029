package aggregate

import (
	"maps"
	"slices"
	"time"
)

// A timeline contains sums in bins of one unit, which becomes coarser when there are too many bins.
// The zero value is ready to use.
type timeline[T bin[T]] struct {
	unit unit
	bins map[time.Time]T // keyed by the first instant of the bin
}

// A bin is the sum for a span of time.
type bin[T any] interface {
	plus(other T)
	empty() T // a new bin
}

// at returns the bin that contains an instant.
func (l *timeline[T]) at(t time.Time) T {
	start := l.unit.start(t)
	b, ok := l.bins[start]
	if ok {
		return b
	}

	if l.bins == nil {
		l.bins = map[time.Time]T{}
	}
	b = b.empty()
	l.bins[start] = b
	return b
}

// fit merges bins until their number is within the limit, without losing any data.
func (l *timeline[T]) fit() {
	for len(l.bins) > maxBins && l.unit < century {
		l.coarsen()
	}
}

// coarsen merges the bins into bins of the next unit. It creates new bins and does not change the
// old ones.
func (l *timeline[T]) coarsen() {
	fine := l.bins
	l.unit++
	l.bins = map[time.Time]T{}
	for start, b := range fine {
		l.at(start).plus(b)
	}
}

// shown returns the timeline in the shortest suitable unit, and the starts of its bins in
// chronological order. A unit is suitable if its chart does not consist mostly of gaps. Receipts
// can still be added to the original timeline afterward.
func (l timeline[T]) shown() (coarse timeline[T], starts []time.Time) {
	starts = l.starts()
	for l.unit < century && l.unit.sparse(starts) {
		l.coarsen()
		starts = l.starts()
	}
	return l, starts
}

func (l *timeline[T]) starts() []time.Time {
	return slices.SortedFunc(maps.Keys(l.bins), time.Time.Compare)
}

// gap returns the number of empty bins before the bin that starts at starts[i].
func (u unit) gap(starts []time.Time, i int) int {
	if i == 0 {
		return 0
	}
	return u.between(starts[i-1], starts[i]) - 1
}

// A unit is the length of a bin. Each unit consists of complete bins of the previous unit, so no
// data is lost when bins are merged. Weeks are not a unit for this reason.
type unit int

const (
	hour unit = iota
	day
	month
	year
	century
)

func (u unit) String() string {
	return [...]string{"hour", "day", "month", "year", "century"}[u]
}

// start returns the first instant of the bin that contains t, in UTC.
func (u unit) start(t time.Time) time.Time {
	t = t.UTC()
	switch u {
	case hour:
		return t.Truncate(time.Hour)
	case day:
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	case month:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case year:
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(t.Year()/100*100, 1, 1, 0, 0, 0, 0, time.UTC)
}

// between returns the number of units from the start of one bin to the start of a later bin.
func (u unit) between(from, to time.Time) int {
	switch u {
	case hour:
		return int(to.Sub(from) / time.Hour) // a Duration can represent at most 292 years, which also limits this count
	case day:
		return int(to.Sub(from) / (24 * time.Hour))
	case month:
		return 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
	case year:
		return to.Year() - from.Year()
	}
	return (to.Year() - from.Year()) / 100
}

// sparse reports whether most bins are followed by a long gap, or whether a chart would need too
// many columns. A single receipt from another century causes only one long gap, which does not make
// the bins sparse.
func (u unit) sparse(starts []time.Time) bool {
	const (
		long    = 7 // in bins; a longer gap is drawn as a break with the width of one bin
		columns = 120
	)

	breaks, width := 0, len(starts)

	// There is no gap before the first bin.
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
