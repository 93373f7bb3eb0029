// Package race times rivals side by side in one process.
//
// A round is a turn of each, so that whatever else the machine does meets all of
// them; ratios are taken within a round. Time is processor time ([Clock]).
package race

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// A Turn does the work of a round, counted from 0, and returns the seconds that
// it took.
type Turn func(round int) (seconds float64, err error)

// Once makes a Turn of f. The garbage of whoever came before is collected first;
// its own is its own cost.
func Once(f func(round int) error) Turn { return Repeated(0, f) }

// Repeated makes a Turn that repeats f until the time is up, and returns the mean.
func Repeated(least time.Duration, f func(round int) error) Turn {
	return func(round int) (float64, error) {
		runtime.GC()
		count, start := 0, Clock()
		for count == 0 || Clock()-start < least {
			if err := f(round); err != nil {
				return 0, err
			}
			count++
		}
		return (Clock() - start).Seconds() / float64(count), nil
	}
}

// Times are the seconds of each turn in each round.
type Times [][]float64

// Rounds lets the turns run one after the other, round after round, each time
// beginning with another one.
func Rounds(ctx context.Context, rounds int, turns ...Turn) (Times, error) {
	times := make(Times, len(turns))
	for round := range rounds {
		for i := range turns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			k := (i + round) % len(turns) // nobody always comes first
			seconds, err := turns[k](round)
			if err != nil {
				return nil, err
			}
			times[k] = append(times[k], seconds)
		}
	}
	return times, nil
}

// Median returns the median time of a turn.
func (t Times) Median(turn int) float64 { return Median(t[turn]) }

// A Ratio is how many times as long as another one a turn took.
type Ratio struct{ Median, Least, Most float64 } // of the rounds

// Ratio compares the times of turn a with those of turn b.
func (t Times) Ratio(a, b int) Ratio {
	list := make([]float64, len(t[a]))
	for round := range list {
		list[round] = t[a][round] / t[b][round]
	}
	return Ratio{Median(list), slices.Min(list), slices.Max(list)}
}
