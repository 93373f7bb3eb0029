//go:build unix

package custody_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/keyservice"
)

// children returns a function that waits for the process ID of the next process that a plugin
// starts.
func children(t *testing.T) (next func() int) {
	t.Helper()
	socket := filepath.Join(socketFolder(t), "s")
	t.Setenv("CUSTODYTEST_SOCKET", socket)
	ids := make(chan int, 10)
	closed, err := keyservice.Listen(socket, func(c net.Conn) {
		var id int
		if _, err := fmt.Fscanln(c, &id); err == nil {
			ids <- id
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closed)

	return func() int {
		t.Helper()
		select {
		case id := <-ids:
			return id
		case <-time.After(long):
			t.Fatal("the plugin began no other process")
		}
		return 0
	}
}

// gone waits until a process no longer exists or is a zombie.
func gone(t *testing.T, id int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < long; time.Sleep(5 * time.Millisecond) {
		stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "stat"))
		if syscall.Kill(id, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still running", id)
	_ = syscall.Kill(id, syscall.SIGKILL)
}

// TestPluginFamily verifies that a plugin's child processes are killed after a timeout, after an
// interruption, and after the plugin has responded.
func TestPluginFamily(t *testing.T) {
	plugins(t, "test")
	next := children(t)

	key := open(t, environment(t, nil), "test://ed25519?sign=family", 5*time.Second)
	if _, err := key.Sign(t.Context(), []byte(hash)); err == nil || !strings.Contains(err.Error(), "did not answer within 5s") {
		t.Error(err)
	}
	gone(t, next())

	ctx, cancel := context.WithCancel(t.Context())
	e := environment(t, nil)
	key = open(t, e, "test://ed25519?sign=family", time.Hour)
	ended := make(chan error)
	go func() {
		_, err := key.Sign(ctx, []byte(hash))
		ended <- err
	}()
	id := next()
	cancel()
	if err := <-ended; err == nil || !strings.HasSuffix(err.Error(), ": context canceled") {
		t.Error(err)
	}
	gone(t, id)

	check(t, open(t, environment(t, nil), "test://ed25519?sign=orphan", long))
	gone(t, next())
}
