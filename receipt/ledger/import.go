package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Imported counts the results of an import.
type Imported struct {
	Stored int // receipts
	Copies int // receipts that were already stored, with the same hash
	Pruned int // receipts that were already stored, with the same hash, and pruned
}

// An ImportError states which receipt ended an import, and why. The receipts before it are stored,
// or become copies when the import is repeated.
type ImportError struct {
	Index int // of the receipt, from 1
	ID    string
	Err   error // a *receipt.RefutedError, a *receipt.UndecidedError, ErrDuplicateID, ErrGap, ErrFork, or other
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("ledger: receipt %d (%.200q) is not imported: %v", e.Index, e.ID, e.Err)
}

func (e *ImportError) Unwrap() error { return e.Err }

var (
	// ErrGap indicates that the predecessor of a receipt is not in the ledger.
	ErrGap = errors.New("it does not follow the last receipt of its stream in the ledger; import those before it first")

	// ErrFork indicates that the ledger has another receipt in the place of an imported one: the
	// stream has two histories, and no import can repair that.
	ErrFork = errors.New("the ledger has another receipt in its place, so the stream forks here")
)

// importRun is how many receipts an import stores in one transaction.
const importRun = 256

type importer struct {
	*SQLite
	ctx      context.Context
	verifier *receipt.Verifier
	doc      canon.Document
	report   receipt.Report
	stored   int   // receipts before rows
	rows     []row // verified receipts that wait for their transaction
	count    Imported
}

func (i *importer) add(data []byte) error {
	i.verifier.VerifyBytes(data, &i.doc, &i.report)
	var err error
	switch i.report.Verdict {
	case receipt.Refuted:
		err = &receipt.RefutedError{Report: i.report.Clone()}
	case receipt.Undecided:
		err = &receipt.UndecidedError{Report: i.report.Clone()}
	}

	// Only a verified receipt gets a row, from the verified document.
	var r row
	if err == nil {
		err = r.of(&i.doc, i.doc.AppendCanonical(nil))
	}
	if err != nil {
		return &ImportError{i.stored + len(i.rows) + 1, string(i.report.ReceiptID), err}
	}

	// Receipts are stored in groups, each of which costs about as much as one receipt.
	if i.rows = append(i.rows, r); len(i.rows) == importRun {
		return i.flush()
	}

	return nil
}

// flush stores the waiting receipts, up to the first one that does not fit.
func (i *importer) flush() error {
	rows, first := i.rows, i.stored+1
	i.rows, i.stored = nil, i.stored+len(i.rows)
	if len(rows) == 0 {
		return nil
	}

	var count Imported
	var bad *ImportError
	err := i.store(i.ctx, "import receipts", nil, func(tx *sql.Tx) error {
		for n, r := range rows {
			copied, pruned, err := i.adopt(tx, r)
			switch {
			case errors.Is(err, ErrGap), errors.Is(err, ErrFork), errors.Is(err, ErrDuplicateID):
				bad = &ImportError{first + n, r.id, err}
				return nil
			case err != nil:
				return err
			case pruned:
				count.Pruned++
			case copied:
				count.Copies++
			default:
				count.Stored++
			}
		}
		return nil
	})

	if err != nil {
		return err
	}

	// The receipts are counted after the transaction, because nothing is stored before its end.
	i.count.Stored += count.Stored
	i.count.Copies += count.Copies
	i.count.Pruned += count.Pruned
	if bad != nil {
		return bad
	}

	return nil
}

// adopt stores a row after the head of its stream, unless it is already stored.
func (i *importer) adopt(tx *sql.Tx, r row) (copied, pruned bool, err error) {
	was, err := i.one(i.ctx, tx, "WHERE r.receipt_id = ?", r.id)
	switch {
	case err == nil && was.link.Hash == r.link.Hash:
		return true, was.pruned(), nil
	case err == nil:
		return false, false, ErrDuplicateID
	case !errors.Is(err, ErrNotFound):
		return false, false, err
	}

	// A receipt that does not follow the head of its stream is a gap or a fork.
	id, at, err := i.head(i.ctx, tx, r.stream)
	if err != nil {
		return false, false, err
	}
	if !follows(r.link, at.Hash) {
		return false, false, i.misfit(tx, id, r.link)
	}

	return false, false, extend(i.ctx, tx, r.stream, id, at, []row{r})
}

// misfit returns the reason why a receipt does not follow the head of its stream, whose row is id.
func (i *importer) misfit(tx *sql.Tx, id int64, link chain.Link) error {
	var previous []byte // of a receipt that may be stored in its place
	if !link.First {
		previous = link.Previous[:]
	}

	var taken int
	err := tx.QueryRowContext(i.ctx, "SELECT count(*) FROM receipts WHERE stream = ? AND ifnull(previous, x'') = ifnull(?, x'')", id, previous).Scan(&taken)
	switch {
	case err != nil:
		return err
	case taken > 0:
		return ErrFork
	}
	return ErrGap
}
