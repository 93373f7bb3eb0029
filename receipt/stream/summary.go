package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A Summary contains one verdict for all receipts in an input, or in several inputs whose summaries
// were merged. The schema "summary" defines its JSON form.
type Summary struct {
	Scope    receipt.Scope
	Complete bool // all inputs were read to their ends
	Partial  bool // the input is a selection, so a missing predecessor is not a break

	Receipts  int // number of counted receipts, with any verdict
	Verified  int
	Refuted   int
	Undecided int
	Copies    int                  // number of copies that are not counted
	Codes     map[receipt.Code]int // for each code, the number of receipts that are not verified because of it

	// Streams contains sequences of receipts that are joined by their links, sorted by stream. A
	// stream without gaps consists of a single segment.
	Streams []chain.Segment

	// Findings refute the entire input instead of a single receipt. Each merge computes the
	// findings about links between parts again, because a later part may contain receipts that were
	// missing.
	Findings []Finding

	// NotChecked lists checks that were omitted, in addition to those listed in the reports.
	NotChecked []receipt.Note

	// Unchecked contains, for each code, the number of documents whose reports list something as
	// not checked with that code. Each copy is counted. Notes about links are in NotChecked
	// instead. Withheld is the number of withheld values that were not disclosed. A nil map means
	// that the numbers are unknown, because an older version did not record them.
	Unchecked map[receipt.Code]int
	Withheld  int

	Skipped      []Notice // inputs that are not receipts, up to MaxNotices
	SkippedCount int
	Inputs       Inputs

	asked *asked // requirements for the receipts; nil if unknown

	roster   *survey.Roster        // all receipts; nil if there are too many
	listed   map[canon.Digest]bool // hashes of the receipts, as set by List
	once     bool                  // receipts that are in both parts of a merge were counted only once
	selected map[chain.Stream]bool // streams with at least one part that is a selection; nil means all streams if Partial is set

	// The caller sets the remaining fields. Levels is nil if there were no statements. A merge
	// discards the levels.
	Levels            []Level
	Keys              *Keys
	Tool              string
	Started, Finished receipt.Time
}

// A Level states whether all streams meet the conditions of a level in AEL 0.1 (Agent Evidence
// Levels). This is not a grade, which only a third party can give.
type Level struct {
	// Number is 1 for the level at which streams lack no tail, heartbeat, or end, and 3 for the
	// level at which all receipts are in an external log.
	Number int    `json:"level"`
	Met    bool   `json:"met"`
	Detail string `json:"detail"` // why it is not met
}

// Verdict returns the verdict: refuted if anything is invalid, and verified only if everything was
// read, there is at least one receipt, and every receipt was verified.
func (s *Summary) Verdict() receipt.Verdict {
	switch {
	case s.Refuted > 0 || len(s.Findings) > 0:
		return receipt.Refuted
	case s.Complete && s.Receipts > 0 && s.Verified == s.Receipts && s.Undecided == 0 && !slices.ContainsFunc(s.NotChecked, receipt.Note.Undecides):
		return receipt.Verified
	}
	return receipt.Undecided
}

// At returns the time at which keys had to be valid, or zero if each receipt was judged at its own
// time or if the time is unknown.
func (s *Summary) At() receipt.Time {
	if s.asked == nil || s.asked.At == nil {
		return receipt.Time{}
	}
	return *s.asked.At
}

// MarkOverlap adds a note that several parts contain the same receipt. It is used when reports that
// list their receipts are merged. detail names the receipt and the parts. A summary with this note
// is never verified. If the rosters were sufficient to count the receipt only once, MarkOverlap
// adds no note.
func (s *Summary) MarkOverlap(detail string) {
	if s.once {
		return
	}
	s.dropNotes(receipt.CodePartsOverlap)
	s.addNote(receipt.CodePartsOverlap, "%s", detail)
}

// List sets the hashes of the receipts, as listed in the report that contains the summary. A
// summary has no roster if it has more than 65,536 receipts or was written by an older version.
// With these hashes, a merge can determine more about such a summary.
func (s *Summary) List(hashes []canon.Digest) {
	s.listed = map[canon.Digest]bool{}
	for _, d := range hashes {
		s.listed[d] = true
	}
}

// Heads returns the head of each stream. It can be used as Continuity.After to continue the
// streams, or as Continuity.Expect to detect a rollback. A stream whose parts do not join has no
// head. Count is 0 if the beginning of the stream was not in the input.
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

	// A merge adds a finding for each stream whose parts do not join.
	for _, f := range s.Findings {
		if f.Stream != nil && f.Drawn {
			several[*f.Stream] = true
		}
	}
	maps.DeleteFunc(heads, func(stream chain.Stream, _ chain.Head) bool { return several[stream] })
	return heads
}

