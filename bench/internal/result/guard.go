package result

import "fmt"

// MostLoss is the maximum loss of a line, as a part of its recorded value. Smaller losses are
// within the variation between runs.
const MostLoss = 0.30

// A Comparison compares a line with its record.
type Comparison struct {
	ID             string
	Recorded, Seen float64
	Loss           float64 // part of the recorded value; negative: it gained
	Why            string  // why the line fails; "" if it does not
}

// Guard compares lines with those of an earlier run in the same form. Each line must exist in
// both, and none may have lost more than MostLoss. A line with an upper bound that is still met
// does not fail: an input that took 1.1 times as long as half of it, and now takes 1.7 times as
// long, is still linear.
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

// Failed returns the comparisons that fail.
func Failed(list []Comparison) []Comparison {
	var failed []Comparison
	for _, c := range list {
		if c.Why != "" {
			failed = append(failed, c)
		}
	}
	return failed
}

// ComparisonRows returns the rows of a table.
func ComparisonRows(list []Comparison) [][]string {
	rows := [][]string{{"line", "recorded", "seen", ""}}
	for _, c := range list {
		rows = append(rows, []string{c.ID, Number(c.Recorded), Number(c.Seen), c.Why})
	}
	return rows
}
