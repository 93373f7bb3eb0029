package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// counted returns the counts in a summary. If two receipts conflict, the order of the sources
// determines which of them is refuted, and the copy of that receipt is counted separately.
func counted(s *stream.Summary) string {
	heads := map[string]string{}
	for name, head := range s.Heads() {
		heads[fmt.Sprint(name)] = head.Hash.String()
	}
	text := fmt.Sprintf("%v of %d", s.Verdict(), s.Receipts+s.Copies)
	if s.Verdict() != receipt.Refuted {
		text += fmt.Sprintf(", %d copies, %d verified, %d undecided, %v %v", s.Copies, s.Verified, s.Undecided, s.Codes, heads)
	}
	for _, g := range s.Streams {
		text += fmt.Sprintf(", %s %d", g.Stream.Issuer, g.Count)
	}
	return text
}

// faults returns two complete streams, and receipts that have one fault each.
func faults(t *testing.T) (whole, odd [][]byte) {
	t.Helper()
	a, b := newWriter(t, "a").many(8), newWriter(t, "b").many(4)
	fork := newWriter(t, "a")
	fork.n = 100
	second := newWriter(t, "a")
	second.n = 200
	taken := newWriter(t, "a")
	taken.n = 2
	return slices.Concat(a, b), [][]byte{fork.seal(headOf(t, a[2])), second.next(), taken.seal(headOf(t, a[7])), altered(a[4]), []byte(`{"a":`), []byte(`{"schema":"receipt-2099-01-01"}`)}
}

// TestOverlapping verifies that merging parts has the same result and counts as a single run over
// all files, even if several parts or files contain the same receipts.
func TestOverlapping(t *testing.T) {
	cases := testsize.Of(50, 600)
	whole, odd := faults(t)
	c := rand.New(rand.NewPCG(13, 2))
	seen := map[string]int{}
	for n := range cases {
		// The files are in the order of the streams, and some receipts are in several files.
		files := make([][][]byte, 2+c.IntN(4))
		for _, doc := range whole {
			if c.IntN(60) == 0 {
				continue
			}
			for again := true; again; again = c.IntN(3) == 0 {
				at := c.IntN(len(files))
				files[at] = append(files[at], doc)
			}
		}
		if c.IntN(3) == 0 {
			at := c.IntN(len(files))
			files[at] = append(files[at], odd[c.IntN(len(odd))])
		}
		files = slices.DeleteFunc(files, func(f [][]byte) bool { return len(f) == 0 })

		// Each file is in at least one part, and some files are in two parts.
		var all [][]byte
		parts := make([][][]byte, 2+c.IntN(2))
		for _, f := range files {
			for again := true; again; again = c.IntN(5) == 0 {
				at := c.IntN(len(parts))
				parts[at], all = append(parts[at], jsonl(f...)), append(all, jsonl(f...))
			}
		}
		var sums []*stream.Summary
		for _, p := range parts {
			if len(p) > 0 {
				s := verifyFiles(t, stream.Options{}, sources(p...)...).summary
				sums = append(sums, reread(t, "part", s))
			}
		}
		one := verifyFiles(t, stream.Options{}, sources(all...)...).summary
		if len(sums) < 2 {
			continue
		}

		for range 2 {
			c.Shuffle(len(sums), func(i, j int) { sums[i], sums[j] = sums[j], sums[i] })
			m := reread(t, "merged", merged(t, sums...))
			if counted(m) != counted(one) {
				t.Fatalf("case %d, %d parts:\nmerged  %s\n        %s\none run %s\n        %s", n, len(sums), counted(m), gist(m), counted(one), gist(one))
			}
			if strings.Contains(gist(m), "parts_overlap") {
				t.Fatalf("case %d: %s", n, gist(m))
			}
		}
		seen[one.Verdict().String()]++
	}
	t.Log(seen)
	if len(seen) < 3 || slices.Min(slices.Collect(maps.Values(seen))) < cases/100 {
		t.Errorf("verdicts %v", seen)
	}
}

