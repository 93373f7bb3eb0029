package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// asProgram is the environment variable that makes the test binary run as the program.
const asProgram = "TEST_AS_TENANTS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
}

// start starts the program with a new ledger, and returns its address as soon as it accepts
// connections.
func start(t *testing.T, path string) (program *exec.Cmd, address string) {
	t.Helper()
	must(0, must(sqlite.Create(t.Context(), path)).Close())
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)) // no other test uses a port there
	free := must(net.Listen("tcp", host+":0"))
	address = free.Addr().String()
	must(0, free.Close())

	program = exec.Command(must(os.Executable()), address, path, keyFile)
	program.Env = append(os.Environ(), asProgram+"=1", "TOKEN=secret")
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	program.Stderr = new(bytes.Buffer)
	must(0, program.Start())
	t.Cleanup(func() { program.Process.Kill() })
	for range 1000 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return program, address
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the program does not accept connections: %s", program.Stderr)
	return nil, ""
}

// lockWriting takes SQLite's write lock, which is byte 120 of the -shm file
// (https://sqlite.org/walformat.html#locks), so that the program waits before it stores a receipt.
// The returned function releases the lock.
func lockWriting(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f := must(os.OpenFile(path+"-shm", os.O_RDWR, 0))
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: 120, Len: 1}
	must(0, syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock))
	return func() { f.Close() }
}

// TestStop verifies that, after SIGTERM, the program ends only after it has stored the receipt for
// an accepted draft, even if the client has disconnected.
func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	program, address := start(t, path)
	unlock := lockWriting(t, path)

	body := must(json.Marshal(storetest.Draft("", "w")))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // the program reads the draft in this time
	defer cancel()
	r := must(http.NewRequestWithContext(ctx, "POST", "http://"+address+"/tasks", bytes.NewReader(body)))
	r.Header.Set("Authorization", "Bearer secret")
	if answer, err := http.DefaultClient.Do(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the client received %v, %v, although nothing can be stored", answer, err)
	}

	must(0, program.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("the program ended before the receipt was stored: %v\n%s", err, program.Stderr)
	case <-time.After(500 * time.Millisecond):
	}
	unlock()
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, program.Stderr)
	}

	store := must(sqlite.OpenReadOnly(t.Context(), path))
	defer store.Close()
	n := 0
	for r, err := range store.Walk(t.Context(), ledger.Query{}, 0) {
		if err != nil || !strings.HasPrefix(r.ID, "receipt_") || r.Stream.Tenant != "tenant_1" {
			t.Errorf("%s of %v, %v", r.ID, r.Stream, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d receipts are stored, expected 1", n)
	}
}

// TestAddressInUse verifies that the program ends with an error if it cannot listen on the address.
func TestAddressInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	_, address := start(t, path)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	second := exec.CommandContext(ctx, must(os.Executable()), address, path, keyFile)
	second.Env = append(os.Environ(), asProgram+"=1", "TOKEN=secret")
	out, err := second.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !exit.Exited() || !bytes.Contains(out, []byte("address already in use")) {
		t.Errorf("a second program at the address: %v\n%s", err, out)
	}
}
