package stream

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
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
	a, b := &chain.Stream{Issuer: "a"}, &chain.Stream{Issuer: "b"}
	list := []Finding{{Code: "1"}, {Code: "5", Stream: b}, {Code: "2"}, {Code: "3", Stream: a}, {Code: "4", Stream: a}}
	sortFindings(list)
	for i, f := range list {
		if f.Code != receipt.Code(fmt.Sprint(i+1)) {
			t.Errorf("%+v", list)
		}
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

// TestUncheckedOnce verifies that a report counts once for each code that it lists as not checked.
func TestUncheckedOnce(t *testing.T) {
	s := &Summary{Unchecked: map[receipt.Code]int{}}
	for range 2 {
		s.countUnchecked(&receipt.Report{NotChecked: []receipt.Note{{Code: receipt.CodeBatchNotChecked, Detail: "a"}, {Code: receipt.CodeBatchNotChecked, Detail: "b"}, {Code: receipt.CodeReplayNotChecked}}})
	}
	if len(s.Unchecked) != 2 || s.Unchecked[receipt.CodeBatchNotChecked] != 2 || s.Unchecked[receipt.CodeReplayNotChecked] != 2 {
		t.Errorf("%v", s.Unchecked)
	}
}

// TestUnusedEvidence verifies that a run has notes about unused evidence only if it read receipts to
// the end.
func TestUnusedEvidence(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		receipts int
		finished bool
		name     func(receipt.Piece) string
		want     string
	}{
		"unnamed":      {1, true, nil, "proof 2: no receipt in the input matches"},
		"named":        {1, true, func(p receipt.Piece) string { return "the " + p.Kind }, "the proof: no receipt in the input matches"},
		"no receipts":  {0, true, nil, ""},
		"not finished": {1, false, nil, ""},
	} {
		r := newRun(t.Context(), v, nil, Options{})
		r.options.Summing.Evidence = c.name
		r.summary.Receipts = c.receipts
		r.idle = func() []receipt.Piece { return []receipt.Piece{{Kind: "proof", Index: 1}} }
		r.conclude(&outside{}, c.finished)
		got := ""
		for _, n := range r.summary.NotChecked {
			got += n.Detail
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAtUnknown verifies the time at which keys had to be valid, if it is known.
func TestAtUnknown(t *testing.T) {
	at := receipt.At(time.Unix(1777140000, 0))
	for name, c := range map[string]struct {
		asked *asked
		want  receipt.Time
	}{"unknown": {nil, receipt.Time{}}, "each at its own time": {&asked{}, receipt.Time{}}, "given": {&asked{At: &at}, at}} {
		if got := (&Summary{asked: c.asked}).At(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
