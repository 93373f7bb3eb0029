package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/rules"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A Summary is one verdict over all receipts of an input, or of several inputs
// that were merged. Its JSON form is fixed by the schema "summary".
type Summary struct {
	Scope    receipt.Scope
	Complete bool // everything was read to its end
	Partial  bool // the input is a selection: absent predecessors are not breaks

	Receipts  int // judged; copies count once
	Verified  int
	Refuted   int
	Undecided int
	Copies    int
	Codes     map[receipt.Code]int // of what explains each receipt that is not verified

	// Streams are the runs of receipts, joined by their links and ordered by
	// stream. One stream that is whole is one segment.
	Streams []chain.Segment

	// Findings refute the input as a whole, not one of its receipts. Those about
	// the links between merged parts are drawn anew by each merge: a later part may
	// bring what was missing.
	Findings []Finding

	// NotChecked is what nobody looked at besides what the reports list.
	NotChecked []receipt.Note

	// Unchecked counts the documents whose reports leave something unchecked, by the code of
	// the note. Copies count each time; notes about links are in NotChecked. Withheld counts
	// values that were withheld and not disclosed. A nil map is not known: an older version
	// did not record it.
	Unchecked map[receipt.Code]int
	Withheld  int

	Skipped      []Notice // inputs that are not receipts; the first MaxNotices
	SkippedCount int
	Inputs       Inputs

	asked *asked // what the verifier was asked; nil: not known

	roster   *survey.Roster        // its receipts; nil when there are too many
	listed   map[canon.Digest]bool // their hashes, as List was told
	once     bool                  // a merge counted receipts that its parts share once
	selected map[chain.Stream]bool // streams of which some part is a selection; nil: all, when Partial says so

	// The rest is the caller's to fill in.
	Keys              *Keys
	Tool              string
	Started, Finished receipt.Time
}

// Verdict is the one answer: refuted when anything is false, verified only when
// everything was read, there is a receipt and each of them was verified.
func (s *Summary) Verdict() receipt.Verdict {
	switch {
	case s.Refuted > 0 || len(s.Findings) > 0:
		return receipt.Refuted
	case s.Complete && s.Receipts > 0 && s.Verified == s.Receipts && s.Undecided == 0 && !slices.ContainsFunc(s.NotChecked, receipt.Note.Undecides):
		return receipt.Verified
	}
	return receipt.Undecided
}

// MarkOverlap notes that parts were seen to hold the same receipt, for a merge of
// reports that list their receipts, and names it and them. The whole is not
// verified then, unless the summaries told enough to count that receipt once.
func (s *Summary) MarkOverlap(detail string) {
	if s.once {
		return
	}
	s.dropNotes(receipt.CodePartsOverlap)
	s.addNote(receipt.CodePartsOverlap, "%s", detail)
}

// List tells a summary which receipts it is about, by their hashes, as the report
// around it lists them. A merge with it then knows more, when the summary itself
// does not remember them: because there are more than 65,536, or because an
// older version wrote it.
func (s *Summary) List(hashes []canon.Digest) {
	s.listed = map[canon.Digest]bool{}
	for _, d := range hashes {
		s.listed[d] = true
	}
}

// Heads returns where each stream ends: what [Options.After] takes to continue,
// and [Options.Expect] to notice a rollback. A stream whose parts do not join
// has no head. Count is 0 where the beginning of the stream was not in the input.
func (s *Summary) Heads() map[chain.Stream]chain.Head {
	heads, several := map[chain.Stream]chain.Head{}, map[chain.Stream]bool{}
	for _, g := range s.Streams {
		if _, there := heads[g.Stream]; there {
			several[g.Stream] = true
		}
		head := chain.Head{Hash: g.Head}
		if g.First {
			head.Count = g.Count
		}
		heads[g.Stream] = head
	}

	// What a merge found of a stream says that its parts do not join.
	for _, f := range s.Findings {
		if f.Stream != nil && f.Drawn {
			several[*f.Stream] = true
		}
	}
	maps.DeleteFunc(heads, func(stream chain.Stream, _ chain.Head) bool { return several[stream] })
	return heads
}

// Comparable reports why two summaries do not mean the same by their verdicts, as
// an *[IncomparableError]. What a summary of an older version was asked is not known,
// and differs from nothing.
func (s *Summary) Comparable(o *Summary) error {
	if s.Scope != o.Scope {
		return &IncomparableError{"scope"}
	}
	if (s.Keys == nil) != (o.Keys == nil) || s.Keys != nil && s.Keys.SHA256 != o.Keys.SHA256 {
		return &IncomparableError{"keys"}
	}
	return s.asked.differs(o.asked)
}

// Merge returns the summary of the parts s and o together, whatever their order:
// what one run over the sources of both would say, or undecided where they do not
// tell. Receipts that are in both count once, where both remember their receipts. The
// error is that of [Summary.Comparable].
func (s *Summary) Merge(o *Summary) (*Summary, error) {
	if err := s.Comparable(o); err != nil {
		return nil, err
	}
	return merge(s, o)
}

