package merkle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/merkle"
)

// The oracle is the recursive definition in RFC 9162, word for word.

func oracleRoot(d [][]byte) merkle.Hash {
	switch len(d) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, d[0]...))
	}
	k := oracleSplit(len(d))
	l, r := oracleRoot(d[:k]), oracleRoot(d[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, l[:], r[:]))
}

func oracleSplit(n int) int {
	k := 1
	for k*2 < n {
		k *= 2
	}
	return k
}

func oraclePath(m int, d [][]byte) []merkle.Hash { // section 2.1.3.1
	if len(d) == 1 {
		return nil
	}
	k := oracleSplit(len(d))
	if m < k {
		return append(oraclePath(m, d[:k]), oracleRoot(d[k:]))
	}
	return append(oraclePath(m-k, d[k:]), oracleRoot(d[:k]))
}

func oracleProof(m int, d [][]byte) []merkle.Hash { return oracleSubproof(m, d, true) } // section 2.1.4.1

func oracleSubproof(m int, d [][]byte, b bool) []merkle.Hash {
	if m == len(d) {
		if b {
			return nil
		}
		return []merkle.Hash{oracleRoot(d)}
	}
	k := oracleSplit(len(d))
	if m <= k {
		return append(oracleSubproof(m, d[:k], b), oracleRoot(d[k:]))
	}
	return append(oracleSubproof(m-k, d[k:], false), oracleRoot(d[:k]))
}

func data(n int) [][]byte {
	d := make([][]byte, n)
	for i := range d {
		d[i] = fmt.Appendf(nil, "leaf %d", i)
	}
	return d
}

func hashes(d [][]byte) []merkle.Hash {
	h := make([]merkle.Hash, len(d))
	for i := range d {
		h[i] = merkle.LeafHash(d[i])
	}
	return h
}

const most = 130 // the largest tree size that is tested

// tried reports whether to test trees of the given size: all sizes up to 34 and sizes near 64 and
// 128, or all sizes if CI is set.
func tried(n int) bool {
	return testsize.Full() || n <= 34 || n >= 63 && n <= 66 || n >= 127
}

