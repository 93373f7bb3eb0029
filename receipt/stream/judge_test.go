package stream

import (
	"fmt"
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
	const compared, uncompared = "compared", "only a part"
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
	s := &Summary{Streams: []chain.Segment{{Stream: a, Count: 1, First: true, Head: canon.Sum([]byte("a"))}, {Stream: b, Count: 1, First: true, Head: canon.Sum([]byte("b"))}}}
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
		for _, text := range []string{`{%q:1}`, `{"a":{%q:1}}`, `{"a":[{%q:1}]}`} {
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
