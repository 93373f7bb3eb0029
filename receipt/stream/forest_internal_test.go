package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// TestForestJudges verifies the result for each relation between a checkpoint and the receipts of
// an input.
func TestForestJudges(t *testing.T) {
	root, other := merkle.Hash{1}, merkle.Hash{2}
	const compared, uncompared = "the checkpoint is compared", "only a part"
	for name, c := range map[string]struct {
		given   receipt.Checkpoint
		size    uint64
		tree    join.Tree
		partial bool
		want    string
	}{
		"equal":              {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 3, Root: root}, false, compared},
		"more":               {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 4, Root: root}, false, compared},
		"a selection, equal": {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 3, Root: root}, true, compared},
		"invalid":            {receipt.Checkpoint{Readable: true, Signed: true, Fault: "a"}, 3, join.Tree{Size: 3, Root: root}, false, "checkpoint_invalid a"},
		"not readable":       {receipt.Checkpoint{Signed: true}, 3, join.Tree{Size: 3, Root: root}, false, "checkpoint_invalid the checkpoint cannot be read"},
		"not signed":         {receipt.Checkpoint{Readable: true}, 3, join.Tree{Size: 3, Root: other}, false, "no trusted key"},
		"fewer":              {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 2}, false, "truncated"},
		"other":              {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 3, Root: other}, false, "merkle_root_mismatch"},
		"other, more":        {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 4, Root: other}, false, "merkle_root_mismatch"},
		"a selection, fewer": {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 2}, true, uncompared},
		"a selection, other": {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 3, Root: other}, true, uncompared},
		"a hole":             {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 3, Root: root, Holes: true}, false, uncompared},
		"one of three":       {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 1, Single: true}, false, uncompared},
		"another of one":     {receipt.Checkpoint{Readable: true, Signed: true}, 1, join.Tree{Size: 1, Root: other, Single: true}, false, "merkle_root_mismatch"},
	} {
		f := &forest{given: &c.given, claims: tlog.Checkpoint{Origin: "o", Size: c.size, Root: root}, Tree: c.tree}
		inside, outside, _, found := f.judge(c.partial)
		got := compared
		switch {
		case found != nil:
			got = fmt.Sprint(found.Code, " ", found.Detail)
		case inside.Uncompared != "":
			got = inside.Uncompared
		case inside.Checkpoint == nil || !strings.Contains(outside.Uncompared, "the first 3 receipts, and this one comes after them"):
			got = fmt.Sprintf("%+v, %+v", inside, outside)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}

	empty := &forest{given: &receipt.Checkpoint{Readable: true, Signed: true}, claims: tlog.Checkpoint{Root: root}, Tree: join.Tree{Root: root, Size: 1}}
	if _, outside, _, found := empty.judge(false); found != nil || outside.Uncompared != "the checkpoint covers no receipts" {
		t.Errorf("%v, %v", outside, found)
	}
}

// TestForestHoles verifies that a document without a leaf is a hole only if it comes before the last
// receipt that the checkpoint covers, and if it may be a receipt.
func TestForestHoles(t *testing.T) {
	placed := &survey.Item{Facts: survey.Facts{Placed: true}}
	unplaced, skipped := &survey.Item{}, &survey.Item{Other: "a key set"}
	for name, c := range map[string]struct {
		items []*survey.Item
		want  bool
	}{
		"inside":         {[]*survey.Item{placed, unplaced, placed}, true},
		"before":         {[]*survey.Item{unplaced, placed, placed}, true},
		"after":          {[]*survey.Item{placed, placed, unplaced}, false},
		"skipped inside": {[]*survey.Item{placed, skipped, placed}, false},
	} {
		f := newForest(&receipt.Checkpoint{Claims: tlog.Checkpoint{Size: 2}})
		for _, it := range c.items {
			f.add(it)
		}
		if f.Holes != c.want || f.Size != 2 || f.Documents != 3 {
			t.Errorf("%s: %+v", name, f.Tree)
		}
	}
}

// TestForestSingle verifies that an input is a single document only if nothing else is in it.
func TestForestSingle(t *testing.T) {
	for _, single := range []bool{false, true} {
		f, it := newForest(&receipt.Checkpoint{}), new(survey.Item)
		it.Single = single
		if f.add(it); f.Single != single {
			t.Errorf("one document: %t, expected %t", f.Single, single)
		}
		if f.add(it); f.Single {
			t.Error("two documents")
		}
	}
}

// TestForestTakes verifies that the tree of an engine replaces the tree of a run.
func TestForestTakes(t *testing.T) {
	f, tree := new(forest), &join.Tree{Size: 3}
	if (*forest)(nil).take(tree) || f.take(nil) || f.Size != 0 {
		t.Error("nothing is taken")
	}
	if !f.take(tree) || f.Size != 3 {
		t.Errorf("%+v", f.Tree)
	}
}
