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
	Partial  bool // the input is a selection: absent predecessors are no breaks

	Receipts  int // judged; copies count once
	Verified  int
	Refuted   int
	Undecided int
	Copies    int
	Codes     map[receipt.Code]int // of what explains each receipt that is not verified

	// Streams are the runs of receipts, joined by their links and ordered by
	// stream. One stream that is whole is one segment.
	Streams []chain.Segment

	// Findings refute the input as a whole, not one of its receipts.
	Findings []Finding

	// NotChecked is what nobody looked at beside what the reports list.
	NotChecked []receipt.Note

	Skipped      []Notice // inputs that are no receipts; the first MaxNotices
	SkippedCount int
	Inputs       Inputs

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
}

// A Notice says what happened to one input.
type Notice struct {
	Source string `json:"source"`
	Detail string `json:"detail"`
	Hint   string `json:"-"`
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
	case s.Refuted > 0 || len(s.AllFindings()) > 0:
		return receipt.Refuted
	case s.Complete && s.Receipts > 0 && s.Verified == s.Receipts && s.Undecided == 0 && len(s.Overlaps()) == 0 && !s.overlapping() && len(s.Unused()) == 0:
		return receipt.Verified
	}
	return receipt.Undecided
}

// AllFindings returns Findings, and one for each stream of which parts do not
// join: receipts between them are missing. A later merge may bring them. Parts
// that are known to overlap do not join either, and show nothing by that, unless
// they begin at one place, are of one length and end differently.
func (s *Summary) AllFindings() []Finding {
	all := slices.Clip(s.Findings)
	if s.Partial {
		return all
	}
	overlapping := s.overlapping()
	for i := 1; i < len(s.Streams); i++ {
		before, after := &s.Streams[i-1], &s.Streams[i]
		if before.Stream != after.Stream || len(all) >= MaxNotices || before.Head == after.Head {
			continue
		}
		together := before.First == after.First && before.Previous == after.Previous && before.Count == after.Count
		if overlapping && !together {
			continue
		}
		stream := after.Stream
		f := Finding{Code: receipt.CodeChainBreak, Stream: &stream, Stated: after.Previous.String(),
			Detail: fmt.Sprintf("a part of the stream begins behind %s, which no part ends in: receipts are missing there, or parts overlap", after.Previous)}
		switch {
		case after.First:
			f.Stated, f.Detail = "null", "two parts of the stream state that nothing precedes them"
		case after.Previous == before.Previous && !before.First:
			f.Code, f.Detail = receipt.CodeChainFork, fmt.Sprintf("two parts of the stream begin behind %s", after.Previous)
		}
		all = append(all, f)
	}
	return all
}

// Open returns NotChecked, and a note when two parts overlap, for then nothing
// that was counted is exact.
func (s *Summary) Open() []receipt.Note {
	overlap := receipt.Note{Code: receipt.CodePartsOverlap, Detail: endTwice}
	if len(s.Overlaps()) == 0 || slices.Contains(s.NotChecked, overlap) {
		return s.NotChecked
	}
	return append(slices.Clip(s.NotChecked), overlap)
}

const endTwice = "two parts end in the same receipt, so receipts were counted twice"

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
// reports that list their receipts: segments alone cannot show it. The whole is
// not verified then, and that parts do not join refutes nothing. The detail says
// which receipt and where.
func (s *Summary) MarkOverlap(detail string) {
	s.note(receipt.CodePartsOverlap, "%s", detail)
}

func (s *Summary) overlapping() bool {
	return slices.ContainsFunc(s.NotChecked, func(n receipt.Note) bool {
		return n.Code == receipt.CodePartsOverlap && n.Detail != endTwice
	})
}

// Overlaps returns the parts that end in the same receipt as another part of
// their stream: what is in both was counted twice.
func (s *Summary) Overlaps() (list []chain.Segment) {
	type end struct {
		stream chain.Stream
		head   canon.Digest
	}
	seen := map[end]bool{}
	for _, g := range s.Streams {
		at := end{g.Stream, g.Head}
		if seen[at] {
			list = append(list, g)
		}
		seen[at] = true
	}
	return list
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
	maps.DeleteFunc(heads, func(stream chain.Stream, _ chain.Head) bool { return several[stream] })
	return heads
}

