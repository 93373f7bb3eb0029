package serve_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// checkpointOver signs a checkpoint over receipts with a key that nobody trusts.
func checkpointOver(t testing.TB, list ...[]byte) []byte {
	t.Helper()
	return checkpointBy(t, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), list...)
}

// checkpointBy signs a checkpoint over receipts.
func checkpointBy(t testing.TB, key ed25519.PrivateKey, list ...[]byte) []byte {
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

// TestProofs: the proof of each receipt leads to the checkpoint, and there is none
// for others.
func TestProofs(t *testing.T) {
	list := fileReceipts(t, 7)
	all := append([][]byte{list[0], list[0]}, list[1:]...) // a copy is a leaf too
	f := openFiles(t, map[string][]byte{"a.jsonl": lineFile(all[:4]...), "b.cbor": archived(t, all[4]), "c.jsonl": lineFile(all[5:]...)})
	note := checkpointOver(t, all[:6]...)
	p, err := serve.NewProofs(f, note)
	if err != nil || !bytes.Equal(p.Checkpoint(), note) {
		t.Fatal(err)
	}
	claims, err := tlog.OpenSigned(note, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range list {
		got, err := p.Proof(fmt.Sprint("r", i))
		if i >= 5 {
			if !errors.Is(err, serve.ErrNotFound) {
				t.Errorf("r%d, behind the checkpoint: %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("r%d: %v", i, err)
			continue
		}
		proof, err := tlog.ParseProof(got)
		if err != nil || !bytes.Equal(proof.Checkpoint, note) {
			t.Errorf("r%d: %v\n%s", i, err, got)
			continue
		}
		sealed, err := receipt.ParseSealed(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := merkle.CheckInclusion(receipt.CheckpointLeaf(sealed.Hash()), proof.Index, claims.Size, proof.Hashes, claims.Root); err != nil {
			t.Errorf("r%d: %v", i, err)
		}
	}
	if _, err := p.Proof("unknown"); !errors.Is(err, serve.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

// TestProofsRefuse: a checkpoint that is not over the files is told at the start.
func TestProofsRefuse(t *testing.T) {
	list := fileReceipts(t, 3)
	note := checkpointOver(t, list...)
	altered := bytes.Replace(list[1], []byte(`"USD"`), []byte(`"EUR"`), 1)
	for name, c := range map[string]struct {
		files [][]byte
		note  []byte
		want  string
	}{
		"fits":        {list, note, ""},
		"of nothing":  {list, checkpointOver(t), ""},
		"fewer":       {list[:2], note, "serve: truncated: the checkpoint is over 3 receipts, the files have 2"},
		"other order": {[][]byte{list[1], list[0], list[2]}, note, "serve: merkle_root_mismatch: the root over the first 3 receipts of the files is "},
		"altered":     {[][]byte{list[0], altered, list[2]}, note, `serve: hash_mismatch: "a.jsonl:2" does not fit the hash that it states`},
		"no note":     {list, list[0], "serve: checkpoint_invalid: "},
		"no root":     {list, bytes.Replace(note, []byte("\n3\n"), []byte("\n03\n"), 1), "serve: checkpoint_invalid: "},
	} {
		p, err := serve.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": lineFile(c.files...)}), c.note)
		if c.want == "" {
			if err != nil || p == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || p != nil {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
	}
}

// TestProofsHTTP: the routes, and nothing beside them.
func TestProofsHTTP(t *testing.T) {
	list := [][]byte{fileReceipt(t, "r0", "t", "t"), fileReceipt(t, "../../etc/passwd", "t", "t")}
	note := checkpointOver(t, list[:1]...)
	p, err := serve.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": lineFile(list...)}), note)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Proofs = p
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Proof("r0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/x/checkpoint", 200, string(note)},
		{"HEAD", "/x/checkpoint", 200, string(note)}, // net/http keeps the body back
		{"GET", "/x/receipts/r0/proof", 200, string(proof)},
		{"GET", "/x/receipts/r%30/proof", 200, string(proof)},
		{"GET", "/x/receipts/r1/proof", 404, "resource_not_found"},
		{"GET", "/x/receipts/..%2F..%2Fetc%2Fpasswd/proof", 404, "resource_not_found"}, // not under the checkpoint
		{"GET", "/x/receipts//proof", 404, "resource_not_found"},
		{"GET", "/x/receipts/r0", 404, "resource_not_found"},
		{"GET", "/x/receipts/r0/proof/", 404, "resource_not_found"},
		{"GET", "/x/", 404, "resource_not_found"},
		{"GET", "/x/checkpoint/", 404, "resource_not_found"},
		{"GET", "/x//checkpoint", 404, "resource_not_found"},
		{"GET", "/x/%63heckpoint", 404, "resource_not_found"},
		{"GET", "/x/checkpoint?a=b", 400, "invalid_request"},
		{"POST", "/x/checkpoint", 405, "invalid_request"},
		{"DELETE", "/x/receipts/r0/proof", 405, "invalid_request"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		media, want := "text/plain; charset=utf-8", w.Body.String() == c.want
		if c.status != 200 {
			media, want = "application/json", strings.Contains(w.Body.String(), `{"error":{"code":"`+c.want+`",`)
		}
		h := w.Header()
		if w.Code != c.status || !want || h.Get("Content-Type") != media || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %d %v\n%s", c.method, c.path, w.Code, h, w.Body)
		}
		if (w.Code == 405) != (h.Get("Allow") == "GET, HEAD") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, h.Get("Allow"))
		}
	}
}

// TestProofsRequestID: an error below /x/ names its request like any other.
func TestProofsRequestID(t *testing.T) {
	list := [][]byte{fileReceipt(t, "r0", "t", "t")}
	p, err := serve.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": lineFile(list...)}), checkpointOver(t, list...))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Proofs = p
	got := start(t, o).get("/x/receipts/r1/proof")
	failure, _ := got.object(t)["error"].(map[string]any)
	if id, _ := failure["request_id"].(string); got.status != 404 || len(id) != 16 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
