package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// part returns the summary for receipts that form one part.
func part(t *testing.T, o stream.Options, docs ...[]byte) *stream.Summary {
	t.Helper()
	return verify(t, jsonl(docs...), o).summary
}

// anyOrder merges parts in every rotation, checks that all results are equal, and returns the
// result.
func anyOrder(t *testing.T, name string, want receipt.Verdict, parts ...*stream.Summary) *stream.Summary {
	t.Helper()
	first := ""
	var m *stream.Summary
	for i := range parts {
		m = merged(t, append(slices.Clone(parts[i:]), parts[:i]...)...)
		if m.Verdict() != want {
			t.Errorf("%s: %v, expected %v: %s", name, m.Verdict(), want, gist(m))
		}
		if first == "" {
			first = gist(m)
		} else if got := gist(m); got != first {
			t.Errorf("%s: the order of parts decides:\n%s\n%s", name, first, got)
		}
	}
	return m
}

// old returns a summary in the form in which a version without rosters wrote it.
func old(t *testing.T, s *stream.Summary) *stream.Summary {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), `,"asked":`)
	o := new(stream.Summary)
	if err := json.Unmarshal([]byte(head+"}"), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func headOf(t testing.TB, doc []byte) chain.Head {
	t.Helper()
	s, err := receipt.ParseSealed(doc)
	if err != nil {
		t.Fatal(err)
	}
	return s.Head()
}

// TestMergePartial verifies that a selection excuses absent receipts in its own streams, and
// nothing else.
func TestMergePartial(t *testing.T) {
	selection := stream.Options{Partial: true}
	list, others := newWriter(t, "a").many(12), newWriter(t, "u").many(6)
	other := newWriter(t, "a")
	other.n = 100
	fork := other.seal(headOf(t, list[1]))
	genesis := newWriter(t, "a")
	genesis.n = 200
	u := part(t, selection, others[2:4]...)
	a, c := part(t, stream.Options{}, list[:4]...), part(t, stream.Options{}, list[8:]...)
	for _, c := range []struct {
		name  string
		want  receipt.Verdict
		parts []*stream.Summary
	}{
		{"a gap", receipt.Refuted, []*stream.Summary{a, c}},
		{"a gap beside a selection of another stream", receipt.Refuted, []*stream.Summary{a, c, u}},
		{"a fork beside it", receipt.Refuted, []*stream.Summary{a, part(t, stream.Options{}, fork), u}},
		{"a second beginning beside it", receipt.Refuted, []*stream.Summary{a, part(t, stream.Options{}, genesis.next()), u}},
		{"a whole stream beside it", receipt.Verified, []*stream.Summary{a, part(t, stream.Options{}, list[4:]...), u}},
		{"a gap in the selected stream", receipt.Verified, []*stream.Summary{a, u, part(t, selection, others[5:]...)}},
		{"selections of one stream", receipt.Verified, []*stream.Summary{part(t, selection, list[:4]...), part(t, selection, list[8:]...)}},
		{"a fork in a selection", receipt.Refuted, []*stream.Summary{part(t, selection, list[:4]...), part(t, selection, fork)}},
		{"a second beginning in a selection", receipt.Refuted, []*stream.Summary{part(t, selection, list[:4]...), part(t, selection, genesis.seal(chain.Head{}))}},
		{"a selection and a part that is none", receipt.Undecided, []*stream.Summary{a, part(t, selection, list[8:]...)}},
		{"these, joined by a third", receipt.Verified, []*stream.Summary{a, part(t, selection, list[8:]...), part(t, stream.Options{}, list[4:8]...)}},
	} {
		anyOrder(t, c.name, c.want, c.parts...)
		for i := range c.parts {
			c.parts[i] = reread(t, c.name, c.parts[i])
		}
		reread(t, c.name, anyOrder(t, c.name+", read back", c.want, c.parts...))
	}
}

// TestMergeDealt verifies that a receipt that is missing in one part may be in another part.
func TestMergeDealt(t *testing.T) {
	list := newWriter(t, "a").many(7)
	odd, even := part(t, stream.Options{}, list[0], list[2], list[4]), part(t, stream.Options{}, list[1], list[3], list[5])
	if odd.Verdict() != receipt.Refuted || even.Verdict() != receipt.Refuted {
		t.Fatalf("%v, %v", odd.Verdict(), even.Verdict())
	}
	m := anyOrder(t, "dealt", receipt.Verified, odd, even)
	if m.Verified != 6 || m.Refuted != 0 || len(m.Codes) != 0 || len(m.Streams) != 1 || m.Streams[0].Count != 6 || len(m.Heads()) != 1 {
		t.Errorf("%s", gist(m))
	}
	anyOrder(t, "and one more", receipt.Verified, reread(t, "dealt", m), part(t, stream.Options{}, list[6]))
	if copied := anyOrder(t, "and a copy", receipt.Verified, m, part(t, stream.Options{}, list[6], list[1])); copied.Receipts != 7 || copied.Copies != 1 {
		t.Errorf("%s", gist(copied))
	}

	alone := anyOrder(t, "still missing", receipt.Refuted, odd, part(t, stream.Options{}, list[1]))
	if alone.Codes[receipt.CodeChainBreak] != 1 || alone.Refuted != 1 || alone.Verified != 3 {
		t.Errorf("%s", gist(alone))
	}
	anyOrder(t, "found later", receipt.Verified, alone, part(t, stream.Options{}, list[3]))

	damaged := part(t, stream.Options{}, list[0], altered(list[2]), list[3])
	anyOrder(t, "damage does not heal", receipt.Refuted, damaged, part(t, stream.Options{}, list[1]))
	twice := newWriter(t, "a")
	twice.n = 1
	anyOrder(t, "nor does an id used again", receipt.Refuted, part(t, stream.Options{}, list[:3]...), part(t, stream.Options{}, list[3], twice.seal(headOf(t, list[3]))))
	reversed := part(t, stream.Options{}, list[1], list[0])
	anyOrder(t, "nor does a wrong order", receipt.Refuted, reversed, part(t, stream.Options{}, list[2:]...))
}

// TestMergeOld verifies the result for parts that do not list their receipts. The result must be
// refuted only if no unlisted receipt could change that, and verified only if the parts join.
func TestMergeOld(t *testing.T) {
	list, others := newWriter(t, "a").many(12), newWriter(t, "u").many(6)
	o, selection := stream.Options{}, stream.Options{Partial: true}
	other := newWriter(t, "a")
	other.n = 100
	fork := []([]byte){other.seal(headOf(t, list[1])), other.next()}
	genesis := newWriter(t, "a")
	genesis.n = 200
	second := genesis.many(4)
	stranger := newWriter(t, "b")
	away := stranger.seal(chain.Head{Hash: headOf(t, list[3]).Hash, Count: 4})
	for _, c := range []struct {
		name        string
		bare, lists receipt.Verdict // bare is the result from the ends of the parts alone; lists is the result from the hashes of all receipts
		parts       [][][]byte
		o           stream.Options
	}{
		{"joined", receipt.Verified, receipt.Verified, [][][]byte{list[:4], list[4:8], list[8:]}, o},
		{"a gap or an overlap", receipt.Undecided, receipt.Refuted, [][][]byte{list[:4], list[8:]}, o},
		{"an overlap or a gap", receipt.Undecided, receipt.Undecided, [][][]byte{list[:4], list[2:6]}, o},
		{"a gap of single receipts", receipt.Refuted, receipt.Refuted, [][][]byte{list[:1], list[8:9]}, o},
		{"one head", receipt.Undecided, receipt.Undecided, [][][]byte{list[:4], list[2:4]}, o},
		{"a fork of equal length", receipt.Refuted, receipt.Refuted, [][][]byte{list[2:4], fork}, o},
		{"a fork or one longer", receipt.Undecided, receipt.Refuted, [][][]byte{list[2:6], fork}, o},
		{"a fork or an overlap", receipt.Undecided, receipt.Refuted, [][][]byte{list[:4], fork}, o},
		{"two beginnings", receipt.Refuted, receipt.Refuted, [][][]byte{list[:4], second}, o},
		{"two beginnings or one longer", receipt.Undecided, receipt.Refuted, [][][]byte{list[:6], second}, o},
		{"dealt out", receipt.Undecided, receipt.Undecided, [][][]byte{{list[0], list[2]}, {list[1], list[3]}}, o},
		{"selections", receipt.Undecided, receipt.Undecided, [][][]byte{list[:4], list[8:]}, selection},
		{"another stream from its middle", receipt.Verified, receipt.Verified, [][][]byte{list[:4], others[2:4]}, o},
		{"a stream behind the head of another", receipt.Refuted, receipt.Refuted, [][][]byte{list[:4], {away}}, o},
	} {
		var bare, lists []*stream.Summary
		for _, docs := range c.parts {
			bare = append(bare, old(t, part(t, c.o, docs...)))
			listed := old(t, part(t, c.o, docs...))
			var hashes []canon.Digest
			for _, doc := range docs {
				hashes = append(hashes, headOf(t, doc).Hash)
			}
			listed.List(hashes)
			lists = append(lists, listed)
		}
		reread(t, c.name, anyOrder(t, c.name, c.bare, bare...))
		reread(t, c.name, anyOrder(t, c.name+", listed", c.lists, lists...))
		mixed := slices.Clone(lists)
		mixed[0] = part(t, c.o, c.parts[0]...)
		if m := anyOrder(t, c.name+", one of them new", c.lists, mixed...); !slices.ContainsFunc(m.NotChecked, func(n receipt.Note) bool { return n.Code == receipt.CodeAskedNotRecorded }) {
			t.Errorf("%s: the merged report does not contain the expected note: %v", c.name, m.NotChecked)
		}
	}
}

// TestMergeManyIDs verifies that a merge is undecided if the parts contain more receipts than a
// roster can list. Such a merge cannot compare all IDs; only a run over all receipts can.
func TestMergeManyIDs(t *testing.T) {
	list := newWriter(t, "a").many(4)
	for more, want := range map[int]receipt.Verdict{0: receipt.Verified, 1<<16 - 4: receipt.Verified, 1<<16 - 3: receipt.Undecided} {
		var parts []*stream.Summary
		for _, docs := range [][][]byte{list[:2], list[2:3], list[3:]} {
			parts = append(parts, old(t, part(t, stream.Options{}, docs...)))
		}
		parts[1].Receipts, parts[1].Verified = parts[1].Receipts+more, parts[1].Verified+more
		anyOrder(t, fmt.Sprintf("%d more", more), want, parts...)
	}

	var strict []*stream.Summary // parts whose individual receipts are all verified
	for _, docs := range [][][]byte{list[:2], list[2:]} {
		s := part(t, stream.Options{Partial: true}, docs...)
		asked := s.Asked()
		asked.Strict = true
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), `,"roster":`)
		bare := new(stream.Summary)
		if err := json.Unmarshal([]byte(head+"}"), bare); err != nil {
			t.Fatal(err)
		}
		strict = append(strict, bare)
	}
	if m := anyOrder(t, "strict", receipt.Undecided, strict...); !slices.ContainsFunc(m.NotChecked, func(n receipt.Note) bool {
		return n.Code == receipt.CodePartsNotJoined && strings.Contains(n.Detail, "receipt_id")
	}) {
		t.Errorf("strict: %v", m.NotChecked)
	}
}

