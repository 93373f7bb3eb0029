// Command receipt makes and verifies receipts of AI-agent tasks.
//
// Results go to stdout, messages to stderr. The exit code is 0 when everything
// that was asked for was positively shown, 1 when something is false or
// malformed, 2 when something could not be read or run as asked, and 3 when
// evidence is missing.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &env{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now,
		terminal: isTerminal(os.Stdout),
	})
	stop()
	os.Exit(code)
}
