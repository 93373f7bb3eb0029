package bridge

import (
	"math"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// Backoff is how long a daemon waits that has waited so often since it last had
// something to do: 100, 500, 1000, 2000 milliseconds, and so on.
func Backoff(waits int) time.Duration {
	steps := [...]time.Duration{100, 500, 1000, 2000}
	return steps[min(max(waits, 0), len(steps)-1)] * time.Millisecond
}

// Idle is what agent/idle tells the host: that the runtime has nothing to do, and looks
// again after a while.
type Idle struct {
	Iteration int64 `json:"iteration"`  // of the runtime's loop
	BackoffMS int64 `json:"backoff_ms"` // milliseconds
}

// ParseIdle reads agent/idle.
func ParseIdle(params canon.Node) (Idle, error) {
	iteration, ok := whole(frames.Own(params, "iteration"))
	backoff, also := whole(frames.Own(params, "backoff_ms"))
	if !ok || !also {
		return Idle{}, shapeError("agent/idle", "the numbers iteration and backoff_ms")
	}
	return Idle{iteration, backoff}, nil
}

// A Daemon is a runtime that stays when there is nothing to do. The zero Daemon is one that
// has just done something.
type Daemon struct {
	waits int
	since time.Time
}

// Wait begins one more wait, and returns what the host is told of it.
func (d Daemon) Wait(now time.Time, iteration int64) (Daemon, Idle) {
	return Daemon{d.waits + 1, now}, Idle{iteration, Backoff(d.waits).Milliseconds()}
}

// Left is how long the wait still lasts: never longer than all of it, whatever the clock
// was set to.
func (d Daemon) Left(now time.Time) time.Duration {
	if d.waits == 0 {
		return 0
	}
	whole := Backoff(d.waits - 1)
	return min(max(whole-now.Sub(d.since), 0), whole)
}

// Heard is what the daemon becomes by a message of the host. One that wakes it ends its
// wait, and the next is as short as the first.
func (d Daemon) Heard(method string) (_ Daemon, woken bool) {
	if !Wakes(method) {
		return d, false
	}
	return Daemon{}, true
}

// Wakes reports whether a message ends the wait of a daemon: agent/resume, or what a user
// says, in any mode, since nothing is under way that it would have to wait for.
func Wakes(method string) bool { return method == "agent/resume" || FromUser(method) }

// whole reads a number that counts something.
func whole(n canon.Node) (int64, bool) {
	f := n.Float()
	ok := n.Kind() == canon.KindNumber && f >= 0 && f <= event.MaxTokens && f == math.Trunc(f)
	if !ok {
		return 0, false
	}
	return int64(f), true
}
