// Command handler is an example of a program with an existing http.Handler that issues a receipt
// for each request that it answers:
//
//	go run ./examples/handler
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

func main() {
	private := flag.String("key", "fixtures/keys/key_2026_04.private.json", "sign by the key in this `FILE`; that of the fixtures is not a secret")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *private, os.Stdout)
	if stop(); err != nil {
		fmt.Fprintln(os.Stderr, "handler:", err)
		os.Exit(1)
	}
}

// existing is the handler that the program already had before it issued receipts.
func existing(w http.ResponseWriter, r *http.Request) {
	name, err := io.ReadAll(io.LimitReader(r.Body, 80))
	if err != nil || len(name) == 0 {
		http.Error(w, "expected the name of a plant", http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "watered: %s\n", name)
}

// run serves requests until ctx ends. The receipts are stored in a directory that is removed at the
// end.
func run(ctx context.Context, private string, out io.Writer) error {
	folder, err := os.MkdirTemp("", "handler-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	data, err := os.ReadFile(private)
	if err != nil {
		return err
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		return err
	}
	store, err := sqlite.Create(ctx, filepath.Join(folder, "ledger.db"))
	if err != nil {
		return err
	}
	defer store.Close()

	issuer := &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &http.Server{Handler: withReceipts(http.HandlerFunc(existing), issuer, log), ReadTimeout: time.Minute}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.Background()) })
	fmt.Fprintf(out, "try     curl -si --data beans http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	// Serve returns before all requests have been answered and their receipts stored.
	return errors.Join(<-stopped, issuer.Close(context.Background()))
}
