// Command receipt-cloud verifies receipts in object storage with the same core as the command
// "receipt", which makes no network requests.
//
// Results are written to stdout, and messages to stderr. The exit code is 0 if everything is
// verified, 1 if something is invalid or malformed, 2 if an input could not be read or the command
// could not run as requested, and 3 if evidence is missing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/scale/terms"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &surroundings{out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now})
	stop()
	os.Exit(code)
}

// surroundings contains the inputs of a run that are not arguments.
type surroundings struct {
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
}

// run runs one command line and returns the exit code. Only a positive verdict leads to exit code
// 0.
func run(ctx context.Context, args []string, s *surroundings) int {
	root := &cobra.Command{
		Use:               "receipt-cloud",
		Short:             "verify receipts in object storage",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newVerify(s))

	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err == nil {
		return terms.ExitVerified
	}
	var verdict exitCode
	if errors.As(err, &verdict) {
		return int(verdict)
	}
	fmt.Fprintf(s.err, "receipt-cloud: error: %s\n", untrusted.Escape(err.Error()))
	return terms.ExitUsage
}

// An exitCode is an error that ends a run that has already printed its results.
type exitCode int

func (exitCode) Error() string { return "" }
