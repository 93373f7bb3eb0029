// Command bench compares this module with its alternatives in one process and prints ratios. See
// README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

//go:generate go run . -document
//go:generate go run ./mutation -page ../docs/claims.md

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // large files must be removed on exit
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	switch {
	case err == nil:
		return
	case errors.Is(err, errNotMet):
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	case !errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
	}
	os.Exit(2)
}
