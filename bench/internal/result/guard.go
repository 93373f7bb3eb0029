package result

import "fmt"

// MostLoss is the part of its recorded worth that a line may lose: less is what
// machines do from run to run.
const MostLoss = 0.30

// A Comparison is a line beside what was recorded of it.
type Comparison struct {
	ID             string
	Recorded, Seen float64
	Loss           float64 // part of the recorded worth; negative: it gained
	Why            string  // it does not hold; "" when it does
}

// Guard compares lines with those of an earlier run in the same form. Each must be
// on both sides, and none may have lost more than MostLoss, unless it is of the kind
// that has to stay below a bound and does: an input that took 1.1 times as long as
// half of it, and now 1.7 times, is still linear.
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

// Failed returns those that do not hold.
func Failed(list []Comparison) []Comparison {
	var failed []Comparison
	for _, c := range list {
		if c.Why != "" {
			failed = append(failed, c)
		}
	}
	return failed
}

// ComparisonRows returns them for a table.
func ComparisonRows(list []Comparison) [][]string {
	rows := [][]string{{"line", "recorded", "seen", ""}}
	for _, c := range list {
		rows = append(rows, []string{c.ID, Number(c.Recorded), Number(c.Seen), c.Why})
	}
	return rows
}
