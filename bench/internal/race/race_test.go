package race

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// fixed returns a Turn that reports the given times and logs each run.
func fixed(log *string, name string, seconds ...float64) Turn {
	return func(round int) (float64, error) {
		*log += fmt.Sprint(name, round, " ")
		return seconds[round], nil
	}
}

func TestRounds(t *testing.T) {
	var log string
	times, err := Rounds(t.Context(), 3, fixed(&log, "a", 1, 2, 4), fixed(&log, "b", 10, 50, 40))
	if err != nil {
		t.Fatal(err)
	}
	if want := "a0 b0 b1 a1 a2 b2 "; log != want {
		t.Errorf("ran %s, expected %s", log, want)
	}
	if got, want := times.Ratio(1, 0), (Ratio{10, 10, 25}); got != want {
		t.Errorf("ratio %v, expected %v", got, want)
	}
	if got := times.Median(1); got != 40 {
		t.Errorf("median %v", got)
	}
}

func TestRoundsEnd(t *testing.T) {
	bad := errors.New("bad")
	if _, err := Rounds(t.Context(), 2, Once(func(int) error { return bad })); !errors.Is(err, bad) {
		t.Errorf("a turn that fails: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Rounds(ctx, 2, Once(func(int) error { return nil })); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
}

// TestRepeated verifies that a turn runs for at least the requested duration and reports the time
// of a single repetition.
func TestRepeated(t *testing.T) {
	count, start := 0, Clock()
	seconds, err := Repeated(20*time.Millisecond, func(int) error {
		for at := Clock(); Clock()-at < time.Millisecond; {
		}
		count++
		return nil
	})(0)
	if err != nil || Clock()-start < 20*time.Millisecond || count < 2 || seconds < 0.001 || seconds > 0.02 {
		t.Errorf("%d times, %v s each, %v", count, seconds, err)
	}
}
