package corpus

import (
	"bytes"
	"maps"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestDamage verifies that each kind of damage has its documented effect on the selected receipt, changes
// at most one character, and does not change any other receipt.
func TestDamage(t *testing.T) {
	for _, kind := range []Kind{Full, Minimal} {
		whole := newCorpus(t, Config{Kind: kind, Receipts: 100, Seed: 3})
		damaged := newCorpus(t, Config{Kind: kind, Receipts: 100, Seed: 3, Damage: []Damage{{20, HarmHash}, {50, HarmSignature}, {70, HarmBreak}}})
		v, err := receipt.NewVerifier(trust(t, whole), receipt.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		before, after := maps.Collect(whole.All()), maps.Collect(damaged.All())
		if len(before) != 100 || len(after) != 99 || after[70] != nil {
			t.Fatalf("%s: %d receipts of %d", kind, len(after), len(before))
		}
		for n, text := range after {
			want, wantChanged := receipt.Code(""), 0
			switch n {
			case 20:
				want, wantChanged = receipt.CodeHashMismatch, 1
			case 50:
				want, wantChanged = receipt.CodeSignatureInvalid, 1
			}
			doc, rep := new(canon.Document), new(receipt.Report)
			v.VerifyBytes(text, doc, rep)
			if got := rep.Finding().Code; got != want {
				t.Errorf("%s: receipt %d: found %q, want %q", kind, n, got, want)
			}
			if got := changed(before[n], text); got != wantChanged {
				t.Errorf("%s: receipt %d: %d characters changed, want %d", kind, n, got, wantChanged)
			}
			if !doc.IsCanonical() {
				t.Errorf("%s: receipt %d is not canonical", kind, n)
			}
		}
	}
}

// changed returns the number of bytes that differ.
func changed(a, b []byte) int {
	if len(a) != len(b) {
		return -1
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestBreak verifies that the receipt after a removed receipt names the removed receipt as its
// predecessor.
func TestBreak(t *testing.T) {
	var last canon.Digest
	for n, text := range newCorpus(t, Config{Receipts: 10, Damage: []Damage{{4, HarmBreak}}}).All() {
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		link, ok := chain.LinkOf(doc)
		if holds := link.Previous == last; !ok || holds != (n != 5) {
			t.Errorf("receipt %d: the link holds: %t", n, holds)
		}
		last = link.Hash
	}
}

func TestParseDamage(t *testing.T) {
	for _, d := range []Damage{{1, HarmHash}, {50_000, HarmSignature}, {7, HarmBreak}} {
		if got, err := ParseDamage(d.String()); got != d || err != nil {
			t.Errorf("%v: %v, %v", d, got, err)
		}
	}
	for _, s := range []string{"", "5", "5:", ":hash", "0:hash", "-1:hash", "5:hush", "five:hash", "5:hash:hash"} {
		if d, err := ParseDamage(s); err == nil || d != (Damage{}) {
			t.Errorf("%q is read as %v", s, d)
		}
	}
}

func TestText(t *testing.T) {
	for n, text := range newCorpus(t, Config{Receipts: 20}).All() {
		pretty, ascii := Pretty(nil, text), ASCII(nil, text)
		for _, other := range [][]byte{pretty, ascii} {
			if back, err := canon.Transform(other); err != nil || !bytes.Equal(back, text) {
				t.Errorf("receipt %d: another value in another spelling (%v)", n, err)
			}
		}
		if bytes.ContainsFunc(ascii, func(r rune) bool { return r > 0x7f }) || bytes.Count(pretty, []byte("\n")) < 20 {
			t.Errorf("receipt %d: %s\n%s", n, ascii, pretty)
		}
	}
	if got := string(ASCII([]byte("x"), []byte("aö😀\x7f"))); got != `xa\u00f6\ud83d\ude00`+"\x7f" {
		t.Errorf("got %s", got)
	}
}
