// Package servetest creates fixtures for tests of package serve: receipts, files of receipts, and
// checkpoints.
package servetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Receipt creates a sealed receipt for a task, on a single line.
func Receipt(t testing.TB, id, subject, task string) []byte {
	t.Helper()
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC))
	s, err := receipt.Seal(&receipt.Draft{
		ReceiptID:   id,
		Subject:     receipt.ResourceRef{Object: "task", ID: subject},
		Issuer:      receipt.Issuer{ID: "harness", Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: task},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
		Cost:        receipt.Cost{Currency: "USD"},
	}, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	return s.JSON()
}

// Receipts creates n receipts with the IDs r0, r1, and so on, for the task "t".
func Receipts(t testing.TB, n int) (list [][]byte) {
	t.Helper()
	for i := range n {
		list = append(list, Receipt(t, fmt.Sprint("r", i), "t", "t"))
	}
	return list
}

// Lines returns the given receipts, one per line.
func Lines(list ...[]byte) []byte { return append(bytes.Join(list, []byte("\n")), '\n') }

// Archived returns a receipt in archive form.
func Archived(t testing.TB, text []byte) []byte {
	t.Helper()
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// Gzip compresses data.
func Gzip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files writes files, in the order of their names, and returns them as sources.
func Files(t testing.TB, content map[string][]byte) (dir string, sources []stream.Source) {
	t.Helper()
	dir = t.TempDir()
	var names []string
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content[name], 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, stream.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	return dir, sources
}

// Checkpoint signs a checkpoint that covers the given receipts, using an untrusted key.
func Checkpoint(t testing.TB, list ...[]byte) []byte {
	t.Helper()
	return CheckpointBy(t, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), list...)
}

// CheckpointBy signs a checkpoint that covers the given receipts.
func CheckpointBy(t testing.TB, key ed25519.PrivateKey, list ...[]byte) []byte {
	t.Helper()
	tree := new(merkle.Tree)
	for _, text := range list {
		sealed, err := receipt.ParseSealed(text)
		if err != nil {
			t.Fatal(err)
		}
		tree.Append(receipt.CheckpointLeaf(sealed.Hash()))
	}
	log, err := tlog.NewLog("log.example.net/receipts", key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	signer := tlog.LogSigner{Log: log, SignMessage: func(_ context.Context, m []byte) ([]byte, error) { return ed25519.Sign(key, m), nil }}
	note, err := signer.SignCheckpoint(context.Background(), &tlog.Checkpoint{Origin: log.Name(), Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// HashOf returns the receipt hash computed from text, or zero if text is not a receipt.
func HashOf(text []byte) canon.Digest {
	doc, err := canon.Parse(text)
	if err != nil {
		return canon.Digest{}
	}
	hash, _ := chain.Hash(doc)
	return hash
}
