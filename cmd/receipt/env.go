package main

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/receiptkit/receiptkit/redact"
)

// env is everything a verb takes from outside: streams, variables, the clock.
type env struct {
	in       io.Reader
	inTaken  bool // stdin was opened
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	terminal bool // out is a terminal

	errTerminal bool // err is a terminal

	messages func() (*redact.Policy, error) // what messages are searched with; nil: compiled when there is one

	patience *atomic.Int64 // how long an interrupted run may take to end, in nanoseconds; may be nil
}

// stdin returns stdin, once: who reads it again, for another purpose, would find it
// empty.
func (e *env) stdin() (io.ReadCloser, error) {
	if e.inTaken {
		return nil, usage("", "- is given twice, but stdin can be read once")
	}
	e.inTaken = true
	return io.NopCloser(e.in), nil
}

// mayTake says that a run needs longer than a moment to end when it is interrupted.
func (e *env) mayTake(d time.Duration) {
	if e.patience != nil {
		e.patience.Store(int64(d))
	}
}

// colored reports whether results may be coloured (see no-color.org).
func (e *env) colored() bool {
	return e.terminal && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
