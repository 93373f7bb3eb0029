package stream

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// demands contains the requirements for the streams of an input: their predecessors, their
// contents, and their heads.
type demands struct {
	survey.Wanted
	given Continuity
}

// compare compares the end of a stream with the requirements.
func (d *demands) compare(s *Summary, e survey.End) {
	stream, wanted := e.Stream, d.Head(e.Stream)
	fail := func(code receipt.Code, stated, computed, detail string) {
		s.addFinding(Finding{Code: code, Stream: &stream, Stated: stated, Computed: computed, Detail: detail})
	}
	miss := func(code receipt.Code, stated, computed, detail string) {
		s.addAbsent(Finding{Code: code, Stream: &stream, Stated: stated, Computed: computed, Detail: detail})
	}

	// If [Continuity].Head is set, the stream must end with that head. Otherwise, receipts may come
	// after the expected head.
	head := e.Head.String()
	switch {
	case wanted.IsZero():
	case !d.given.Head.IsZero() && e.Head != wanted.Hash && e.Found:
		text := "receipts follow the expected head %s, up to %s"
		if e.Failures > 0 { // the receipts after a break may not follow those before it
			text = "the expected head %s is in the input, but the stream has breaks, and its head is %s"
		}
		fail(receipt.CodeHeadMismatch, wanted.Hash.String(), head, fmt.Sprintf(text, wanted.Hash, head))
	case !d.given.Head.IsZero() && e.Head != wanted.Hash:
		miss(receipt.CodeHeadMismatch, wanted.Hash.String(), head, fmt.Sprintf("the stream ends in %s, expected %s, which is not in the input", head, wanted.Hash))
	case e.Found:
	case wanted.Count > e.Count:
		miss(receipt.CodeTruncated, wanted.Hash.String(), head,
			fmt.Sprintf("the stream had %d receipts up to %s before, the input has %d of them and not that one", wanted.Count, wanted.Hash, e.Count))
	default:
		miss(receipt.CodeHeadMismatch, wanted.Hash.String(), head,
			fmt.Sprintf("the stream had the head %s before, which is not in the input", wanted.Hash))
	}

	if n := d.given.Count; n != nil && *n != e.Count {
		report := miss
		if *n < e.Count {
			report = fail
		}
		report(receipt.CodeCountMismatch, fmt.Sprint(*n), fmt.Sprint(e.Count), fmt.Sprintf("expected %d receipts, found %d", *n, e.Count))
	}
}

// conclude adds findings for missing streams, and notes about requirements that were not checked.
func (d *demands) conclude(s *Summary) {
	present := map[chain.Stream]bool{}
	open, unexpected := 0, 0
	for _, g := range s.Streams {
		present[g.Stream] = true
		if d.given.Head.IsZero() && d.Expect[g.Stream].Hash != g.Head {
			unexpected++
		}
		if _, ok := d.After[g.Stream]; !ok && !g.First && d.given.Previous.IsZero() {
			open++
		}
	}

	// An expected stream may be missing entirely.
	for stream, head := range d.Expect {
		if !present[stream] {
			s.addAbsent(Finding{Code: receipt.CodeTruncated, Stream: &stream, Stated: head.Hash.String(),
				Detail: fmt.Sprintf("the stream of issuer %.80q, workspace %.80q is not in the input", stream.Issuer, stream.Workspace)})
		}
	}

	d.concludeAfter(s)
	if len(s.Streams) == 0 && d.given.one() && s.Receipts > 0 {
		s.addAbsent(Finding{Code: receipt.CodeHeadMismatch, Detail: "no receipt of the input has a place in a stream"})
	}

	// A truncated chain does not show that it was truncated.
	if open > 0 {
		s.addNote(receipt.CodeLinkNotChecked, "whether receipts precede the first one%s", ofStreams(open, len(s.Streams)))
	}
	if unexpected > 0 {
		s.addNote(receipt.CodeTailNotChecked, "whether receipts follow the head%s", ofStreams(unexpected, len(s.Streams)))
	}
	sortFindings(s.Findings)
}

// concludeAfter adds a finding or a note if the input has none of the streams in After.
func (d *demands) concludeAfter(s *Summary) {
	streams := map[chain.Stream]bool{}
	for _, g := range s.Streams {
		if _, continued := d.After[g.Stream]; continued {
			return
		}
		streams[g.Stream] = true
	}

	if len(d.After) == 0 || s.Receipts == 0 {
		return
	}

	// If the input contains only one stream, that stream must follow the given predecessor.
	for given, head := range d.After {
		if d.given.Follows && len(streams) == 1 {
			s.addFinding(Finding{Code: receipt.CodeChainBreak, Stream: &s.Streams[0].Stream, Stated: survey.Stated(firstOf(s.Streams[0])), Computed: head.Hash.String(),
				Detail: fmt.Sprintf("the given predecessor %s belongs to another stream, of issuer %.80q, workspace %.80q", head.Hash, given.Issuer, given.Workspace)})
			return
		}
	}
	s.addNote(receipt.CodeEvidenceUnused, "what precedes the input was given of other streams than it holds")
}

// firstOf returns the link of the first receipt in a segment.
func firstOf(g chain.Segment) chain.Link { return chain.Link{First: g.First, Previous: g.Previous} }

// sortFindings sorts findings by stream. Findings without a stream come first.
func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		switch {
		case a.Stream == nil && b.Stream == nil:
			return 0
		case a.Stream == nil:
			return -1
		case b.Stream == nil:
			return 1
		}
		return a.Stream.Compare(*b.Stream)
	})
}

func ofStreams(n, all int) string {
	switch {
	case all == 1:
		return ""
	case n == 1:
		return " of 1 stream"
	}
	return fmt.Sprintf(" of %d streams", n)
}

// end adds the ends of the streams to the summary, and compares them with the requirements.
func (d *demands) end(s *Summary, ends []survey.End) {
	for _, e := range ends {
		s.Streams = append(s.Streams, e.Segment)
		d.compare(s, e)
	}
	s.Streams = chain.Join(s.Streams)
}

// endsOf returns the ends of the streams. If the segments of a stream do not join, the stream still
// has only one end. That end contains the expected head if any of the segments contains it.
func endsOf(segments []chain.Segment, d *demands) (ends []survey.End) {
	for _, g := range segments {
		found := g.Head == d.Head(g.Stream).Hash
		if n := len(ends); n > 0 && ends[n-1].Stream == g.Stream {
			e := &ends[n-1]
			e.Failures += g.Failures + 1
			if e.Count += g.Count; !e.Found {
				e.Head, e.Found = g.Head, found
			}
			continue
		}
		ends = append(ends, survey.End{Segment: g, Found: found})
	}
	return ends
}

// findHeads looks for the expected heads among the listed receipts of the parts. known reports
// whether the parts list all of their receipts.
func findHeads(s *Summary, ends []survey.End, d *demands) (known bool, err error) {
	if s.roster == nil {
		for i := range ends {
			ends[i].Found = ends[i].Found || s.listed[d.Head(ends[i].Stream).Hash]
		}
		return s.listed != nil, nil
	}

	has, err := s.roster.Heads(&d.Wanted)
	if err != nil {
		return false, err
	}
	for i := range ends {
		ends[i].Found = ends[i].Found || has[ends[i].Stream]
	}
	return true, nil
}
