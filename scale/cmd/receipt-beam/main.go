// Command receipt-beam verifies receipts on any Apache Beam runner, with the same core as the
// command "receipt". Workers verify the inputs separately, and a join verifies the links between
// receipts.
//
// Results are written to files, the summary to stdout, and messages to stderr. The exit code is 0
// if everything is verified, 1 if something is invalid or malformed, 2 if an input could not be
// read or the command could not run as requested, and 3 if evidence is missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/scale/terms"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &surroundings{out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, begin: beam.Init})
	stop()
	os.Exit(code)
}

// surroundings contains the inputs of a run that are not arguments.
type surroundings struct {
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	begin    func() // starts Beam; does not return on a worker
}

// run runs one command line and returns the exit code. Only a positive verdict leads to exit code
// 0.
func run(ctx context.Context, args []string, s *surroundings) int {
	code, err := start(ctx, args, s)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		fmt.Fprintf(s.err, "receipt-beam: error: %s\n", untrusted.Escape(err.Error()))
		return terms.ExitUsage
	}
	return code
}

func start(ctx context.Context, args []string, s *surroundings) (code int, err error) {
	var o options
	flags := o.flags(s.err)
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return terms.ExitVerified, nil
	case err != nil:
		return 0, fmt.Errorf("%w: see --help", err)
	}

	// Beam's runners print long messages themselves.
	s.begin()
	level := slog.LevelError + 1
	if o.verbose {
		level = slog.LevelInfo
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: level})))

	if err := knownRunner(*runners.Runner); err != nil {
		return 0, err
	}
	if flags.NArg() > 0 {
		return 0, fmt.Errorf("unexpected argument %q: specify inputs by --input", flags.Arg(0))
	}
	j, err := o.job(ctx, s)
	if err != nil {
		return 0, err
	}
	return j.do(ctx, s)
}

// knownRunner returns an error if Beam does not have the runner. Beam itself would end the process
// with the same exit code as for a refuted receipt.
func knownRunner(name string) (err error) {
	if name == "" {
		return nil
	}

	// Beam panics if a runner with the same name is already registered.
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	err = fmt.Errorf("unknown --runner %q: expected prism, flink, dataflow, spark, universal, direct, or dot", name)
	beam.RegisterRunner(name, func(context.Context, *beam.Pipeline) (beam.PipelineResult, error) { return nil, err })
	return err
}

// runnerFlags returns the flags that were registered by Beam and its runners.
func runnerFlags() *flag.FlagSet { return flag.CommandLine }
