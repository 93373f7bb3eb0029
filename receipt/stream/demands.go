package stream

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// Demands are what the streams of an input must continue, hold and end in.
type demands struct {
	after   map[chain.Stream]chain.Head
	follows bool
	expect  map[chain.Stream]chain.Head
	only    Only
}

// head is the head that is expected of a stream; zero when none is.
func (d *demands) head(stream chain.Stream) chain.Head {
	if h := d.expect[stream]; !h.IsZero() {
		return h
	}
	return chain.Head{Hash: d.only.Head}
}

// previous is what the first receipt of a stream must name; zero when that is not
// known.
func (d *demands) previous(stream chain.Stream) canon.Digest {
	if h := d.after[stream].Hash; !h.IsZero() {
		return h
	}
	return d.only.Previous
}

// A streamEnd is where a stream ends in an input, and whether the head that was
// expected is in it.
type streamEnd struct {
	chain.Segment
	found bool
}

// compare compares the end of one stream with what is known of it.
func (d *demands) compare(s *Summary, e streamEnd) {
	stream, wanted := e.Stream, d.head(e.Stream)
	fail := func(code receipt.Code, stated, computed, detail string) {
		s.addFinding(Finding{Code: code, Stream: &stream, Stated: stated, Computed: computed, Detail: detail})
	}

	// With Only the stream must end there, otherwise it may go on.
	head := e.Head.String()
	switch {
	case wanted.IsZero():
	case !d.only.Head.IsZero() && e.Head != wanted.Hash:
		detail := fmt.Sprintf("the stream ends in %s, expected %s, which is not in the input", head, wanted.Hash)
		if e.found {
			detail = fmt.Sprintf("receipts follow the expected head %s, up to %s", wanted.Hash, head)
		}
		fail(receipt.CodeHeadMismatch, wanted.Hash.String(), head, detail)
	case e.found:
	case wanted.Count > e.Count:
		fail(receipt.CodeTruncated, wanted.Hash.String(), head,
			fmt.Sprintf("the stream had %d receipts up to %s before, the input has %d of them and not that one", wanted.Count, wanted.Hash, e.Count))
	default:
		fail(receipt.CodeHeadMismatch, wanted.Hash.String(), head,
			fmt.Sprintf("the stream had the head %s before, which is not in the input", wanted.Hash))
	}

	if n := d.only.Count; n != nil && *n != e.Count {
		fail(vocab.CodeCountMismatch, fmt.Sprint(*n), fmt.Sprint(e.Count), fmt.Sprintf("expected %d receipts, found %d", *n, e.Count))
	}
}

// conclude finds the streams that are gone, and says what remains open.
func (d *demands) conclude(s *Summary) {
	present := map[chain.Stream]bool{}
	open, unexpected := 0, 0
	for _, g := range s.Streams {
		present[g.Stream] = true
		if d.only.Head.IsZero() && d.expect[g.Stream].Hash != g.Head {
			unexpected++
		}
		if _, ok := d.after[g.Stream]; !ok && !g.First && d.only.Previous.IsZero() {
			open++
		}
	}

	// A stream that was there before may be gone as a whole.
	for stream, head := range d.expect {
		if !present[stream] {
			s.addFinding(Finding{Code: receipt.CodeTruncated, Stream: &stream, Stated: head.Hash.String(),
				Detail: fmt.Sprintf("the stream of issuer %.80q, workspace %.80q is not in the input", stream.Issuer, stream.Workspace)})
		}
	}

	d.concludeAfter(s)
	if len(s.Streams) == 0 && !d.only.isZero() && s.Receipts > 0 {
		s.addFinding(Finding{Code: receipt.CodeHeadMismatch, Detail: "no receipt of the input has a place in a stream"})
	}

	// That a chain was cut off at an end cannot be seen in it.
	if open > 0 {
		s.addNote(receipt.CodeLinkNotChecked, "whether receipts precede the first one%s", ofStreams(open, len(s.Streams)))
	}
	if unexpected > 0 {
		s.addNote(receipt.CodeTailNotChecked, "whether receipts follow the head%s", ofStreams(unexpected, len(s.Streams)))
	}
	sortFindings(s.Findings)
}

// concludeAfter says when no stream of the input is one of which it was given
// where it ended before.
func (d *demands) concludeAfter(s *Summary) {
	streams := map[chain.Stream]bool{}
	for _, g := range s.Streams {
		if _, continued := d.after[g.Stream]; continued {
			return
		}
		streams[g.Stream] = true
	}

	if len(d.after) == 0 || s.Receipts == 0 {
		return
	}

	// One predecessor for one stream was meant to precede it.
	for given, head := range d.after {
		if d.follows && len(streams) == 1 {
			s.addFinding(Finding{Code: receipt.CodeChainBreak, Stream: &s.Streams[0].Stream, Stated: stated(firstOf(s.Streams[0])), Computed: head.Hash.String(),
				Detail: fmt.Sprintf("the predecessor given, %s, is of another stream, of issuer %.80q, workspace %.80q", head.Hash, given.Issuer, given.Workspace)})
			return
		}
	}
	s.addNote(receipt.CodeEvidenceUnused, "what precedes the input was given of other streams than it holds")
}

// firstOf is what the first receipt of a segment states of its place.
func firstOf(g chain.Segment) chain.Link { return chain.Link{First: g.First, Previous: g.Previous} }

func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		if a.Stream == nil || b.Stream == nil {
			return 0
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
