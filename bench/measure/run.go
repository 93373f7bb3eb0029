package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/receiptkit/receiptkit/bench/internal/race"
)

// run runs a command once, without input. Its stdout is discarded and its stderr is shown. If cores
// is not 0, the command runs Go code on at most that many cores at the same time.
func run(ctx context.Context, line []string, exit, cores int) (race.Usage, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stderr = os.Stderr
	if cores > 0 {
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	}
	usage, err := race.Run(cmd)
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return usage, err
	}
	if state := cmd.ProcessState; state.ExitCode() != exit { // -1 if a signal ended the command
		return usage, fmt.Errorf("%q: %v, expected exit status %d", line, state, exit)
	}
	return usage, nil
}

// rounds returns the usage in each round, indexed by the number of jobs. Within a round, the
// command runs once with each number of jobs, so that other load on the machine affects all of
// them.
func rounds(ctx context.Context, o *options) ([][]race.Usage, error) {
	samples := make([][]race.Usage, len(o.jobs))
	for round := range o.runs + 1 {
		for i := range o.jobs {
			k := (i + round) % len(o.jobs) // each round starts with another number of jobs
			s, err := run(ctx, o.line(o.jobs[k]), o.exit, o.limit(o.jobs[k]))
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first round loads files and programs into memory
				samples[k] = append(samples[k], s)
			}
		}
	}
	return samples, nil
}
