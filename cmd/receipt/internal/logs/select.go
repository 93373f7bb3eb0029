package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// receiptFlags selects the receipts of a tree: receipts in files, all receipts in a ledger if it is
// the only argument, or a part of a ledger.
type receiptFlags struct {
	input.Flags
	part   ledgerRange
	ledger bool // the command is a subcommand of "receipt ledger", so the input must be a ledger
}

func (o *receiptFlags) register(f *pflag.FlagSet, from string) {
	o.Flags.Register(f)
	o.part.register(f, from)
}

// args validates the arguments of a command with these flags.
func (o *receiptFlags) args(cmd *cobra.Command, args []string) error {
	if o.ledger {
		return onlyLedgerFile(cmd, args)
	}
	return nil
}

// with selects the receipts, and passes them to do. It returns an error if one of the inputs is the
// output file.
func (o *receiptFlags) with(ctx context.Context, e *cli.Env, paths []string, written string, do func(*meant) error) error {
	if !o.ledger && !o.isLedger(e, paths) {
		if o.part != (ledgerRange{}) {
			return cli.Usage("specify one ledger and no other input", "flags select a part of a ledger, but the input is not a ledger")
		}
		s, err := o.Keeping(e, paths, "output", written)
		if err != nil {
			return err
		}
		return do(&meant{Selection: s, pruned: func(func(ledger.Row, error) bool) {}})
	}

	path := paths[0]
	l, err := input.OpenLedger(ctx, e, path, false)
	if err != nil {
		return err
	}
	defer l.Close()
	path = input.LedgerName(path)

	// The reader returns damage only as text, so it also stores the error here.
	var damage error
	m, err := o.part.selection(ctx, path, l, &damage)
	if err == nil {
		err = do(m)
	}
	if err != nil && damage != nil {
		return input.LedgerReading(damage)
	}
	return err
}

// isLedger reports whether the input consists of a single ledger.
func (o *receiptFlags) isLedger(e *cli.Env, paths []string) bool {
	return len(paths) == 1 && o.FilesFrom == "" && input.IsLedger(e, paths[0])
}

// meant represents the selected receipts. Receipts that the ledger has pruned come first, and only
// their IDs and hashes can be read.
type meant struct {
	*input.Selection
	pruned iter.Seq2[ledger.Row, error]
	empty  bool // the selected part of the ledger contains no receipt that can be read
	all    bool // the selected part contains receipts, but all of them were pruned
}

// onceStdin returns an error if more than one of the inputs and files is stdin.
func (m *meant) onceStdin(files ...string) error {
	if m.Stdin {
		files = append(files, cli.StdinName)
	}
	return cli.OnceStdin(files...)
}

// A ledgerRange selects receipts in a ledger. The zero ledgerRange selects all receipts.
type ledgerRange struct {
	stream, task, session string
	from, before, until   time.Time
}

// register adds the flags to a command. The parameter from is the name of the flag for the start
// time, because a command may use --from for something else.
func (r *ledgerRange) register(f *pflag.FlagSet, from string) {
	f.StringVar(&r.stream, "stream", "", "only the stream of this receipt (`HASH`)")
	cli.TimeVar(f, &r.from, from, "only receipts issued then or later, RFC 3339 (`TIME`)")
	cli.TimeVar(f, &r.before, "before", "only receipts issued earlier (`TIME`)")
	cli.TimeVar(f, &r.until, "until", "only receipts stored before the first one issued then or later (`TIME`)")
}

// registerIDs adds the flags that select receipts by task or by session.
func (r *ledgerRange) registerIDs(f *pflag.FlagSet) {
	f.StringVar(&r.task, "task", "", "only receipts of this task (`ID`)")
	f.StringVar(&r.session, "session", "", "only receipts of this session (`ID`)")
}

// query returns the query for the selected receipts.
func (r *ledgerRange) query(ctx context.Context, l ledger.Database) (q ledger.Query, err error) {
	q.Task, q.Session, q.From, q.Before, q.Until = r.task, r.session, r.from, r.before, r.until
	if r.stream == "" {
		return q, nil
	}

	// The hash of any receipt in a stream identifies the stream.
	hash, err := canon.ParseDigest(r.stream)
	if err != nil {
		return q, cli.Usage("print hashes with receipt ledger head", "--stream %q: %w", r.stream, err)
	}

	found, err := ledger.Lookup(ctx, l, ledger.Key{Hash: hash})
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return q, cli.Usage("print hashes with receipt ledger head", "--stream: the ledger has no receipt with the hash %s", r.stream)
	case err != nil:
		return q, input.LedgerReading(err)
	}
	q.Stream = &found.Stream
	return q, nil
}

