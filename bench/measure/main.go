// Command measure runs a command line several times, with one job and with more jobs, in turn. It
// prints times, peak memory, and ratios. See ../README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = measure(ctx, o)
	}
	var missed *missedError
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "measure: error: %v\n", err)
		if errors.As(err, &missed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

func measure(ctx context.Context, o *options) error {
	all, err := rounds(ctx, o)
	if err != nil {
		return err
	}
	rows := summarize(o.jobs, all)
	show := tell
	if o.json {
		show = tellJSON
	}
	if err := show(os.Stdout, o, rows); err != nil {
		return err
	}
	return o.limits.check(rows)
}
