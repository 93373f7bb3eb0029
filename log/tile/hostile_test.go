package tile_test

import (
	"context"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/merkle"
)

// A constant source is a source in which every file has the same content.
type constant []byte

func (c constant) Read(context.Context, string) ([]byte, error) {
	if c == nil {
		return nil, fs.ErrNotExist
	}
	return c, nil
}

// TestHostileLogs verifies that files that cannot belong to a tree are rejected, for trees of any
// size that a checkpoint can state.
func TestHostileLogs(t *testing.T) {
	sizes := []uint64{1, 2, 255, 256, 257, 1 << 16, 1<<31 + 1, 1<<40 - 1, 1 << 48, 1<<48 + 1, 1 << 62, 1<<62 + 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	for _, size := range sizes {
		for _, source := range []constant{nil, {}, make(constant, 1), make(constant, 31), make(constant, 32), make(constant, 8191), make(constant, 8192), make(constant, 9000)} {
			tree := &tile.Tree{Size: size, Root: merkle.LeafHash([]byte("root")), Source: source}
			if _, err := tree.Inclusion(t.Context(), size-1); err == nil && size > 1 {
				t.Errorf("size %d, files of %d bytes: a proof of inclusion", size, len(source))
			}
			if _, err := tree.Consistency(t.Context(), size/2); err == nil && size > 1 {
				t.Errorf("size %d, files of %d bytes: a proof of consistency", size, len(source))
			} else if size > 1<<48 && !strings.Contains(err.Error(), "2^48") {
				t.Errorf("size %d: %v", size, err)
			}
			for _, err := range tree.Entries(t.Context(), 0) {
				if err == nil {
					t.Errorf("size %d, files of %d bytes: an entry", size, len(source))
				}
				break
			}
			for _, err := range tree.Entries(t.Context(), size-1) {
				if err == nil {
					t.Errorf("size %d, files of %d bytes: the last entry", size, len(source))
				}
				break
			}
		}
	}
}
