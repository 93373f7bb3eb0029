package stream_test

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestElsewhere verifies that the first receipt of a stream is refuted if it names a receipt in
// another stream as its predecessor, in any order and in each kind of run.
func TestElsewhere(t *testing.T) {
	a := newWriter(t, "a").many(4)
	w := newWriter(t, "b")
	b := [][]byte{w.seal(chain.Head{Hash: headOf(t, a[1]).Hash, Count: 2}), w.next()}
	for _, o := range []stream.Options{{}, {Partial: true}} {
		name := fmt.Sprint("partial ", o.Partial)
		for order, docs := range map[string][][]byte{
			"behind": {a[0], a[1], a[2], a[3], b[0], b[1]}, "between": {a[0], b[0], a[1], b[1], a[2]}, "before": {b[0], b[1], a[0], a[1]},
		} {
			if r := verify(t, jsonl(docs...), o); r.summary.Verdict() != receipt.Refuted || r.summary.Codes[receipt.CodeChainBreak]+len(r.summary.Findings) != 1 {
				t.Errorf("%s, %s: %v", name, order, r)
			}
			var files []stream.Source
			var parts []*stream.Summary
			for i, doc := range docs {
				files = append(files, source(fmt.Sprint("f", i), doc))
				parts = append(parts, part(t, o, doc))
			}
			for _, most := range []int{0, 1, 3} {
				o := o
				if most > 0 {
					o.TempDir = t.TempDir()
					o = o.Indexed(most)
				}
				if r := verifyFiles(t, o, files...); r.summary.Verdict() != receipt.Refuted || r.summary.Codes[receipt.CodeChainBreak] != 1 || r.summary.Refuted != 1 {
					t.Errorf("%s, %s, files, %d in memory: %v", name, order, most, r)
				}
			}
			anyOrder(t, name+", "+order+", merged", receipt.Refuted, parts...)
		}
		late := [][]byte{a[0], a[1], b[1], w.next()} // the stream's first receipt is missing
		if r := verify(t, jsonl(late...), o); r.summary.Verdict() != receipt.Verified {
			t.Errorf("%s, without the link: %v", name, r)
		}
		anyOrder(t, name+", without the link", receipt.Verified, part(t, o, a[:2]...), part(t, o, b[1]))
	}
	inner := [][]byte{a[0], w.next(), w.seal(chain.Head{Hash: headOf(t, a[0]).Hash, Count: 1})}
	expect(t, "in a selection", verify(t, jsonl(inner...), stream.Options{Partial: true}), "refuted 2/1/0; input:2 open; input:3 chain_break; a 1; b 2")
}

// TestSelectionOrder verifies that the receipts of a selection must also be in order, and that the
// findings do not depend on other files.
func TestSelectionOrder(t *testing.T) {
	l := newWriter(t, "a").many(9)
	beside := source("other", jsonl(newWriter(t, "z").many(3)...))
	for _, c := range []struct {
		name string
		docs [][]byte
		want receipt.Verdict
	}{
		{"reversed", [][]byte{l[3], l[2]}, receipt.Refuted},
		{"reversed later", [][]byte{l[5], l[2], l[3], l[4]}, receipt.Refuted},
		{"between two that belong together", [][]byte{l[0], l[1], l[7], l[2]}, receipt.Refuted},
		{"before the first", [][]byte{l[6], l[0]}, receipt.Refuted},
		{"in order", [][]byte{l[0], l[1], l[4], l[7], l[8]}, receipt.Verified},
		{"with a copy", [][]byte{l[0], l[1], l[4], l[1], l[5]}, receipt.Verified},
		{"one", [][]byte{l[4]}, receipt.Verified},
	} {
		o := stream.Options{Partial: true}
		if r := verify(t, jsonl(c.docs...), o); r.summary.Verdict() != c.want {
			t.Errorf("%s: %v", c.name, r)
		}
		if r := verifyFiles(t, o, source("x", jsonl(c.docs...)), beside); r.summary.Verdict() != c.want {
			t.Errorf("%s, with another file: %v", c.name, r)
		}
		anyOrder(t, c.name, c.want, part(t, o, c.docs...), part(t, o, newWriter(t, "z").many(3)...))
	}
	expect(t, "what is said", verify(t, jsonl(l[3], l[2]), stream.Options{Partial: true}), "refuted 1/1/0; input:1 open; input:2 chain_break; a 2")
}

// TestCopyBehindIndex verifies that, beyond the limit of the index, a copy of a receipt is not
// refuted, but a break in the chain is.
func TestCopyBehindIndex(t *testing.T) {
	w := newWriter(t, "a")
	l := w.many(12)
	genesis := newWriter(t, "a")
	genesis.n = 100
	o := stream.Options{}.Indexed(4)
	for _, c := range []struct {
		name string
		docs [][]byte
		want string
	}{
		{"of the last", insert(l, 8, l[7]), "verified 12/0/0; a 12; 1 copies"},
		{"of the last of all", append(l[:12:12], l[11]), "verified 12/0/0; a 12; 1 copies"},
		{"of an indexed one", append(l[:12:12], l[2]), "verified 12/0/0; a 12; 1 copies"},
		{"of one further back", insert(l, 10, l[6]), "undecided 12/0/1; input:11 copy_not_checked; a 12"},
		{"a gap", without(l, 8), "refuted 10/1/0; input:9 chain_break; a 11"},
		{"a second beginning", append(l[:12:12], genesis.next()), "refuted 12/1/0; input:13 chain_break; a 13"},
	} {
		expect(t, c.name, verify(t, jsonl(c.docs...), o), renamed(c.want, func(s string) string { return s }))
	}
	var files []stream.Source
	for i, doc := range insert(l, 10, l[6]) {
		files = append(files, source(fmt.Sprint("f", i), doc))
	}
	if r := verifyFiles(t, o, files...); r.summary.Verdict() != receipt.Verified || r.summary.Copies != 1 {
		t.Errorf("over several files: %v", r)
	}
}
