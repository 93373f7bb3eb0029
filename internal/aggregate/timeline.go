package aggregate

import (
	"maps"
	"slices"
	"time"
)

// A timeline keeps sums in bins of one unit, which becomes coarser when there are too many bins.
// The zero value is ready.
type timeline[T bin[T]] struct {
	unit unit
	bins map[time.Time]T // by the first instant
}

// A bin is the sum of a span of time.
type bin[T any] interface {
	plus(other T)
	empty() T // a new bin
}

// at returns the bin of an instant.
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

// fit joins bins until they are few enough: nothing in them is dropped.
func (l *timeline[T]) fit() {
	for len(l.bins) > maxBins && l.unit < century {
		l.coarsen()
	}
}

// coarsen joins the bins to those of the next unit. It does not change the bins themselves.
func (l *timeline[T]) coarsen() {
	fine := l.bins
	l.unit++
	l.bins = map[time.Time]T{}
	for start, b := range fine {
		l.at(start).plus(b)
	}
}

// shown returns the timeline in the shortest unit in which a chart of it is not mostly gaps, and
// the first instants of its bins in order. More receipts may be added to the original.
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

// gap returns the number of empty bins that precede one of the bins that start at starts.
func (u unit) gap(starts []time.Time, i int) int {
	if i == 0 {
		return 0
	}
	return u.between(starts[i-1], starts[i]) - 1
}

// A unit is the length of a bin. Each unit consists of complete bins of the previous unit, so
// joining bins loses nothing. For this reason, there are no weeks.
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

// start returns the first instant of the bin in which t lies, in UTC.
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

// between counts the units from one first instant to a later one.
func (u unit) between(from, to time.Time) int {
	switch u {
	case hour:
		return int(to.Sub(from) / time.Hour) // a Duration ends at 292 years, and so does this count
	case day:
		return int(to.Sub(from) / (24 * time.Hour))
	case month:
		return 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
	case year:
		return to.Year() - from.Year()
	}
	return (to.Year() - from.Year()) / 100
}

// sparse reports whether most bins are followed by a long gap, or whether too many columns would be
// needed. A single receipt from another century causes only one long gap, so it does not decide.
func (u unit) sparse(starts []time.Time) bool {
	const (
		long    = 7 // bins; a longer gap is drawn as a break, as wide as a bin
		columns = 120
	)

	breaks, width := 0, len(starts)

	// The first bin needs no gap before it.
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
