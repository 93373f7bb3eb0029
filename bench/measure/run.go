package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/process"
)

// A sample is what one run took.
type sample struct {
	wall, processor float64 // seconds
	memory          float64 // peak RSS in MiB; 0: this system does not tell
}

// run runs a command once, without input. What it prints to stdout is dropped,
// its messages are shown.
func run(ctx context.Context, line []string, exit int) (sample, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return sample{}, err
	}
	state := cmd.ProcessState
	if state.ExitCode() != exit { // -1 when a signal ended it
		return sample{}, fmt.Errorf("%q: %v, expected exit status %d", line, state, exit)
	}
	return sample{wall.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), process.PeakMemory(state) / (1 << 20)}, nil
}

// rounds returns the samples of each number of jobs, a sample a round. Within a
// round they take turns, so that whatever else the machine does meets them alike.
func rounds(ctx context.Context, o *options) ([][]sample, error) {
	samples := make([][]sample, len(o.jobs))
	for round := range o.runs + 1 {
		for i := range o.jobs {
			k := (i + round) % len(o.jobs) // nobody always comes first
			s, err := run(ctx, o.line(o.jobs[k]), o.exit)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one has brought files and programs into memory
				samples[k] = append(samples[k], s)
			}
		}
	}
	return samples, nil
}
