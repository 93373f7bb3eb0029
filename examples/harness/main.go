// Harness is an example of a program that works for people and gives a receipt
// for each task. It does toy tasks, records what happens while it happens, issues
// the receipts into a ledger, and serves them until it is interrupted:
//
//	go run ./examples/harness -tasks 3
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

func main() {
	tasks := flag.Int("tasks", 1, "do this many tasks")
	path := flag.String("ledger", "", "keep receipts in this `FILE`, its keys beside it; else in a folder that is removed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *tasks, *path, os.Stdout)
	if stop(); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tasks int, path string, out io.Writer) error {
	folder, err := os.MkdirTemp("", "harness-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if path == "" {
		path = filepath.Join(folder, "ledger.db")
	}
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(h.run(ctx, tasks, folder, out), h.store.Close())
}

func (h *harness) run(ctx context.Context, tasks int, folder string, out io.Writer) error {
	v, err := serve.NewVerifier(h.trust, receipt.Policy{}, nil)
	if err != nil {
		return err
	}
	handler, err := serve.New(serve.Options{
		Verifier: func() *serve.Verifier { return v }, Source: served.New(h.store), Page: page.Handler(), Hosts: []string{"localhost", "127.0.0.1"},
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server, url := serve.HTTPServer(handler, nil), "http://"+listener.Addr().String()
	go server.Serve(listener) // until it is shut down
	fmt.Fprintln(out, "listening on", url)
	for range tasks {
		sealed, err := h.do(ctx, folder, url)
		if err != nil {
			return errors.Join(err, server.Close())
		}
		fmt.Fprintf(out, "receipt      %s\nnext         curl -s -H 'Harn-Agents-Protocol-Version: %s' %s/v1/receipts/%s | go run ./cmd/receipt verify --keys %q -\n",
			sealed.ID(), serve.ProtocolVersion, url, sealed.ID(), h.trustFile)
	}
	fmt.Fprintln(out, "interrupt to end")
	<-ctx.Done()
	return server.Shutdown(context.Background()) // requests end first
}
