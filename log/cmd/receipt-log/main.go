// Command receipt-log runs a log of receipt hashes, appends receipts to a log, acts as a witness,
// and monitors logs:
//
//	receipt-log serve     run a log (C2SP tlog-tiles)
//	receipt-log append    add receipts to a log, and store their proofs
//	receipt-log witness   cosign the checkpoints of logs (C2SP tlog-witness)
//	receipt-log monitor   follow logs, and report what their keepers must not do
//
// Results are written to stdout, and messages to stderr. The exit code is 0 if everything is
// verified, 1 if something is invalid, 2 if an input could not be read or the command could not run
// as requested, and 3 if evidence is missing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// These exit codes are the same as those of the command "receipt".
const (
	exitVerified  = 0
	exitRefuted   = 1
	exitUsage     = 2
	exitUndecided = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A terminal represents the output streams of a command. Its methods are safe for concurrent use.
type terminal struct {
	mu       sync.Mutex
	out, err io.Writer
}

// print writes a line of results, in which untrusted text is escaped.
func (t *terminal) print(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, untrusted.Escape(fmt.Sprintf(format, args...)))
}

// note writes a line to the error output.
func (t *terminal) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.err, "receipt-log: "+untrusted.Escape(fmt.Sprintf(format, args...)))
}

// warn writes an error that does not end the command.
func (t *terminal) warn(err error) { t.note("warning: %v", err) }

// An exitCode is an error that ends a command that has already printed its results.
type exitCode int

func (exitCode) Error() string { return "" }

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	t := &terminal{out: out, err: errs}
	root := &cobra.Command{
		Use:               "receipt-log COMMAND",
		Short:             "run, fill, witness, and monitor logs of receipt hashes",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.SetHelpFunc(helpTo(out, root.HelpFunc()))
	root.AddCommand(newServe(t), newAppend(t), newWitness(t), newMonitor(t))

	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return exitVerified
	case errors.As(err, &code):
		return int(code)
	}
	t.note("error: %v", err)
	return exitUsage
}
