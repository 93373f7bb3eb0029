package daily

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A sink receives redacted drafts.
type sink interface {
	// before returns the latest receipt of a task, or nil if there is none. If no comparison is
	// needed, it returns the status of the task instead.
	before(e *entry) (*receipt.Sealed, status, error)

	// put issues or writes a draft. It returns the status known if another run has issued the
	// receipt in the meantime.
	put(e *entry, doc *canon.Document) (status, error)

	heads(ctx context.Context) ([]ledger.StreamHead, error) // heads of the streams that grew

	// state returns a key for the set of receipts that the before method may return, or "" if they
	// are unknown.
	state(ctx context.Context) string

	commit() error
	discard()
}

func newSink(ctx context.Context, e *cli.Env, o *Options) (sink, error) {
	if o.Ledger != "" {
		l, err := input.OpenLedger(ctx, e, o.Ledger, !o.Look)
		if err != nil {
			return nil, err
		}
		o.Ledger = input.LedgerName(o.Ledger) // which is printed

		s := &ledgerSink{ctx: ctx, store: &noting{Database: l}, options: o, grown: map[chain.Stream]bool{}}
		if !o.Look {
			s.issuer = &ledger.Issuer{Store: s.store, Signer: o.Signer, Unsigned: o.Signer == nil}
		}
		return s, nil
	}

	d := &draftSink{out: e.Out, look: o.Look}
	if o.Output != "" && o.Output != cli.StdinName {
		file, err := cli.NewFile(o.Output, 0o644, o.Force)
		if err != nil {
			return nil, err
		}

		// The file could be created, but is not created in this case.
		if o.Look {
			file.Discard()
			return d, nil
		}
		d.out, d.file = file, file
	}

	return d, nil
}

// A ledgerSink issues receipts into a ledger. If it has no issuer, it only reads the ledger.
type ledgerSink struct {
	ctx     context.Context
	store   *noting
	issuer  *ledger.Issuer
	options *Options
	grown   map[chain.Stream]bool
}

// A noting store records which receipts it stored, so that each of two concurrent runs reports only
// its own receipts.
type noting struct {
	ledger.Database
	stored string // receipt_id of the receipt that was stored last
}

// Turn implements ledger.TurnStore.
func (n *noting) Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func()) {
	if turns, ok := n.Database.(ledger.TurnStore); ok {
		return turns.Turn(ctx, s, again)
	}
	return ctx, func() {}
}

// Append implements ledger.Store.
func (n *noting) Append(ctx context.Context, runs ...ledger.Run) error {
	err := n.Database.Append(ctx, runs...)
	if err == nil {
		last := runs[len(runs)-1].Receipts
		n.stored = last[len(last)-1].ID()
	}
	return err
}

var (
	errTenant = errors.New("the ledger contains a receipt of the task with a different issuer, tenant, or workspace")
	errTaken  = errors.New("its receipt_id belongs to a stored receipt that superseded the receipt of another task")
)

func (s *ledgerSink) before(e *entry) (*receipt.Sealed, status, error) {
	// A receipt that supersedes another receipt has an ID with an appended number, and contains the
	// hash of the earlier receipt. The hash is compared because the ID of another task may also end
	// in a number.
	var latest *stored
	var hashes []string
	next := e.Receipt

	for n := 2; ; n++ {
		r, err := s.find(next)
		if err != nil {
			return nil, "", &fatalError{s.failure(err)}
		}
		if r == nil {
			break
		}
		if latest == nil || slices.Contains(hashes, r.former()) {
			latest = r
		}
		hashes = append(hashes, r.hash)
		next = fmt.Sprint(e.Receipt, "_", n)
	}

	// Two tenants may share a ledger, but they cannot share a receipt.
	o := s.options.Record
	switch {
	case latest == nil:
		return nil, "", nil
	case latest.stream.Issuer != o.Issuer.ID || latest.stream.Tenant != o.TenantID || o.WorkspaceRef != "" && latest.stream.Workspace != o.WorkspaceRef:
		return nil, differs, errTenant
	case latest.id == e.Receipt && latest.former() != "" && e.next != e.Receipt:
		return nil, differs, errTaken
	}
	e.next = next
	if latest.sealed == nil {
		return nil, known, nil
	}
	e.last, e.Hash = latest.id, latest.hash
	return latest.sealed, "", nil
}

// A stored receipt is in the ledger.
type stored struct {
	id     string
	stream chain.Stream
	hash   string
	sealed *receipt.Sealed // nil if the receipt was pruned
}

