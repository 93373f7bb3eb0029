package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type statementOptions struct {
	key        trust.KeyFlags
	statements string
	within     time.Duration
	final      bool
}

func newLedgerHeartbeat(e *cli.Env) *cobra.Command {
	var o statementOptions
	cmd := &cobra.Command{
		Use:   "heartbeat [FILE] --key KEY --statements FILE",
		Short: "state how many receipts each stream has",
		Long: `Sign a statement of the number of receipts and the head of each stream, and add
it to a file of statements. A verifier with that file detects a shorter copy
(receipt verify --statements) and a long silence (--heartbeat).`,
		Example: `  receipt ledger heartbeat april.db --key issuer.private.json --statements statements.jsonl
  receipt ledger heartbeat april.db --key issuer.private.json --statements statements.jsonl --within 1h`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0]) },
	}
	o.register(cmd)
	cmd.Flags().DurationVar(&o.within, "within", 0, "time until the next statement (`DURATION`)")
	return cmd
}

func newLedgerClose(e *cli.Env) *cobra.Command {
	o := statementOptions{final: true}
	cmd := &cobra.Command{
		Use:   "close [FILE] --key KEY --statements FILE",
		Short: "state that the streams have ended",
		Long: `Sign a final statement for each stream, as receipt ledger heartbeat does. Later
receipts contradict it.`,
		Example: `  receipt ledger close april.db --key issuer.private.json --statements statements.jsonl
  receipt ledger close april.db --key issuer.private.json --statements week-statements.jsonl`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0]) },
	}
	o.register(cmd)
	return cmd
}

func (o *statementOptions) register(cmd *cobra.Command) {
	o.key.Add(cmd)
	cmd.Flags().StringVar(&o.statements, "statements", "", "file of statements, created if necessary (`FILE`)")
}

func (o *statementOptions) run(ctx context.Context, e *cli.Env, path string) error {
	switch {
	case o.key.Path == "" || o.statements == "" || o.statements == cli.StdinName:
		return cli.Usage("receipt ledger heartbeat --help has examples", "both --key KEY and --statements FILE are required")
	case o.within < 0 || o.within%time.Second != 0:
		return cli.Usage("", "--within must be in whole seconds, found %v", o.within)
	}
	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	if k := key.Public(); !k.Has(receipt.RoleIssuer) {
		return cli.Usage("use the key of the issuer", "the key %q has the role %s, but statements require the role issuer", k.ID, cli.RolesText(k))
	}
	l, err := input.OpenLedger(ctx, e, path, false)
	if err != nil {
		return err
	}
	defer l.Close()

	// If two processes extended the same statement, the statements would fork.
	unlock, err := lockStatements(o.statements)
	if err != nil {
		return err
	}
	defer unlock()
	text, held, err := readStatements(o.statements)
	if err != nil {
		return err
	}

	streams, err := l.Streams(ctx)
	if err != nil {
		return input.LedgerReading(err)
	}
	if len(streams) == 0 {
		return cli.Usage("", "the ledger has no receipts")
	}
	var printed bytes.Buffer
	byStream := statement.ByStream(held)
	for _, s := range streams {
		last := lastOf(byStream[s.Stream])
		if last != nil && last.Final && last.Count == s.Head.Count && last.Head == s.Head.Hash {
			continue // other streams may go on
		}
		if err := o.extends(ctx, l, s, last); err != nil {
			return err
		}
		next, err := o.next(s, last, e.Now())
		if err != nil {
			return err
		}
		line, err := next.Sign(ctx, key)
		if err != nil {
			return o.key.Failure(ctx, err)
		}
		text = append(text, line...)
		word := "stated"
		if next.Final {
			word = "ended"
		}
		fmt.Fprintf(&printed, "%s: %s, head %v, %s\n", word, trust.LeavesText(next.Count), next.Head, cli.EscapeLine(input.StreamText(s.Stream)))
	}

	if printed.Len() == 0 {
		return cli.Usage("", "%q ends all streams of the ledger; nothing was stated", o.statements)
	}

	// The statements are stored durably before they are reported.
	if err := cli.ReplaceFile(o.statements, text, 0o644); err != nil {
		return err
	}
	_, err = e.Out.Write(printed.Bytes())
	return err
}

// extends checks that the ledger contains the receipts of the last statement. Otherwise, the next
// statement would contradict that statement.
func (o *statementOptions) extends(ctx context.Context, l ledger.Store, s ledger.StreamHead, last *statement.Signed) error {
	if last == nil || last.Count == 0 {
		return nil
	}
	const hint = "restore the ledger"
	name := input.StreamText(s.Stream)
	if s.Head.Count < last.Count {
		return cli.Refuted(hint, "%s: the stream %s has %s, and %q states %s with head %v",
			receipt.CodeTruncated, name, trust.LeavesText(s.Head.Count), o.statements, trust.LeavesText(last.Count), last.Head)
	}
	r, err := ledger.Lookup(ctx, l, ledger.Key{Stream: s.Stream, Position: last.Count})
	switch {
	case err != nil:
		return input.LedgerReading(err)
	case r.Hash != last.Head:
		return cli.Refuted(hint, "%s: receipt number %d of the stream %s is %v, and %q states %v",
			receipt.CodeHeadMismatch, last.Count, name, r.Hash, o.statements, last.Head)
	}
	return nil
}

// next returns the statement that follows the last one. The time of a statement is never earlier
// than the time of the last statement.
func (o *statementOptions) next(s ledger.StreamHead, last *statement.Signed, now time.Time) (*statement.Statement, error) {
	next := &statement.Statement{Stream: s.Stream, Count: s.Head.Count, Head: s.Head.Hash, At: now.UTC().Truncate(time.Second), Final: o.final, Within: o.within}
	if last == nil {
		return next, nil
	}
	if last.Final {
		return nil, cli.Usage("", "%q ends the stream %s with %s; nothing was stated", o.statements, input.StreamText(s.Stream), trust.LeavesText(last.Count))
	}
	next.Previous = last.Digest
	if next.At.Before(last.At) {
		next.At = last.At
	}
	return next, nil
}

// lastOf returns the last statement of a stream, which is the statement without a successor.
func lastOf(list []*statement.Signed) (last *statement.Signed) {
	followed := map[canon.Digest]bool{}
	for _, s := range list {
		followed[s.Previous] = true
	}
	for _, s := range list {
		if !followed[s.Digest] {
			last = s
		}
	}
	return last
}

// maxStatements is the maximum size, in bytes, of a file of statements. The command "receipt
// verify" has the same limit.
const maxStatements = 64 << 20

// readStatements reads a file of statements, which may be missing.
func readStatements(path string) (text []byte, list []*statement.Signed, err error) {
	text, err = os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	case len(text) > maxStatements-statement.MaxBytes:
		return nil, nil, cli.Usage("begin a new file, and keep the old one", "%q has %d bytes, which is too large", path, len(text))
	}
	list = statement.ParseFile(text, func(line int, fault error) {
		err = cmp.Or(err, cli.Usage("", "%q, line %d: %w", path, line, fault))
	})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text, list, err
}

// lockStatements creates a file next to the statements, and returns a function that removes it.
func lockStatements(path string) (unlock func(), err error) {
	lock := path + "-lock"
	f, err := cli.PrepareFile(lock, nil, 0o600, true)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	if err := f.CommitNew(); errors.Is(err, fs.ErrExist) {
		return nil, cli.Usage("remove it if no other process runs", "%q exists: another process adds statements", lock)
	} else if err != nil {
		return nil, cli.Usage("", "%q: %w", lock, cli.Reason(err))
	}
	return func() { os.Remove(lock) }, nil
}
