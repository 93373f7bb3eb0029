package stream

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A merger computes the summary of two parts together. It starts with the counts of both parts, and
// computes everything about links and streams again.
type merger struct {
	*Summary
	parts [2]*Summary
}

func merge(a, b *Summary) (*Summary, error) {
	m := &merger{parts: [2]*Summary{a, b}}
	m.add()
	m.keepNotes()

	// If a part has no roster, only the ends of streams can be joined.
	if a.roster != nil && b.roster != nil {
		if err := m.joinRosters(); err != nil {
			return nil, err
		}
	} else {
		newEndsJoiner(m).join()
	}

	// The summary must not depend on the order of the parts.
	m.noteEnds()
	slices.SortFunc(m.Findings, compareFindings)
	sortNotes(m.NotChecked)
	return m.Summary, nil
}

// add adds the counts and lists of both parts.
func (m *merger) add() {
	a, b := m.parts[0], m.parts[1]
	sum := *a
	m.Summary = &sum
	sum.Complete = a.Complete && b.Complete
	sum.Partial = a.Partial || b.Partial
	sum.selected = map[chain.Stream]bool{}
	sum.Receipts += b.Receipts
	sum.Verified += b.Verified
	sum.Refuted += b.Refuted
	sum.Undecided += b.Undecided
	sum.Copies += b.Copies
	sum.Codes = map[receipt.Code]int{}
	sum.Findings, sum.NotChecked, sum.Streams, sum.Levels, sum.roster, sum.listed, sum.once = nil, nil, nil, nil, nil, nil, false

	// Findings about links are computed again from the links in both parts.
	for _, part := range m.parts {
		for code, n := range part.Codes {
			sum.Codes[code] += n
		}
		for _, f := range part.Findings {
			if !f.Drawn {
				sum.Findings = append(sum.Findings, f)
			}
		}
		for _, g := range part.Streams {
			if part.selects(g.Stream) {
				sum.selected[g.Stream] = true
			}
		}
	}

	m.addUnchecked()
	sum.SkippedCount += b.SkippedCount
	sum.Skipped = bounded(slices.Concat(a.Skipped, b.Skipped))
	sum.Inputs.Files += b.Inputs.Files
	sum.Inputs.Bytes += b.Inputs.Bytes
	sum.Inputs.Unreadable = slices.Concat(a.Inputs.Unreadable, b.Inputs.Unreadable)
	if sum.asked == nil {
		sum.asked = b.asked
	}

	// The result covers the time from the first start to the last end.
	if sum.Started.IsZero() || !b.Started.IsZero() && b.Started.Before(sum.Started.Time) {
		sum.Started = b.Started
	}
	if b.Finished.After(sum.Finished.Time) {
		sum.Finished = b.Finished
	}
}

// addUnchecked adds the counts of unchecked documents. If a part did not record these counts, they
// are unknown in the merged summary, too.
func (m *merger) addUnchecked() {
	m.Unchecked, m.Withheld = map[receipt.Code]int{}, 0
	for _, part := range m.parts {
		for code, n := range part.Unchecked {
			m.Unchecked[code] += n
		}
		m.Withheld += part.Withheld
	}
	if slices.ContainsFunc(m.parts[:], func(part *Summary) bool { return part.Unchecked == nil && part.Receipts+part.Copies > 0 }) {
		m.Unchecked, m.Withheld = nil, 0
	}
}

// keepNotes keeps the notes of both parts that do not depend on how the parts join.
func (m *merger) keepNotes() {
	for _, part := range m.parts {
		for _, n := range part.NotChecked {
			if !drawnAnew(n.Code) && !slices.Contains(m.NotChecked, n) {
				m.NotChecked = append(m.NotChecked, n)
			}
		}
	}
	if (m.parts[0].asked == nil) != (m.parts[1].asked == nil) && !m.hasNote(receipt.CodeAskedNotRecorded) {
		m.addNote(receipt.CodeAskedNotRecorded, "what a part was asked: its report does not record it")
	}
}

// drawnAnew reports whether notes with the given code are computed again from the streams.
func drawnAnew(code receipt.Code) bool {
	return code == receipt.CodeLinkNotChecked || code == receipt.CodeTailNotChecked || code == receipt.CodePartsNotJoined || code == receipt.CodePartsOverlap
}

// noteEnds adds notes about the ends of the merged streams if any part has such notes. Where the
// parts join, the predecessor of the later part is known.
func (m *merger) noteEnds() {
	asked := map[receipt.Code]bool{}
	for _, part := range m.parts {
		for _, n := range part.NotChecked {
			asked[n.Code] = true
		}
	}

	// Segments are sorted by stream, so the first segment of each stream contains its beginning.
	open, all, heads := 0, 0, 0
	for i, g := range m.Streams {
		if i > 0 && m.Streams[i-1].Stream == g.Stream {
			continue
		}
		if all++; !g.First {
			open++
		}
		if !g.Head.IsZero() { // a cycle has no head
			heads++
		}
	}

	if open > 0 && asked[receipt.CodeLinkNotChecked] {
		m.addNote(receipt.CodeLinkNotChecked, "whether receipts precede the first one%s", ofStreams(open, all))
	}
	if heads > 0 && asked[receipt.CodeTailNotChecked] {
		m.addNote(receipt.CodeTailNotChecked, "whether receipts follow the head%s", ofStreams(heads, all))
	}
}

