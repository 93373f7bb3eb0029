// Command receipt makes and verifies receipts of AI-agent tasks.
//
// Results go to stdout, messages to stderr. The exit code is 0 when everything
// that was asked for was positively shown, 1 when something is false or
// malformed, 2 when something could not be read or run as asked, and 3 when
// evidence is missing.
package main

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
)

func main() {
	limitGarbage()

	signal.Ignore(syscall.SIGPIPE) // writing tells, and temporary files are removed
	ctx, stop := signal.NotifyContext(context.Background(), interruptions(os.Args[1:])...)

	done := make(chan int, 1)
	var patience atomic.Int64
	patience.Store(int64(time.Second))
	e := &cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
		Terminal: cli.IsTerminal(os.Stdout), ErrTerminal: cli.IsTerminal(os.Stderr), Piped: cli.IsPipe(os.Stdout),
		Width: cli.TerminalWidth(os.Stdout), ErrWidth: cli.TerminalWidth(os.Stderr),
		Patience: &patience, Messages: sync.OnceValues(cli.CompileMessages),
	}
	e.ShareTerminal()
	go func() { done <- run(ctx, os.Args[1:], e) }()
	os.Exit(await(ctx, stop, done, &patience, e.Err))
}

// limitGarbage keeps the heap small. Verifying millions of receipts makes garbage
// all the time and keeps little: half the usual room for it costs some processor
// time, and keeps 1.1 GB of lines within 64 MiB.
//
// That begins with the first collection, at 16 MiB. A heap that small would
// otherwise be collected ten times while the detectors of secrets are compiled,
// which takes longer than compiling them.
func limitGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}

	debug.SetGCPercent(400) // of the least heap, 4 MiB
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 50)
}

// interruptions are the signals upon which a run tidies up and ends. A terminal that
// is closed is one, unless nohup has it ignored; serve reads its files again instead.
func interruptions(args []string) []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if serves := len(args) > 0 && args[0] == "serve"; !serves && !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// await returns the exit code of a run. One that is interrupted has a moment to
// tidy up, or as long as it said; it may be waiting for an input that never comes.
func await(ctx context.Context, stop func(), done <-chan int, patience *atomic.Int64, messages io.Writer) int {
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
		stop() // a second signal ends the program at once
	}
	select {
	case code := <-done:
		return code
	case <-time.After(time.Duration(patience.Load())):
		fmt.Fprintln(messages, "receipt: error: interrupted")
		return cli.ExitUsage
	}
}
