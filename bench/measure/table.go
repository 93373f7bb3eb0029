package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/race"
)

// A row summarizes all runs with the same number of jobs.
type row struct {
	Jobs      int     `json:"jobs"`
	Wall      float64 `json:"wall"`      // seconds, median
	Processor float64 `json:"processor"` // seconds, median
	Memory    float64 `json:"memory"`    // MiB, the maximum of all runs
	Gain      float64 `json:"gain"`      // speedup compared with the first row: median of the rounds
	LeastGain float64 `json:"leastGain"` // and the minimum
}

func summarize(jobs []int, samples [][]race.Usage) []row {
	rows := make([]row, len(jobs))
	for k, list := range samples {
		var wall, processor, memory, gain []float64
		for round, s := range list {
			wall = append(wall, s.Wall)
			processor = append(processor, s.Processor)
			memory = append(memory, s.Memory/(1<<20))
			gain = append(gain, samples[0][round].Wall/s.Wall)
		}
		rows[k] = row{jobs[k], race.Median(wall), race.Median(processor), slices.Max(memory), race.Median(gain), slices.Min(gain)}
	}
	return rows
}

func tell(w io.Writer, o *options, rows []row) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nmedian of %d rounds, peak RSS of all runs\n\n", strings.Join(o.command, " "), o.runs)
	fmt.Fprintf(&b, "%6s %10s %12s %13s %12s %6s\n", "jobs", "seconds", "processor s", "peak RSS MiB", fmt.Sprintf("× jobs=%d", rows[0].Jobs), "least")
	for _, r := range rows {
		fmt.Fprintf(&b, "%6d %10.3f %12.3f %13s %12.2f %6.2f\n", r.Jobs, r.Wall, r.Processor, mebibytes(r.Memory), r.Gain, r.LeastGain)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tellJSON is like tell, but prints JSON.
func tellJSON(w io.Writer, _ *options, rows []row) error { return json.NewEncoder(w).Encode(rows) }

func mebibytes(n float64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", n)
}

// limits contains the bounds for the rows. Bounds that are zero are not checked.
type limits struct {
	memory float64 // MiB
	gain   float64 // time of the last row compared with that of the first row
}

// A missedError lists the limits that were exceeded.
type missedError struct{ missed []string }

func (e *missedError) Error() string { return strings.Join(e.missed, "; ") }

func (l limits) check(rows []row) error {
	var missed []string
	for _, r := range rows {
		switch {
		case l.memory > 0 && r.Memory == 0:
			missed = append(missed, "the peak RSS is unknown on this system")
		case l.memory > 0 && r.Memory > l.memory:
			missed = append(missed, fmt.Sprintf("%d jobs: the peak RSS is %.1f MiB, expected at most %g", r.Jobs, r.Memory, l.memory))
		}
	}
	if last := rows[len(rows)-1]; l.gain > 0 && last.Gain < l.gain {
		missed = append(missed, fmt.Sprintf("%d jobs are %.2f times as fast as %d, expected at least %g", last.Jobs, last.Gain, rows[0].Jobs, l.gain))
	}
	if len(missed) > 0 {
		return &missedError{missed}
	}
	return nil
}
