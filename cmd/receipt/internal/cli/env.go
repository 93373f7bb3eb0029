package cli

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/receiptkit/receiptkit/redact"
)

// Env is everything a verb takes from outside: streams, variables, the clock.
type Env struct {
	In       io.Reader
	inTaken  bool // stdin was opened
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Terminal bool // out is a terminal
	Width    int  // of that, in columns; 0 when it is not known

	ErrTerminal bool // err is a terminal

	Color string // of --color: always, never, or auto

	Messages func() (*redact.Policy, error) // what messages are searched with; nil: compiled when there is one

	Patience *atomic.Int64 // how long an interrupted run may take to end, in nanoseconds; may be nil
}

// Stdin returns stdin, once: whoever reads it again, for another purpose, would find it
// empty.
func (e *Env) Stdin() (io.ReadCloser, error) {
	if e.inTaken {
		return nil, Usage("", "- is given twice, but stdin can be read once")
	}
	e.inTaken = true
	return io.NopCloser(e.In), nil
}

// MayTake says that a run needs longer than a moment to end when it is interrupted.
func (e *Env) MayTake(d time.Duration) {
	if e.Patience != nil {
		e.Patience.Store(int64(d))
	}
}

// Colored reports whether results are coloured: as --color says, else on a terminal
// (see no-color.org).
func (e *Env) Colored() bool {
	switch e.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return e.Terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
