// Package commands contains the command line of receipt, so that other programs can extend it with
// ledger drivers.
package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/root"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Main runs the command line of this process, and exits. A ledger is a file, or is opened by one of
// the given drivers.
func Main(drivers ...ledger.Driver) {
	limitGarbage()

	signal.Ignore(syscall.SIGPIPE) // writes return an error instead, so temporary files are removed
	ctx, stop := signal.NotifyContext(context.Background(), interruptions(os.Args[1:])...)

	done := make(chan int, 1)
	var patience atomic.Int64
	patience.Store(int64(time.Second))
	e := &cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		Terminal: cli.IsTerminal(os.Stdout), ErrTerminal: cli.IsTerminal(os.Stderr), Piped: cli.IsPipe(os.Stdout),
		Width: cli.TerminalWidth(os.Stdout), ErrWidth: cli.TerminalWidth(os.Stderr),
		Drivers: drivers, Config: cli.DefaultsFile(os.LookupEnv), Patience: &patience, Messages: sync.OnceValues(cli.CompileMessages),
	}
	e.ShareTerminal()
	go func() { done <- root.Run(ctx, os.Args[1:], e) }()
	os.Exit(await(ctx, stop, done, &patience, e.Err))
}

// limitGarbage keeps the heap small. Verifying millions of receipts allocates continuously, but
// retains little memory. With half of the usual heap growth, a run takes somewhat more processor
// time, but verifies 1.1 GB of lines within 64 MiB.
//
// The limit applies only after the first collection, at 16 MiB. Otherwise, a small heap would be
// collected ten times while the secret detectors are compiled. These collections would take longer
// than the compilation itself.
func limitGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}

	debug.SetGCPercent(400) // percent of the minimum heap of 4 MiB
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 50)
}

// interruptions returns the signals on which a run cleans up and ends. Unless the process ignores
// SIGHUP, as with nohup, they include SIGHUP, which a terminal sends when it closes. The command
// "serve" reloads its files on SIGHUP instead.
func interruptions(args []string) []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if serves := len(args) > 0 && args[0] == "serve"; !serves && !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// await returns the exit code of a run. An interrupted run gets one second to clean up, or the time
// that it requested. The wait is limited because the run may be waiting for input that never
// arrives.
func await(ctx context.Context, stop func(), done <-chan int, patience *atomic.Int64, messages io.Writer) int {
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
		stop() // a second signal ends the program immediately
	}
	select {
	case code := <-done:
		return code
	case <-time.After(time.Duration(patience.Load())):
		fmt.Fprintln(messages, "receipt: error: interrupted")
		return cli.ExitUsage
	}
}