// TestOverlappingUnequal verifies that a copy is counted separately if its outcome is worse, but
// not if its outcome is the same, regardless of which part contains it.
func TestOverlappingUnequal(t *testing.T) {
	list := newWriter(t, "a").many(3)
	strict := func(docs ...[]byte) *stream.Summary {
		return verifyFiles(t, stream.Options{}, sources(docs...)...).summary
	}
	one, two, three := strict(jsonl(list...)), strict(jsonl(list[1:]...)), strict(jsonl(list[:2]...), jsonl(list[1:]...))
	m := anyOrder(t, "three parts", receipt.Verified, one, two, three)
	if m.Receipts != 3 || m.Verified != 3 || m.Copies != 6 {
		t.Errorf("%s", gist(m))
	}
	if m.MarkOverlap("two parts hold it"); m.Verdict() != receipt.Verified {
		t.Errorf("counted once and marked: %s", gist(m))
	}
	if g := m.Streams; len(g) != 1 || g[0].Count != 3 || g[0].Head != headOf(t, list[2]).Hash || m.Heads()[chain.Stream{Issuer: "a", Workspace: "w"}].Count != 3 {
		t.Errorf("%+v", g)
	}

	// One part lacks a receipt in the middle, which another part contains. Its copy of the receipt
	// that follows the gap must not be counted.
	gap := strict(jsonl(list[0], list[2]))
	if gap.Verdict() != receipt.Refuted {
		t.Fatal(gist(gap))
	}
	m = anyOrder(t, "a gap", receipt.Verified, gap, one)
	if m.Receipts != 3 || m.Refuted != 0 || m.Copies != 2 || len(m.Codes) != 0 {
		t.Errorf("%s", gist(m))
	}
}

// TestUnequalCopies verifies that a merge applies the result for the link of a receipt to each copy
// that is counted, as a single run does. The copies differ in their signatures.
func TestUnequalCopies(t *testing.T) {
	list := newWriter(t, "a").many(3)
	signed := bytes.Replace(list[2], []byte(`"subject":`), []byte(`"signatures":[{"algorithm":"ed25519","key_id":"unknown","signature":"base64:`+strings.Repeat("A", 86)+`==","signed_at":"2026-04-26T00:00:00Z"}],"subject":`), 1)
	verify := func(docs ...[]byte) *stream.Summary {
		return collect(stream.VerifyFiles(t.Context(), knowsLog(t), sources(docs...), stream.Options{})).summary
	}
	for name, c := range map[string]struct {
		files   [][]byte
		refuted int
	}{
		"a gap":          {[][]byte{jsonl(list[0], list[2]), jsonl(list[0], signed)}, 2},
		"a gap, closed":  {[][]byte{jsonl(list[0], list[2]), jsonl(list[0], signed), list[1]}, 0},
		"a gap, foreign": {[][]byte{jsonl(list[0], list[2]), jsonl(list[0], signed), newWriter(t, "b").next()}, 2},
	} {
		one := verify(c.files...)
		if one.Refuted != c.refuted || one.Codes[receipt.CodeUnknownKey]+one.Refuted == 0 {
			t.Errorf("%s: %s", name, gist(one))
		}
		var parts []*stream.Summary
		for _, f := range c.files {
			parts = append(parts, verify(f))
		}
		m := anyOrder(t, name, one.Verdict(), parts...)
		if got, want := fmt.Sprint(m.Receipts, m.Copies, m.Verified, m.Refuted, m.Undecided, m.Codes), fmt.Sprint(one.Receipts, one.Copies, one.Verified, one.Refuted, one.Undecided, one.Codes); got != want {
			t.Errorf("%s: merged %s, in one run %s", name, got, want)
		}
	}
}

// TestCopiesAreCounted verifies that a summary is rejected if its roster does not match its counts.
func TestCopiesAreCounted(t *testing.T) {
	list := newWriter(t, "a").many(2)
	text, err := json.Marshal(part(t, stream.Options{}, list[0], list[0], list[1]))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(`"receipts":2,"verified":2,`, `"receipts":3,"verified":3,`, `"copies":1`, `"copies":0`).Replace(string(text))
	if err := json.Unmarshal([]byte(edited), new(stream.Summary)); err == nil || edited == string(text) || !strings.Contains(err.Error(), "does not match the counted copies") {
		t.Errorf("%v: %s", err, edited)
	}
}

// TestOverlappingOfBefore verifies that a merge is undecided if the same receipts are in two
// rosters of the previous version. Such rosters contain no outcomes.
func TestOverlappingOfBefore(t *testing.T) {
	list := newWriter(t, "a").many(4)
	before := func(docs ...[]byte) *stream.Summary {
		text, err := json.Marshal(part(t, stream.Options{}, docs...))
		if err != nil {
			t.Fatal(err)
		}
		without := strings.Replace(string(text), `,"outcomes":true`, "", 1)
		s := new(stream.Summary)
		if err := json.Unmarshal([]byte(without), s); err != nil || without == string(text) {
			t.Fatal(without, err)
		}
		return s
	}
	for _, parts := range [][]*stream.Summary{{before(list...), before(list[2:]...)}, {before(list...), part(t, stream.Options{}, list[2:]...)}} {
		m := anyOrder(t, "overlap", receipt.Undecided, parts...)
		if !strings.Contains(gist(m), "parts_overlap") || m.Receipts != 6 {
			t.Errorf("%s", gist(m))
		}
		reread(t, "overlap", m)
	}
	reread(t, "apart", anyOrder(t, "apart", receipt.Verified, before(list[:2]...), part(t, stream.Options{}, list[2:]...)))
}
