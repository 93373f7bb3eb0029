package files

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
)

// TestTree verifies that roots and proofs match those of package merkle, for sizes around each
// power of two and for all leaves at the boundaries of subtrees.
func TestTree(t *testing.T) {
	var all []merkle.Hash
	for i := range 2100 {
		all = append(all, merkle.LeafHash(binary.BigEndian.AppendUint32(nil, uint32(i))))
	}
	sizes := []int{1, 2, 3, 5, 255, 256, 257, 300, 511, 512, 513, 767, 768, 769, 1023, 1024, 1025, 1280, 1281, 2047, 2048, 2049, 2100}
	for _, size := range sizes {
		leaves := all[:size]
		tr := newTree(leaves)
		if tr.root(0, size) != merkle.Root(leaves) {
			t.Errorf("another root of %d leaves", size)
		}
		for i := range size {
			if at := i % 128; at > 1 && at < 127 {
				continue
			}
			want, err := merkle.ProveInclusion(leaves, uint64(i))
			if got := tr.prove(i); err != nil || !slices.Equal(got, want) {
				t.Fatalf("another proof of leaf %d of %d: %v", i, size, err)
			}
		}
	}
}
