package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/schemas"
)

// reread checks that a summary conforms to its schema and does not change when it is written and
// read.
func reread(t *testing.T, name string, s *stream.Summary) *stream.Summary {
	t.Helper()
	one, err := json.Marshal(s)
	if err != nil {
		t.Fatal(name, err)
	}
	schema, err := schemas.Compile("summary")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(one)
	if err != nil {
		t.Fatal(name, err)
	}
	for _, problem := range schema.Check(doc.Root()).Problems {
		t.Errorf("%s: %v\n%s", name, problem, one)
	}
	var again stream.Summary
	if err := json.Unmarshal(one, &again); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, one)
	}
	two, err := json.Marshal(&again)
	if err != nil || string(two) != string(one) {
		t.Errorf("%s: %v\n%s\ncomes back as\n%s", name, err, one, two)
	}
	return &again
}

// TestSummaryJSON verifies that every summary can be written and read.
func TestSummaryJSON(t *testing.T) {
	list := newWriter(t, "a").many(6)
	fork := newWriter(t, "a")
	fork.n = 100
	first, _ := receipt.ParseSealed(list[1])
	branch := fork.seal(first.Head())
	whole := verify(t, jsonl(list...), stream.Options{}).summary
	for name, r := range map[string]result{
		"whole":     verify(t, jsonl(list...), stream.Options{}),
		"part":      verify(t, jsonl(list[2:]...), stream.Options{Partial: true}),
		"break":     verify(t, jsonl(without(list, 2)...), stream.Options{}),
		"altered":   verify(t, jsonl(with(list, 2, altered(list[2]))...), stream.Options{}),
		"fork":      verifyFiles(t, stream.Options{}, sources(append(append([][]byte{}, list...), branch)...)...),
		"rollback":  verify(t, jsonl(list[:3]...), stream.Options{Continuity: stream.Continuity{Expect: whole.Heads()}}),
		"gone":      verify(t, jsonl(newWriter(t, "b").many(2)...), stream.Options{Continuity: stream.Continuity{Expect: whole.Heads()}}),
		"empty":     verify(t, nil, stream.Options{}),
		"troubles":  verify(t, troubles(t), stream.Options{}),
		"skipped":   verifyFiles(t, stream.Options{}, found(sources([]byte(`{"keys":[]}`), list[0]))...),
		"cut":       verify(t, gzipped(t, jsonl(list...))[:200], stream.Options{}),
		"odd names": verifyOnly(t, list[0], "\x1b[31m\n\xff", stream.Sniffed, stream.Options{}),
	} {
		s := reread(t, name, r.summary)
		if s.Verdict() != r.summary.Verdict() {
			t.Errorf("%s: %v comes back as %v", name, r.summary.Verdict(), s.Verdict())
		}
	}
	whole.Keys = &stream.Keys{Path: "keys.json", Count: 2}
	whole.Tool, whole.Started, whole.Finished = "receipt 1", receipt.At(time.Unix(1, 0)), receipt.At(time.Unix(2, 0))
	if again := reread(t, "filled in", whole); again.Keys == nil || again.Keys.Count != 2 || !again.Started.Equal(whole.Started.Time) {
		t.Errorf("%+v", again)
	}
	var empty stream.Summary
	if reread(t, "zero", &empty).Verdict() != receipt.Undecided {
		t.Error("the zero summary is decided")
	}
}

