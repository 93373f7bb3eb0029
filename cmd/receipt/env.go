package main

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// env is everything a verb takes from outside: streams, variables, the clock.
type env struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	terminal bool // out is a terminal

	errTerminal bool // err is a terminal
}

// colored reports whether results may be coloured (see no-color.org).
func (e *env) colored() bool {
	return e.terminal && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
