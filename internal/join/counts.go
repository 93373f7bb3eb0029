package join

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Counts contains numbers of receipts. The Counts of any number of workers can be added up.
type Counts struct {
	Receipts  int64                  `json:"receipts"` // copies count once
	Verified  int64                  `json:"verified"`
	Refuted   int64                  `json:"refuted"`
	Undecided int64                  `json:"undecided"`
	Copies    int64                  `json:"copies"` // copies that do not count
	Gaps      int64                  `json:"gaps"`   // documents that state no place in a stream
	Codes     map[receipt.Code]int64 `json:"codes"`  // the code of each receipt that is not verified

	Unchecked map[receipt.Code]int64 `json:"unchecked"` // documents that leave something unchecked, as in stream.Summary
	Withheld  int64                  `json:"withheld"`  // withheld values that were not disclosed
}

// Record counts a receipt after all groupings.
func (c *Counts) Record(r *Record, strict bool) {
	if r.Mark == MarkCopy {
		c.Copies++
		return
	}
	c.count(r.outcome(strict))
}

// Gap counts a document that states no place in a stream, with its verdict and code.
func (c *Counts) Gap(verdict receipt.Verdict, code receipt.Code) {
	c.Gaps++
	c.count(verdict, code)
}

func (c *Counts) count(verdict receipt.Verdict, code receipt.Code) {
	c.Receipts++
	switch verdict {
	case receipt.Verified:
		c.Verified++
		return
	case receipt.Refuted:
		c.Refuted++
	default:
		c.Undecided++
	}

	if c.Codes == nil {
		c.Codes = map[receipt.Code]int64{}
	}
	c.Codes[code]++
}

// Add adds other counts. The order of additions does not matter.
func (c *Counts) Add(o *Counts) {
	c.Receipts += o.Receipts
	c.Verified += o.Verified
	c.Refuted += o.Refuted
	c.Undecided += o.Undecided
	c.Copies += o.Copies
	c.Gaps += o.Gaps
	c.Withheld += o.Withheld
	add(&c.Codes, o.Codes)
	add(&c.Unchecked, o.Unchecked)
}

// Leave adds the number of checks that were not made, by code, and the number of withheld values,
// in the same way as a summary does.
func (c *Counts) Leave(unchecked map[receipt.Code]int, withheld int) {
	more := map[receipt.Code]int64{}
	for code, n := range unchecked {
		more[code] = int64(n)
	}
	add(&c.Unchecked, more)
	c.Withheld += int64(withheld)
}

func add(to *map[receipt.Code]int64, more map[receipt.Code]int64) {
	for code, n := range more {
		if *to == nil {
			*to = map[receipt.Code]int64{}
		}
		(*to)[code] += n
	}
}

// Forgive changes as many missing predecessors to unchecked links as there are gaps, because each
// gap may be a missing predecessor. Its argument must contain all completed receipts with
// MarkMissing. If there are gaps, call Forgive before receipts are counted. An unchecked link is
// not a failure, so the strands in failures reduce the number of failures of their streams.
func Forgive(missing []Record, gaps int64) (done []Record, failures []Strand) {
	done = slices.Clone(missing)
	slices.SortFunc(done, func(a, b Record) int { return cmp.Or(a.Stream.Compare(b.Stream), a.compare(&b)) })

	for i := range done {
		r := &done[i]

		// A gap excuses one receipt and all its copies.
		if i > 0 && done[i-1].Computed == r.Computed { // a copy that is counted separately
			r.Mark, r.Related = done[i-1].Mark, done[i-1].Related
			continue
		}
		if gaps == 0 {
			continue
		}

		gaps--
		r.Mark, r.Related = MarkGap, Place{}
		failures = append(failures, Strand{Stream: r.Stream, Failures: -1})
	}
	return done, failures
}

// A Result contains the counts and the strands for all receipts.
type Result struct {
	Counts  Counts
	Strands []Strand // strands from [Begin], in any order
}
