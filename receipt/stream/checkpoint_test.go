package stream_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// signedOver returns a checkpoint that covers the given receipts.
func signedOver(t *testing.T, docs ...[]byte) []byte {
	t.Helper()
	var tree merkle.Tree
	for _, doc := range docs {
		tree.Append(receipt.CheckpointLeaf(headOf(t, doc).Hash))
	}
	log, err := tlog.NewLog("log", logKey().Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	signer := tlog.LogSigner{Log: log, SignMessage: func(_ context.Context, message []byte) ([]byte, error) { return ed25519.Sign(logKey(), message), nil }}
	signed, err := signer.SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: "log", Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func logKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) }

// knowsLog returns a verifier that trusts the log's key.
func knowsLog(t *testing.T) *receipt.Verifier {
	t.Helper()
	key, err := keys.FromPublic(logKey().Public(), "log", "")
	if err != nil {
		t.Fatal(err)
	}
	key.Roles, key.Origin = []receipt.Role{receipt.RoleCheckpoint}, "log"
	set, err := keys.NewSet(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCheckpointHoles verifies that a checkpoint is refuted if a document in its range is not a
// receipt, because such a document has no leaf.
func TestCheckpointHoles(t *testing.T) {
	l := newWriter(t, "a").many(4)
	over := signedOver(t, l[:3]...)
	junk := []byte(`"no receipt"`)
	for _, c := range []struct {
		name  string
		docs  [][]byte
		found bool // whether the checkpoint is reported as invalid for the input
	}{
		{"as it was", l[:3], false},
		{"and one more", l, false},
		{"a hole inside", [][]byte{l[0], junk, l[1], l[2]}, true},
		{"a hole before", [][]byte{junk, l[0], l[1], l[2]}, true},
		{"something behind", [][]byte{l[0], l[1], l[2], junk}, false},
		{"one short", l[:2], true},
		{"another", [][]byte{l[0], l[1], l[3]}, true},
	} {
		s, err := stream.Verify(t.Context(), knowsLog(t), bytes.NewReader(jsonl(c.docs...)), stream.Options{Checkpoint: over}).Summary()
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

		// If the log is unknown, the same checkpoint neither verifies nor refutes anything.
		run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(c.docs...)), stream.Options{Checkpoint: over})
		for rep := range run.Reports() {
			if f := rep.Finding(); rep.Verdict != receipt.Refuted && (rep.Verdict != receipt.Undecided || f.Code != receipt.CodeUnknownKey) {
				t.Errorf("%s, unknown log: %v %v", c.name, rep.Verdict, f)
			}
		}
		if s, err := run.Summary(); err != nil || len(s.Findings) > 0 || s.Verified > 0 {
			t.Errorf("%s, unknown log: %v, %v", c.name, s.Findings, err)
		}
	}
}
