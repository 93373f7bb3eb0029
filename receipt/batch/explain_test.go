package batch_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// TestExplain verifies the explanation for each incorrect root. The test itself computes the roots.
func TestExplain(t *testing.T) {
	const rule = "; a root is made by RFC 9162 section 2.1.1 over the leaf hashes SHA-256(0x00 ‖ the canonical form of a receipt without chain and signatures)"
	one, two, three, five := seal(t, drafts(t, 1)).Manifest, seal(t, drafts(t, 2)).Manifest, seal(t, drafts(t, 3)).Manifest, seal(t, drafts(t, 5)).Manifest
	r := func(m *batch.Manifest, i int) canon.Digest { return m.Entries()[i].ReceiptHash }
	l := func(m *batch.Manifest, i int) canon.Digest { return canon.Digest(m.Entries()[i].Leaf) }
	point := func(m *batch.Manifest, i int) canon.Digest { h := r(m, i); return leaf(string(h[:])) }
	olderFive := func(of func(*batch.Manifest, int) canon.Digest) canon.Digest {
		left := older(older(of(five, 0), of(five, 1)), older(of(five, 2), of(five, 3)))
		last := older(of(five, 4), of(five, 4))
		return older(left, older(last, last))
	}
	for _, c := range []struct {
		m      *batch.Manifest
		stated canon.Digest
		want   string // beginning of the explanation; empty if there is none
	}{
		{one, r(one, 0), "the stated root is the hash of the batch's only receipt, which covers the root: it would be circular"},
		{two, older(r(two, 0), r(two, 1)), "the stated root is that of Harn's older tree over the receipt hashes: "},
		{three, older(older(r(three, 0), r(three, 1)), older(r(three, 2), r(three, 2))), "the stated root is that of Harn's older tree over the receipt hashes: "},
		{five, olderFive(r), "the stated root is that of Harn's older tree over the receipt hashes: "},
		{two, older(l(two, 0), l(two, 1)), "the stated root is that of Harn's older tree over the leaf hashes: "},
		{three, older(older(l(three, 0), l(three, 1)), older(l(three, 2), l(three, 2))), "the stated root is that of Harn's older tree over the leaf hashes: "},
		{five, olderFive(l), "the stated root is that of Harn's older tree over the leaf hashes: "},
		{one, point(one, 0), "the stated root is that of a checkpoint, over the receipt hashes, "},
		{three, node(node(point(three, 0), point(three, 1)), point(three, 2)), "the stated root is that of a checkpoint, over the receipt hashes, "},
		{one, one.Root(), ""},
		{one, l(one, 0), ""}, // the root is equal to this leaf hash
		{three, three.Root(), ""},
		{three, two.Root(), ""},
		{three, r(three, 0), ""},
		{three, older(r(three, 1), r(three, 0)), ""},
		{three, canon.Digest{}, ""},
		{three, canon.Digest(merkle.EmptyRoot()), ""},
	} {
		got := c.m.Explain(c.stated)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || got != "" && !strings.HasSuffix(got, rule) {
			t.Errorf("%v of %d: %q\nwant %q", c.stated, len(c.m.Entries()), got, c.want)
		}
		if c.stated == c.m.Root() {
			continue
		}
		// A manifest that states this root is rejected with the same explanation.
		m, err := batch.ParseManifest([]byte(manifest(c.stated, c.m.Entries()...)))
		if m != nil || err == nil || got != "" && !strings.HasSuffix(err.Error(), ": "+got) {
			t.Errorf("%v: %v", c.stated, err)
		}
	}
}

// TestAmbiguity demonstrates CVE-2012-2459: in the older kind of tree, the lists a, b, c and a, b,
// c, c have the same root. In the tree defined by RFC 9162, their roots differ.
func TestAmbiguity(t *testing.T) {
	a, b, c := hash("a"), hash("b"), hash("c")
	odd := []batch.Entry{{ReceiptID: "a", ReceiptHash: a}, {ReceiptID: "b", ReceiptHash: b}, {ReceiptID: "c", ReceiptHash: c}}
	for i := range odd {
		odd[i].Leaf = merkle.Hash(odd[i].ReceiptHash)
	}
	root := older(older(a, b), older(c, c))
	m, err := batch.ParseManifest([]byte(manifest(rootOf(odd), odd...)))
	if err != nil {
		t.Fatal(err)
	}
	if m.Explain(root) == "" {
		t.Error("the older root of a, b, c is not known")
	}
	even := append(odd, odd[2])
	if rootOf(odd) == rootOf(even) {
		t.Error("a, b, c and a, b, c, c have one root")
	}
	for _, stated := range []canon.Digest{root, rootOf(odd), rootOf(even)} {
		if _, err := batch.ParseManifest([]byte(manifest(stated, even...))); err == nil {
			t.Errorf("a, b, c, c under %v is accepted", stated)
		}
	}
}
