package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// TestProofs verifies that the proof for each covered receipt leads to the checkpoint, and that
// other receipts have no proof.
func TestProofs(t *testing.T) {
	list := servetest.Receipts(t, 7)
	all := append([][]byte{list[0], list[0]}, list[1:]...) // a copy also has a leaf
	f := openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(all[:4]...), "b.cbor": servetest.Archived(t, all[4]), "c.jsonl": servetest.Lines(all[5:]...)})
	note := servetest.Checkpoint(t, all[:6]...)
	p, err := files.NewProofs(f, note)
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
			if !errors.Is(err, ledger.ErrNotFound) {
				t.Errorf("r%d, after the checkpoint: %v", i, err)
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
	if _, err := p.Proof("unknown"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

// TestProofsRefuse verifies that a checkpoint that does not cover the files causes an error at
// startup.
func TestProofsRefuse(t *testing.T) {
	list := servetest.Receipts(t, 3)
	note := servetest.Checkpoint(t, list...)
	altered := bytes.Replace(list[1], []byte(`"USD"`), []byte(`"EUR"`), 1)
	for name, c := range map[string]struct {
		files [][]byte
		note  []byte
		want  string
	}{
		"fits":        {list, note, ""},
		"of nothing":  {list, servetest.Checkpoint(t), ""},
		"fewer":       {list[:2], note, "serve: truncated: the checkpoint covers 3 receipts, the files have 2"},
		"other order": {[][]byte{list[1], list[0], list[2]}, note, "serve: merkle_root_mismatch: the root over the first 3 receipts of the files is "},
		"altered":     {[][]byte{list[0], altered, list[2]}, note, `serve: hash_mismatch: "a.jsonl:2" does not fit the hash that it states`},
		"no note":     {list, list[0], "serve: checkpoint_invalid: "},
		"no root":     {list, bytes.Replace(note, []byte("\n3\n"), []byte("\n03\n"), 1), "serve: checkpoint_invalid: "},
	} {
		p, err := files.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(c.files...)}), c.note)
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
