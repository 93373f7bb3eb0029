package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// A wire connects clients to a server, and can be cut after a given number of bytes.
type wire struct {
	address  string
	requests atomic.Int64 // number of bytes that can still be sent to the server
	answers  atomic.Int64 // number of bytes that can still be sent to the client
}

const uncut = 1 << 40

// newWire returns a wire to the server at an address. Clients connect to the wire through another
// socket.
func newWire(t *testing.T, address string) *wire {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	server := filepath.Join(query.Get("host"), ".s.PGSQL.5432")
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	query.Set("host", dir)
	u.RawQuery = query.Encode()

	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w := &wire{address: u.String()}
	w.cutAfter(uncut, uncut)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(client, server)
		}
	}()
	return w
}

// cutAfter cuts the wire after the given numbers of bytes.
func (w *wire) cutAfter(requests, answers int64) {
	w.requests.Store(requests)
	w.answers.Store(answers)
}

func (w *wire) carry(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("unix", address)
	if err != nil {
		return
	}
	defer server.Close()

	// When one direction ends or reaches its limit, both directions are cut.
	var once sync.Once
	done := make(chan struct{})
	pass := func(to, from net.Conn, left *atomic.Int64) {
		defer once.Do(func() { close(done) })
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if may := left.Add(-int64(n)) + int64(n); may < int64(n) {
				to.Write(buffer[:max(may, 0)])
				return
			}
			if _, writing := to.Write(buffer[:n]); err != nil || writing != nil {
				return
			}
		}
	}
	go pass(server, client, &w.requests)
	go pass(client, server, &w.answers)
	<-done
}

// TestCut verifies the result of an append if the connection is lost at any byte, in either
// direction. An error may state that nothing was stored only if that is true, and a retry with the
// same draft must return the receipt.
func TestCut(t *testing.T) {
	step := int64(testsize.Of(97, 11, 3))
	server := pgserver.Start(t)
	address := create(t, server)
	direct, w := open(t, address), newWire(t, address)

	// An append over an uncut wire shows how many bytes are sent.
	far := open(t, w.address)
	var head chain.Head
	add := func(id string) (*receipt.Sealed, error) {
		r, err := receipt.Seal(storetest.Draft(id, "w"), head)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return r, far.Append(ctx, ledger.Run{Stream: r.Stream(), Previous: head, Receipts: []*receipt.Sealed{r}})
	}
	connect := func() {
		w.cutAfter(uncut, uncut)
		if _, err := far.Head(t.Context(), chain.Stream{}); err != nil {
			t.Fatal(err)
		}
	}
	var requests, answers int64
	for i := range 2 { // a separate statement stores the first receipt in a stream
		far = open(t, w.address)
		connect()
		w.cutAfter(uncut, uncut)
		r, err := add(fmt.Sprint("uncut_", i))
		if err != nil {
			t.Fatal(err)
		}
		head = r.Head()
		requests, answers = uncut-w.requests.Load(), uncut-w.answers.Load()
	}

	var stored, absent, unknown int
	cut := func(id string, requests, answers int64) {
		connect() // opens a new connection, like the first one
		w.cutAfter(requests, answers)
		r, err := add(id)
		_, missing := ledger.Get(t.Context(), direct, id)
		is := missing == nil
		switch {
		case err == nil && !is:
			t.Errorf("%s was acknowledged, and is not stored", id)
		case errors.Is(err, ledger.ErrNotStored) && is, errors.Is(err, ledger.ErrHeadMoved), errors.Is(err, ledger.ErrDuplicateID):
			t.Errorf("%s: %v, and it is stored: %v", id, err, is)
		case err != nil && !errors.Is(err, ledger.ErrNotStored) && is:
			stored++
		case err != nil && !errors.Is(err, ledger.ErrNotStored):
			unknown++
		case err != nil:
			absent++
		}

		again, err := (&ledger.Issuer{Store: direct, KeepSecrets: true, Unsigned: true}).Issue(t.Context(), storetest.Draft(id, "w"))
		if err != nil || is && again.Hash() != r.Hash() {
			t.Fatalf("%s again: %v, %v", id, again, err)
		}
		head = again.Head()
	}
	for n := int64(0); n < requests; n += step {
		cut(fmt.Sprint("request_", n), n, uncut)
	}
	for n := int64(0); n < answers; n += max(step/8, 1) {
		cut(fmt.Sprint("answer_", n), uncut, n)
	}
	t.Logf("of the appends that were cut, %d were stored and %d were not, without an answer; %d reported that nothing was stored", stored, unknown, absent)
	if stored == 0 || unknown == 0 || absent == 0 {
		t.Error("not every outcome occurred")
	}
}

// TestDeadline verifies that the server stops working for a caller whose context has ended.
func TestDeadline(t *testing.T) {
	server := pgserver.Start(t)
	address := create(t, server)
	l := open(t, address)
	first, err := (&ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}).Issue(t.Context(), storetest.Draft("receipt_1", "w"))
	if err != nil {
		t.Fatal(err)
	}

	// Another connection holds all locks.
	locked, release := make(chan struct{}), make(chan struct{})
	go holdLocks(t, address, locked, release)
	<-locked
	second, err := receipt.Seal(storetest.Draft("receipt_2", "w"), first.Head())
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context) error{
		"Head": func(ctx context.Context) error {
			_, err := l.Head(ctx, first.Stream())
			return err
		},
		"Append": func(ctx context.Context) error {
			return l.Append(ctx, ledger.Run{Stream: second.Stream(), Previous: first.Head(), Receipts: []*receipt.Sealed{second}})
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		err := call(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 3*time.Second {
			t.Errorf("%s returns %v after %v, expected the error of the context after 200 ms", name, err, time.Since(began))
		}
		if name == "Append" && !errors.Is(err, ledger.ErrNotStored) {
			t.Errorf("Append returns %v, expected ErrNotStored", err)
		}
	}
	if n := waiting(t, address); n != 0 {
		t.Errorf("%d statements still wait on the server", n)
	}

	close(release)
	if err := l.Append(t.Context(), ledger.Run{Stream: second.Stream(), Previous: first.Head(), Receipts: []*receipt.Sealed{second}}); err != nil {
		t.Errorf("with the same connections: %v", err)
	}
}
