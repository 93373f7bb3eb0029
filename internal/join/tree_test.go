package join_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// leavesOf reads the leaves in files, as the workers in an engine do.
func leavesOf(t *testing.T, files [][]byte) (extents []join.Extent, leaves [][]merkle.Hash, documents [][]int) {
	t.Helper()
	extents, leaves, documents = make([]join.Extent, len(files)), make([][]merkle.Hash, len(files)), make([][]int, len(files))
	for i, source := range linesOf(files) {
		err := stream.Leaves(t.Context(), []stream.Source{source}, stream.Options{}, func(l join.Leaf) error {
			if extents[i].Add(&l); l.Placed {
				leaves[i], documents[i] = append(leaves[i], l.Hash), append(documents[i], extents[i].Documents)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return extents, leaves, documents
}

// plant returns, for each file, the tree against which a checkpoint is checked, relative to the
// start of that file. The tree is computed from pieces in a random order. Without a checkpoint,
// there is no tree.
func plant(t *testing.T, v *receipt.Verifier, files [][]byte, o stream.Options, dice *rand.Rand) []*join.Tree {
	t.Helper()
	trees := make([]*join.Tree, len(files))
	if o.Checkpoint == nil {
		return trees
	}
	extents, leaves, documents := leavesOf(t, files)
	claimed := v.OpenCheckpoint(o.Checkpoint).Claims.Size

	var branches []join.Branch
	source, until := 0, 0
	for i, start := range join.Starts(extents) {
		for list := leaves[i]; len(list) > 0 && start < claimed; {
			n := int(min(uint64(1+dice.IntN(len(list))), claimed-start))
			branches = append(branches, join.Branches(start, list[:n])...)
			if list, start = list[n:], start+uint64(n); start == claimed {
				source, until = i, documents[i][len(leaves[i])-len(list)-1]
			}
		}
	}
	dice.Shuffle(len(branches), func(a, b int) { branches[a], branches[b] = branches[b], branches[a] })
	tree, err := join.TreeOf(extents, claimed, branches, source, until)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trees {
		own := *tree
		own.Source -= i
		trees[i] = &own
	}
	return trees
}

const logName, ownName = "log.example.net/receipts", "own.example.net/receipts"

// signed returns a checkpoint that is signed with a key from the fixtures.
func signed(t *testing.T, key string, c *tlog.Checkpoint) []byte {
	t.Helper()
	text, err := fixtures.Read("keys/" + key + ".private.json")
	if err != nil {
		t.Fatal(err)
	}
	private, err := keys.ParsePrivate(text)
	if err != nil {
		t.Fatal(err)
	}
	note, err := keys.NewSigner(private, nil).SignCheckpoint(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// logging returns a verifier that accepts checkpoints signed with the issuer's own key, which then
// replace signatures.
func logging(t *testing.T, p receipt.Policy) *receipt.Verifier {
	t.Helper()
	text, err := fixtures.Read(lake.Keys)
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	for _, k := range set.Keys {
		if k["kid"] == "key_2026_04" {
			k["roles"], k["origin"] = []string{"issuer", "checkpoint"}, ownName
		}
	}
	if text, err = json.Marshal(set); err != nil {
		t.Fatal(err)
	}
	trusted, err := keys.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(trusted, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claim returns a random checkpoint. It may cover all leaves, fewer leaves, more leaves, or
// different leaves. The checkpoint is signed by any of the signers, or forged.
func claim(t *testing.T, leaves []merkle.Hash, dice *rand.Rand) []byte {
	t.Helper()
	leaves = slices.Clone(leaves)
	switch dice.IntN(6) {
	case 0, 1:
		leaves = leaves[:dice.IntN(len(leaves)+1)]
	case 2:
		leaves = append(leaves, merkle.Hash{1}, merkle.Hash{2})
	case 3:
		if len(leaves) > 0 {
			leaves[dice.IntN(len(leaves))][0] ^= 1
		}
	}
	c := &tlog.Checkpoint{Origin: logName, Size: uint64(len(leaves)), Root: merkle.Root(leaves)}
	switch dice.IntN(6) {
	case 0:
		return signed(t, "key_stranger", c)
	case 1:
		note := signed(t, "log_1", c)
		note[len(note)-10] ^= 1
		return note
	case 2, 3:
		c.Origin = ownName
		return signed(t, "key_2026_04", c)
	}
	return signed(t, "log_1", c)
}

// TestTreeAgrees verifies that a single machine and an engine return the same result for each
// receipt and for the entire input, regardless of what a checkpoint claims.
func TestTreeAgrees(t *testing.T) {
	cases := testsize.Of(75, 400, 2000)
	l, err := lake.New(400, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := newTangle(t)
	policies := []*receipt.Verifier{verifier(t, receipt.Policy{NoInputDigest: true}), logging(t, receipt.Policy{NoInputDigest: true}), logging(t, receipt.Policy{NoInputDigest: true, Strict: true})}
	seen := map[string]int{}
	for seed := range cases {
		list := g.list(uint64(seed), 1+seed%18)
		if g.dice.IntN(2) == 0 { // remove documents that leave a gap
			list = slices.DeleteFunc(list, func(k knot) bool { return k.gap })
		}
		if len(list) == 0 {
			continue
		}
		o, v := g.asked(list), policies[g.dice.IntN(len(policies))]
		if seed%3 == 0 { // use a chain without faults
			list = nil
			for _, line := range l.Lines[:1+seed%18] {
				list = append(list, knot{text: bytes.TrimSpace(line.Text)})
			}
			o = stream.Options{Unordered: true, Partial: o.Partial}
		}
		files := split(list, 1+g.dice.IntN(5), g.dice)
		_, leaves, _ := leavesOf(t, files)
		o.Checkpoint = claim(t, slices.Concat(leaves...), g.dice)

		sum, reports := machine(t, v, files, o)
		s, own := workers(t, v, files, o, g.dice)
		if !slices.Equal(reports, own) {
			t.Fatalf("case %d: an engine reports\n%s\nfor the reports of one machine\n%s", seed, own, reports)
		}
		if want, got := gist(t, sum), gist(t, s); want != got {
			t.Fatalf("case %d: an engine reports\n%s\nand one machine reports\n%s", seed, got, want)
		}
		for _, f := range sum.Findings {
			if f.Stream == nil {
				seen[string(f.Code)]++
			}
		}
		for _, n := range sum.NotChecked {
			seen[string(n.Code)]++
		}
		seen[fmt.Sprint(sum.Verdict())]++
	}
	for _, what := range []string{"checkpoint_invalid", "truncated", "merkle_root_mismatch", "batch_not_checked", "verified", "refuted", "undecided"} {
		if seen[what] == 0 {
			t.Errorf("no case came to %s: %v", what, seen)
		}
	}
}

// TestBranches verifies that a tree that is assembled from pieces has the same root regardless of
// where the leaves were divided, and that missing or duplicate leaves are rejected.
func TestBranches(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 6))
	for size := range 70 {
		leaves := make([]merkle.Hash, size)
		for i := range leaves {
			leaves[i] = merkle.LeafHash([]byte{byte(i)})
		}
		var branches []join.Branch
		for from := 0; from < size; {
			n := 1 + dice.IntN(size-from)
			list := join.Branches(uint64(from), leaves[from:from+n])
			if len(list) > 14 {
				t.Errorf("%d leaves from %d on are %d branches", n, from, len(list))
			}
			branches, from = append(branches, list...), from+n
		}
		dice.Shuffle(len(branches), func(a, b int) { branches[a], branches[b] = branches[b], branches[a] })

		sources := []join.Extent{{Leaves: uint64(size) + 3, Documents: size + 3}}
		tree, err := join.TreeOf(sources, uint64(size), branches, 0, size)
		if err != nil || tree.Root != merkle.Root(leaves) {
			t.Errorf("size %d: %v, %v, want %v", size, tree, err, merkle.Root(leaves))
		}
		if size == 0 {
			continue
		}
		for name, list := range map[string][]join.Branch{"missing": branches[1:], "twice": append(slices.Clone(branches), branches[0])} {
			if _, err := join.TreeOf(sources, uint64(size), list, 0, size); err == nil {
				t.Errorf("size %d: a branch is %s, and there is a tree", size, name)
			}
		}
	}
}
