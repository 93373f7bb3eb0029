// Command receipt-beam verifies receipts on any runner of Apache Beam, by the same core as
// the command receipt: each input on some worker, the links of all by a join.
//
// Results go to files, what is to be said of all receipts to stdout, messages to stderr.
// The exit code is 0 when everything is verified, 1 when something is false or malformed,
// 2 when something could not be read or run as asked, and 3 when evidence is missing.
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

	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/scale/terms"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &surroundings{out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, begin: beam.Init})
	stop()
	os.Exit(code)
}

// surroundings are what a run has beside its arguments.
type surroundings struct {
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	begin    func() // starts Beam; on a worker it does not return
}

// run runs one command line and returns the exit code. Nothing but a positive verdict
// returns 0.
func run(ctx context.Context, args []string, s *surroundings) int {
	code, err := start(ctx, args, s)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		fmt.Fprintf(s.err, "receipt-beam: error: %s\n", foreign.Escape(err.Error()))
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

	// Beam's runners speak for themselves, at length.
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
		return 0, fmt.Errorf("unexpected argument %q: inputs are named by --input", flags.Arg(0))
	}
	j, err := o.job(ctx, s)
	if err != nil {
		return 0, err
	}
	return j.do(ctx, s)
}

// knownRunner reports a runner that Beam does not have: Beam itself would end the process, with
// the exit code of a receipt that is false.
func knownRunner(name string) (err error) {
	if name == "" {
		return nil
	}

	// Beam tells of the runners that it has by not taking another of the name.
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	err = fmt.Errorf("--runner %q is none that this program has: expected prism, flink, dataflow, spark, universal, direct or dot", name)
	beam.RegisterRunner(name, func(context.Context, *beam.Pipeline) (beam.PipelineResult, error) { return nil, err })
	return err
}

// runnerFlags are the flags of Beam and its runners, as they registered them.
func runnerFlags() *flag.FlagSet { return flag.CommandLine }
