package tile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// readCheckpoint parses a checkpoint from the vectors without verifying its signatures.
func readCheckpoint(t *testing.T, path string) *tlog.Checkpoint {
	t.Helper()
	note, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.OpenSigned(note, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &s.Checkpoint
}

// TestLogs verifies that every entry in the logs from the vectors can be read, that its inclusion
// proof verifies, and that the consistency proof from every smaller size verifies.
func TestLogs(t *testing.T) {
	for name, size := range map[string]int{"tessera-testdata": 15, "made": 300} {
		dir := filepath.Join(vectors.Dir(t, "transparency"), name, "log")
		c := readCheckpoint(t, filepath.Join(dir, "checkpoint"))
		if c.Size != uint64(size) {
			t.Fatalf("%s: size %d", name, c.Size)
		}
		tree := tile.Tree{Size: c.Size, Root: c.Root, Source: tile.Dir(dir)}
		var leaves []merkle.Hash
		for entry, err := range tree.Entries(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			index := uint64(len(leaves))
			leaves = append(leaves, merkle.LeafHash(entry))
			proof, err := tree.Inclusion(t.Context(), index)
			if err == nil {
				err = merkle.CheckInclusion(leaves[index], index, c.Size, proof, c.Root)
			}
			if err != nil {
				t.Errorf("%s, entry %d: %v", name, index, err)
			}
		}
		if len(leaves) != size {
			t.Fatalf("%s: %d entries", name, len(leaves))
		}
		for n := uint64(1); n <= c.Size; n++ {
			proof, err := tree.Consistency(t.Context(), n)
			if err == nil {
				err = merkle.CheckConsistency(n, c.Size, merkle.Root(leaves[:n]), c.Root, proof)
			}
			if err != nil {
				t.Errorf("%s, from size %d: %v", name, n, err)
			}
		}
	}
}

// TestDamage verifies that a change to any byte of a file is detected.
func TestDamage(t *testing.T) {
	original := filepath.Join(vectors.Dir(t, "transparency"), "tessera-testdata", "log")
	c := readCheckpoint(t, filepath.Join(original, "checkpoint"))
	damaged := 0
	err := fs.WalkDir(os.DirFS(original), "tile", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) != "15" { // only the partial files of the last tree size
			return err
		}
		data, err := os.ReadFile(filepath.Join(original, path))
		if err != nil {
			return err
		}
		for i := range data {
			changed := append([]byte(nil), data...)
			changed[i] ^= 1
			tree := tile.Tree{Size: c.Size, Root: c.Root, Source: overlay{tile.Dir(original), path, changed}}
			var failure error
			for _, err := range tree.Entries(t.Context(), 0) {
				failure = err
			}
			if !errors.As(failure, new(*tile.InvalidError)) {
				t.Errorf("%s, byte %d: %v", path, i, failure)
			}
			damaged++
		}
		return nil
	})
	if err != nil || damaged < 500 {
		t.Errorf("%d bytes, %v", damaged, err)
	}
}
