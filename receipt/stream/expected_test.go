package stream_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// compared compares a merged summary with the expected summary from a run over all parts.
func compared(t *testing.T, m *stream.Summary, o stream.Options) (*stream.Summary, error) {
	t.Helper()
	return m.Expect(o.Continuity)
}

// TestExpectedAfterGap verifies that the finding for an expected head in a stream with a gap does
// not state that the receipts after the gap follow the head.
func TestExpectedAfterGap(t *testing.T) {
	a := newWriter(t, "a").many(6)
	o := stream.Options{Continuity: stream.Continuity{Head: headOf(t, a[1]).Hash}}
	m, err := merged(t, part(t, stream.Options{}, a[:2]...), part(t, stream.Options{}, a[4:]...)).Expect(o.Continuity)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*stream.Summary{"one run": verifyFiles(t, o, sources(jsonl(a[:2]...), jsonl(a[4:]...))...).summary, "merged": m} {
		at := slices.IndexFunc(s.Findings, func(f stream.Finding) bool { return f.Code == receipt.CodeHeadMismatch })
		if at < 0 || !strings.Contains(s.Findings[at].Detail, "is in the input, but the stream has breaks") {
			t.Errorf("%s: %+v", name, s.Findings)
		}
	}
}

// TestExpectedOfMerged verifies that Expect returns the same result for merged parts as for a run
// over all files with the same options.
func TestExpectedOfMerged(t *testing.T) {
	a, b := newWriter(t, "a").many(6), newWriter(t, "b").many(4)
	gone := newWriter(t, "c").many(2)
	of := func(issuer string) chain.Stream { return chain.Stream{Issuer: issuer, Workspace: "w"} }
	count := func(n uint64) stream.Options { return stream.Options{Continuity: stream.Continuity{Count: &n}} }
	last := func(d []byte) stream.Options {
		return stream.Options{Continuity: stream.Continuity{Head: headOf(t, d).Hash}}
	}
	heads := func(list ...[]byte) stream.Options {
		o := stream.Options{Continuity: stream.Continuity{Expect: map[chain.Stream]chain.Head{}}}
		for i, doc := range list {
			o.Continuity.Expect[of(string(rune('a'+i)))] = chain.Head{Hash: headOf(t, doc).Hash, Count: 9}
		}
		return o
	}
	rewritten := chain.Head{Hash: canon.Sum([]byte("rewritten")), Count: 2}

	for _, c := range []struct {
		name string
		docs [][]byte
		o    stream.Options
		want string // the codes of the findings
	}{
		{"it ends there", a, last(a[5]), ""},
		{"it went on", a, last(a[3]), "head_mismatch"},
		{"it was cut off", a[:4], last(a[5]), "head_mismatch"},
		{"so many", a, count(6), ""},
		{"not so many", a[:5], count(6), "count_mismatch"},
		{"heads", slices.Concat(a, b), heads(a[3], b[3]), ""},
		{"one was cut off", slices.Concat(a[:4], b), heads(a[5], b[3]), "truncated"},
		{"one was rewritten", a[:4], stream.Options{Continuity: stream.Continuity{Expect: map[chain.Stream]chain.Head{of("a"): rewritten}}}, "head_mismatch"},
		{"one is gone", slices.Concat(a, b), heads(a[5], b[3], gone[1]), "truncated"},
	} {
		dice := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			parts := make([][][]byte, 2+dice.IntN(3))
			for i, doc := range c.docs {
				at := dice.IntN(len(parts))
				if i < len(parts) {
					at = i
				}
				parts[at] = append(parts[at], doc)
			}
			var files [][]byte
			var sums []*stream.Summary
			for _, docs := range parts {
				files = append(files, jsonl(docs...))
				sums = append(sums, reread(t, "part", part(t, stream.Options{}, docs...)))
			}
			one := verifyFiles(t, c.o, sources(files...)...).summary
			m, err := compared(t, merged(t, sums...), c.o)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			var codes []string
			for _, f := range m.Findings {
				codes = append(codes, string(f.Code))
			}
			if got, want := gist(reread(t, c.name, m)), gist(one); got != want || strings.Join(codes, " ") != c.want {
				t.Fatalf("%s, %d parts:\nmerged  %s\none run %s", c.name, len(parts), got, want)
			}
		}
	}

	two := merged(t, part(t, stream.Options{}, a...), part(t, stream.Options{}, b...))
	if _, err := compared(t, two, last(a[5])); err != stream.ErrStreams {
		t.Errorf("several streams: %v", err)
	}
	if m, _ := compared(t, two, heads(a[4])); len(two.Findings) != 0 || m.Verdict() != receipt.Verified || !strings.Contains(gist(m), "follow the head of 2 streams") {
		t.Errorf("%s", gist(m))
	}
}

// TestExpectedOfOld verifies that, without rosters, an expected head inside a stream can be found
// in a list of all receipts. Without such a list, the result must be undecided.
func TestExpectedOfOld(t *testing.T) {
	list := newWriter(t, "a").many(6)
	of := func(docs ...[]byte) *stream.Summary { return old(t, part(t, stream.Options{}, docs...)) }
	expect := func(d []byte) stream.Options {
		return stream.Options{Continuity: stream.Continuity{Expect: map[chain.Stream]chain.Head{{Issuer: "a", Workspace: "w"}: headOf(t, d)}}}
	}
	m := merged(t, of(list[:3]...), of(list[3:5]...))
	for i, want := range []receipt.Verdict{receipt.Undecided, receipt.Undecided, receipt.Undecided, receipt.Undecided, receipt.Verified, receipt.Undecided} {
		s, err := compared(t, m, expect(list[i]))
		if err != nil || s.Verdict() != want || (want == receipt.Undecided) != strings.Contains(gist(s), "evidence_unused") {
			t.Errorf("%d: %v, %s", i, err, gist(s))
		}
		reread(t, fmt.Sprint(i), s)
	}

	one, two := of(list[:3]...), of(list[3:5]...)
	for i, s := range []*stream.Summary{one, two} {
		var hashes []canon.Digest
		for _, doc := range list[3*i : 3+2*i] {
			hashes = append(hashes, headOf(t, doc).Hash)
		}
		s.List(hashes)
	}
	m = merged(t, one, two)
	for i, want := range []receipt.Verdict{receipt.Verified, receipt.Verified, receipt.Verified, receipt.Verified, receipt.Verified, receipt.Refuted} {
		if s, err := compared(t, m, expect(list[i])); err != nil || s.Verdict() != want {
			t.Errorf("listed, %d: %v, %s", i, err, gist(s))
		}
	}
}