// Expect returns the summary of merged parts compared with what is expected of the whole, as
// one run over all sources would have been: each head must be in the input, and one stream has
// to end as only says; only.Previous is not compared. Where parts do not tell their receipts,
// so that nobody knows whether an expected head is among them, it is undecided.
func (s *Summary) Expect(heads map[chain.Stream]chain.Head, only Only) (*Summary, error) {
	sum := *s
	s = &sum
	s.Findings, s.NotChecked = slices.Clone(s.Findings), slices.Clone(s.NotChecked)
	d := demands{Wanted: survey.Wanted{Expect: maps.Clone(heads), Last: only.Head}, only: Only{Head: only.Head, Count: only.Count}}
	ends := endsOf(s.Streams, &d)
	if len(ends) > 1 && !d.only.isZero() {
		return nil, ErrStreams
	}

	known, err := findHeads(s, ends, &d)
	if err != nil {
		return nil, fmt.Errorf("stream: summary: %w", err)
	}
	for _, e := range ends {
		if wanted := d.Head(e.Stream); !wanted.IsZero() && !e.Found && !known {
			s.addNote(receipt.CodeEvidenceUnused, "whether the expected head %s is in the input: the reports of its parts do not tell all receipts", wanted.Hash)
			delete(d.Expect, e.Stream)
			d.only.Head, d.Last = canon.Digest{}, canon.Digest{}
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
	return s, nil
}

// MarshalJSON writes the summary with its verdict.
func (s *Summary) MarshalJSON() ([]byte, error) { return json.Marshal(newSummaryJSON(s)) }

// UnmarshalJSON reads a summary back. The verdict is not read but drawn anew, and
// a summary that states another one is refused.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var j summaryJSON
	if err := decodeStrictly(data, &j); err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}
	read, err := j.summary()
	if err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}
	*s = read
	return nil
}

// selects reports whether a stream, or a part of it, is a selection.
func (s *Summary) selects(stream chain.Stream) bool {
	if s.selected == nil {
		return s.Partial
	}
	return s.selected[stream]
}

// count adds a judged item.
func (s *Summary) count(it *survey.Item) {
	s.countUnchecked(&it.Report)
	if it.Spare() {
		s.Copies++
		return
	}

	s.Receipts++
	switch it.Report.Verdict {
	case receipt.Verified:
		s.Verified++
	case receipt.Refuted:
		s.Refuted++
	default:
		s.Undecided++
	}

	if it.Report.Verdict != receipt.Verified {
		s.Codes[it.Report.Finding().Code]++
	}
}

// countUnchecked adds what the report of a document leaves unchecked. Copies count each
// time, so that the sum over parts is the sum over the whole.
func (s *Summary) countUnchecked(rep *receipt.Report) {
	s.Withheld += rep.Withheld
	for i, n := range rep.NotChecked {
		if !dependsOnOthers(n.Code) && !noted(rep.NotChecked[:i], n.Code) {
			s.Unchecked[n.Code]++
		}
	}
}

func (s *Summary) skip(source, what string) {
	if n := len(s.Skipped); n > 0 && s.Skipped[n-1] == (Notice{Source: source, Detail: what}) {
		return // another line of the same
	}
	if s.SkippedCount++; len(s.Skipped) < MaxNotices {
		s.Skipped = append(s.Skipped, Notice{Source: source, Detail: what})
	}
}

func (s *Summary) addNote(code receipt.Code, format string, args ...any) {
	s.NotChecked = append(s.NotChecked, receipt.Note{Code: code, Detail: fmt.Sprintf(format, args...)})
}

// hasNote reports whether there is a note of a code.
func (s *Summary) hasNote(code receipt.Code) bool {
	return slices.ContainsFunc(s.NotChecked, func(n receipt.Note) bool { return n.Code == code })
}

// addFinding adds what refutes the whole input.
func (s *Summary) addFinding(f Finding) {
	if len(s.Findings) < MaxNotices {
		s.Findings = append(s.Findings, f)
	}
}

// dropNotes removes the notes of a code.
func (s *Summary) dropNotes(code receipt.Code) {
	s.NotChecked = slices.DeleteFunc(s.NotChecked, func(n receipt.Note) bool { return n.Code == code })
}

// settle counts a receipt by what was found of its link among the receipts of all parts.
func (s *Summary) settle(f *survey.Fumble, is rules.Mark, open bool) {
	s.recount(f.Counted(), -1)
	f.Settle(is, open)
	s.recount(f.Counted(), 1)
}

// recount counts a receipt, or takes it back.
func (s *Summary) recount(o survey.Outcome, by int) {
	switch o.Own {
	case receipt.Verified:
		s.Verified += by
		return
	case receipt.Refuted:
		s.Refuted += by
	default:
		s.Undecided += by
	}
	s.countCode(o.Reason, by)
}

func (s *Summary) countCode(code receipt.Code, by int) {
	if s.Codes[code] += by; s.Codes[code] == 0 {
		delete(s.Codes, code)
	}
}

// hashes returns those of the receipts of a part; nil when they are not known.
func (s *Summary) hashes() map[canon.Digest]bool {
	if s.listed != nil || s.roster == nil {
		return s.listed
	}
	c, err := survey.CrowdOf(s.roster)
	if err != nil {
		return nil
	}
	list := map[canon.Digest]bool{}
	for _, d := range c.Hashes() {
		list[d] = true
	}
	return list
}

// dependsOnOthers reports whether a note is not about a document alone: the documents or the
// envelope around it decide the note, or the note only states that another step failed.
func dependsOnOthers(code receipt.Code) bool {
	switch code {
	case receipt.CodeLinkNotChecked, receipt.CodeCopyNotChecked, receipt.CodeEnvelopeNotChecked, receipt.CodeStepNotReached:
		return true
	}
	return false
}

func noted(list []receipt.Note, code receipt.Code) bool {
	return slices.ContainsFunc(list, func(n receipt.Note) bool { return n.Code == code })
}