// TestSummaryRefuse verifies that a summary is rejected if it contradicts itself.
func TestSummaryRefuse(t *testing.T) {
	s := verify(t, jsonl(newWriter(t, "a").many(3)...), stream.Options{}).summary
	one, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"verdict":"verified"`, `"verdict":"refuted"`},
		{`"complete":true`, `"complete":false`},
		{`"verified":3`, `"verified":2`},
		{`"verified":3,"refuted":0,"undecided":0`, `"verified":4,"refuted":0,"undecided":-1`},
		{`"receipts":3`, `"receipts":4`},
		{`"report_version":1`, `"report_version":2`},
		{`"scope":"integrity"`, `"scope":"some"`},
		{`"head":"sha256:`, `"head":"sha512:`},
		{`"receipts":3`, `"receipts":"3"`},
		{`"count":3`, `"count":2`},
		{`"codes":{}`, `"codes":{"syntax":0}`},
		{`"streams":[`, `"streams":[],"a":[`},
	} {
		if !strings.Contains(string(one), c[0]) {
			t.Fatalf("%s is not in %s", c[0], one)
		}
		before := stream.Summary{Receipts: 77}
		if err := json.Unmarshal([]byte(strings.Replace(string(one), c[0], c[1], 1)), &before); err == nil || before.Receipts != 77 {
			t.Errorf("%s is read: %v, %+v", c[1], err, before)
		}
	}
}

// TestSummaryLevels verifies that a summary keeps its levels in JSON, that a merge discards them,
// and that only a verified summary may state that a level is met.
func TestSummaryLevels(t *testing.T) {
	list := newWriter(t, "a").many(3)
	s := verify(t, jsonl(list...), stream.Options{}).summary
	s.Levels = []stream.Level{{Number: 1, Met: true}, {Number: 3, Detail: "no checkpoint"}}
	if again := reread(t, "levels", s); !slices.Equal(again.Levels, s.Levels) {
		t.Errorf("%+v", again.Levels)
	}
	if m := merged(t, s, s); m.Levels != nil {
		t.Errorf("merged: %+v", m.Levels)
	}

	open := verify(t, gzipped(t, jsonl(list...))[:300], stream.Options{}).summary
	for _, met := range []bool{false, true} {
		open.Levels = []stream.Level{{Number: 1, Met: met}}
		text, err := json.Marshal(open)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, new(stream.Summary)); (err != nil) != met {
			t.Errorf("%v, met %t: %v", open.Verdict(), met, err)
		}
	}
}

// plain returns a summary without the values that depend on how the parts were read.
func plain(t *testing.T, s *stream.Summary) string {
	t.Helper()
	c := *s
	c.NotChecked, c.Inputs = nil, stream.Inputs{}
	return sumOf(t, &c)
}

func merged(t *testing.T, parts ...*stream.Summary) *stream.Summary {
	t.Helper()
	m := parts[0]
	for _, p := range parts[1:] {
		var err error
		if m, err = m.Merge(p); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestMerge verifies that merging the summaries of parts, in any order and grouping, gives the same
// summary as a run over all parts.
func TestMerge(t *testing.T) {
	a, b := newWriter(t, "a").many(9), newWriter(t, "b").many(4)
	parts := [][][]byte{append(append([][]byte{}, a[:2]...), b[:1]...), a[2:3], append(append([][]byte{}, a[3:7]...), b[1:3]...), a[7:], b[3:]}
	var all [][]byte
	var sums []*stream.Summary
	for _, p := range parts {
		all = append(all, p...)
		sums = append(sums, verify(t, jsonl(p...), stream.Options{}).summary)
	}
	want := plain(t, verify(t, jsonl(all...), stream.Options{}).summary)
	rng, orders := rand.New(rand.NewPCG(4, 4)), 20
	if testsize.Full() {
		orders = 60
	}
	notes := ""
	for range orders {
		order := slices.Clone(sums)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for len(order) > 1 { // merge two adjacent summaries
			i := rng.IntN(len(order) - 1)
			order = slices.Replace(order, i, i+2, reread(t, "part", merged(t, order[i], order[i+1])))
		}
		if got := plain(t, order[0]); got != want {
			t.Fatalf("merged\n%s\nwhole\n%s", got, want)
		}
		if order[0].Inputs.Files != len(parts) {
			t.Errorf("%d files", order[0].Inputs.Files)
		}
		got, err := json.Marshal(order[0].NotChecked)
		if err != nil || notes != "" && string(got) != notes {
			t.Errorf("not checked: %s, then %s", notes, got)
		}
		notes = string(got)
	}
	missing := merged(t, sums[0], sums[1], sums[3], sums[4]) // without the third
	if missing.Verdict() != receipt.Refuted || len(missing.Findings) != 2 || missing.Findings[0].Code != receipt.CodeChainBreak {
		t.Errorf("a part is missing: %v %+v", missing.Verdict(), missing.Findings)
	}
	if whole := merged(t, reread(t, "missing", missing), sums[2]); plain(t, whole) != want {
		t.Errorf("the missing part came later: %s", plain(t, whole))
	}
	if len(missing.Heads()) != 0 {
		t.Errorf("heads of streams in parts: %v", missing.Heads())
	}
	once := merged(t, sums...)
	for i, s := range sums {
		twice := merged(t, s, s)
		if twice.Verdict() != s.Verdict() || twice.Receipts != s.Receipts || twice.Copies != s.Receipts {
			t.Errorf("part %d twice: %s", i, gist(twice))
		}
		if twice := merged(t, append(slices.Clone(sums), s)...); twice.Verdict() != once.Verdict() || twice.Receipts != once.Receipts || twice.Copies != s.Receipts {
			t.Errorf("all, and part %d again: %s", i, gist(twice))
		}
	}
	incomplete := verify(t, gzipped(t, jsonl(a...))[:300], stream.Options{}).summary
	if m := merged(t, sums[4], incomplete); m.Complete || m.Verdict() == receipt.Verified {
		t.Errorf("with an incomplete one: %v", m.Verdict())
	}
}

// TestMergeFork verifies that two parts are a fork if both follow the same receipt.
func TestMergeFork(t *testing.T) {
	w := newWriter(t, "a")
	list := w.many(4)
	fork := newWriter(t, "a")
	fork.n = 100
	at, _ := receipt.ParseSealed(list[1])
	branch := [][]byte{fork.seal(at.Head()), fork.next()}
	sum := func(docs ...[]byte) *stream.Summary { return verify(t, jsonl(docs...), stream.Options{}).summary }
	parts := []*stream.Summary{sum(list[:2]...), sum(list[2:]...), sum(branch...)}
	for _, p := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}} {
		m := merged(t, parts[p[0]], parts[p[1]], parts[p[2]])
		if m.Verdict() != receipt.Refuted || len(m.Findings) == 0 {
			t.Errorf("%v: %v %+v", p, m.Verdict(), m.Findings)
		}
		reread(t, "fork", m)
	}
	genesis := newWriter(t, "a")
	genesis.n = 200
	if m := merged(t, parts[0], sum(genesis.many(2)...)); m.Verdict() != receipt.Refuted {
		t.Errorf("two beginnings: %v", m.Verdict())
	}
}

// TestMergeRefuse verifies that summaries with different meanings cannot be merged.
func TestMergeRefuse(t *testing.T) {
	s := verify(t, jsonl(newWriter(t, "a").many(3)...), stream.Options{}).summary
	keyed, other, full := *s, *s, *s
	keyed.Keys = &stream.Keys{Path: "k", SHA256: canon.Sum([]byte("1"))}
	other.Keys = &stream.Keys{Path: "k", SHA256: canon.Sum([]byte("2"))}
	full.Scope = receipt.ScopeFull
	for _, c := range []struct {
		a, b *stream.Summary
		want string
	}{{s, &full, "scope"}, {s, &keyed, "keys"}, {&keyed, s, "keys"}, {&keyed, &other, "keys"}} {
		var differ *stream.IncomparableError
		if m, err := c.a.Merge(c.b); m != nil || !errors.As(err, &differ) || differ.What != c.want {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
	before := plain(t, s)
	merged(t, s, s)
	if plain(t, s) != before {
		t.Error("Merge changed its receiver")
	}
}

// TestRollback verifies that a rollback is reported if a head in an earlier summary is missing.
func TestRollback(t *testing.T) {
	list := newWriter(t, "a").many(6)
	earlier := reread(t, "earlier", verify(t, jsonl(list[:4]...), stream.Options{}).summary)
	heads := earlier.Heads()
	if len(heads) != 1 || heads[chain.Stream{Issuer: "a", Workspace: "w"}].Count != 4 {
		t.Fatalf("heads %v", heads)
	}
	for n, want := range map[int]receipt.Verdict{3: receipt.Refuted, 4: receipt.Verified, 6: receipt.Verified} {
		r := verify(t, jsonl(list[:n]...), stream.Options{Continuity: stream.Continuity{Expect: heads}})
		if r.summary.Verdict() != want {
			t.Errorf("%d receipts: %v", n, r)
		}
		if r := verifyFiles(t, stream.Options{Continuity: stream.Continuity{Expect: heads}}, sources(list[:n]...)...); r.summary.Verdict() != want {
			t.Errorf("%d files: %v", n, r)
		}
	}
	r := verify(t, jsonl(list[4:]...), stream.Options{Continuity: stream.Continuity{After: heads}})
	expect(t, "continued", r, "verified 2/0/0; a 2")
	whole := merged(t, earlier, r.summary)
	if len(whole.Streams) != 1 || whole.Streams[0].Count != 6 || whole.Verdict() != receipt.Verified {
		t.Errorf("%+v", whole.Streams)
	}
}

// TestOverlap verifies that a merge of parts without rosters is undecided if the parts end in the
// same receipt. The JSON form must state the reason.
func TestOverlap(t *testing.T) {
	list := newWriter(t, "a").many(4)
	whole, end := old(t, verify(t, jsonl(list...), stream.Options{}).summary), old(t, verify(t, jsonl(list[2:]...), stream.Options{}).summary)
	m, err := whole.Merge(end)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil || m.Verdict() != receipt.Undecided || !bytes.Contains(text, []byte(`"parts_overlap"`)) {
		t.Errorf("%v, %s, %v", m.Verdict(), text, err)
	}
	again := new(stream.Summary)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(second, text) {
		t.Errorf("%s\n%s, %v", text, second, err)
	}
}

// TestMarkOverlap verifies that overlapping parts are neither refuted nor verified if they do not
// join, even after the summary is written, read, and merged again.
func TestMarkOverlap(t *testing.T) {
	w := newWriter(t, "a")
	list := w.many(6)
	sum := func(o stream.Options, docs ...[]byte) *stream.Summary {
		return old(t, verify(t, jsonl(docs...), o).summary)
	}
	for name, c := range map[string]struct{ a, b [][]byte }{
		"shifted":   {list[:4], list[2:]},
		"beginning": {list[:2], list[:4]},
		"inside":    {list[1:6], list[2:4]},
		"same":      {list[1:3], list[1:5]},
	} {
		m := merged(t, sum(stream.Options{}, c.a...), sum(stream.Options{}, c.b...))
		if m.Verdict() != receipt.Undecided {
			t.Errorf("%s: %v before anybody saw the overlap", name, m.Verdict())
		}
		m.MarkOverlap("both hold a receipt")
		m = reread(t, name, m)
		if m.Verdict() != receipt.Undecided || len(m.Findings) != 0 {
			t.Errorf("%s: %v %+v", name, m.Verdict(), m.Findings)
		}
		if m = merged(t, m, sum(stream.Options{}, newWriter(t, "b").many(2)...)); m.Verdict() != receipt.Undecided {
			t.Errorf("%s, merged on: %v", name, m.Verdict())
		}
		damaged := sum(stream.Options{}, append(slices.Clone(c.a[:1]), c.a[0][:20])...)
		if m = merged(t, m, damaged); m.Verdict() != receipt.Refuted {
			t.Errorf("%s, with a refuted receipt: %v", name, m.Verdict())
		}
	}
	other := newWriter(t, "a")
	other.n = 100
	at, _ := receipt.ParseSealed(list[1])
	fork := merged(t, sum(stream.Options{}, list[:3]...), sum(stream.Options{}, list[0], list[1], other.seal(at.Head())))
	if fork.MarkOverlap("both hold a receipt"); fork.Verdict() != receipt.Refuted {
		t.Errorf("a fork after the common receipts: %v", fork.Verdict())
	}
	selection := stream.Options{Partial: true}
	m := merged(t, sum(selection, list[:4]...), sum(selection, list[2:5]...))
	if m.MarkOverlap("both hold a receipt"); m.Verdict() != receipt.Undecided {
		t.Errorf("selections: %v", m.Verdict())
	}
}
