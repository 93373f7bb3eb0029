// Package result defines the results of a benchmark run, and formats, records, and compares them.
package result

import (
	"fmt"
	"strconv"
)

// A Bound specifies whether a line has a lower bound, an upper bound, or no bound.
type Bound string

const (
	Free  Bound = ""      // no bound
	Least Bound = "least" // at least Must
	Most  Bound = "most"  // at most Must
)

// A Line is one measurement.
type Line struct {
	ID      string  `json:"id"`      // stable, unlike Measure
	Measure string  `json:"measure"` // description
	Bound   Bound   `json:"bound,omitempty"`
	Must    float64 `json:"must"`
	Seen    float64 `json:"seen"`           // the median of the rounds
	Worst   float64 `json:"worst"`          // worst round: the minimum, or the maximum for a line with Most
	Unit    string  `json:"unit"`           // such as × or MiB
	Note    string  `json:"note,omitempty"` // an additional value, or the reason why nothing was measured
	Absent  bool    `json:"absent,omitempty"`
}

// Met reports whether the line meets its bound. A line that was not measured does not meet its
// bound. A line without a bound always meets it.
func (l *Line) Met() bool {
	switch l.Bound {
	case Least:
		return !l.Absent && l.Seen >= l.Must
	case Most:
		return !l.Absent && l.Seen <= l.Must
	}
	return true
}

// Missed returns the lines that do not meet their bounds.
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

// Round rounds a value to four digits, which keeps noise out of the record.
func Round(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64)
	if err != nil {
		panic(err) // FormatFloat wrote it
	}
	return r
}

// Number formats the significant digits of a value.
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
