package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Checked contains the results of Check.
type Checked struct {
	Receipts  int // number of rows that were read
	Verified  int
	Undecided int // intact receipts for which evidence is missing
	Streams   []StreamHead
	Pruned    int  // receipts that are only in archives and whose hashes match the roots of checkpoints
	Unsigned  int  // unsigned checkpoints of pruned receipts: no trusted key of their log signed them
	Audited   bool // whether the structures of the database, and rows that belong to no stream, were checked; see Check
	Marked    bool // whether the receipt that was stored last was compared with an external record
	Faults    int  // number of faults that were passed to the callback of Check

	Codes     map[receipt.Code]int // the reasons of the undecided receipts, with the number of receipts for each
	Unchecked map[receipt.Code]int // number of receipts whose reports list something as not checked, by code, except links
	Withheld  int                  // number of withheld values, whose commitments were not checked
	Missing   map[chain.Stream]int // number of missing or unreadable rows, by stream
	Newest    chain.Stream         // the stream of the receipt that was stored last; zero if the ledger is empty

	complete bool // everything was checked
}

// Verdict returns the verdict on the ledger. It is refuted if there are faults. Otherwise, it is
// undecided if the check is incomplete, some receipts are undecided, or some checkpoints of pruned
// receipts are unsigned. It is verified in all other cases, even if the ledger is empty.
func (c *Checked) Verdict() receipt.Verdict {
	switch {
	case c.Faults > 0:
		return receipt.Refuted
	case !c.complete, c.Undecided+c.Unsigned > 0:
		return receipt.Undecided
	}
	return receipt.Verified
}

// Check reads the entire ledger: every receipt, its row, its position in the chain, and the heads
// of the streams. For a [Pruner], it also checks the prunings, and for an [Auditor], it also checks
// the structures of the database. It uses v to verify receipts. If the policy of v requires only
// integrity, signatures are not checked. report is called for each fault as soon as it is found.
// seen, if not nil, is called with the number of receipts that have been read. The first call, with
// 0, follows the check of the structures, which takes a long time for a large ledger. If Check
// returns an error, the check itself failed and is incomplete, so the verdict is not verified.
//
// If r is not an Auditor, the structures are not checked, rows that belong to no stream are not
// found, and Audited is false. If the receipts at the end of a stream were removed and the head was
// changed accordingly, Check does not find them missing, unless an external record, such as the
// FILE-head of a SQLite ledger, contains the last of them. Such a record contains only one receipt,
// so compare the heads of all streams with copies that were stored elsewhere.
func Check(ctx context.Context, r Reader, v *receipt.Verifier, report func(Fault), seen func(receipts int)) (*Checked, error) {
	c := &checker{Reader: r, Checked: Checked{Codes: map[receipt.Code]int{}, Unchecked: map[receipt.Code]int{}, Missing: map[chain.Stream]int{}}, ctx: ctx, verifier: v, tell: report, seen: seen}
	if seen == nil {
		c.seen = func(int) {}
	}
	for _, step := range []func() error{c.self, c.prunings, c.chains, c.unchanged} {
		if err := c.damaged(step()); err != nil {
			return &c.Checked, err
		}
	}
	err := ctx.Err()
	c.complete = err == nil
	return &c.Checked, err
}

type checker struct {
	Reader
	Checked
	ctx      context.Context
	verifier *receipt.Verifier
	tell     func(Fault)
	seen     func(int)
	list     []Pruning // that were compared
	newest   int64     // the highest sequence number
	doc      canon.Document
	report   receipt.Report
}

func (c *checker) fault(f Fault) {
	c.Faults++
	c.tell(f)
}

// damaged converts an error about a damaged ledger to a fault, and returns any other error.
func (c *checker) damaged(err error) error {
	if fault, ok := errors.AsType[*Fault](err); ok {
		c.fault(*fault)
		return nil
	}
	if errors.Is(err, ErrUnreadable) {
		c.fault(Fault{Code: FaultFile, Detail: err.Error()})
		return nil
	}
	return err
}

// self makes the database check its own structures.
func (c *checker) self() (err error) {
	if a, ok := c.Reader.(Auditor); ok {
		c.Audited = true
		c.Marked, err = a.Audit(c.ctx, c.fault)
	}
	return err
}

