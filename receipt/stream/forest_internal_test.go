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
		"fewer, and empty":   {receipt.Checkpoint{Readable: true, Signed: true}, 3, join.Tree{Size: 2, Root: root}, false, "truncated"},
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

// TestForestCovers verifies that a checkpoint shows that no receipt follows the input only if a
// trusted log signed it and if it covers exactly the receipts of the input.
func TestForestCovers(t *testing.T) {
	root, other := merkle.Hash{1}, merkle.Hash{2}
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		signed  bool
		size    uint64
		tree    join.Tree
		partial bool
		covered bool
		note    string
	}{
		"all":                  {true, 3, join.Tree{Size: 3, Documents: 3, Root: root}, false, true, ""},
		"a selection":          {true, 3, join.Tree{Size: 3, Documents: 3, Root: root}, true, true, ""},
		"not signed":           {false, 3, join.Tree{Size: 3, Documents: 3, Root: root}, false, false, ""},
		"more":                 {true, 3, join.Tree{Size: 4, Documents: 4, Root: root}, false, false, "the checkpoint covers only the first 3 of 4 receipts"},
		"fewer":                {true, 3, join.Tree{Size: 2, Documents: 2}, true, false, ""},
		"fewer, an odd root":   {true, 3, join.Tree{Size: 2, Documents: 2, Root: root}, true, false, ""},
		"another selection":    {true, 3, join.Tree{Size: 3, Documents: 3, Root: other}, true, false, ""},
		"others, and a hole":   {true, 3, join.Tree{Size: 3, Documents: 4, Root: other, Holes: true}, false, false, ""},
		"others":               {true, 3, join.Tree{Size: 3, Documents: 3, Root: other}, false, false, ""},
		"no receipts":          {true, 0, join.Tree{Size: 1, Documents: 1, Root: root}, false, false, "the checkpoint covers no receipts"},
		"no receipts, nothing": {true, 0, join.Tree{Root: root}, false, true, ""},
	} {
		given := v.OpenCheckpoint(nil)
		given.Fault, given.Readable, given.Signed, given.Claims = "", true, c.signed, tlog.Checkpoint{Origin: "o", Size: c.size, Root: root}
		f := newForest(given)
		f.Tree = c.tree
		r := newRun(t.Context(), v, nil, Options{Partial: c.partial})
		if err := r.weigh(f, &pipeline{}); err != nil {
			t.Fatal(name, err)
		}
		note := ""
		for _, n := range r.summary.NotChecked {
			note += n.Detail
		}
		if r.covered != c.covered || note != c.note {
			t.Errorf("%s: covered %v, %q", name, r.covered, note)
		}
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
