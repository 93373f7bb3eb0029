// Package race compares the times of rivals, usually within one process.
//
// A round consists of one turn of each rival, so that other load on the machine affects all rivals.
// Ratios are computed within a round. Times are processor times (see [Clock]).
package race

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// A Turn does the work for a round, counted from 0, and returns the time in seconds.
type Turn func(round int) (seconds float64, err error)

// Once returns a Turn that runs f. The garbage from the previous turn is collected before the
// measurement, and the garbage from f during it.
func Once(f func(round int) error) Turn { return Repeated(0, f) }

// Repeated returns a Turn that repeats f for at least the given time and returns the mean time.
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

// Times contains the time of each turn in each round, in seconds.
type Times [][]float64

// Rounds runs the turns one after another in each round. Each round starts with a different turn.
func Rounds(ctx context.Context, rounds int, turns ...Turn) (Times, error) {
	times := make(Times, len(turns))
	for round := range rounds {
		for i := range turns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			k := (i + round) % len(turns) // each round starts with a different turn
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

// A Ratio is the time of one turn divided by the time of another turn.
type Ratio struct{ Median, Least, Most float64 } // of the rounds

// Ratio returns the ratio of the times of turn a to the times of turn b.
func (t Times) Ratio(a, b int) Ratio {
	list := make([]float64, len(t[a]))
	for round := range list {
		list[round] = t[a][round] / t[b][round]
	}
	return Ratio{Median(list), slices.Min(list), slices.Max(list)}
}
