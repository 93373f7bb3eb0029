package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/transparency-dev/tessera/api/layout"

	"github.com/receiptkit/receiptkit/merkle"
)

// A hashTiles compares the hash tiles in a directory with the entries of a log. Tessera reads a
// tile only when it adds entries or proves one, and stops if that tile is missing.
type hashTiles struct {
	dir     string
	size    uint64 // of the tree
	levels  []rightEdge
	failure error // of the first tile that does not match
}

// A rightEdge is the last tile of a level, which has fewer than 256 hashes.
type rightEdge struct {
	number uint64
	hashes []merkle.Hash
}

// add adds the next leaf hash, and compares each tile that it completes.
func (t *hashTiles) add(h merkle.Hash) {
	for level := 0; ; level++ {
		if level == len(t.levels) {
			t.levels = append(t.levels, rightEdge{})
		}
		e := &t.levels[level]
		e.hashes = append(e.hashes, h)
		if len(e.hashes) < layout.TileWidth {
			return
		}

		t.compare(level)
		h = merkle.Root(e.hashes)
		e.number, e.hashes = e.number+1, e.hashes[:0]
	}
}

// compareEdge compares the partial tiles of the tree that consists of the leaves so far.
func (t *hashTiles) compareEdge() {
	for level := range t.levels {
		if len(t.levels[level].hashes) > 0 {
			t.compare(level)
		}
	}
}

// compare compares the last tile of a level. A missing partial tile is accepted if the complete
// tree has a full tile in its place. The full tile is compared later.
func (t *hashTiles) compare(level int) {
	if t.failure != nil {
		return
	}
	e := &t.levels[level]
	path := layout.TilePath(uint64(level), e.number, uint8(len(e.hashes)%layout.TileWidth))
	data, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(path)))
	full := len(e.hashes) == layout.TileWidth
	if errors.Is(err, fs.ErrNotExist) && !full && e.number < t.size>>(layout.TileHeight*(level+1)) {
		return
	}

	var want []byte
	for _, h := range e.hashes {
		want = append(want, h[:]...)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.failure = fmt.Errorf("the hash tile %q of %q is missing", path, t.dir)
	case err != nil:
		t.failure = fmt.Errorf("reading the hash tile %q: %w", path, err)
	case !bytes.Equal(data, want):
		t.failure = fmt.Errorf("the hash tile %q of %q does not match the entries", path, t.dir)
	}
}