// TestMergeOldOverlap verifies that, if two parts contain the same receipts, later merges still
// count these receipts twice. They must not otherwise affect their streams.
func TestMergeOldOverlap(t *testing.T) {
	list, other := newWriter(t, "a").many(6), newWriter(t, "b").many(2)
	for name, parts := range map[string][][][]byte{
		"the same":           {list[:3], list[:3], other},
		"one beginning":      {list, list[:3], other},
		"one that goes on":   {list[:4], list[:3], list[4:]},
		"three of one":       {list, list[:3], list[1:5]},
		"two and two others": {list[:3], list[:3], other, other},
	} {
		var lists []*stream.Summary
		for _, docs := range parts {
			s := old(t, part(t, stream.Options{}, docs...))
			var hashes []canon.Digest
			for _, doc := range docs {
				hashes = append(hashes, headOf(t, doc).Hash)
			}
			s.List(hashes)
			lists = append(lists, s)
		}

		m := anyOrder(t, name, receipt.Undecided, lists...)
		notes := map[receipt.Code]int{}
		for _, n := range m.NotChecked {
			notes[n.Code]++
		}
		if notes[receipt.CodePartsOverlap] != 1 || notes[receipt.CodeIDsNotChecked] != 1 || len(m.Findings) > 0 {
			t.Errorf("%s: %s", name, gist(m))
		}
	}
}