// strict reports whether a step that was not checked makes a receipt undecided.
func (m *merger) strict() bool { return m.asked != nil && m.asked.Strict }

// compareFindings compares two findings by all of their fields. Findings without a stream sort
// first.
func compareFindings(a, b Finding) int {
	var of, o chain.Stream
	if a.Stream != nil {
		of = *a.Stream
	}
	if b.Stream != nil {
		o = *b.Stream
	}
	return cmp.Or(cmp.Compare(truth(a.Stream != nil), truth(b.Stream != nil)), of.Compare(o), cmp.Compare(truth(a.Drawn), truth(b.Drawn)), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Cause, b.Cause),
		cmp.Compare(a.Stated, b.Stated), cmp.Compare(a.Computed, b.Computed), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Detail, b.Detail), cmp.Compare(a.Hint, b.Hint))
}

// truth returns 0 for false and 1 for true.
func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sortNotes(list []receipt.Note) {
	slices.SortFunc(list, func(a, b receipt.Note) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Detail, b.Detail))
	})
}

// joinRosters joins the receipts of both parts. It uses the same survey as a run over all of their
// sources, so the results are the same.
func (m *merger) joinRosters() error {
	c, err := survey.CrowdOf(m.parts[0].roster, m.parts[1].roster)
	if err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}

	v, err := c.Survey()
	if err != nil {
		return err
	}

	// A receipt that is in both parts has been counted twice.
	var linked map[int]bool
	if m.once = c.Outcomes; m.once {
		linked = c.Linked(v)
		m.countOnce(c.Spares(v))
	} else {
		m.noteOverlap(c.Shared(v))
	}

	// A link that was invalid within a part may be valid among all receipts, and vice versa.
	number := 0
	_ = c.Each(func(it *survey.Item, a *survey.Attendee) error {
		is := v.Marks[number]
		if c.Outcomes { // otherwise, copies are not counted
			is = v.Found(number)
		}
		open := m.strict() && is.Open() && a.Yields() && !linked[v.First(number)]
		number++
		switch {
		case a.Spare:
			return nil
		case a.Fault != nil:
			m.settle(a.Fault, is, open)
		case open && c.Outcomes: // the receipt was a copy, and its original had the link
			m.recount(a.Alone(), -1)
			a.Leave()
			m.recount(a.Fault.Counted(), 1)
		}
		if is.Failed() && (a.Fault == nil || !a.Fault.Failed()) {
			m.addFinding(markFinding(is, v.StreamOf(it), &it.Facts))
		}
		return nil
	})

	if v.Apart() {
		m.noteNotJoined("some of them are selections, and their predecessors are not there")
	}

	// A stream that contains only damaged receipts is not listed.
	for _, e := range v.Ends() {
		m.Streams = append(m.Streams, e.Segment)
	}
	m.Streams = chain.Join(m.Streams)

	m.roster = c.Pack()
	return nil
}

// countOnce counts copies in the same way as a run over all of the sources. changed contains the
// receipts that are newly counted or no longer counted.
func (m *merger) countOnce(changed []*survey.Attendee) {
	for _, a := range changed {
		by := 1
		if a.Spare {
			by = -1
			if a.Fault != nil { // a copy has no separate link
				m.settle(a.Fault, join.MarkCopy, false)
			}
		}
		m.Receipts += by
		m.Copies -= by

		m.recount(a.Alone(), by)
	}
}

// noteOverlap adds a note that both parts contain the same receipts. The note names the receipt
// with the smallest hash.
func (m *merger) noteOverlap(shared []canon.Digest) {
	if len(shared) > 0 {
		d := slices.MinFunc(shared, func(a, b canon.Digest) int { return bytes.Compare(a[:], b[:]) })
		m.keepOverlap(fmt.Sprintf("two parts hold the receipt %s, so it was counted twice", d))
	}
}

// keepOverlap adds a note that a receipt was counted twice. The note names only one receipt, which
// does not depend on the order of the parts.
func (m *merger) keepOverlap(detail string) {
	for i, n := range m.NotChecked {
		if n.Code == receipt.CodePartsOverlap {
			m.NotChecked[i].Detail = min(n.Detail, detail)
			return
		}
	}
	m.addNote(receipt.CodePartsOverlap, "%s", detail)
}

func (m *merger) noteNotJoined(why string) {
	m.addNote(receipt.CodePartsNotJoined, "whether receipts are missing between parts: %s", why)
}