// prunings compares the pruned receipts with their checkpoints.
func (c *checker) prunings() error {
	p, ok := c.Reader.(Pruner)
	if !ok {
		return nil
	}
	list, err := p.Prunings(c.ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	c.list = list

	for i := range list {
		opened := c.verifier.OpenCheckpoint(list[i].Checkpoint)
		switch {
		case opened.Readable && opened.Fault != "":
			c.fault(Fault{Code: string(receipt.CodeCheckpointInvalid), Detail: fmt.Sprintf("of the checkpoint of %d pruned receipts: %s", list[i].Size, opened.Fault)})
		case c.verifier.Scope() == receipt.ScopeFull && !opened.Signed:
			c.Unsigned++
		}
	}

	return proven(list, p.Hashes(c.ctx, list[len(list)-1].Last))
}

// unchanged checks that no receipts have been pruned in the meantime, because the hashes of newly
// pruned receipts have not been compared with a checkpoint.
func (c *checker) unchanged() error {
	p, ok := c.Reader.(Pruner)
	if !ok {
		return nil
	}
	list, err := p.Prunings(c.ctx)
	if err == nil && len(list) > len(c.list) {
		return ErrPruneChanged
	}
	return err
}

// chains checks each chain, starting at its beginning.
func (c *checker) chains() error {
	c.seen(0)
	streams, err := c.Reader.Streams(c.ctx)
	if err != nil {
		return err
	}
	for _, s := range streams {
		c.Checked.Streams = append(c.Checked.Streams, s)
		if err := c.damaged(c.chain(s)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) chain(s StreamHead) error {
	// If a receipt is missing or unreadable, the link of the next receipt cannot be checked.
	last := new(Row) // the previous receipt
	known := true    // last is the receipt directly before this one
	for position := uint64(1); position <= s.Head.Count; position++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}

		r, err := find(c.ctx, c.Reader, Key{Stream: s.Stream, Position: position})
		fault, unreadable := errors.AsType[*Fault](err)
		switch {
		case errors.Is(err, ErrNotFound):
			c.missing(&s, position, known, last.Hash)
			known = false
			c.Missing[s.Stream]++
			if position > s.Last { // all later receipts are missing, too, even if Head.Count is higher
				c.Missing[s.Stream] += int(s.Head.Count - position)
				return nil
			}
			continue
		case unreadable:
			fault.Stream, fault.Position = s.Stream, position
			c.fault(*fault)
			c.Missing[s.Stream]++
			known = false
			continue
		case err != nil:
			return err
		}

		// The row must contain the position at which it was found.
		r.Stream, r.Position = s.Stream, position
		if r.Sequence > c.newest {
			c.newest, c.Newest = r.Sequence, s.Stream
		}
		linked := known && follows(r.Link, last.Hash)
		c.read(r, linked)
		if known {
			c.follows(r, last, linked)
		}
		last, known = r, true
	}

	// A head can be compared with the last receipt only if that receipt could be read.
	if known {
		return s.Check(last.Hash[:])
	}
	return nil
}

// read checks the content of a row, unless the receipt was pruned.
func (c *checker) read(r *Row, linked bool) {
	if r.Pruned {
		c.Pruned++
		if fault := r.empty(); fault != nil {
			c.fault(*fault)
		}
	} else {
		c.Receipts++
		c.judge(r, linked)
	}
	c.seen(c.Receipts + c.Pruned)
}

// follows reports a fault unless a row follows the previous row.
func (c *checker) follows(r, last *Row, linked bool) {
	if !linked {
		c.fault(*r.fault(string(receipt.CodeChainBreak), "it names another predecessor than the receipt before it, which has the hash %v", last.Hash))
	}
	if r.Sequence <= last.Sequence {
		c.fault(*r.fault(FaultRow, "its row was stored before the receipt that it follows"))
	}
}

// missing reports a missing receipt, or all receipts that are missing at the end of a stream.
func (c *checker) missing(s *StreamHead, position uint64, known bool, last canon.Digest) {
	f := Fault{Code: FaultMissing, Stream: s.Stream, Position: position, Detail: "the receipt is gone from the ledger"}
	if position > s.Last && position < s.Head.Count {
		f.Detail = fmt.Sprintf("the receipts up to number %d are gone from the ledger", s.Head.Count)
	}
	if known && position > 1 {
		f.Detail += fmt.Sprintf("; the one before has the hash %v", last)
	}
	c.fault(f)
}

// judge verifies a receipt and compares it with its row. linked reports whether the row follows the
// previous row; a strict policy requires this.
func (c *checker) judge(r *Row, linked bool) {
	c.verifier.VerifyBytes(r.JSON, &c.doc, &c.report)
	if linked {
		c.verifier.Amend(&c.report, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusPassed})
	}
	c.unchecked()
	switch c.report.Verdict {
	case receipt.Verified:
		c.Verified++
	case receipt.Undecided:
		c.Undecided++
		c.Codes[c.report.Finding().Code]++
	default:
		found := c.report.Finding()
		f := r.fault(string(found.Code), "%s", found.Detail)
		if found.Pointer != "" {
			f.Detail += fmt.Sprintf(" at %.200q", found.Pointer)
		}
		c.fault(*f)
		return
	}

	// An intact receipt may be in a row that contains incorrect values.
	var own Row
	if err := own.of(&c.doc, r.JSON); err != nil {
		c.fault(*r.fault(FaultRow, "%v", err))
		return
	}
	for _, column := range r.differences(&own) {
		c.fault(*r.fault(FaultRow, otherColumn, column))
	}
}

// unchecked counts the receipt under each code that its report lists as not checked. If the link
// was not checked, a fault was reported.
func (c *checker) unchecked() {
	c.Withheld += c.report.Withheld
	for i, n := range c.report.NotChecked {
		again := slices.ContainsFunc(c.report.NotChecked[:i], func(o receipt.Note) bool { return o.Code == n.Code })
		if !again && n.Code != receipt.CodeLinkNotChecked && n.Code != receipt.CodeStepNotReached {
			c.Unchecked[n.Code]++
		}
	}
}
