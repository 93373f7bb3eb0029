package tile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/receiptkit/receiptkit/merkle"
)

const (
	height = 8           // height of a tile in levels
	width  = 1 << height // number of hashes in a full tile, and of entries in a full bundle

	// maxSize is the maximum size of a tree. No log has more entries than that. Near 2^62,
	// functions in package sumdb/tlog do not return.
	maxSize = 1 << 48
)

// errSize indicates that a checkpoint states more entries than maxSize.
var errSize = errors.New("the checkpoint states more than 2^48 entries, which is not supported")

// A Tree reads the tree of a log from a source.
type Tree struct {
	Size   uint64
	Root   merkle.Hash
	Source Source
}

// Inclusion returns the inclusion proof for the entry with the given index.
func (t *Tree) Inclusion(ctx context.Context, index uint64) ([]merkle.Hash, error) {
	if t.Size > maxSize {
		return nil, errSize
	}
	if index >= t.Size {
		return nil, merkle.ErrIndex
	}
	r := &tiles{ctx: ctx, source: t.Source}
	proof, err := tlog.ProveRecord(int64(t.Size), int64(index), t.hashes(r))
	return convert(proof), r.authentic(err)
}

// Consistency returns the proof that the tree extends the tree of its first size entries. For size
// 0, the proof is empty.
func (t *Tree) Consistency(ctx context.Context, size uint64) ([]merkle.Hash, error) {
	if t.Size > maxSize {
		return nil, errSize
	}
	if size > t.Size {
		return nil, merkle.ErrSizes
	}
	if size == 0 {
		return nil, nil
	}
	r := &tiles{ctx: ctx, source: t.Source}
	proof, err := tlog.ProveTree(int64(t.Size), int64(size), t.hashes(r))
	return convert(proof), r.authentic(err)
}

// Entries yields the entries that start at the given index. Each entry is checked against the leaf
// hash in the tree.
func (t *Tree) Entries(ctx context.Context, from uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if t.Size > maxSize {
			yield(nil, errSize)
			return
		}
		for bundle := from / width; bundle*width < t.Size; bundle++ {
			list, err := t.bundle(ctx, bundle)
			if err != nil {
				yield(nil, err)
				return
			}
			for i, entry := range list {
				if bundle*width+uint64(i) >= from && !yield(entry, nil) {
					return
				}
			}
		}
	}
}

// bundle returns the entries in a bundle that belong to the tree.
func (t *Tree) bundle(ctx context.Context, n uint64) ([][]byte, error) {
	count := int(min(t.Size-n*width, width))
	path := entriesPath(n, count)
	data, err := readFull(ctx, t.Source, path, entriesPath(n, width))
	if err != nil {
		return nil, err
	}
	list, err := parseBundle(data, count)
	if err != nil {
		return nil, invalid("%s: %v", path, err)
	}

	indexes := make([]int64, count)
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(0, int64(n)*width+int64(i))
	}
	r := &tiles{ctx: ctx, source: t.Source}
	hashes, err := t.hashes(r).ReadHashes(indexes)
	if err != nil {
		return nil, r.authentic(err)
	}
	for i, entry := range list {
		if merkle.LeafHash(entry) != merkle.Hash(hashes[i]) {
			return nil, invalid("%s: entry %d has another hash than in the tree of size %d", path, n*width+uint64(i), t.Size)
		}
	}
	return list, nil
}

// parseBundle returns the first entries in a bundle. Each entry is preceded by its length in two
// bytes.
func parseBundle(data []byte, count int) (list [][]byte, err error) {
	for range count {
		if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("expected %d entries, found %d", count, len(list))
		}
		n := 2 + int(binary.BigEndian.Uint16(data))
		list = append(list, data[2:n:n])
		data = data[n:]
	}
	return list, nil
}

func (t *Tree) hashes(r *tiles) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: int64(t.Size), Hash: tlog.Hash(t.Root)}, r)
}

// tiles implements tlog.TileReader for a single call. Package tlog authenticates the tiles that it
// reads.
type tiles struct {
	ctx     context.Context
	source  Source
	failure error // of the source
}

func (*tiles) Height() int                     { return height }
func (*tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (r *tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(list))
	for i, t := range list {
		full := t
		full.W = width
		content, err := readFull(r.ctx, r.source, hashesPath(t), hashesPath(full))
		if err != nil {
			r.failure = err
			return nil, err
		}
		if len(content) < t.W*tlog.HashSize {
			return nil, invalid("%s: expected %d hashes, found %d bytes", hashesPath(t), t.W, len(content))
		}
		data[i] = content[:t.W*tlog.HashSize]
	}
	return data, nil
}

// readFull reads a partial file. If that file does not exist, it reads the full file, because a log
// may delete partial files after the full file exists. If neither exists, the error names the
// partial file.
func readFull(ctx context.Context, s Source, partial, full string) ([]byte, error) {
	data, err := s.Read(ctx, partial)
	if errors.Is(err, fs.ErrNotExist) && full != partial {
		if data, again := s.Read(ctx, full); !errors.Is(again, fs.ErrNotExist) {
			return data, again
		}
	}
	return data, err
}

// hashesPath returns the path of a tile in the C2SP layout, which differs from tlog.Tile.Path.
func hashesPath(t tlog.Tile) string {
	return fmt.Sprintf("tile/%d/%s", t.L, numberPath(uint64(t.N), t.W))
}

func entriesPath(n uint64, w int) string { return "tile/entries/" + numberPath(n, w) }

// numberPath formats a number in groups of three digits, followed by the suffix for a partial file.
// Each group except the last has the prefix "x".
func numberPath(n uint64, w int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if w < width {
		path += fmt.Sprintf(".p/%d", w)
	}
	return path
}

// An InvalidError indicates that a log serves a file that does not belong to its tree.
type InvalidError struct{ Detail string }

func (e *InvalidError) Error() string { return e.Detail }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// authentic returns an error that the source caused unchanged. It converts any other error from
// tlog.TileHashReader to an *InvalidError, because the tiles do not lead to the root.
func (r *tiles) authentic(err error) error {
	if err == nil || r.failure != nil {
		return err
	}
	return &InvalidError{err.Error()}
}

func convert(list []tlog.Hash) []merkle.Hash {
	hashes := make([]merkle.Hash, len(list))
	for i, h := range list {
		hashes[i] = merkle.Hash(h)
	}
	return hashes
}