// find returns the receipt with the given ID in the ledger, or nil if there is none.
func (s *ledgerSink) find(id string) (*stored, error) {
	sealed, err := ledger.Get(s.ctx, s.store, id)
	var pruned *ledger.PrunedError

	// The ledger still contains the hash of a pruned receipt.
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, nil
	case errors.As(err, &pruned):
		return &stored{id, pruned.Stream, pruned.Hash.String(), nil}, nil
	case err != nil:
		return nil, err
	}

	return &stored{id, sealed.Stream(), sealed.Hash().String(), sealed}, nil
}

// former returns the hash of the receipt that this receipt supersedes. It returns "" if there is no
// such receipt or its hash is unknown.
func (r *stored) former() string {
	if r.sealed == nil {
		return ""
	}
	return r.sealed.Document().Root().Member("metadata").Member("supersedes").String()
}

func (s *ledgerSink) put(e *entry, doc *canon.Document) (status, error) {
	if s.issuer == nil {
		return made, nil
	}
	s.store.stored = ""
	sealed, err := s.issuer.Issue(s.ctx, doc)
	var secrets *ledger.SecretsError
	var invalid *receipt.InvalidError

	switch {
	case errors.Is(err, ledger.ErrDuplicateID), errors.Is(err, ledger.ErrUnsigned), errors.As(err, new(*ledger.PrunedError)):
		return known, nil // the caller compares the receipt
	case errors.As(err, &secrets):
		return refused, fmt.Errorf("it still contains a possible secret, %s", secrets.Findings[0].Rule)
	case errors.As(err, &invalid):
		return refused, err
	case err != nil:
		return "", &fatalError{s.failure(err)}
	}

	// If another run has issued an equal receipt, the issuer returns that receipt.
	e.Hash = sealed.Hash().String()
	if s.store.stored != e.Receipt {
		return known, nil
	}
	s.grown[chain.StreamOf(sealed.Document())] = true
	return made, nil
}

// failure describes an error of the ledger or of the signer.
func (s *ledgerSink) failure(err error) error {
	const again = "repeat the command; stored receipts are not issued twice"
	failed, _ := errors.AsType[*ledger.IssueError](err)
	switch {
	case s.ctx.Err() != nil:
		return interrupted()
	case failed != nil && failed.Stored == ledger.StoredUnknown:
		return cli.Usage(again, "%q: %w", s.options.Ledger, failed.Err)
	case errors.As(err, new(*ledger.Fault)):
		return cli.Refuted("list the damage with receipt ledger fsck", "%q: %w", s.options.Ledger, err)
	}
	return cli.Usage(again, "%q: %w", s.options.Ledger, err)
}

func (s *ledgerSink) heads(ctx context.Context) (list []ledger.StreamHead, err error) {
	all, err := ledger.Heads(ctx, s.store)
	for _, h := range all {
		if s.grown[h.Stream] {
			list = append(list, h)
		}
	}
	return list, err
}

func (s *ledgerSink) state(ctx context.Context) string {
	all, err := s.store.Streams(ctx)
	if err != nil {
		return ""
	}
	o := s.options.Record
	lines := []string{fmt.Sprintf("%q %q %q", o.Issuer.ID, o.TenantID, o.WorkspaceRef)}
	for _, h := range all {
		lines = append(lines, fmt.Sprintf("%q %v", fmt.Sprint(h.Stream), h.Head))
	}
	slices.Sort(lines[1:])
	return canon.Sum([]byte(strings.Join(lines, "\n"))).String()
}

func (s *ledgerSink) commit() error { return nil }
func (s *ledgerSink) discard()      { s.store.Close() }

// A draftSink writes drafts, one per line.
type draftSink struct {
	out  io.Writer
	file *cli.File // nil for stdout
	look bool
}

func (d *draftSink) before(*entry) (*receipt.Sealed, status, error) { return nil, "", nil }

func (d *draftSink) put(_ *entry, doc *canon.Document) (status, error) {
	if d.look {
		return made, nil
	}
	if _, err := d.out.Write(append(doc.AppendCanonical(nil), '\n')); err != nil {
		return "", &fatalError{err}
	}
	return made, nil
}

func (d *draftSink) heads(context.Context) ([]ledger.StreamHead, error) { return nil, nil }
func (d *draftSink) state(context.Context) string                       { return "" }

func (d *draftSink) commit() error {
	if d.file == nil {
		return nil
	}
	return d.file.Commit()
}

func (d *draftSink) discard() {
	if d.file != nil {
		d.file.Discard()
	}
}

func interrupted() error {
	return cli.Usage("run the same command again: nothing is recorded twice", "interrupted")
}
