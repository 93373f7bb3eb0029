package stream

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// TestVerdictNeedsEverything verifies that each field of a summary that contradicts the verdict
// "verified" prevents it, even if the other fields are consistent with it.
func TestVerdictNeedsEverything(t *testing.T) {
	verified := Summary{Complete: true, Receipts: 2, Verified: 2}
	if got := verified.Verdict(); got != receipt.Verified {
		t.Fatal(got)
	}
	for name, c := range map[string]struct {
		change func(*Summary)
		want   receipt.Verdict
	}{
		"incomplete":       {func(s *Summary) { s.Complete = false }, receipt.Undecided},
		"empty":            {func(s *Summary) { s.Receipts, s.Verified = 0, 0 }, receipt.Undecided},
		"fewer verified":   {func(s *Summary) { s.Verified = 1 }, receipt.Undecided},
		"more verified":    {func(s *Summary) { s.Verified = 3 }, receipt.Undecided},
		"undecided":        {func(s *Summary) { s.Undecided = 1 }, receipt.Undecided},
		"a deciding note":  {func(s *Summary) { s.addNote(receipt.CodeEvidenceUnused, "a") }, receipt.Undecided},
		"refuted":          {func(s *Summary) { s.Refuted = 1 }, receipt.Refuted},
		"a finding":        {func(s *Summary) { s.addFinding(Finding{}) }, receipt.Refuted},
		"finding and open": {func(s *Summary) { s.addFinding(Finding{}); s.Complete = false }, receipt.Refuted},
	} {
		s := verified
		if c.change(&s); s.Verdict() != c.want {
			t.Errorf("%s: %v, expected %v", name, s.Verdict(), c.want)
		}
	}
}

// TestMostFindings verifies that a summary contains at most MaxNotices findings.
func TestMostFindings(t *testing.T) {
	var s Summary
	for range MaxNotices + 1 {
		s.addFinding(Finding{})
		s.skip(fmt.Sprint(s.SkippedCount), "a log")
	}
	if len(s.Findings) != MaxNotices || len(s.Skipped) != MaxNotices || s.SkippedCount != MaxNotices+1 {
		t.Errorf("%d findings, %d of %d skipped", len(s.Findings), len(s.Skipped), s.SkippedCount)
	}
}

// TestFindingOrder verifies that findings without a stream sort first, and that findings about
// links sort after others in the same stream.
func TestFindingOrder(t *testing.T) {
	list := []Finding{
		{Code: "b"}, {Drawn: true, Code: "a"},
		{Stream: &chain.Stream{}, Code: "a"},
		{Stream: &chain.Stream{Tenant: "t"}, Code: "b"}, {Stream: &chain.Stream{Tenant: "t"}, Drawn: true, Code: "a"},
	}
	for i := range list {
		for k := range list {
			if got := compareFindings(list[i], list[k]); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%d and %d: %d", i, k, got)
			}
		}
	}
}

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

// TestHeadNotAtEnd verifies how a finding describes a stream that does not end in the expected head.
func TestHeadNotAtEnd(t *testing.T) {
	want := canon.Sum([]byte("expected"))
	d := &demands{Wanted: survey.Wanted{Last: want}, given: Continuity{Head: want}}
	for failures, text := range map[uint64]string{0: "receipts follow the expected head", 1: "the expected head %s is in the input, but the stream has breaks"} {
		var s Summary
		d.compare(&s, survey.End{Segment: chain.Segment{Count: 2, Head: canon.Sum(nil), Failures: failures}, Found: true})
		text = strings.ReplaceAll(text, "%s", want.String())
		if len(s.Findings) != 1 || s.Findings[0].Code != receipt.CodeHeadMismatch || !strings.HasPrefix(s.Findings[0].Detail, text) {
			t.Errorf("%d failures: %+v", failures, s.Findings)
		}
	}
}

