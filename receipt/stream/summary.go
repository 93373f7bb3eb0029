package stream

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
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

	Skipped      []Notice // inputs that are not receipts; the first MaxNotices
	SkippedCount int
	Inputs       Inputs

	Asked *Asked // what the verifier was asked; nil: not known

	roster   *roster               // its receipts; nil when there are too many
	listed   map[canon.Digest]bool // their hashes, as List was told
	selected map[chain.Stream]bool // streams of which some part is a selection; nil: all, when Partial says so

	// The rest is the caller's to fill in.
	Keys              *Keys
	Tool              string
	Started, Finished receipt.Time
}

// MaxNotices is how many notices and findings of a kind are kept; the rest is
// counted.
const MaxNotices = 1000

// A Finding says why an input is refuted as a whole.
type Finding struct {
	Code     receipt.Code  `json:"code"`
	Stream   *chain.Stream `json:"-"`
	Source   string        `json:"source"` // the receipt in question, as Address names it, or the file of evidence; "" for none
	Stated   string        `json:"stated"`
	Computed string        `json:"computed"`
	Detail   string        `json:"detail"`
	Hint     string        `json:"hint"`
	Cause    receipt.Cause `json:"cause,omitzero"` // as of a [receipt.Check]; "" when the code says all

	// Drawn says that the finding is about how receipts of merged parts, or of
	// several streams, stand to each other: a merge draws it anew.
	Drawn bool `json:"drawn,omitzero"`
}

// A Notice says what happened to one input.
type Notice struct {
	Source string `json:"source"`
	Detail string `json:"detail"`
	Hint   string `json:"-"`
}

// errEmpty says that a source was read to its end and holds nothing.
var errEmpty = errors.New("holds no receipt")

// noticeOf says why a source could not be read to its end.
func noticeOf(source string, err error) Notice {
	n := Notice{Source: source, Detail: err.Error()}
	if packed := (*CompressionError)(nil); errors.As(err, &packed) {
		n.Hint = packed.Hint
	}
	return n
}

// Inputs are what was read.
type Inputs struct {
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"` // before decompression
	Unreadable []Notice `json:"unreadable"`
}

