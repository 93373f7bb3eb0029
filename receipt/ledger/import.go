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

// Imported contains the numbers of receipts in an import.
type Imported struct {
	Stored int // receipts
	Copies int // receipts that were already stored with the same hash
	Pruned int // receipts that were already stored with the same hash and have been pruned
}

func (i *Imported) add(other Imported) {
	i.Stored += other.Stored
	i.Copies += other.Copies
	i.Pruned += other.Pruned
}

// An ImportError describes why an import ended, and at which receipt. The preceding receipts have
// been stored; if the import is repeated, they are counted as copies.
type ImportError struct {
	Index int // number of the receipt in the import, from 1
	ID    string

	// Err is the reason: a *receipt.RefutedError, a *receipt.UndecidedError, ErrDuplicateID,
	// ErrGap, ErrFork, or another error.
	Err error
}

// Error returns the number and ID of the receipt and the reason why it was rejected.
func (e *ImportError) Error() string {
	return fmt.Sprintf("ledger: receipt %d (%.200q) is not imported: %v", e.Index, e.ID, e.Err)
}

// Unwrap returns the reason.
func (e *ImportError) Unwrap() error { return e.Err }

var (
	// ErrGap indicates that the predecessor of a receipt is not in the ledger.
	ErrGap = errors.New("it does not follow the last receipt of its stream in the ledger; import the earlier receipts first")

	// ErrFork indicates that the ledger has a different receipt at the position of an imported
	// receipt. The stream then has two different histories, and no import can repair this.
	ErrFork = errors.New("the ledger has a different receipt at this position, so the stream forks")
)

const (
	importRun   = 256 // number of receipts that are stored in one step
	importTries = 64  // number of attempts if other processes are storing receipts at the same time
)

// Import stores receipts that were issued elsewhere. Each receipt must be verified by v, and must
// follow the head of its stream or be the first receipt of a new stream. Receipts that are already
// stored are counted as copies, so an import can be repeated. The import ends at the first receipt
// that cannot be stored.
func Import(ctx context.Context, s Reader, v *receipt.Verifier, receipts iter.Seq2[[]byte, error]) (Imported, error) {
	i := &importer{store: s, ctx: ctx, verifier: v}
	for data, err := range receipts {
		if err == nil {
			err = i.add(data)
		}
		if err == nil {
			continue
		}

		// A waiting receipt, which comes before this one, may also be invalid.
		if earlier := i.flush(); earlier != nil {
			err = earlier
		}
		return i.count, err
	}
	err := i.flush()
	return i.count, err
}

type importer struct {
	store    Reader
	ctx      context.Context
	verifier *receipt.Verifier
	doc      canon.Document
	report   receipt.Report
	done     int               // receipts before waiting
	waiting  []*receipt.Sealed // verified receipts
	count    Imported
}

func (i *importer) add(data []byte) error {
	i.verifier.VerifyBytes(data, &i.doc, &i.report)
	var sealed *receipt.Sealed
	var err error
	switch i.report.Verdict {
	case receipt.Refuted:
		err = &receipt.RefutedError{Report: i.report.Clone()}
	case receipt.Undecided:
		err = &receipt.UndecidedError{Report: i.report.Clone()}
	default:
		sealed, err = receipt.ParseSealed(data)
	}
	if err != nil {
		return &ImportError{i.done + len(i.waiting) + 1, string(i.report.ReceiptID), err}
	}

	// Receipts are stored in groups, because storing a group takes about as long as storing a
	// single receipt.
	if i.waiting = append(i.waiting, sealed); len(i.waiting) == importRun {
		return i.flush()
	}
	return nil
}

// flush stores the waiting receipts, up to the first one that cannot be stored.
func (i *importer) flush() error {
	for range importTries {
		p := &plan{importer: i, heads: map[chain.Stream]chain.Head{}, ids: map[string]canon.Digest{}, hashes: map[canon.Digest]bool{}}
		bad, err := p.make()
		if err != nil {
			return err
		}

		// Other processes may store receipts after the plan has been made and before it is carried
		// out.
		if len(p.runs) > 0 {
			err = i.store.Append(i.ctx, p.runs...)
		}
		if errors.Is(err, ErrHeadMoved) || errors.Is(err, ErrDuplicateID) {
			continue
		}
		if err != nil {
			return err
		}

		// Receipts are counted only after they have been stored.
		first := i.done + 1
		i.done, i.waiting = i.done+len(i.waiting), nil
		i.count.add(p.count)
		if bad != nil {
			bad.Index += first
			return bad
		}
		return nil
	}
	return fmt.Errorf("%w: other processes stored receipts %d times during the import", ErrNotStored, importTries)
}

// A plan describes how the waiting receipts are to be stored.
type plan struct {
	*importer
	runs   []Run
	count  Imported
	heads  map[chain.Stream]chain.Head // after runs
	ids    map[string]canon.Digest     // hashes of the planned receipts, by receipt_id
	hashes map[canon.Digest]bool       // hashes of the planned receipts
}

// make creates a plan that ends before the first receipt that cannot be stored. It returns the
// reason, with the index of that receipt, from 0.
func (p *plan) make() (*ImportError, error) {
	for n, r := range p.waiting {
		err := p.plan(r)
		switch {
		case errors.Is(err, ErrGap), errors.Is(err, ErrFork), errors.Is(err, ErrDuplicateID):
			return &ImportError{n, r.ID(), err}, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, nil
}

// plan adds a receipt to the plan, unless the receipt is already stored.
func (p *plan) plan(r *receipt.Sealed) error {
	known, err := p.known(r)
	if known || err != nil {
		return err
	}

	s := r.Stream()
	head, ok := p.heads[s]
	if !ok {
		if head, err = p.store.Head(p.ctx, s); err != nil {
			return err
		}
	}

	// A receipt that does not follow the head of its stream would leave a gap or create a fork.
	link, _ := chain.LinkOf(r.Document())
	if !follows(link, head.Hash) {
		return p.misfit(s, link)
	}

	last := len(p.runs) - 1
	if last < 0 || p.runs[last].Stream != s {
		p.runs = append(p.runs, Run{Stream: s, Previous: head})
		last++
	}
	p.runs[last].Receipts = append(p.runs[last].Receipts, r)
	p.heads[s] = chain.Head{Hash: r.Hash(), Count: head.Count + 1}
	p.ids[r.ID()], p.hashes[r.Hash()] = r.Hash(), true
	p.count.Stored++
	return nil
}

// known reports whether a receipt is already stored or planned. If so, it counts the receipt as a
// copy.
func (p *plan) known(r *receipt.Sealed) (bool, error) {
	hash, planned := p.ids[r.ID()]
	count := &p.count.Copies
	if !planned {
		stored, err := Get(p.ctx, p.store, r.ID())
		pruned, gone := errors.AsType[*PrunedError](err)
		switch {
		case gone:
			hash, count = pruned.Hash, &p.count.Pruned
		case errors.Is(err, ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		default:
			hash = stored.Hash()
		}
	}

	if hash != r.Hash() {
		return false, ErrDuplicateID
	}
	*count++
	return true, nil
}

// misfit returns the reason why a receipt does not follow the head of its stream. If the
// predecessor of the receipt is stored, it already has another successor.
func (p *plan) misfit(s chain.Stream, link chain.Link) error {
	if link.First || p.hashes[link.Previous] {
		return ErrFork
	}
	switch before, err := Lookup(p.ctx, p.store, Key{Hash: link.Previous}); {
	case errors.Is(err, ErrNotFound), err == nil && before.Stream != s:
		return ErrGap
	case err != nil:
		return err
	}
	return ErrFork
}
