package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// lingering is the time for which processes started by a program may keep the program's output
// open.
const lingering = 250 * time.Millisecond

// Errors of Run.
var (
	// ErrLoud indicates that a program was killed because it wrote more than Most bytes to stdout.
	ErrLoud = errors.New("it wrote too much output")

	// ErrLate indicates that a program was killed because it ran longer than Patience.
	ErrLate = errors.New("it took too long")
)

// A Program runs an external program that may hang, write endlessly, or leave processes behind. It
// is run once, and killed if it exceeds a limit.
type Program struct {
	Path     string
	Args     []string // without the path
	Env      []string // nil means the environment of this process
	Stdin    []byte
	Patience time.Duration // time limit for the run
	Most     int           // bytes of stdout
	MostSaid int           // maximum number of bytes of stderr that are kept
}

// A ProgramOutput is the output of a program.
type ProgramOutput struct {
	Stdout []byte
	Said   []byte           // the beginning of stderr
	State  *os.ProcessState // exit status, set unless the program could not be started
}

// Run runs the program, and kills it if it exceeds a limit. On Unix, each run has its own process
// group, and all processes in the group are killed when the run ends.
//
// The error is a *StartError, ErrLoud, ErrLate, or the error of ctx. The exit status is not
// reported as an error.
func (p *Program) Run(ctx context.Context) (ProgramOutput, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(p.Patience, func() { cancel(ErrLate) })
	defer late.Stop()

	// Output is kept up to a limit, and a program that exceeds the limit is killed.
	answer := &bounded{most: p.Most, full: func() { cancel(ErrLoud) }}
	messages := &bounded{most: p.MostSaid, full: func() {}}
	cmd := exec.CommandContext(within, p.Path, p.Args...)
	cmd.Env = p.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.Stdin), answer, messages
	cmd.WaitDelay = lingering
	own(cmd)

	// Wait returns after the program has exited. Then end kills the processes that the program
	// started. Errors from these processes are ignored.
	if err := cmd.Start(); err != nil {
		return ProgramOutput{}, &StartError{err}
	}
	_ = cmd.Wait()
	end(cmd)

	out := ProgramOutput{answer.kept, messages.kept, cmd.ProcessState}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, context.Cause(within)
}

// A StartError indicates that a program could not be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "does not run: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// A bounded writer keeps the first bytes, and calls full once if more bytes are written.
type bounded struct {
	kept []byte
	most int
	over bool
	full func()
}

// Write never fails, because an error would end the program that writes.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(room, len(p))]...)
	if len(p) > room && !b.over {
		b.over = true
		b.full()
	}
	return len(p), nil
}
