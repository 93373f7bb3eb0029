// Command harness is an example of a program that performs tasks for people and issues a receipt
// for each task. It performs sample tasks, records events as they happen, issues receipts into a
// ledger, and serves the receipts until it is interrupted:
//
//	go run ./examples/harness -tasks 3
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

func main() {
	tasks := flag.Int("tasks", 1, "do this many tasks")
	path := flag.String("ledger", "", "keep receipts in this `FILE`, else in a directory that is removed")
	private := flag.String("key", "fixtures/keys/key_2026_04.private.json", "sign with the key in this `FILE`; the fixtures' key is not a secret")
	public := flag.String("keys", "fixtures/keys/trust.json", "trust the keys in this `FILE`")
	again := flag.Bool("replay", false, "replay the last task: exactly, and with one answer swapped")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *tasks, *again, *path, *private, *public)
	if stop(); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

// run performs the tasks and serves their receipts until ctx ends.
func run(ctx context.Context, tasks int, again bool, path, private, public string) error {
	folder, err := os.MkdirTemp("", "harness-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path = cmp.Or(path, filepath.Join(folder, "ledger.db"))
	key, err := read(private, keys.ParsePrivate)
	trust, invalid := read(public, keys.ParseSet)
	if err = errors.Join(err, invalid); err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		store, err = sqlite.Create(ctx, path)
	}
	if err != nil {
		return err
	}
	defer store.Close()
	issuer := &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now)}
	defer issuer.Close(context.Background()) // stores the accepted drafts before the store is closed
	h := &harness{issuer: issuer, folder: folder}
	url, end, err := listen(store, trust, h)
	if err != nil {
		return err
	}
	defer end()
	h.site = url
	var last string // ID of the last task
	for range tasks {
		sealed, err := h.do(ctx)
		if err != nil {
			return err
		}
		last = sealed.Document().Root().Member("subject").Member("id").String()
		fmt.Printf("receipt %s\nnext    curl -s -H 'Harn-Agents-Protocol-Version: %s' %s/v1/receipts/%[1]s | go run ./cmd/receipt verify --keys %[4]q -\n", sealed.ID(), protocol.Version, url, public)
	}
	if again {
		if err := h.replayBoth(ctx, last); err != nil {
			return err
		}
	}
	fmt.Println("serving", url, "until interrupted")
	<-ctx.Done()
	return nil
}

// read reads and parses a key file.
func read[T any](path string, parse func([]byte) (T, error)) (value T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return value, err
	}
	return parse(data)
}

// listen serves receipts and replays of tasks on a free port of the loopback interface, until end
// is called.
func listen(store *sqlite.Ledger, trust *keys.Set, h *harness) (url string, end func(), err error) {
	verifier, err := serve.NewVerifier(trust, receipt.Policy{}, nil)
	if err != nil {
		return "", nil, err
	}
	handler, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return verifier }, Source: served.New(store), Public: true, Replay: h, Page: page.Handler(), Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := serve.HTTPServer(handler, nil, 0)
	go server.Serve(listener)
	return "http://" + listener.Addr().String(), func() { server.Shutdown(context.Background()) }, nil
}
