package sqlite_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestQueueKilled kills, one after another, processes that wait in the queue or are at its head.
// The other processes must continue, acknowledged receipts must be stored, and there must be a
// single chain.
func TestQueueKilled(t *testing.T) {
	n := 8
	if testing.Short() {
		n = 4
	}
	path := filled(t, 1)
	all := writers(t, path, n)
	for _, w := range all[:n-2] {
		time.Sleep(30 * time.Millisecond)
		end([]*writer{w}, 0)
	}
	for _, w := range all[n-2:] {
		before := len(w.acknowledged())
		for deadline := time.Now().Add(30 * time.Second); len(w.acknowledged()) < before+5; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a writer waits for one that is gone")
			}
		}
	}
	end(all, 0)
	there := storedIn(t, path)
	for _, w := range all {
		for _, r := range w.acknowledged() {
			if !there[r] {
				t.Errorf("%s was acknowledged and is not there", r)
			}
		}
	}
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); len(list) > 0 || c.Receipts != len(there) {
		t.Errorf("%+v, %q", c, list)
	}
}

// TestQueueDamaged verifies that all processes make progress regardless of the content of the queue
// file, and that no announcement in it becomes part of a chain.
func TestQueueDamaged(t *testing.T) {
	ctx, path := t.Context(), filled(t, 2)
	whole, err := os.ReadFile(path + "-head")
	if err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	damages := map[string]func() []byte{
		"cut": func() []byte { return whole[:1024] },
		"all ones": func() []byte {
			return append(append([]byte(nil), whole[:1024]...), bytes.Repeat([]byte{0xff}, 4096)...)
		},
		"stale": func() []byte { return whole },
		"empty": func() []byte { return nil },
	}
	for name, damage := range damages {
		if err := os.WriteFile(path+"-head", damage(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, workspace := range []string{"a", "b", "new " + name} {
			if _, err := issuer.Issue(ctx, draft(name+workspace, workspace)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); len(list) > 0 || c.Verified != 16 {
		t.Errorf("%+v, %q", c, list)
	}
}