func TestRootsBySize(t *testing.T) {
	var tree merkle.Tree
	d := data(most)
	for n := range most + 1 {
		want := oracleRoot(d[:n])
		if got := merkle.Root(hashes(d[:n])); got != want {
			t.Errorf("size %d: %v, want %v", n, got, want)
		}
		if got := tree.Root(); got != want || tree.Size() != uint64(n) {
			t.Errorf("grown to size %d: %v, want %v", n, got, want)
		}
		if n < most {
			tree.Append(merkle.LeafHash(d[n]))
		}
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(vectors.Dir(t, "merkle-ct-roots"), "ct-roots.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Leaves []string          `json:"leaf_inputs_hex"`
		Roots  []string          `json:"roots_by_size"`
		Tlog   map[string]string `json:"tlog_leaf_n_roots"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Leaves) != 8 || len(v.Roots) != 9 || len(v.Tlog) < 5 {
		t.Fatalf("found %d leaves, %d and %d roots", len(v.Leaves), len(v.Roots), len(v.Tlog))
	}
	var leaves []merkle.Hash
	for size, want := range v.Roots {
		if got := merkle.Root(leaves); hex.EncodeToString(got[:]) != want {
			t.Errorf("size %d: %x, want %s", size, got, want)
		}
		if size < len(v.Leaves) {
			leaf, err := hex.DecodeString(v.Leaves[size])
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, merkle.LeafHash(leaf))
		}
	}
	for size, want := range v.Tlog {
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		if got := merkle.Root(hashes(data(n))); hex.EncodeToString(got[:]) != want {
			t.Errorf("%d tlog leaves: %x, want %s", n, got, want)
		}
	}
}

// damage returns proofs that each differ slightly from a valid proof.
func damage(proof []merkle.Hash) [][]merkle.Hash {
	var damaged [][]merkle.Hash
	for i := range proof {
		for _, bit := range []int{0, 100, 255} {
			p := slices.Clone(proof)
			p[i][bit/8] ^= 1 << (bit % 8)
			damaged = append(damaged, p)
		}
		damaged = append(damaged, slices.Delete(slices.Clone(proof), i, i+1), slices.Insert(slices.Clone(proof), i, proof[i]))
		if i > 0 && proof[i] != proof[i-1] {
			p := slices.Clone(proof)
			p[i], p[i-1] = p[i-1], p[i]
			damaged = append(damaged, p)
		}
	}
	return append(damaged, append(slices.Clone(proof), merkle.Hash{}))
}

func TestInclusion(t *testing.T) {
	for n := 1; n <= most; n++ {
		if !tried(n) {
			continue
		}
		d := data(n)
		leaves, root := hashes(d), oracleRoot(d)
		for i := range n {
			proof, err := merkle.ProveInclusion(leaves, uint64(i))
			if err != nil || !slices.Equal(proof, oraclePath(i, d)) {
				t.Fatalf("%d of %d: proof %v, %v; want %v", i, n, proof, err, oraclePath(i, d))
			}
			check := func(leaf merkle.Hash, index, size uint64, p []merkle.Hash, r merkle.Hash) error {
				return merkle.CheckInclusion(leaf, index, size, p, r)
			}
			if err := check(leaves[i], uint64(i), uint64(n), proof, root); err != nil {
				t.Errorf("%d of %d: %v", i, n, err)
			}
			if n > 20 && i%7 != 0 {
				continue
			}
			for _, bad := range damage(proof) {
				if check(leaves[i], uint64(i), uint64(n), bad, root) == nil {
					t.Errorf("%d of %d: a damaged proof is accepted", i, n)
				}
			}
			other := leaves[i]
			other[0] ^= 1
			wrongRoot := root
			wrongRoot[31] ^= 1
			if check(other, uint64(i), uint64(n), proof, root) == nil || check(leaves[i], uint64(i), uint64(n), proof, wrongRoot) == nil {
				t.Errorf("%d of %d: another leaf or root is accepted", i, n)
			}
			for j := range n { // the proof must not be accepted for another index
				if j != i && check(leaves[i], uint64(j), uint64(n), proof, root) == nil {
					t.Errorf("%d of %d: accepted at index %d", i, n, j)
				}
			}
		}
	}
}

func TestConsistency(t *testing.T) {
	d := data(most)
	roots := make([]merkle.Hash, most+1)
	for n := 1; n <= most; n++ {
		leaves, root2 := hashes(d[:n]), oracleRoot(d[:n])
		if roots[n] = root2; !tried(n) {
			continue
		}
		for m := 1; m <= n; m++ {
			root1 := roots[m]
			proof, err := merkle.ProveConsistency(leaves, uint64(m))
			if err != nil || !slices.Equal(proof, oracleProof(m, d[:n])) {
				t.Fatalf("%d to %d: proof %v, %v; want %v", m, n, proof, err, oracleProof(m, d[:n]))
			}
			check := func(p []merkle.Hash, r1, r2 merkle.Hash) error {
				return merkle.CheckConsistency(uint64(m), uint64(n), r1, r2, p)
			}
			if err := check(proof, root1, root2); err != nil {
				t.Errorf("%d to %d: %v", m, n, err)
			}
			wrong1, wrong2 := root1, root2
			wrong1[0] ^= 1
			wrong2[0] ^= 1
			if check(proof, wrong1, root2) == nil || check(proof, root1, wrong2) == nil {
				t.Errorf("%d to %d: another root is accepted", m, n)
			}
			if n > 20 && m%7 != 0 {
				continue
			}
			for _, bad := range damage(proof) {
				if check(bad, root1, root2) == nil {
					t.Errorf("%d to %d: a damaged proof is accepted", m, n)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	leaf, root := merkle.LeafHash(nil), merkle.LeafHash(nil)
	long := make([]merkle.Hash, 10_000)
	for _, c := range []struct{ index, size uint64 }{{0, 0}, {1, 1}, {2, 1}, {math.MaxInt64, 1}, {math.MaxUint64, 1}, {math.MaxUint64, math.MaxUint64}, {1 << 63, 1 << 63}} {
		if err := merkle.CheckInclusion(leaf, c.index, c.size, nil, root); !errors.Is(err, merkle.ErrIndex) {
			t.Errorf("index %d of %d: %v, want ErrIndex", c.index, c.size, err)
		}
	}
	var length *merkle.LengthError
	for _, c := range []struct {
		index, size uint64
		want        int
	}{{0, 1, 0}, {0, math.MaxUint64, 64}, {math.MaxUint64 - 1, math.MaxUint64, 63}, {1 << 63, 1<<63 + 1, 1}, {0, 1 << 63, 63}} {
		if err := merkle.CheckInclusion(leaf, c.index, c.size, long, root); !errors.As(err, &length) || length.Want != c.want || length.Found != len(long) {
			t.Errorf("index %d of %d: %v, want a length of %d", c.index, c.size, err, c.want)
		}
	}
	for _, c := range []struct{ size1, size2 uint64 }{{0, 0}, {0, 1}, {2, 1}, {math.MaxUint64, 1}, {0, math.MaxUint64}} {
		if err := merkle.CheckConsistency(c.size1, c.size2, root, root, nil); !errors.Is(err, merkle.ErrSizes) {
			t.Errorf("%d to %d: %v, want ErrSizes", c.size1, c.size2, err)
		}
	}
	for _, c := range []struct{ size1, size2 uint64 }{{1, 1}, {math.MaxUint64, math.MaxUint64}, {1, 2}, {1 << 63, math.MaxUint64}, {3, math.MaxUint64}} {
		if err := merkle.CheckConsistency(c.size1, c.size2, root, root, long); !errors.As(err, &length) {
			t.Errorf("%d to %d: %v, want a *LengthError", c.size1, c.size2, err)
		}
	}
	var wrong *merkle.RootError
	if err := merkle.CheckConsistency(7, 7, root, merkle.EmptyRoot(), nil); !errors.As(err, &wrong) || wrong.Size != 7 {
		t.Errorf("equal sizes, unequal roots: %v", err)
	}
	if _, err := merkle.ProveInclusion(nil, 0); !errors.Is(err, merkle.ErrIndex) {
		t.Errorf("a proof from no leaves: %v", err)
	}
	if _, err := merkle.ProveConsistency(long, 0); !errors.Is(err, merkle.ErrSizes) {
		t.Errorf("a proof from the empty tree: %v", err)
	}
}

// TestSecondPreimage verifies that an inner node is not accepted as a leaf, and that padding does
// not produce the same root for two lists (CVE-2012-2459).
func TestSecondPreimage(t *testing.T) {
	a, b, c := merkle.LeafHash([]byte("a")), merkle.LeafHash([]byte("b")), merkle.LeafHash([]byte("c"))
	if merkle.LeafHash(slices.Concat(a[:], b[:])) == merkle.NodeHash(a, b) {
		t.Error("a node passes for a leaf")
	}
	if merkle.Root([]merkle.Hash{a, b, c}) == merkle.Root([]merkle.Hash{a, b, c, c}) {
		t.Error("a doubled leaf has the same root")
	}
}

// TestTlog verifies that the results match those of the Go checksum database's implementation.
func TestTlog(t *testing.T) {
	const n = 300
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			found[i] = stored[x]
		}
		return found, nil
	})
	var tree merkle.Tree
	d := data(n)
	for i, leaf := range d {
		more, err := tlog.StoredHashes(int64(i), leaf, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		tree.Append(merkle.LeafHash(leaf))
		root, err := tlog.TreeHash(int64(i+1), reader)
		if err != nil || merkle.Hash(root) != tree.Root() {
			t.Fatalf("size %d: %v, %v; want %v", i+1, tree.Root(), err, root)
		}
		if i%17 != 0 {
			continue
		}
		proof, err := tlog.ProveRecord(int64(i+1), int64(i/2), reader)
		if err != nil {
			t.Fatal(err)
		}
		var ours []merkle.Hash
		for _, h := range proof {
			ours = append(ours, merkle.Hash(h))
		}
		if err := merkle.CheckInclusion(merkle.LeafHash(d[i/2]), uint64(i/2), uint64(i+1), ours, tree.Root()); err != nil {
			t.Errorf("tlog's proof of %d in %d: %v", i/2, i+1, err)
		}
	}
}

func TestParseHash(t *testing.T) {
	h := merkle.LeafHash([]byte("x"))
	if got, err := merkle.ParseHash(h.String()); err != nil || got != h {
		t.Errorf("%v, %v; want %v", got, err, h)
	}
	for _, bad := range []string{"", "AAAA", h.String()[1:], h.String() + "\n", h.String()[:43], hex.EncodeToString(h[:]), h.String()[:42] + "9="} {
		if got, err := merkle.ParseHash(bad); err == nil || got != (merkle.Hash{}) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

func FuzzCheckInclusion(f *testing.F) {
	f.Add(uint64(3), uint64(7), []byte("0123456789012345678901234567890101234567890123456789012345678901"))
	f.Fuzz(func(t *testing.T, index, size uint64, raw []byte) {
		var proof []merkle.Hash
		for ; len(raw) >= 32; raw = raw[32:] {
			proof = append(proof, merkle.Hash(raw[:32]))
		}
		// A proof must not lead to a root that was not computed from that proof.
		if merkle.CheckInclusion(merkle.Hash{}, index, size, proof, merkle.Hash{1}) == nil {
			t.Error("a made-up root is reached")
		}
		if size > 0 && size < 1000 && index < size {
			leaves := hashes(data(int(size)))
			p, err := merkle.ProveInclusion(leaves, index)
			if err != nil || merkle.CheckInclusion(leaves[index], index, size, p, merkle.Root(leaves)) != nil {
				t.Errorf("an honest proof of %d in %d is refused: %v", index, size, err)
			}
		}
	})
}

func BenchmarkRoot(b *testing.B) {
	leaves := hashes(data(1 << 16))
	b.ReportAllocs()
	for b.Loop() {
		merkle.Root(leaves)
	}
}
