package stream_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestSpill verifies that records are written to files if they do not fit into memory. No file may
// remain, and the results must not change.
func TestSpill(t *testing.T) {
	in := bytes.Split(troubles(t), []byte("\n"))
	var parts [][]byte
	for part := range slices.Chunk(in[:200], 3) {
		parts = append(parts, jsonl(part...))
	}
	slices.Reverse(parts)
	files := sources(parts...)
	v := integrity(t)
	want := transcript(t, stream.VerifyFiles(t.Context(), v, files, stream.Options{}))
	for _, most := range []int{1, 2, 7, 100, 1000} {
		dir := t.TempDir()
		got := transcript(t, stream.VerifyFiles(t.Context(), v, files, stream.Options{TempDir: dir}.Indexed(most)))
		if got != want {
			t.Errorf("at most %d in memory: another result", most)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v remains in the folder, %v", left, err)
		}
	}
	missing := stream.Options{TempDir: filepath.Join(t.TempDir(), "missing")}.Indexed(10)
	s, err := stream.VerifyFiles(t.Context(), v, files, missing).Summary()
	if !errors.Is(err, fs.ErrNotExist) || s.Complete || s.Verdict() == receipt.Verified {
		t.Errorf("a folder that is missing: %v, %v", s.Verdict(), err)
	}
}

// TestIndexFull verifies that the reuse of an ID is not detected after the index has reached its
// limit. A note must state this.
func TestIndexFull(t *testing.T) {
	w := newWriter(t, "a")
	list := w.many(6)
	noted := func(r result) (n int) {
		for _, note := range r.summary.NotChecked {
			if note.Code == receipt.CodeIDsNotChecked {
				n++
			}
		}
		return n
	}
	for most, want := range map[int]int{5: 1, 6: 0, 7: 0} {
		if r := verify(t, jsonl(list...), stream.Options{}.Indexed(most)); noted(r) != want || r.summary.Verdict() != receipt.Verified {
			t.Errorf("6 receipts, %d indexed: %d notes, %v", most, noted(r), r)
		}
	}
	w.n = 1
	late := append(list, w.next(), w.next()) // with the IDs of the second and the third receipt
	expect(t, "whole index", verify(t, jsonl(late...), stream.Options{}), "refuted 6/2/0; input:7 duplicate_id; input:8 duplicate_id; a 8")
	expect(t, "two indexed", verify(t, jsonl(late...), stream.Options{}.Indexed(2)), "refuted 7/1/0; input:7 duplicate_id; a 8")
}
