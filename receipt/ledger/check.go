package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Auditor is a Store whose rows [Check] can read.
type Auditor interface {
	Store

	// Audit begins to read the rows. It takes long, and others may use the store meanwhile.
	Audit(ctx context.Context) (Audit, error)
}

// An Audit reads the rows of a ledger as they are stored, whether or not they are damaged. The error
// of each method is a *[DamageError] if the ledger is damaged, and any other error ends the check.
type Audit interface {
	// Self checks the database's own structures, and reports whether the end of the ledger was
	// compared with a record outside of it.
	Self(tell func(Fault)) (marked bool, err error)

	// Prunings returns the prunings, the first one first.
	Prunings() ([]Pruning, error)

	// Hashes yields the hashes of all receipts up to a sequence, in the order in which they were
	// stored.
	Hashes(last int64) iter.Seq2[KeptHash, error]

	// Streams returns the streams with the stated heads, in the order of chain.Stream.Compare.
	Streams() ([]StreamHead, error)

	// Last returns the greatest position of a row of a stream, or 0.
	Last(s chain.Stream) (uint64, error)

	// Row returns the row at a position of a stream. The error is ErrNotFound if it is gone, and a
	// *DamageError, with the ID as far as it is known, if it cannot be read.
	Row(s chain.Stream, position uint64) (*Row, error)

	// Strays reports the rows that belong to no stream, or that are after the stated head of
	// theirs.
	Strays(tell func(Fault)) error

	Close() error
}

// A Row is a row that was read.
type Row struct {
	Sequence int64
	ID       string
	Link     chain.Link
	JSON     []byte // empty if the receipt was pruned

	// Differences returns the columns that differ from the receipt in the row.
	Differences func() (columns []string, err error)
}

// A Checked is the result of Check.
type Checked struct {
	Receipts  int // rows that were read
	Verified  int
	Undecided int // intact, but evidence for their signatures is missing
	Streams   []StreamHead
	Pruned    int  // receipts whose content is in archives, and whose hashes match the roots of the checkpoints
	Unsigned  int  // checkpoints of pruned receipts without a signature by a trusted key of their log
	Marked    bool // whether the end of the ledger was compared with the mark next to it
	Faults    int  // passed to the callback of Check
}

// Verdict returns the verdict on the ledger: refuted if there are faults, undecided if anything is
// undecided, and otherwise verified.
func (c *Checked) Verdict() receipt.Verdict {
	switch {
	case c.Faults > 0:
		return receipt.Refuted
	case c.Undecided+c.Unsigned > 0:
		return receipt.Undecided
	}
	return receipt.Verified
}

// Check reads the entire ledger: the database's own structures, each receipt, its row, its position
// in the chain, and the heads. It verifies receipts with v; a v for integrity only checks no
// signatures. Each fault is passed to report when it is found. Seen, unless it is nil, is called
// with the number of receipts that were read: with 0 after the check of the structures, which takes
// long in a large ledger. The error concerns the check itself: with an error, the ledger was not
// checked to its end.
//
// Receipts that were removed at the end of a stream together with its head leave no trace in the
// ledger. A record outside of it shows them, such as FILE-head of a SQLite ledger; otherwise,
// compare the heads with copies that were kept elsewhere.
func Check(ctx context.Context, a Auditor, v *receipt.Verifier, report func(Fault), seen func(receipts int)) (*Checked, error) {
	audit, err := a.Audit(ctx)
	if err != nil {
		return nil, err
	}
	defer audit.Close()

	c := &checker{Audit: audit, ctx: ctx, verifier: v, tell: report, seen: seen}
	if seen == nil {
		c.seen = func(int) {}
	}
	for _, step := range []func() error{c.self, c.prunings, c.chains, func() error { return c.Strays(c.fault) }} {
		if err := c.damaged(step()); err != nil {
			return &c.Checked, err
		}
	}
	return &c.Checked, ctx.Err()
}

type checker struct {
	Audit
	Checked
	cut      int64 // sequence of the last receipt that was pruned
	ctx      context.Context
	verifier *receipt.Verifier
	tell     func(Fault)
	seen     func(int)
	doc      canon.Document
	report   receipt.Report
}

func (c *checker) fault(f Fault) {
	c.Faults++
	c.tell(f)
}

// damaged turns the error of a damaged ledger into a fault, and returns other errors.
func (c *checker) damaged(err error) error {
	damage, ok := errors.AsType[*DamageError](err)
	if !ok {
		return err
	}
	c.fault(Fault{Code: damage.Code, ID: damage.ID, Detail: damage.Detail})
	return nil
}

func (c *checker) self() (err error) {
	c.Marked, err = c.Self(c.fault)
	return err
}

