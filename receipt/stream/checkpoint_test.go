package stream_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// signedOver returns a checkpoint over receipts.
func signedOver(t *testing.T, docs ...[]byte) []byte {
	t.Helper()
	var tree merkle.Tree
	for _, doc := range docs {
		tree.Append(receipt.CheckpointLeaf(headOf(t, doc).Hash))
	}
	private, _, err := note.GenerateKey(rand.Reader, "log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	c := tlog.Checkpoint{Origin: "log", Size: tree.Size(), Root: tree.Root()}
	signed, err := note.Sign(&note.Note{Text: c.String()}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// TestCheckpointHoles: what is not a receipt in the range of a checkpoint has no leaf,
// so that the tree is not over what was read.
func TestCheckpointHoles(t *testing.T) {
	l := newWriter(t, "a").many(4)
	over := signedOver(t, l[:3]...)
	junk := []byte(`"no receipt"`)
	for _, c := range []struct {
		name  string
		docs  [][]byte
		found bool // that the checkpoint is false of the input
	}{
		{"as it was", l[:3], false},
		{"and one more", l, false},
		{"a hole inside", [][]byte{l[0], junk, l[1], l[2]}, true},
		{"a hole before", [][]byte{junk, l[0], l[1], l[2]}, true},
		{"something behind", [][]byte{l[0], l[1], l[2], junk}, false},
		{"one short", l[:2], true},
		{"another", [][]byte{l[0], l[1], l[3]}, true},
	} {
		s, err := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(c.docs...)), stream.Options{Checkpoint: over}).Summary()
		if err != nil {
			t.Fatal(c.name, err)
		}
		about := 0
		for _, f := range s.Findings {
			if f.Code == receipt.CodeMerkleRootMismatch || f.Code == receipt.CodeTruncated {
				about++
			}
		}
		if (about > 0) != c.found || strings.Contains(c.name, "hole") && s.Verdict() != receipt.Refuted {
			t.Errorf("%s: %v", c.name, s.Findings)
		}
	}
}
