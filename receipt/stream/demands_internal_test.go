package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

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

// TestAfterNothing verifies that an input without receipts has no note about the streams that it
// does not continue.
func TestAfterNothing(t *testing.T) {
	d := demands{Wanted: survey.Wanted{After: map[chain.Stream]chain.Head{{Issuer: "a"}: {Hash: canon.Sum([]byte("head"))}}}}
	for receipts, want := range map[int]int{0: 0, 1: 1} {
		s := Summary{Receipts: receipts}
		if d.concludeAfter(&s); len(s.NotChecked) != want || len(s.Findings) != 0 {
			t.Errorf("%d receipts: %+v, %+v", receipts, s.NotChecked, s.Findings)
		}
	}
}

// TestOneStream verifies which requirements apply only to an input with one stream.
func TestOneStream(t *testing.T) {
	hash, count := canon.Sum([]byte("a")), uint64(0)
	for name, c := range map[string]struct {
		Continuity
		want bool
	}{
		"nothing":     {Continuity{}, false},
		"predecessor": {Continuity{Previous: hash}, true},
		"head":        {Continuity{Head: hash}, true},
		"count":       {Continuity{Count: &count}, true},
		"heads":       {Continuity{Expect: map[chain.Stream]chain.Head{{}: {Hash: hash}}}, false},
	} {
		if got := c.one(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