// prunings compares the pruned receipts with their checkpoints.
func (c *checker) prunings() error {
	list, err := c.Prunings()
	if err != nil || len(list) == 0 {
		return err
	}
	c.cut = list[len(list)-1].Last

	for i := range list {
		opened := c.verifier.OpenCheckpoint(list[i].Checkpoint)
		switch {
		case opened.Readable && opened.Fault != "":
			c.fault(Fault{Code: string(receipt.CodeCheckpointInvalid), Detail: fmt.Sprintf("of the checkpoint of %d pruned receipts: %s", list[i].Size, opened.Fault)})
		case c.verifier.Scope() == receipt.ScopeFull && !opened.Signed:
			c.Unsigned++
		}
	}

	fault, err := Proven(list, c.Hashes(c.cut))
	if fault != nil {
		return fault
	}
	return err
}

// chains checks each chain from its beginning.
func (c *checker) chains() error {
	c.seen(0)
	streams, err := c.Audit.Streams()
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
	end, err := c.Last(s.Stream) // everything after it is missing, regardless of the count of the stream
	if err != nil {
		return err
	}

	// After a missing or unreadable receipt, the link of the next one cannot be judged.
	last := new(Row) // the previous receipt
	known := true    // whether last is the previous receipt
	for position := uint64(1); position <= s.Head.Count; position++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}

		f := Fault{Stream: &s.Stream, Position: position}
		r, err := c.Row(s.Stream, position)
		damage, unreadable := errors.AsType[*DamageError](err)
		switch {
		case errors.Is(err, ErrNotFound):
			c.missing(f, end, s.Head.Count, known, last.Link.Hash)
			known = false
			if position > end {
				return nil
			}
			continue
		case unreadable:
			f.Code, f.Detail, f.ID = damage.Code, damage.Detail, damage.ID
			c.fault(f)
			known = false
			continue
		case err != nil:
			return err
		}

		c.read(f, r)
		if known {
			c.follows(f, r, last)
		}
		last, known = r, true
	}

	// A head can be compared only with a last receipt that was read.
	if known && last.Link.Hash != s.Head.Hash {
		c.fault(Fault{Code: string(receipt.CodeHeadMismatch), Stream: &s.Stream, Position: s.Head.Count,
			Detail: fmt.Sprintf("ledger records head %v, but the last receipt has hash %v", s.Head.Hash, last.Link.Hash)})
	}

	return nil
}

// read checks the content of a row, unless it was pruned.
func (c *checker) read(f Fault, r *Row) {
	f.ID = r.ID
	switch pruned := r.Sequence <= c.cut; {
	case !pruned:
		c.Receipts++
		c.judge(f, r)
	case len(r.JSON) > 0:
		f.Code, f.Detail = FaultRow, "it is said to be pruned, and its content is there"
		c.fault(f)
		fallthrough
	default:
		c.Pruned++
	}
	c.seen(c.Receipts + c.Pruned)
}

// follows compares a row with the one before it.
func (c *checker) follows(f Fault, r, last *Row) {
	f.ID = r.ID
	if !follows(r.Link, last.Link.Hash) {
		f.Code, f.Detail = string(receipt.CodeChainBreak), fmt.Sprintf("it names another predecessor than the receipt before it, which has the hash %v", last.Link.Hash)
		c.fault(f)
	}
	if r.Sequence <= last.Sequence {
		f.Code, f.Detail = FaultRow, "its row was stored before the receipt that it follows"
		c.fault(f)
	}
}

// missing reports a missing receipt, or all after the last existing one.
func (c *checker) missing(f Fault, end, count uint64, known bool, last canon.Digest) {
	f.Code, f.Detail = FaultMissing, "the receipt is gone from the ledger"
	if f.Position > end && f.Position < count {
		f.Detail = fmt.Sprintf("the receipts up to number %d are gone from the ledger", count)
	}
	if known && f.Position > 1 {
		f.Detail += fmt.Sprintf("; the one before has the hash %v", last)
	}
	c.fault(f)
}

// judge verifies a receipt, and compares it with its row.
func (c *checker) judge(f Fault, r *Row) {
	c.verifier.VerifyBytes(r.JSON, &c.doc, &c.report)
	switch c.report.Verdict {
	case receipt.Verified:
		c.Verified++
	case receipt.Undecided:
		c.Undecided++
	default:
		found := c.report.Finding()
		f.Code, f.Detail = string(found.Code), found.Detail
		if found.Pointer != "" {
			f.Detail += fmt.Sprintf(" at %.200q", found.Pointer)
		}
		c.fault(f)
		return
	}

	// An intact receipt may be in a row with other values.
	columns, err := r.Differences()
	if err != nil {
		f.Code, f.Detail = FaultRow, err.Error()
		c.fault(f)
	}
	for _, column := range columns {
		f.Code, f.Detail = FaultRow, OtherColumn(column)
		c.fault(f)
	}
}

// OtherColumn returns the detail of a fault or a *[DamageError] for a column that differs from the
// receipt.
func OtherColumn(name string) string { return "its row has another " + name + " than the receipt" }
