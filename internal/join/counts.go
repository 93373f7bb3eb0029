package join

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Counts are counts of receipts, which can be added up over any number of workers.
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

// Record counts a receipt after the groupings.
func (c *Counts) Record(r *Record, strict bool) {
	if r.Mark == MarkCopy {
		c.Copies++
		return
	}
	c.count(r.outcome(strict))
}

// Gap counts a document that states no place in a stream, by its verdict and that verdict's code.
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

// Add adds other counts. The order does not matter.
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

// Leave adds what documents leave unchecked, as a summary counts it.
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

// Forgive leaves as many missing predecessors unchecked as there are gaps, because each
// such document may be a missing one. missing are all done receipts with MarkMissing. If
// there are gaps, Forgive must be called before receipts are counted. An unchecked link is
// not a failure, so failures reduces the failures of the streams.
func Forgive(missing []Record, gaps int64) (done []Record, failures []Strand) {
	done = slices.Clone(missing)
	slices.SortFunc(done, func(a, b Record) int { return cmp.Or(a.Stream.Compare(b.Stream), a.compare(&b)) })

	for i := range done {
		r := &done[i]

		// A gap excuses one content, with all its copies.
		if i > 0 && done[i-1].Computed == r.Computed { // a copy that counts
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

// A Result is an engine's result for all receipts.
type Result struct {
	Counts  Counts
	Strands []Strand // from [Begin], in any order
}
