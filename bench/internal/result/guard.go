package result

import "fmt"

// MostLoss is the maximum loss of a line, as a fraction of its recorded value. Smaller losses are
// within the normal variation between runs.
const MostLoss = 0.30

// A Comparison is the result of comparing a line with its record.
type Comparison struct {
	ID             string
	Recorded, Seen float64
	Loss           float64 // the loss as a fraction of the recorded value; negative for a gain
	Why            string  // why the line fails, or "" if it passes
}

// Guard compares lines with the lines of an earlier run in the same form. Each line must exist in
// both runs, and no line may have lost more than MostLoss. A line whose upper bound is still met
// passes. For example, if an input took 1.1 times as long as half of it and now takes 1.7 times as
// long, its time is still linear.
func Guard(recorded, seen []Line) []Comparison {
	var list []Comparison
	for _, was := range recorded {
		list = append(list, compare(was, find(seen, was.ID)))
	}
	for _, is := range seen {
		if find(recorded, is.ID) == nil {
			list = append(list, Comparison{ID: is.ID, Seen: is.Seen, Why: "was not recorded"})
		}
	}
	return list
}

func find(lines []Line, id string) *Line {
	for i := range lines {
		if lines[i].ID == id {
			return &lines[i]
		}
	}
	return nil
}

func compare(was Line, is *Line) Comparison {
	c := Comparison{ID: was.ID, Recorded: was.Seen}
	if is == nil || is.Absent {
		c.Why = "was not measured"
		return c
	}
	c.Seen = is.Seen
	switch {
	case was.Bound == Most && is.Seen > 0:
		c.Loss = 1 - was.Seen/is.Seen
	case was.Bound != Most && was.Seen > 0:
		c.Loss = 1 - is.Seen/was.Seen
	}
	if c.Loss > MostLoss && !(was.Bound == Most && is.Seen <= was.Must) {
		c.Why = fmt.Sprintf("lost %.0f %%", 100*c.Loss)
	}
	return c
}

// Failed returns the comparisons that have failed.
func Failed(list []Comparison) []Comparison {
	var failed []Comparison
	for _, c := range list {
		if c.Why != "" {
			failed = append(failed, c)
		}
	}
	return failed
}

// ComparisonRows returns the rows of a table of comparisons.
func ComparisonRows(list []Comparison) [][]string {
	rows := [][]string{{"line", "recorded", "seen", ""}}
	for _, c := range list {
		rows = append(rows, []string{c.ID, Number(c.Recorded), Number(c.Seen), c.Why})
	}
	return rows
}