// Keys names the file of trusted keys that was used.
type Keys struct {
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
	Count  int          `json:"count"`
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

// Unused returns the notes about evidence that had to do with no receipt. Whoever
// brought it meant it to show something: the whole is not verified then.
func (s *Summary) Unused() (list []receipt.Note) {
	for _, n := range s.NotChecked {
		if n.Code == receipt.CodeEvidenceUnused {
			list = append(list, n)
		}
	}
	return list
}

// MarkOverlap notes that parts were seen to hold the same receipt, for a merge of
// reports that list their receipts, and names it and them. The whole is not
// verified then.
func (s *Summary) MarkOverlap(detail string) {
	s.dropNotes(receipt.CodePartsOverlap)
	s.addNote(receipt.CodePartsOverlap, "%s", detail)
}

// List tells a summary which receipts it is about, by their hashes, as the report
// around it lists them. A merge with it then knows more, when the summary itself
// does not remember them: because there are more than [MaxRoster], or because an
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

// ErrScope is returned for summaries that do not mean the same.
var ErrScope = errors.New("stream: one summary is about integrity only, the other is not")

// ErrKeys is returned for summaries that trust different keys.
var ErrKeys = errors.New("stream: the summaries were made with other files of trusted keys")

// Comparable reports why two summaries do not mean the same by their verdicts:
// [ErrScope], [ErrKeys] or an *[AskedError]. What a summary of an older version
// was asked is not known, and differs from nothing.
func (s *Summary) Comparable(o *Summary) error {
	if s.Scope != o.Scope {
		return ErrScope
	}
	if (s.Keys == nil) != (o.Keys == nil) || s.Keys != nil && s.Keys.SHA256 != o.Keys.SHA256 {
		return ErrKeys
	}
	return s.Asked.differs(o.Asked)
}

// Merge returns the summary of the parts s and o together, whatever their order:
// what one run over the sources of both would say, or undecided where they do not
// tell. Parts that hold the same receipt are undecided.
func (s *Summary) Merge(o *Summary) (*Summary, error) {
	if err := s.Comparable(o); err != nil {
		return nil, err
	}
	m := s.plus(o)
	m.mergeNotes(s, o)

	// Where one part does not remember its receipts, only the ends of streams join.
	if s.roster != nil && o.roster != nil {
		if err := m.joinRosters(s.roster, o.roster); err != nil {
			return nil, err
		}
	} else {
		m.joinStreams(s, o)
	}

	// Whichever part comes first, the summary is the same.
	m.noteEnds(s, o)
	sortFindings(m.Findings)
	sortNotes(m.NotChecked)
	return m, nil
}

// plus adds the counts of two parts, and lists what is in either.
func (s *Summary) plus(o *Summary) *Summary {
	m := *s
	m.Complete = s.Complete && o.Complete
	m.Partial = s.Partial || o.Partial
	m.selected = map[chain.Stream]bool{}
	m.Receipts += o.Receipts
	m.Verified += o.Verified
	m.Refuted += o.Refuted
	m.Undecided += o.Undecided
	m.Copies += o.Copies
	m.Codes = map[receipt.Code]int{}
	m.Findings, m.NotChecked, m.Streams, m.roster, m.listed = nil, nil, nil, nil, nil

	// What was drawn from the links of one part is drawn anew from those of both.
	for _, part := range []*Summary{s, o} {
		for code, n := range part.Codes {
			m.Codes[code] += n
		}
		for _, f := range part.Findings {
			if !f.Drawn {
				m.Findings = append(m.Findings, f)
			}
		}
		for _, g := range part.Streams {
			if part.selects(g.Stream) {
				m.selected[g.Stream] = true
			}
		}
	}

	m.SkippedCount += o.SkippedCount
	m.Skipped = bounded(slices.Concat(s.Skipped, o.Skipped))
	m.Inputs.Files += o.Inputs.Files
	m.Inputs.Bytes += o.Inputs.Bytes
	m.Inputs.Unreadable = slices.Concat(s.Inputs.Unreadable, o.Inputs.Unreadable)
	if m.Asked == nil {
		m.Asked = o.Asked
	}

	// From the first beginning to the last end.
	if m.Started.IsZero() || !o.Started.IsZero() && o.Started.Before(m.Started.Time) {
		m.Started = o.Started
	}
	if o.Finished.After(m.Finished.Time) {
		m.Finished = o.Finished
	}

	return &m
}

// selects reports whether a stream, or a part of it, is a selection.
func (s *Summary) selects(stream chain.Stream) bool {
	if s.selected == nil {
		return s.Partial
	}
	return s.selected[stream]
}

// mergeNotes keeps what is left unchecked of either part, whatever joins.
func (s *Summary) mergeNotes(parts ...*Summary) {
	for _, part := range parts {
		for _, n := range part.NotChecked {
			if !drawnAnew(n.Code) && !slices.Contains(s.NotChecked, n) {
				s.NotChecked = append(s.NotChecked, n)
			}
		}
	}
	if (parts[0].Asked == nil) != (parts[1].Asked == nil) && !s.hasNote(receipt.CodeAskedNotRecorded) {
		s.addNote(receipt.CodeAskedNotRecorded, "what a part was asked: its report does not record it")
	}
}

// drawnAnew reports whether notes of a code are drawn anew from the streams.
func drawnAnew(code receipt.Code) bool {
	return code == receipt.CodeLinkNotChecked || code == receipt.CodeTailNotChecked || code == receipt.CodePartsNotJoined || code == receipt.CodePartsOverlap
}

// noteEnds says what is left unchecked at the ends of the merged streams, where
// it was unchecked of a part: where parts join, what precedes the later one is
// known now.
func (s *Summary) noteEnds(parts ...*Summary) {
	asked := map[receipt.Code]bool{}
	for _, part := range parts {
		for _, n := range part.NotChecked {
			asked[n.Code] = true
		}
	}

	// Segments are ordered by stream: the first of a stream begins it.
	open, all := 0, 0
	for i, g := range s.Streams {
		if i > 0 && s.Streams[i-1].Stream == g.Stream {
			continue
		}
		if all++; !g.First {
			open++
		}
	}

	if open > 0 && asked[receipt.CodeLinkNotChecked] {
		s.addNote(receipt.CodeLinkNotChecked, "whether receipts precede the first one%s", ofStreams(open, all))
	}
	if all > 0 && asked[receipt.CodeTailNotChecked] {
		s.addNote(receipt.CodeTailNotChecked, "whether receipts follow the head%s", ofStreams(all, all))
	}
}

func sortNotes(list []receipt.Note) {
	slices.SortFunc(list, func(a, b receipt.Note) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Detail, b.Detail))
	})
}

func bounded[T any](list []T) []T { return list[:min(len(list), MaxNotices)] }

// count adds a judged item.
func (s *Summary) count(it *item) {
	// A copy counts once, unless something refutes it.
	if it.copy && it.rep.Verdict != receipt.Refuted {
		s.Copies++
		return
	}

	s.Receipts++
	switch it.rep.Verdict {
	case receipt.Verified:
		s.Verified++
	case receipt.Refuted:
		s.Refuted++
	default:
		s.Undecided++
	}

	if it.rep.Verdict != receipt.Verified {
		s.Codes[it.rep.Finding().Code]++
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
