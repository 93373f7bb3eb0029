package stream

import (
	"fmt"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// compareMerged makes s the summary that parts were merged to, compared with what is
// expected of the whole.
func compareMerged(s *Summary, o *Options) error {
	*s = *o.Merged
	s.Findings, s.NotChecked = slices.Clone(s.Findings), slices.Clone(s.NotChecked)
	d := demands{expect: maps.Clone(o.Expect), only: Only{Head: o.Only.Head, Count: o.Only.Count}}
	ends := endsOf(s.Streams, &d)
	if len(ends) > 1 && !d.only.isZero() {
		return ErrStreams
	}

	known, err := findHeads(s, ends, &d)
	if err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}
	for _, e := range ends {
		if wanted := d.head(e.Stream); !wanted.IsZero() && !e.found && !known {
			s.addNote(receipt.CodeEvidenceUnused, "whether the expected head %s is in the input: the reports of its parts do not tell all receipts", wanted.Hash)
			delete(d.expect, e.Stream)
			d.only.Head = canon.Digest{}
		}
		d.compare(s, e)
	}

	// What nobody asked of the parts is not asked of the whole.
	precede, follow := s.hasNote(receipt.CodeLinkNotChecked), s.hasNote(receipt.CodeTailNotChecked)
	s.dropNotes(receipt.CodeLinkNotChecked)
	s.dropNotes(receipt.CodeTailNotChecked)
	d.conclude(s)
	if !precede {
		s.dropNotes(receipt.CodeLinkNotChecked)
	}
	if !follow {
		s.dropNotes(receipt.CodeTailNotChecked)
	}

	slices.SortFunc(s.Findings, compareFindings)
	sortNotes(s.NotChecked)
	return nil
}

// endsOf are the ends of streams, of which some may be in several segments that do not join:
// then one of these ends in the expected head, or none does.
func endsOf(segments []chain.Segment, d *demands) (ends []streamEnd) {
	for _, g := range segments {
		found := g.Head == d.head(g.Stream).Hash
		if n := len(ends); n > 0 && ends[n-1].Stream == g.Stream {
			e := &ends[n-1]
			if e.Count += g.Count; !e.found {
				e.Head, e.found = g.Head, found
			}
			continue
		}
		ends = append(ends, streamEnd{g, found})
	}
	return ends
}

// findHeads finds the expected heads that are inside of streams, among the receipts that the
// parts tell; known is false when they do not tell all.
func findHeads(s *Summary, ends []streamEnd, d *demands) (known bool, err error) {
	if s.roster == nil {
		for i := range ends {
			ends[i].found = ends[i].found || s.listed[d.head(ends[i].Stream).Hash]
		}
		return s.listed != nil, nil
	}

	has := map[chain.Stream]bool{}
	for _, in := range s.roster.sources {
		list, err := in.unpack(len(s.roster.streams))
		if err != nil {
			return false, err
		}
		for i := range list {
			if stream := s.roster.streams[list[i].stream]; list[i].link.Hash == d.head(stream).Hash {
				has[stream] = true
			}
		}
	}
	for i := range ends {
		ends[i].found = ends[i].found || has[ends[i].Stream]
	}
	return true, nil
}
