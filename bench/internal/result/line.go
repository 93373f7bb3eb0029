// Package result holds what a benchmark run found: how it is shown, recorded and
// compared with an earlier run.
package result

import (
	"fmt"
	"strconv"
)

// A Bound says on which side of Must a line has to be.
type Bound string

const (
	Free  Bound = ""      // nothing is demanded
	Least Bound = "least" // at least Must
	Most  Bound = "most"  // at most Must
)

// A Line is one measure.
type Line struct {
	ID      string  `json:"id"`      // never changes, unlike the words
	Measure string  `json:"measure"` // what was measured, in words
	Bound   Bound   `json:"bound,omitempty"`
	Must    float64 `json:"must"`
	Seen    float64 `json:"seen"`           // the median of the rounds
	Worst   float64 `json:"worst"`          // of the rounds: the least, of a line with Most the most
	Unit    string  `json:"unit"`           // such as × or MiB
	Note    string  `json:"note,omitempty"` // a figure beside, or why nothing was seen
	Absent  bool    `json:"absent,omitempty"`
}

// Met reports whether the line is where it must be. A line that was not measured
// is not, unless nothing is demanded of it.
func (l *Line) Met() bool {
	switch l.Bound {
	case Least:
		return !l.Absent && l.Seen >= l.Must
	case Most:
		return !l.Absent && l.Seen <= l.Must
	}
	return true
}

// Missed returns the lines that are not met.
func Missed(lines []Line) []Line {
	var missed []Line
	for _, l := range lines {
		if !l.Met() {
			missed = append(missed, l)
		}
	}
	return missed
}

func (l *Line) must() string {
	switch l.Bound {
	case Least:
		return "≥ " + withUnit(fmt.Sprint(l.Must), l.Unit)
	case Most:
		return "≤ " + withUnit(fmt.Sprint(l.Must), l.Unit)
	}
	return ""
}

func (l *Line) seen() string {
	if l.Absent {
		return "not measured"
	}
	return withUnit(Number(l.Seen), l.Unit)
}

func (l *Line) worst() string {
	if l.Absent {
		return ""
	}
	return withUnit(Number(l.Worst), l.Unit)
}

func (l *Line) met() string {
	switch {
	case l.Bound == Free:
		return ""
	case l.Met():
		return "yes"
	}
	return "NO"
}

func withUnit(figure, unit string) string {
	if unit == "" {
		return figure
	}
	return figure + " " + unit
}

// Round leaves four digits, so that a record does not tell of noise.
func Round(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64)
	if err != nil {
		panic(err) // it was written one line before
	}
	return r
}

// Number writes a figure with as many digits as mean something.
func Number(f float64) string {
	switch {
	case f == float64(int64(f)):
		return fmt.Sprintf("%.0f", f)
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
