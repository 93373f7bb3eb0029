package stream_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestMergeFindingsInOneOrder verifies that the order of findings about a stream does not depend on
// the order of the parts.
func TestMergeFindingsInOneOrder(t *testing.T) {
	of := chain.Stream{Issuer: "i", Workspace: "w"}
	part := func(stated string) *stream.Summary {
		return &stream.Summary{Complete: true, Codes: map[receipt.Code]int{}, Findings: []stream.Finding{
			{Code: receipt.CodeHeadMismatch, Stream: &of, Stated: stated}, {Code: receipt.CodeMerkleRootMismatch, Stated: stated}}}
	}
	merged := func(a, b *stream.Summary) string {
		sum, err := a.Merge(b)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if one, other := merged(part("a"), part("b")), merged(part("b"), part("a")); one != other {
		t.Errorf("%s\n%s", one, other)
	}
}

// TestMergeHealsWhatIsRefuted verifies that a receipt with a second fault is still refuted if a
// merge shows that its link is valid. A single run must have the same result.
func TestMergeHealsWhatIsRefuted(t *testing.T) {
	v, err := receipt.NewVerifier(knows("known"), receipt.Policy{Issuer: "b"})
	if err != nil {
		t.Fatal(err)
	}
	list := newWriter(t, "a").many(6)
	of := func(docs ...[]byte) *stream.Summary {
		return collect(stream.VerifyFiles(t.Context(), v, sources(jsonl(docs...)), stream.Options{})).summary
	}
	odd, even := of(list[0], list[2], list[4]), reread(t, "even", of(list[1], list[3], list[5]))
	if odd.Codes[receipt.CodeChainBreak] != 2 {
		t.Fatal(gist(odd))
	}
	m := reread(t, "merged", anyOrder(t, "merged", receipt.Refuted, odd, even))
	if one := of(list...); !maps.Equal(m.Codes, one.Codes) || m.Refuted != one.Refuted || one.Codes[receipt.CodeIssuerMismatch] != 6 {
		t.Errorf("merged %s\none    %s", gist(m), gist(one))
	}

	// If a receipt is still missing after the merge, the break must still be reported.
	if m := anyOrder(t, "without one", receipt.Refuted, odd, of(list[3])); m.Codes[receipt.CodeChainBreak] != 1 || m.Codes[receipt.CodeIssuerMismatch] != 3 {
		t.Errorf("%s", gist(m))
	}
}

// TestMergeCircle verifies that a stream has no head if every receipt in it has a successor. As in
// a single run, a merge must not add a note about receipts that follow the head.
func TestMergeCircle(t *testing.T) {
	l, other := newWriter(t, "a").many(4), newWriter(t, "b").many(2)
	back := bytes.Replace(l[1], []byte(headOf(t, l[0]).Hash.String()), []byte(headOf(t, l[3]).Hash.String()), 1)
	o := stream.Options{Unordered: true}
	one := verifyFiles(t, o, sources(back, l[2], l[3], jsonl(other...))...).summary
	m := anyOrder(t, "circle", receipt.Refuted, verifyFiles(t, o, sources(back, l[2])...).summary, verifyFiles(t, o, sources(l[3], jsonl(other...))...).summary)
	if !slices.Equal(m.NotChecked, one.NotChecked) {
		t.Errorf("%v\n%v", m.NotChecked, one.NotChecked)
	}
}