// TestExpectSome verifies that streams without an expected head are not compared with one, in a
// summary that does not list its receipts.
func TestExpectSome(t *testing.T) {
	a, b := chain.Stream{Issuer: "a"}, chain.Stream{Issuer: "b"}
	s := &Summary{Streams: []chain.Segment{{Stream: a, Count: 1, First: true, Head: canon.Sum([]byte("a"))}, {Stream: b, Count: 1, Head: canon.Sum([]byte("b"))}}}
	want := canon.Sum([]byte("expected"))
	got, err := s.Expect(Continuity{Expect: map[chain.Stream]chain.Head{a: {Hash: want, Count: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, n := range got.NotChecked {
		if n.Code == receipt.CodeEvidenceUnused {
			notes = append(notes, n.Detail)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], want.String()) {
		t.Errorf("%q", notes)
	}
	if got.hasNote(receipt.CodeLinkNotChecked) || got.hasNote(receipt.CodeTailNotChecked) {
		t.Errorf("notes that the summary did not have: %v", got.NotChecked)
	}
}

// TestSkippedKinds verifies which kinds of files are skipped if they were found in a directory.
func TestSkippedKinds(t *testing.T) {
	for k, want := range map[kind.Kind]bool{
		kind.Events: true, kind.Frames: true, kind.Transcript: true, kind.Attestation: true,
		kind.Keys: true, kind.Checkpoint: true, kind.Proof: true, kind.Disclosures: true, kind.Batch: true,
		kind.AELLine: false, kind.Unknown: false,
	} {
		err := &OtherKindError{Found: kind.Found{Kind: k, What: "a file"}}
		if found, got := (&Source{Found: true}).beside(err); got != want || got && found.What != "a file" {
			t.Errorf("%s: %t, %v", k, got, found)
		}
		if _, got := new(Source).beside(err); got {
			t.Errorf("%s: a named file is skipped", k)
		}
	}
}

// TestPlainNames verifies that names with characters that occur in no name of our formats are
// rejected, even if the decoder would accept them.
func TestPlainNames(t *testing.T) {
	for name, want := range map[string]bool{"a_z09": true, "A": false, "a-b": false, "a/b": false, "a:b": false, "`": false, "{": false, "é": false} {
		for _, text := range []string{`{%q:1}`, `{"a":{%q:1}}`, `{"a":[{%q:1}]}`, `{"a":[1,{%q:1}]}`} {
			err := decodeStrictly(fmt.Appendf(nil, text, name), new(map[string]any))
			if (err == nil) != want || err != nil && err.Error() != fmt.Sprintf("unknown member %q", name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAskedTime verifies that a summary records a time of judgment only if there is one.
func TestAskedTime(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(1777140000, 0)} {
		v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, At: at})
		if err != nil {
			t.Fatal(err)
		}
		if a := askedOf(v, nil); (a.At == nil) != at.IsZero() {
			t.Errorf("%v: %v", at, a.At)
		}
	}
}

// TestSelectsOfBefore verifies that all streams of a partial summary are selections if an older
// version wrote it, and otherwise only the streams that are marked.
func TestSelectsOfBefore(t *testing.T) {
	w := chain.Stream{Tenant: "t", Workspace: "w"}
	for _, asked := range []*asked{nil, {}} {
		j := &summaryJSON{Version: receipt.ReportVersion, Partial: true, Asked: asked}
		s, err := j.summary()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.selects(w); got != (asked == nil) {
			t.Errorf("asked %v: %t", asked, got)
		}
	}
}

// TestMergeTimes verifies that a merged summary covers the time of both parts in any order, and
// that it is partial if one part is.
func TestMergeTimes(t *testing.T) {
	early, late := receipt.At(time.Unix(1777140000, 0)), receipt.At(time.Unix(1777150000, 0))
	a, b := &Summary{Started: early, Finished: early, Codes: map[receipt.Code]int{}}, &Summary{Started: late, Finished: late, Partial: true, Codes: map[receipt.Code]int{}}
	none := &Summary{Partial: true, Codes: map[receipt.Code]int{}}
	for _, parts := range [][2]*Summary{{none, a}, {a, none}} {
		m := &merger{parts: parts}
		if m.add(); m.Started != early || m.Finished != early {
			t.Errorf("%v to %v, with a part without times", m.Started, m.Finished)
		}
	}
	for _, parts := range [][2]*Summary{{a, b}, {b, a}} {
		m := &merger{parts: parts}
		if m.add(); m.Started != early || m.Finished != late || !m.Partial {
			t.Errorf("%v to %v, partial %t", m.Started, m.Finished, m.Partial)
		}
	}
}

// TestIsInput verifies which file names are names of receipts.
func TestIsInput(t *testing.T) {
	for name, want := range map[string]bool{
		"a.json": true, "a.JSONL": true, "a.ndjson.gz": true, "a.cbor.zst": true, "a.cborseq": true, "a.b.cose": true, ".json": true,
		"json": false, "a": false, "": false, "a.json.bak": false, "a.pdf": false, "a.gz": false, "json.": false,
	} {
		if got := IsInput(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// TestHeadsOfParts verifies that a stream has a head only if its parts join, and that the head has
// a count only if the input contains the beginning of the stream.
func TestHeadsOfParts(t *testing.T) {
	whole, later, apart, drawn := chain.Stream{Issuer: "a"}, chain.Stream{Issuer: "b"}, chain.Stream{Issuer: "c"}, chain.Stream{Issuer: "d"}
	head := canon.Sum([]byte("head"))
	s := Summary{Streams: []chain.Segment{
		{Stream: whole, First: true, Count: 3, Head: head}, {Stream: later, Count: 3, Head: head},
		{Stream: apart, First: true, Count: 3, Head: head}, {Stream: apart, Count: 3, Head: canon.Sum(nil)}, {Stream: drawn, First: true, Count: 3, Head: head},
	}, Findings: []Finding{{Drawn: true}, {Stream: &whole}, {Stream: &drawn, Drawn: true}}}
	want := map[chain.Stream]chain.Head{whole: {Hash: head, Count: 3}, later: {Hash: head}}
	if got := s.Heads(); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestFindingsSorted verifies that findings about streams are sorted by stream, after the others.
func TestFindingsSorted(t *testing.T) {
	list := []Finding{{Code: "x"}, {Stream: &chain.Stream{Issuer: "b"}}, {Stream: &chain.Stream{Issuer: "a"}}}
	sortFindings(list)
	if list[0].Stream != nil || list[1].Stream.Issuer != "a" || list[2].Stream.Issuer != "b" {
		t.Errorf("%+v", list)
	}
}

// TestRosterLimit verifies that a report contains at most MaxRoster receipts, unless all receipts
// were requested.
func TestRosterLimit(t *testing.T) {
	for _, c := range []struct {
		r    *survey.Roster
		want bool
	}{
		{nil, false},
		{&survey.Roster{Receipts: survey.MaxRoster}, true},
		{&survey.Roster{Receipts: survey.MaxRoster + 1}, false},
		{&survey.Roster{Receipts: survey.MaxRoster + 1, Whole: true}, true},
	} {
		if got := newRosterJSON(c.r) != nil; got != c.want {
			t.Errorf("%+v: %t", c.r, got)
		}
	}
}

// TestStreamBounds verifies the limits on the number of streams and on the length of their names.
func TestStreamBounds(t *testing.T) {
	for _, c := range []struct {
		limit, streams, names int
		want                  bool
	}{
		{0, 1 << 30, 1 << 40, true},
		{2, 2, 2 * nameBytes, true},
		{2, 3, 0, false},
		{2, 2, 2*nameBytes + 1, false},
	} {
		if got := (&Bounds{Streams: c.limit}).allows(c.streams, c.names); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// TestWeight verifies that only large documents need a turn, and that CBOR needs more memory.
func TestWeight(t *testing.T) {
	text := bytes.Repeat([]byte(" "), largeDocument+1)
	for k, want := range map[Kind]int64{JSON: 2*int64(len(text)) + canon.Size(text), Lines: 2*int64(len(text)) + canon.Size(text), CBOR: 50 * int64(len(text)), Sequence: 50 * int64(len(text))} {
		if got := Weight(text, k); got != want {
			t.Errorf("%v: %d, expected %d", k, got, want)
		}
		if got := Weight(text[1:], k); got != 0 {
			t.Errorf("%v: %d for a small document", k, got)
		}
	}
}

// TestConcludeNotes verifies the notes about receipts before and after the ones in the input.
func TestConcludeNotes(t *testing.T) {
	stream, head := chain.Stream{Issuer: "a"}, canon.Sum([]byte("head"))
	const before, after = "whether receipts precede the first one", "whether receipts follow the head"
	for name, c := range map[string]struct {
		first bool
		d     demands
		want  string
	}{
		"from the middle": {false, demands{}, before + "; " + after},
		"from the start":  {true, demands{}, after},
		"continued":       {false, demands{Wanted: survey.Wanted{After: map[chain.Stream]chain.Head{stream: {}}}}, after},
		"after a hash":    {false, demands{given: Continuity{Previous: head}}, after},
		"up to a head":    {true, demands{given: Continuity{Head: head}}, ""},
		"expected head":   {true, demands{Wanted: survey.Wanted{Expect: map[chain.Stream]chain.Head{stream: {Hash: head}}}}, ""},
	} {
		s := Summary{Streams: []chain.Segment{{Stream: stream, First: c.first, Count: 1, Head: head}}}
		c.d.conclude(&s)
		var notes []string
		for _, n := range s.NotChecked {
			notes = append(notes, n.Detail)
		}
		if got := strings.Join(notes, "; "); got != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// TestEndsAreNoted verifies that a merged summary has notes about the ends of its streams only if
// one of the parts has them.
func TestEndsAreNoted(t *testing.T) {
	stream, head := chain.Stream{Issuer: "a"}, canon.Sum([]byte("head"))
	for _, codes := range [][]receipt.Code{{}, {receipt.CodeLinkNotChecked}, {receipt.CodeTailNotChecked}, {receipt.CodeLinkNotChecked, receipt.CodeTailNotChecked}} {
		part := new(Summary)
		for _, code := range codes {
			part.addNote(code, "a")
		}
		m := &merger{parts: [2]*Summary{new(Summary), part}, Summary: &Summary{Streams: []chain.Segment{{Stream: stream, Count: 1, Head: head}}}}
		m.noteEnds()
		var got []receipt.Code
		for _, n := range m.NotChecked {
			got = append(got, n.Code)
		}
		if !slices.Equal(got, codes) {
			t.Errorf("%v, expected %v", got, codes)
		}
	}
}

// TestEndsJoined verifies the findings about segments of a stream that do not join, in two parts of
// which at least one does not list its receipts, and in two parts that list them.
func TestEndsJoined(t *testing.T) {
	stream, other := chain.Stream{Issuer: "a"}, chain.Stream{Issuer: "b"}
	hash := func(name string) canon.Digest { return canon.Sum([]byte(name)) }
	segment := func(previous, head string, count uint64) chain.Segment {
		return chain.Segment{Stream: stream, First: previous == "", Previous: hash(previous), Head: hash(head), Count: count}
	}
	failed := segment("", "a", 3)
	failed.Failures = 1
	for name, c := range map[string]struct {
		group     []chain.Segment
		listed    []string // nil: the hashes are not known
		apart     bool
		open      bool
		elsewhere string // head of another stream
		undecided int
		want      receipt.Code
	}{
		"one":                           {group: []chain.Segment{segment("x", "a", 1)}},
		"one, from another stream":      {group: []chain.Segment{segment("x", "a", 1)}, elsewhere: "x", want: receipt.CodeChainBreak},
		"two firsts":                    {group: []chain.Segment{segment("", "a", 1), segment("", "b", 1)}, want: receipt.CodeChainBreak},
		"two firsts, other lengths":     {group: []chain.Segment{segment("", "a", 1), segment("", "b", 2)}, open: true},
		"two firsts, apart":             {group: []chain.Segment{segment("", "a", 1), segment("", "b", 2)}, listed: []string{"a", "b"}, apart: true, want: receipt.CodeChainBreak},
		"two firsts, failures":          {group: []chain.Segment{failed, segment("", "b", 3)}, open: true},
		"a fork":                        {group: []chain.Segment{segment("x", "a", 2), segment("x", "b", 2)}, want: receipt.CodeChainFork},
		"a gap between single receipts": {group: []chain.Segment{segment("", "a", 1), segment("x", "b", 1)}, want: receipt.CodeChainBreak},
		"a gap":                         {group: []chain.Segment{segment("", "a", 2), segment("x", "b", 1)}, open: true},
		"a gap, all listed":             {group: []chain.Segment{segment("", "a", 2), segment("x", "b", 1)}, listed: []string{"a", "b"}, want: receipt.CodeChainBreak},
		"inside, all listed":            {group: []chain.Segment{segment("", "a", 3), segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, apart: true, want: receipt.CodeChainFork},
		"inside, with failures":         {group: []chain.Segment{failed, segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, apart: true, open: true},
		"inside, with common receipts":  {group: []chain.Segment{segment("", "a", 3), segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, open: true},
		"a gap, undecided":              {group: []chain.Segment{segment("", "a", 1), segment("x", "b", 1)}, undecided: 1, open: true},
		"after a head":                  {group: []chain.Segment{segment("", "x", 1), segment("x", "b", 1)}, open: true},
		"after a head, all listed":      {group: []chain.Segment{segment("", "x", 3), segment("x", "b", 1)}, listed: []string{"x", "b"}, apart: true, open: true},
		"after the hash zero":           {group: []chain.Segment{{Stream: stream, First: true, Head: hash("a"), Count: 1}, {Stream: stream, Head: hash("b"), Count: 1}}, want: receipt.CodeChainBreak},
		"equal heads":                   {group: []chain.Segment{segment("", "a", 2), segment("x", "a", 1)}, listed: []string{"a"}},
	} {
		p := newEndsJoiner(&merger{Summary: &Summary{Undecided: c.undecided}})
		if c.elsewhere != "" {
			p.heads[hash(c.elsewhere)] = other
		}
		if p.known = c.listed != nil; p.known {
			p.listed = map[canon.Digest]bool{}
			for _, name := range c.listed {
				p.listed[hash(name)] = true
			}
		}
		p.apart = c.apart
		p.judge(c.group)
		var got receipt.Code
		if len(p.Findings) > 0 {
			got = p.Findings[0].Code
		}
		if got != c.want || len(p.Findings) > 1 || p.open != c.open {
			t.Errorf("%s: %+v, open %t", name, p.Findings, p.open)
		}
	}

	// Selections never show that a receipt is missing or inserted, unless the other part has no
	// receipt of the stream.
	for _, both := range []bool{false, true} {
		p := newEndsJoiner(&merger{Summary: &Summary{selected: map[chain.Stream]bool{stream: true}}})
		p.both[stream], p.heads[hash("x")] = both, other
		if p.judge([]chain.Segment{segment("x", "a", 1)}); p.open != both || (len(p.Findings) == 0) != both {
			t.Errorf("a selection, in both parts %t: %+v, open %t", both, p.Findings, p.open)
		}
	}
}

// TestTurnWeight verifies that a large document waits for the memory that its kind needs.
func TestTurnWeight(t *testing.T) {
	text := append(bytes.Repeat([]byte(" "), largeDocument), "{}"...)
	var weights []int64
	turn := func(_ context.Context, weight int64) (func(), error) {
		weights = append(weights, weight)
		return func() {}, nil
	}
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for range Verify(t.Context(), v, bytes.NewReader(text), Options{Bounds: Bounds{Turn: turn}}).Reports() {
	}
	if !slices.Equal(weights, []int64{Weight(text, JSON)}) {
		t.Errorf("%v, expected %d", weights, Weight(text, JSON))
	}
}
