package stream_test

import (
	"math/rand/v2"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// strictly verifies receipts with a strict policy: a receipt is undecided if any step was not
// checked.
func strictly(t *testing.T, o stream.Options, list ...stream.Source) *stream.Summary {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return collect(stream.VerifyFiles(t.Context(), v, list, o)).summary
}

// TestStrictMerges verifies that, under a strict policy, a link that could not be checked in one
// part can be checked with another part. The receipt must then have the outcome of a single run
// over all parts, in every order of the parts.
func TestStrictMerges(t *testing.T) {
	list := newWriter(t, "a").many(6)
	one := strictly(t, stream.Options{}, sources(jsonl(list...))...)
	if one.Verdict() != receipt.Verified {
		t.Fatal(gist(one))
	}

	var parts []*stream.Summary
	for _, docs := range [][][]byte{list[:2], {list[2]}, list[3:5], list[5:]} {
		parts = append(parts, reread(t, "part", strictly(t, stream.Options{}, sources(jsonl(docs...))...)))
	}
	if s := parts[2]; s.Verdict() != receipt.Undecided || s.Codes[receipt.CodeLinkNotChecked] != 1 {
		t.Fatal(gist(s))
	}
	m := reread(t, "merged", anyOrder(t, "parts", receipt.Verified, parts...))
	if counted(m) != counted(one) || m.Verified != 6 || len(m.Codes) != 0 {
		t.Errorf("%s\n%s", gist(m), gist(one))
	}

	// Without the first part, the predecessor of one receipt cannot be checked.
	rest := anyOrder(t, "the rest", receipt.Undecided, parts[1:]...)
	if rest.Verified != 3 || rest.Undecided != 1 || rest.Codes[receipt.CodeLinkNotChecked] != 1 {
		t.Errorf("%s", gist(rest))
	}
	anyOrder(t, "found later", receipt.Verified, reread(t, "the rest", rest), parts[0])
	anyOrder(t, "a gap", receipt.Refuted, parts[0], parts[2])

	// A finding about the content of a receipt applies to each copy, regardless of their order.
	twice := strictly(t, stream.Options{}, sources(list[2], list[2])...)
	for name, parts := range map[string][]*stream.Summary{"within": {twice, strictly(t, stream.Options{}, sources(list[3])...)}, "across": {twice, parts[1]}} {
		if m := anyOrder(t, name, receipt.Undecided, parts...); m.Copies == 0 || m.Undecided != 1 || m.Codes[receipt.CodeLinkNotChecked] != 1 {
			t.Errorf("%s: %s", name, gist(m))
		}
	}
}

// TestStrictCopies verifies that a copy of a receipt is not counted again, even if the link of the
// receipt was not checked.
func TestStrictCopies(t *testing.T) {
	list := newWriter(t, "a").many(3)
	docs := [][]byte{list[1], list[1], list[2]}
	one, several := strictly(t, stream.Options{}, sources(jsonl(docs...))...), strictly(t, stream.Options{}, sources(docs...)...)
	for _, s := range []*stream.Summary{one, several} {
		if s.Receipts != 2 || s.Copies != 1 || s.Undecided != 1 || s.Verified != 1 {
			t.Errorf("%s", gist(s))
		}
	}
}

// TestStrictGiven verifies that a merge keeps the predecessors that were specified for the parts.
func TestStrictGiven(t *testing.T) {
	list, other := newWriter(t, "a").many(4), newWriter(t, "b").many(2)
	head := headOf(t, list[0])
	after := stream.Options{Continuity: stream.Continuity{After: map[chain.Stream]chain.Head{{Issuer: "a", Workspace: "w"}: head}}}
	given, beside := strictly(t, after, sources(jsonl(list[1:]...))...), strictly(t, stream.Options{}, sources(jsonl(other...))...)
	open := strictly(t, stream.Options{}, sources(jsonl(list[1:3]...))...)
	anyOrder(t, "beside another", receipt.Verified, given, beside)
	m := anyOrder(t, "and where it is not known", receipt.Verified, given, open, beside)
	if m.Receipts != 5 || m.Copies != 2 {
		t.Errorf("%s", gist(m))
	}
}

// TestStrictOfBefore verifies that a receipt whose link was not checked stays undecided if its
// summary comes from the previous version. Such a summary does not contain the outcome of the
// receipt without its link.
func TestStrictOfBefore(t *testing.T) {
	list := newWriter(t, "a").many(4)
	s := strictly(t, stream.Options{}, sources(jsonl(list[2:]...))...)
	before := reread(t, "of before", s.RosterOfBefore())
	m := anyOrder(t, "of before", receipt.Undecided, before, strictly(t, stream.Options{}, sources(jsonl(list[:2]...))...))
	if m.Undecided != 1 || m.Verified != 3 || m.Codes[receipt.CodeLinkNotChecked] != 1 {
		t.Errorf("%s", gist(m))
	}
	reread(t, "of before", m)
}

// TestStrictAgrees verifies that merging strict parts gives the counts of a single strict run,
// regardless of the faults and of how the receipts are distributed.
func TestStrictAgrees(t *testing.T) {
	cases := 120
	if !raceEnabled {
		cases = testsize.Of(cases, 1500, 5000)
	}
	policy := receipt.Policy{Strict: true}
	known, err := receipt.NewVerifier(knows("known"), policy)
	if err != nil {
		t.Fatal(err)
	}
	policy.IntegrityOnly = true
	plainly, err := receipt.NewVerifier(nil, policy)
	if err != nil {
		t.Fatal(err)
	}
	plain, signed := newCast(t), newCast(t)
	signed.sign(t)

	r := rand.New(rand.NewPCG(18, 35))
	seen := map[receipt.Verdict]int{}
	for n := range cases {
		v, c := plainly, plain
		if r.IntN(2) == 0 {
			v, c = known, signed
		}
		list := c.draw(r)
		if len(list) == 0 {
			continue
		}
		var all piece
		var sums []*stream.Summary
		partial := 0
		for _, p := range cut(r, list) {
			if all.partial = p.partial; p.partial {
				partial++
			}
			sums = append(sums, reread(t, "part", p.verify(t, v)))
			all.sources = append(all.sources, p.sources...)
		}
		if len(all.sources) < 2 {
			continue
		}

		// If some of the parts are selections, no single run corresponds to them, so the results of
		// all orders are compared.
		one := fold(t, r, sums)
		if partial == 0 || partial == len(sums) {
			one = all.verify(t, v)
		} else if m := fold(t, r, sums); gist(m) != gist(one) {
			t.Fatalf("case %d: another order gives another result:\n%s\n%s", n, gist(m), gist(one))
		}
		seen[one.Verdict()]++
		for range 2 {
			if m := fold(t, r, sums); counted(m) != counted(one) {
				t.Fatalf("case %d, %d parts:\nmerged  %s\n        %s\none run %s\n        %s", n, len(sums), counted(m), gist(m), counted(one), gist(one))
			}
		}
	}
	t.Log(seen)
	for _, verdict := range []receipt.Verdict{receipt.Verified, receipt.Refuted, receipt.Undecided} {
		if seen[verdict] < cases/20 {
			t.Errorf("verdicts %v", seen)
		}
	}
}
