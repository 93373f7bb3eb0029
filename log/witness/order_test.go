package witness_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle"
)

// A rawSigner signs any text with the key of the model's log. A merkle/tlog.LogSigner refuses to
// sign invalid checkpoints.
type rawSigner struct {
	note.Verifier
	private ed25519.PrivateKey
}

func (s *rawSigner) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.private, text), nil }

// TestWrongEmptyTree verifies the order of the checks for a checkpoint of size 0 whose root is not
// the root of the empty tree: the witness compares the sizes before the root (C2SP tlog-witness).
func TestWrongEmptyTree(t *testing.T) {
	m := newModel(t)
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("l", ed25519.SeedSize)))
	text := fmt.Sprintf("%s\n0\n%v\n", m.log.Name(), merkle.LeafHash(nil))
	wrong, err := note.Sign(&note.Note{Text: text}, &rawSigner{m.log, private})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := witness.New(newConfig(t, m.log), dir)
	if err != nil {
		t.Fatal(err)
	}

	status := func(old int) int {
		_, err := w.AddCheckpoint(t.Context(), append(fmt.Appendf(nil, "old %d\n\n", old), wrong...))
		var refusal *witness.Refusal
		if !errors.As(err, &refusal) {
			t.Fatalf("old %d: %v, expected a refusal", old, err)
		}
		return refusal.Status
	}
	if got := []int{status(0), status(3)}; got[0] != 422 || got[1] != 400 {
		t.Errorf("before a checkpoint was cosigned: statuses %v, expected 422 and 400", got)
	}
	if _, err := w.AddCheckpoint(t.Context(), m.request(0, 0, 5, 0)); err != nil {
		t.Fatal(err)
	}
	if got := []int{status(0), status(3)}; got[0] != 409 || got[1] != 400 {
		t.Errorf("after a checkpoint of size 5: statuses %v, expected 409 and 400", got)
	}
}