// TestMergeAsked verifies that summaries with different requirements cannot be merged.
func TestMergeAsked(t *testing.T) {
	list := newWriter(t, "a").many(2)
	base := part(t, stream.Options{}, list[0])
	at, later := receipt.At(time.Unix(1e9, 0)), receipt.At(time.Unix(2e9, 0))
	for what, changes := range map[string][]func(*stream.Asked){
		"issuer":     {func(a *stream.Asked) { a.Issuer = "a" }},
		"strict":     {func(a *stream.Asked) { a.Strict = true }},
		"at":         {func(a *stream.Asked) { a.At = &at }, func(a *stream.Asked) { a.At = &later }},
		"witnesses":  {func(a *stream.Asked) { a.Witnesses.Threshold = 1 }, func(a *stream.Asked) { a.Witnesses = stream.AskedQuorum{Threshold: 1, Keys: []string{"w"}} }},
		"checkpoint": {func(a *stream.Asked) { a.Checkpoint.Required = true }, func(a *stream.Asked) { a.Checkpoint.Cosigners.Threshold = 2 }},
	} {
		asked := []*stream.Summary{base}
		for _, change := range changes {
			other := part(t, stream.Options{}, list[1])
			change(other.Asked())
			asked = append(asked, reread(t, what, other))
		}
		for i, a := range asked {
			for k, b := range asked {
				_, err := a.Merge(b)
				var differ *stream.IncomparableError
				if i != k && (!errors.As(err, &differ) || differ.What != what) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := a.Merge(old(t, base)); err != nil {
				t.Errorf("%s: the unknown parts differ: %v", what, err)
			}
		}
	}
	policy := receipt.Policy{IntegrityOnly: true, Strict: true, At: time.Unix(1e9, 0)}
	v, err := receipt.NewVerifier(nil, policy)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.VerifyFiles(t.Context(), v, sources(list[0]), stream.Options{}).Summary()
	if err != nil || !s.Asked().Strict || s.Asked().At == nil || !s.Asked().At.Equal(policy.At) {
		t.Errorf("%+v, %v", s.Asked(), err)
	}
}

// TestSummaryStrict verifies that a summary with duplicate or misspelled members is rejected.
func TestSummaryStrict(t *testing.T) {
	text, err := json.Marshal(part(t, stream.Options{}, newWriter(t, "a").many(3)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"complete":true`, `"complete":false,"complete":true`},
		{`"complete":true`, `"complete":false,"compl\u0065te":true`},
		{`"refuted":0`, `"refuted":0,"Refuted":0`},
		{`"count":3`, `"count":3,"Count":4`},
		{`"strict":false`, "\"strict\":false,\"\u017ftrict\":true"},
		{`"complete":true`, `"complete":true,"certified":true`},
		{`"receipts":"`, `"receipts":"AAAA`},
		{`"sources":[{`, `"sources":[{"unplaced":-1},{`},
		{`"sources":[{`, `"sources":[{"unplaced":1,`},
		{`"roster":{"streams":[{`, `"roster":{"streams":[],"was":[{`},
	} {
		if !strings.Contains(string(text), c[0]) {
			t.Fatalf("%s is not in %s", c[0], text)
		}
		if err := json.Unmarshal([]byte(strings.Replace(string(text), c[0], c[1], 1)), new(stream.Summary)); err == nil {
			t.Errorf("%s is read", c[1])
		}
	}
}

// TestSummaryCodes verifies that the codes of findings are separate from the codes of receipts,
// even in a summary that was read from JSON.
func TestSummaryCodes(t *testing.T) {
	list := newWriter(t, "a").many(9)
	m := merged(t, part(t, stream.Options{}, list[0], list[2]), part(t, stream.Options{}, list[5:7]...))
	if m.Codes[receipt.CodeChainBreak] != 1 || len(m.Findings) != 1 {
		t.Fatalf("%s", gist(m))
	}
	if again := reread(t, "both", m); again.Codes[receipt.CodeChainBreak] != 1 || len(again.Codes) != 1 {
		t.Errorf("%v", again.Codes)
	}
	gap := merged(t, part(t, stream.Options{}, list[0]), part(t, stream.Options{}, list[5:7]...))
	if again := reread(t, "finding", gap); len(again.Codes) != 0 {
		t.Errorf("%v", again.Codes)
	}
}

// TestSummaryUnchecked verifies that a summary counts the documents with each unchecked code, and that
// it can be read only if the counts are possible.
func TestSummaryUnchecked(t *testing.T) {
	s := part(t, stream.Options{}, newWriter(t, "a").many(3)...)
	if n := s.Unchecked[receipt.CodeSignaturesNotChecked]; n != 3 || len(s.Unchecked) != 1 {
		t.Fatalf("%v", s.Unchecked)
	}
	s.Unchecked[receipt.CodeRedactionsNotChecked], s.Withheld = 1, 2
	if again := reread(t, "withheld", s); again.Withheld != 2 || !maps.Equal(again.Unchecked, s.Unchecked) {
		t.Errorf("%d, %v", again.Withheld, again.Unchecked)
	}

	for name, change := range map[string]func(){
		"too many":         func() { s.Unchecked[receipt.CodeRedactionsNotChecked] = 4 },
		"none":             func() { s.Unchecked[receipt.CodeRedactionsNotChecked] = 0 },
		"withheld nowhere": func() { s.Unchecked = nil },
		"fewer than none":  func() { s.Withheld = -1 },
	} {
		kept, withheld := maps.Clone(s.Unchecked), s.Withheld
		change()
		text, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(text, new(stream.Summary))
		}
		if err == nil {
			t.Errorf("%s: the summary was accepted", name)
		}
		s.Unchecked, s.Withheld = kept, withheld
	}
}

// TestEarlierIDs verifies that a merge finds an ID that an earlier part uses for another content. The
// later part alone, with the head of the earlier part, does not show it.
func TestEarlierIDs(t *testing.T) {
	list := newWriter(t, "a").many(2)
	head := headOf(t, list[1])
	after := stream.Options{Continuity: stream.Continuity{After: map[chain.Stream]chain.Head{{Issuer: "a", Workspace: "w"}: head}}}
	again := newWriter(t, "a").seal(head) // it has the ID of the first receipt
	earlier, later := part(t, stream.Options{}, list...), part(t, after, again)
	if later.Verdict() != receipt.Verified {
		t.Error(gist(later))
	}
	if m := anyOrder(t, "an ID of before", receipt.Refuted, earlier, later); len(m.Findings) != 1 || m.Findings[0].Code != receipt.CodeDuplicateID {
		t.Error(gist(m))
	}
}
