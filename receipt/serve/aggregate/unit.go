package aggregate

import "time"

// A unit is the length of a bin. Each unit joins whole bins of the one before it,
// so that joining loses nothing; that is why there are no weeks.
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
