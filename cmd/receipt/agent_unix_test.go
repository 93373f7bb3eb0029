//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/keyservice"
)

// A keyService receives a report from each plugin that is asked to sign.
type keyService struct {
	ids     chan int      // process IDs of the plugins or of their child processes
	release chan struct{} // closed to let waiting plugins continue
}

func newKeyService(t *testing.T) *keyService {
	t.Helper()
	dir, err := os.MkdirTemp("", "keys") // short enough for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })

	s := &keyService{make(chan int, 100), make(chan struct{})}
	socket := filepath.Join(dir, "s")
	closed, err := keyservice.Listen(socket, func(c net.Conn) {
		var id int
		if _, err := fmt.Fscanln(c, &id); err == nil {
			s.ids <- id
			<-s.release
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.letGo()
		closed()
	})
	t.Setenv("CUSTODYTEST_SOCKET", socket)
	return s
}

func (s *keyService) letGo() {
	select {
	case <-s.release:
	default:
		close(s.release)
	}
}

// asked waits until a plugin is asked to sign, and returns the plugin's process ID.
func (s *keyService) asked(t *testing.T) int {
	t.Helper()
	select {
	case id := <-s.ids:
		return id
	case <-time.After(patient):
		t.Fatal("no plugin was asked")
	}
	return 0
}

// issuing starts `receipt ledger issue` with a draft that has the given ID.
func issuing(t *testing.T, id, key string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	draft := readFile(t, "draft.json")
	cmd := exec.Command("receipt", "ledger", "issue", "l.db", "--key", key, "-")
	cmd.Stdin = bytes.NewReader(bytes.Replace(draft, []byte("receipt_example_1"), []byte(id), 1))
	told := new(bytes.Buffer)
	cmd.Stderr = told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, told
}

// inLedgerFolder changes to a directory that contains a ledger, a draft, a key file, and a trust
// file with the plugin's key.
func inLedgerFolder(t *testing.T) {
	t.Helper()
	draft := readFile(t, "../../docs/draft.json")
	ledger := emptyLedger(t)
	t.Chdir(t.TempDir())
	for name, data := range map[string][]byte{"draft.json": draft, "l.db": ledger} {
		writeFile(t, name, data)
	}
	if out, err := exec.Command("sh", "-ec", `
		receipt keys generate --issuer my_harness --id key_2026_04 --private file.key --keys keys.json 2>&1
		receipt keys import test://ed25519 --issuer my_harness --id service --keys keys.json`).CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
}

// TestSlowKeyHoldsNobodyUp verifies that other processes can issue into the same stream while a key
// service is slow. The delayed receipt then follows the other receipts without a fork.
func TestSlowKeyHoldsNobodyUp(t *testing.T) {
	inLedgerFolder(t)
	s := newKeyService(t)
	slow, said := issuing(t, "receipt_slow", "test://ed25519?sign=wait")
	s.asked(t)

	for i := range 3 {
		if fast, told := issuing(t, fmt.Sprintf("receipt_fast_%d", i), "file.key"); fast.Wait() != nil {
			t.Fatalf("a ledger waits for a key service: %s", told)
		}
	}
	s.letGo()
	if err := slow.Wait(); err != nil {
		t.Fatalf("%v, %s", err, said)
	}
	s.asked(t) // the plugin signed again, after the other receipts

	out, _ := exec.Command("receipt", "ledger", "fsck", "l.db", "--keys", "keys.json", "--issuer", "my_harness").CombinedOutput()
	if !strings.HasPrefix(string(out), "stream ") || !strings.Contains(string(out), ": 4 receipts, head ") || !strings.Contains(string(out), ", 0 faults\n") {
		t.Errorf("%s", out)
	}
}

// TestInterruptedKeyService verifies that an interrupt ends the wait for a key service, kills the
// plugin and its child processes, and stores nothing.
func TestInterruptedKeyService(t *testing.T) {
	inLedgerFolder(t)
	s := newKeyService(t)
	for _, verb := range []struct {
		args []string
		told string
	}{
		{[]string{"ledger", "issue", "l.db", "draft.json", "--key"}, "receipt: error: interrupted; it is unknown whether \"draft.json\" is stored\n"},
		{[]string{"seal", "draft.json", "-o", "receipt.json", "--key"}, "receipt: error: interrupted\n"},
		{[]string{"batch", "seal", "draft.json", "-o", "receipts.jsonl", "--manifest", "m.json", "--key"}, "receipt: error: interrupted\n"},
	} {
		before := strings.Replace(strings.Join(files(t), " "), "l.db l.db-head", "l.db", 1)
		cmd := exec.Command("receipt", append(verb.args, "test://ed25519?sign=family", "--key-timeout", "1h")...)
		var told bytes.Buffer
		cmd.Stderr = &told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		child := s.asked(t)
		began := time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(told.String(), verb.told) || time.Since(began) > patient {
			t.Errorf("%s: exit %d after %s: %s", verb.args, cmd.ProcessState.ExitCode(), time.Since(began), &told)
		}
		for began := time.Now(); alive(child); time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > patient {
				t.Fatalf("%s: process %d is still running", verb.args, child)
			}
		}
		after := strings.Replace(strings.Join(files(t), " "), "l.db l.db-head", "l.db", 1) // opening a ledger creates its head file
		if after != before {
			t.Errorf("%s: there is %s, want %s", verb.args, after, before)
		}
	}
	if out, _ := exec.Command("receipt", "ledger", "list", "l.db").Output(); bytes.Contains(out, []byte("receipt_example_1")) {
		t.Errorf("%s", out)
	}
}

// alive reports whether a process is running. A zombie process does not count as running.
func alive(id int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	return syscall.Kill(id, 0) == nil && !bytes.Contains(stat, []byte(") Z "))
}