// ErrScope is returned for summaries that do not mean the same.
var ErrScope = errors.New("stream: one summary is about integrity only, the other is not")

// ErrKeys is returned for summaries that trust other keys.
var ErrKeys = errors.New("stream: the summaries were made with other files of trusted keys")

// Merge returns the summary of the parts s and o together, whatever their order:
// their streams join by links. What only reading both could show (the same
// receipt_id in two parts) is listed as not checked.
func (s *Summary) Merge(o *Summary) (*Summary, error) {
	if s.Scope != o.Scope {
		return nil, ErrScope
	}
	if (s.Keys == nil) != (o.Keys == nil) || s.Keys != nil && s.Keys.SHA256 != o.Keys.SHA256 {
		return nil, ErrKeys
	}
	m := *s
	m.Complete = s.Complete && o.Complete
	m.Partial = s.Partial || o.Partial
	m.Receipts += o.Receipts
	m.Verified += o.Verified
	m.Refuted += o.Refuted
	m.Undecided += o.Undecided
	m.Copies += o.Copies
	m.Codes = maps.Clone(s.Codes)
	for code, n := range o.Codes {
		if m.Codes == nil {
			m.Codes = map[receipt.Code]int{}
		}
		m.Codes[code] += n
	}
	m.Streams = chain.Join(slices.Concat(s.Streams, o.Streams))
	m.Findings = slices.Concat(s.Findings, o.Findings)
	m.mergeNotes(s.NotChecked, o.NotChecked)
	m.SkippedCount += o.SkippedCount
	m.Skipped = first(slices.Concat(s.Skipped, o.Skipped))
	m.Inputs.Files += o.Inputs.Files
	m.Inputs.Bytes += o.Inputs.Bytes
	m.Inputs.Unreadable = slices.Concat(s.Inputs.Unreadable, o.Inputs.Unreadable)
	if m.Started.IsZero() || !o.Started.IsZero() && o.Started.Before(m.Started.Time) {
		m.Started = o.Started
	}
	if o.Finished.After(m.Finished.Time) {
		m.Finished = o.Finished
	}
	return &m, nil
}

// mergeNotes says what is left unchecked of the merged streams: where parts join,
// what precedes the later one is known now.
func (s *Summary) mergeNotes(parts ...[]receipt.Note) {
	s.NotChecked = nil
	asked := map[receipt.Code]bool{}
	for _, n := range slices.Concat(parts...) {
		switch {
		case n.Code == receipt.CodeLinkNotChecked || n.Code == receipt.CodeTailNotChecked:
			asked[n.Code] = true
		case !slices.Contains(s.NotChecked, n) && n.Detail != acrossParts:
			s.NotChecked = append(s.NotChecked, n)
		}
	}
	slices.SortFunc(s.NotChecked, func(a, b receipt.Note) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Detail, b.Detail))
	})
	s.note(receipt.CodeIDsNotChecked, acrossParts)
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
		s.note(receipt.CodeLinkNotChecked, "whether receipts precede the first one%s", ofStreams(open, all))
	}
	if all > 0 && asked[receipt.CodeTailNotChecked] {
		s.note(receipt.CodeTailNotChecked, "whether receipts follow the head%s", ofStreams(all, all))
	}
}

const acrossParts = "whether two parts use one receipt_id for two receipts"

func first[T any](list []T) []T { return list[:min(len(list), MaxNotices)] }

// count adds a judged item.
func (s *Summary) count(it *item) {
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

func (s *Summary) note(code receipt.Code, format string, args ...any) {
	s.NotChecked = append(s.NotChecked, receipt.Note{Code: code, Detail: fmt.Sprintf(format, args...)})
}

// find adds what refutes the whole input.
func (s *Summary) find(f Finding) {
	if len(s.Findings) < MaxNotices {
		s.Findings = append(s.Findings, f)
	}
}

// forget removes the notes of a code.
func (s *Summary) forget(code receipt.Code) {
	s.NotChecked = slices.DeleteFunc(s.NotChecked, func(n receipt.Note) bool { return n.Code == code })
}
