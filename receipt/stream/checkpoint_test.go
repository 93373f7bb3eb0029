package stream_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"slices"
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

// TestCheckpointHoles verifies that a checkpoint neither verifies nor refutes an input if a
// document in the range of the checkpoint has no leaf, because the checkpoint may cover that
// document. The input is then refuted only if the document is malformed.
func TestCheckpointHoles(t *testing.T) {
	l := newWriter(t, "a").many(4)
	over := signedOver(t, l[:3]...)
	junk := []byte(`"no receipt"`)
	later := bytes.Replace(l[2], []byte(receipt.SchemaMarker), []byte("receipt-2027-04-25"), 1)
	foreign := []byte(`{"@version":"EP-RECEIPT-v1","payload":{},"signature":{"algorithm":"Ed25519","value":""}}`)
	for _, c := range []struct {
		name  string
		docs  [][]byte
		found bool // whether the checkpoint is reported as invalid for the input
		want  receipt.Verdict
	}{
		{"as it was", l[:3], false, receipt.Undecided}, // nobody signed the receipts
		{"and one more", l, false, receipt.Undecided},
		{"a hole inside", [][]byte{l[0], junk, l[1], l[2]}, false, receipt.Refuted},
		{"a hole before", [][]byte{junk, l[0], l[1], l[2]}, false, receipt.Refuted},
		{"something behind", [][]byte{l[0], l[1], l[2], junk}, false, receipt.Refuted},
		{"one short", l[:2], true, receipt.Refuted},
		{"another", [][]byte{l[0], l[1], l[3]}, true, receipt.Refuted},
		{"of another version", [][]byte{l[0], l[1], later}, false, receipt.Undecided},
		{"only of another version", [][]byte{later}, false, receipt.Undecided},
		{"incomplete", [][]byte{l[0], l[1], l[2][:len(l[2])-30]}, false, receipt.Undecided},
		{"a third-party receipt inside", [][]byte{l[0], foreign, l[1], l[2]}, false, receipt.Undecided},
		{"a third-party receipt, and one short", [][]byte{l[0], foreign, l[1]}, true, receipt.Refuted},
	} {
		input := bytes.TrimSuffix(jsonl(c.docs...), []byte("\n"))
		s, err := stream.Verify(t.Context(), knowsLog(t), bytes.NewReader(input), stream.Options{Checkpoint: over}).Summary()
		if err != nil {
			t.Fatal(c.name, err)
		}
		about := 0
		for _, f := range s.Findings {
			if f.Code == receipt.CodeMerkleRootMismatch || f.Code == receipt.CodeTruncated {
				about++
			}
		}
		if (about > 0) != c.found || s.Verdict() != c.want {
			t.Errorf("%s: %s, %v", c.name, s.Verdict(), s.Findings)
		}
		note := receipt.Note{Code: receipt.CodeBatchNotChecked, Detail: "the checkpoint covers only the first 3 of 4 receipts"}
		if slices.Contains(s.NotChecked, note) != (c.name == "and one more") {
			t.Errorf("%s: %v", c.name, s.NotChecked)
		}

		// If the log is unknown, the same checkpoint neither verifies nor refutes anything.
		run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(c.docs...)), stream.Options{Checkpoint: over})
		for rep := range run.Reports() {
			if f := rep.Finding(); rep.Verdict != receipt.Refuted && f.Step > receipt.StepSchema && (rep.Verdict != receipt.Undecided || f.Code != receipt.CodeUnknownKey) {
				t.Errorf("%s, unknown log: %v %v", c.name, rep.Verdict, f)
			}
		}
		if s, err := run.Summary(); err != nil || len(s.Findings) > 0 || s.Verified > 0 {
			t.Errorf("%s, unknown log: %v, %v", c.name, s.Findings, err)
		}
	}
}