// selection returns the selected receipts as an input with one receipt per line, in the order in
// which they were stored. If the reader finds damage, it stores the error in *damage.
func (r *ledgerRange) selection(ctx context.Context, path string, l ledger.Database, damage *error) (*meant, error) {
	q, err := r.query(ctx, l)
	if err != nil {
		return nil, err
	}

	// The entries that remain for pruned receipts must match their checkpoints.
	if _, err := ledger.Prunings(ctx, l); err != nil {
		return nil, input.LedgerReading(err)
	}
	// Pruned receipts are read first, and skipped when the other receipts are read. If another
	// process prunes more receipts in the meantime, the read fails, so that no receipt is omitted.
	all, pruned := q, new(int)
	all.Pruned = true
	s := &input.Selection{Entries: entries(ctx, l, q), Sources: []stream.Source{{Name: path, Kind: stream.Lines, Open: func() (io.ReadCloser, error) {
		next, stop := iter.Pull2(l.Walk(ctx, all, 0))
		return &ledgerReader{next: next, stop: stop, pruned: *pruned, damage: damage}, nil
	}}}}
	m := &meant{Selection: s, pruned: prunedOf(ctx, l, q, pruned), empty: true}
	for range l.Walk(ctx, q, 0) {
		m.empty = false // the caller that reads the receipts reports an error
		return m, nil
	}
	n, err := ledger.CountPruned(ctx, l, q)
	if err != nil {
		return nil, input.LedgerReading(err)
	}
	m.all = n > 0
	return m, nil
}

// prunedOf returns the pruned receipts of a query, and counts them. Pruned receipts precede all
// other receipts.
func prunedOf(ctx context.Context, l ledger.Database, q ledger.Query, count *int) iter.Seq2[ledger.Row, error] {
	q.Pruned = true
	return func(yield func(ledger.Row, error) bool) {
		*count = 0
		for e, err := range l.Walk(ctx, q, 0) {
			if err == nil && e.JSON != nil {
				return
			}
			*count++
			if !yield(e, err) {
				return
			}
		}
	}
}

// tellPruned prints the number of selected receipts that are in archives.
func tellPruned(ctx context.Context, e *cli.Env, l ledger.Database, q ledger.Query, hint string) error {
	n, err := ledger.CountPruned(ctx, l, q)
	if err != nil {
		return input.LedgerReading(err)
	}
	if n > 0 {
		e.Note("%s pruned, and not listed; %s", cli.Plural(int(n), "receipt", verbOf(n)), hint)
	}
	return nil
}

func verbOf(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// entries returns the number of selected receipts, or -1 if they cannot be counted without reading
// them.
func entries(ctx context.Context, l ledger.Database, q ledger.Query) (n int64) {
	streams, err := ledger.Heads(ctx, l)
	if err != nil || q.Task != "" || q.Session != "" || !q.From.IsZero() || !q.Before.IsZero() || !q.Until.IsZero() {
		return -1
	}
	for _, s := range streams {
		if q.Stream == nil || *q.Stream == s.Stream {
			n += int64(s.Head.Count)
		}
	}
	return cmp.Or(n, -1)
}

// A ledgerReader reads receipts, one per line.
type ledgerReader struct {
	next func() (ledger.Row, error, bool)
	stop func()
	line []byte // the unread rest of the current line
	err  error

	pruned int // number of pruned receipts before the first receipt to read
	damage *error
}

func (r *ledgerReader) Read(p []byte) (n int, err error) {
	for len(r.line) == 0 && r.err == nil {
		e, err, more := r.next()
		switch {
		case err != nil:
			r.err = err
			if errors.As(err, new(*ledger.Fault)) {
				*r.damage = err
			}
		case more && e.JSON == nil && r.pruned > 0:
			r.pruned--
		case r.pruned > 0, more && e.JSON == nil:
			r.err = ledger.ErrPruneChanged
		case !more:
			r.err = io.EOF
		case bytes.ContainsAny(e.JSON, "\r\n"): // stored receipts contain no line breaks
			r.err = fmt.Errorf("receipt %q of the ledger is damaged; for details, run receipt ledger fsck", e.ID)
		default:
			r.line = append(append(r.line, e.JSON...), '\n')
		}
	}

	// An error is returned only after all data that was read before the error.
	if len(r.line) == 0 {
		return 0, r.err
	}

	n = copy(p, r.line)
	if r.line = r.line[n:]; len(r.line) == 0 {
		r.line = nil
	}
	return n, nil
}

func (r *ledgerReader) Close() error {
	r.stop()
	return nil
}
