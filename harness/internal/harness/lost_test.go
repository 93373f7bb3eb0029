package harness_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
)

// TestLostLines verifies that a harness does not open if its log has lost entire lines, regardless
// of whether the head of the log or the ledger reveals the loss. Otherwise, it would rerun tasks
// that have already ended, and reuse the IDs of other events.
func TestLostLines(t *testing.T) {
	dir := t.TempDir()
	h, c := start(t, options(t, dir))
	c.begin()
	for range 2 {
		task := c.submit("look")
		c.reach(task, "COMPLETED")
		c.receipt(task)
	}
	h.Close()
	log := filepath.Join(dir, "events.jsonl")
	whole := read(t, log)
	head := read(t, log+"-head")
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	var submitted, ended int // line numbers of the events for the second task
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"task.submitted"`)) {
			submitted = i
		}
		if bytes.Contains(line, []byte(`"task.completed"`)) {
			ended = i
		}
	}

	opens := func(left int, headless bool) (string, bool) {
		write(t, log, bytes.Join(lines[:left], nil))
		write(t, log+"-head", head)
		if headless {
			if err := os.Remove(log + "-head"); err != nil {
				t.Fatal(err)
			}
		}
		h, err := harness.Open(options(t, dir))
		if err != nil {
			return err.Error(), false
		}
		return "", h.Close() == nil
	}
	for left := range len(lines) {
		if why, ok := opens(left, false); ok || !strings.Contains(why, "restore the file from a copy") {
			t.Errorf("%d lines of %d are left: it opens, or says %q", left, len(lines), why)
		}

		// If the head is lost, too, the ledger reveals the loss, unless a crash could explain it.
		// After a crash, the ledger may contain a receipt that the log has not recorded yet.
		if left == 0 || left > ended {
			continue
		}
		if why, ok := opens(left, true); ok || !strings.Contains(why, "restore both files") {
			t.Errorf("%d lines of %d are left, without a head, the second task has those from %d to %d: it opens, or says %q", left, len(lines), submitted, ended, why)
		}
	}
	if why, ok := opens(len(lines)-1, true); !ok {
		t.Errorf("without its last line, as after a crash: %s", why)
	}
	if why, ok := opens(len(lines), false); !ok {
		t.Errorf("as it was: %s", why)
	}
}

// TestLostReceipts verifies that a harness does not open if its ledger is older than its log.
func TestLostReceipts(t *testing.T) {
	dir := t.TempDir()
	h, c := start(t, options(t, dir))
	c.begin()
	c.receipt(c.reach(c.submit("look"), "COMPLETED")["id"].(string))
	h.Close()
	for _, name := range []string{"ledger.db", "ledger.db-head", "ledger.db-wal", "ledger.db-shm"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if h, err := harness.Open(options(t, dir)); err == nil || !strings.Contains(err.Error(), "ledger.db lacks the receipt") {
		h.Close()
		t.Errorf("%v", err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