// Comparable returns an *[IncomparableError] if the verdicts of two summaries do not mean the same.
// The requirements in a summary from an older version are unknown, and are treated as compatible
// with all others.
func (s *Summary) Comparable(o *Summary) error {
	if s.Scope != o.Scope {
		return &IncomparableError{"scope"}
	}
	if (s.Keys == nil) != (o.Keys == nil) || s.Keys != nil && s.Keys.SHA256 != o.Keys.SHA256 {
		return &IncomparableError{"keys"}
	}
	return s.asked.differs(o.asked)
}

// Merge returns the summary of the parts s and o together. Their order does not matter. The result
// is equal to the summary of a single run over the sources of both parts, or it is undecided if the
// parts do not contain enough data. However, an invalid link between the parts is a finding, and the
// receipt that states it is counted as in its part. Receipts that are in both parts are counted once
// if both parts have rosters. The error is the error from [Summary.Comparable].
func (s *Summary) Merge(o *Summary) (*Summary, error) {
	if err := s.Comparable(o); err != nil {
		return nil, err
	}
	return merge(s, o)
}

// Expect compares the summary of merged parts with the required ends, in the same way as a single
// run over all sources, and returns a copy of the summary that includes the result. It ignores the
// fields of c that specify how streams must begin. If the parts do not list their receipts, an
// expected head may be among the unlisted receipts. The result is then undecided.
func (s *Summary) Expect(c Continuity) (*Summary, error) {
	sum := *s
	s = &sum
	s.Findings, s.NotChecked = slices.Clone(s.Findings), slices.Clone(s.NotChecked)
	c = Continuity{Expect: maps.Clone(c.Expect), Head: c.Head, Count: c.Count}
	d := demands{Wanted: survey.Wanted{Expect: c.Expect, Last: c.Head}, given: c}
	ends := endsOf(s.Streams, &d)
	if len(ends) > 1 && d.given.one() {
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
			d.given.Head, d.Last = canon.Digest{}, canon.Digest{}
		}
		d.compare(s, e)
	}

	// Notes about links and tails that were not checked are kept only if the parts had such notes.
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

// MarshalJSON returns the summary, including its verdict, as JSON.
func (s Summary) MarshalJSON() ([]byte, error) { return json.Marshal(newSummaryJSON(&s)) }

// UnmarshalJSON parses a summary. It determines the verdict again, and returns an error if the
// stated verdict is different.
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

// selects reports whether a stream, or a part of it, is only a selection.
func (s *Summary) selects(stream chain.Stream) bool {
	if s.selected == nil {
		return s.Partial
	}
	return s.selected[stream]
}

// selectAll marks all streams as selections, because receipts that were not read are not missing.
func (s *Summary) selectAll() {
	s.selected = map[chain.Stream]bool{}
	for _, g := range s.Streams {
		s.selected[g.Stream] = true
	}
	if s.roster != nil {
		s.roster.Select()
	}
}

// count adds an item whose link has been checked.
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

// countUnchecked counts the checks that the report on a document lists as not checked. Each copy is
// counted, so that the counts of the parts add up to the count for the entire input.
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
		return // the note is about another line in the same source
	}
	if s.SkippedCount++; len(s.Skipped) < MaxNotices {
		s.Skipped = append(s.Skipped, Notice{Source: source, Detail: what})
	}
}

func (s *Summary) addNote(code receipt.Code, format string, args ...any) {
	s.NotChecked = append(s.NotChecked, receipt.Note{Code: code, Detail: fmt.Sprintf(format, args...)})
}

// hasNote reports whether there is a note with the given code.
func (s *Summary) hasNote(code receipt.Code) bool {
	return slices.ContainsFunc(s.NotChecked, func(n receipt.Note) bool { return n.Code == code })
}

// addAbsent adds a finding about receipts that are missing from the input. If the input contains
// receipts that cannot be read (of another version or truncated), one of them may be the missing
// receipt, so addAbsent adds a note instead.
func (s *Summary) addAbsent(f Finding) {
	if s.Codes[receipt.CodeUnsupportedSchema]+s.Codes[receipt.CodeTornTail] == 0 {
		s.addFinding(f)
		return
	}
	s.addNote(receipt.CodeEvidenceUnused, "receipts that cannot be read may be what is missing: %s", f.Detail)
}

// addFinding adds a finding that refutes the entire input.
func (s *Summary) addFinding(f Finding) {
	if len(s.Findings) < MaxNotices {
		s.Findings = append(s.Findings, f)
	}
}

// dropNotes removes all notes with the given code.
func (s *Summary) dropNotes(code receipt.Code) {
	s.NotChecked = slices.DeleteFunc(s.NotChecked, func(n receipt.Note) bool { return n.Code == code })
}

// settle recounts a receipt with the outcome that results from its link among the receipts of all
// parts.
func (s *Summary) settle(f *survey.Fumble, is join.Mark, open bool) {
	s.recount(f.Counted(), -1)
	f.Settle(is, open)
	s.recount(f.Counted(), 1)
}

// recount adds by to the number of receipts with an outcome.
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

// hashes returns the hashes of the receipts, or nil if they are unknown.
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

// dependsOnOthers reports whether notes with a given code are about something other than a single
// document. Such a note depends on other documents or on the envelope, or states only that another
// step failed.
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
