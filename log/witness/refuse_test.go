package witness_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A rawSigner signs any text. A tlog.LogSigner refuses to sign invalid checkpoints.
type rawSigner struct {
	note.Verifier
	sign func(text []byte) []byte
}

func (s *rawSigner) Sign(text []byte) ([]byte, error) { return s.sign(text), nil }

// newPostQuantumLog returns a log with an ML-DSA-44 key, and a function that returns the payload
// of a signature for a tree, whether or not the tree can exist. Each signature is different.
func newPostQuantumLog(t *testing.T) (*tlog.Log, func(size uint64, root merkle.Hash) []byte) {
	t.Helper()
	private, err := mldsa.GenerateKey(mldsa.MLDSA44())
	if err != nil {
		t.Fatal(err)
	}
	log, err := tlog.NewLog("pq.example/receipts", private.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	return log, func(size uint64, root merkle.Hash) []byte {
		name := log.Name()
		message := append([]byte("subtree/v1\n\x00"), byte(len(name)))
		message = append(append(message, name...), make([]byte, 8)...)
		message = append(append(append(message, byte(len(name))), name...), make([]byte, 8)...)
		message = append(binary.BigEndian.AppendUint64(message, size), root[:]...)
		signature, err := private.Sign(nil, message, nil)
		if err != nil {
			t.Fatal(err)
		}
		return append(make([]byte, 8), signature...)
	}
}

// TestWrongEmptyTree verifies the order of the checks for a checkpoint of size 0 whose root is not
// the root of the empty tree: the witness compares the sizes before the root (C2SP tlog-witness).
func TestWrongEmptyTree(t *testing.T) {
	m := newModel(t)
	pq, sign := newPostQuantumLog(t)
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("l", ed25519.SeedSize)))
	root := merkle.LeafHash(nil)
	signers := []*rawSigner{
		{m.log, func(text []byte) []byte { return ed25519.Sign(private, text) }},
		{pq, func([]byte) []byte { return sign(0, root) }},
	}
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := witness.New(newConfig(t, m.log, pq), dir)
	if err != nil {
		t.Fatal(err)
	}

	status := func(signer *rawSigner, old int) int {
		text := fmt.Sprintf("%s\n0\n%v\n", signer.Name(), root)
		wrong, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.AddCheckpoint(t.Context(), append(fmt.Appendf(nil, "old %d\n\n", old), wrong...))
		var refusal *witness.Refusal
		if !errors.As(err, &refusal) {
			t.Fatalf("old %d: %v, expected a refusal", old, err)
		}
		return refusal.Status
	}
	for _, s := range signers {
		if got := []int{status(s, 0), status(s, 3)}; got[0] != 422 || got[1] != 400 {
			t.Errorf("%s, before a checkpoint was cosigned: statuses %v, expected 422 and 400", s.Name(), got)
		}
	}
	if _, err := w.AddCheckpoint(t.Context(), m.request(0, 0, 5, 0)); err != nil {
		t.Fatal(err)
	}
	if got := []int{status(signers[0], 0), status(signers[0], 3)}; got[0] != 409 || got[1] != 400 {
		t.Errorf("after a checkpoint of size 5: statuses %v, expected 409 and 400", got)
	}
}

// TestManySignatures verifies that a checkpoint with 100 signatures of the same key is cosigned, and
// that the record contains one of them.
func TestManySignatures(t *testing.T) {
	log, sign := newPostQuantumLog(t)
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := witness.New(newConfig(t, log), dir)
	if err != nil {
		t.Fatal(err)
	}
	root := merkle.LeafHash(nil)
	body := fmt.Sprintf("old 0\n\n%s\n1\n%v\n\n", log.Name(), root)
	for range 100 {
		payload := append(binary.BigEndian.AppendUint32(nil, log.KeyHash()), sign(1, root)...)
		body += fmt.Sprintf("— %s %s\n", log.Name(), base64.StdEncoding.EncodeToString(payload))
	}
	if _, err := w.AddCheckpoint(t.Context(), []byte(body)); err != nil {
		t.Fatal(err)
	}
	if record, err := w.Checkpoint(witness.OriginHash(log.Name())); err != nil || strings.Count(string(record), "\n— ") != 2 {
		t.Errorf("%.300q, %v: expected a signature of the log and a cosignature", record, err)
	}
}

// TestDamagedRecord verifies that monitors do not receive a damaged record as a checkpoint.
func TestDamagedRecord(t *testing.T) {
	m, path := newModel(t), t.TempDir()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := witness.New(newConfig(t, m.log), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddCheckpoint(t.Context(), m.request(0, 0, 5, 0)); err != nil {
		t.Fatal(err)
	}
	hash := witness.OriginHash(m.log.Name())
	if err := os.Truncate(filepath.Join(path, hash), 0); err != nil {
		t.Fatal(err)
	}
	warned := 0
	server := httptest.NewServer(w.Handler(func(error) { warned++ }))
	defer server.Close()
	if status, _, body := get(t, server.URL+"/"+hash+"/checkpoint"); status != http.StatusInternalServerError || warned != 1 {
		t.Errorf("status %d, %q, %d warnings", status, body, warned)
	}
}
