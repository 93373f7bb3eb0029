package logs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type ledgerFsckOptions struct {
	trust.PolicyFlags
	expect string
	limit  int
	some   bool // a ledger without receipts is an error
}

func newLedgerFsck(e *cli.Env) *cobra.Command {
	var o ledgerFsckOptions
	cmd := &cobra.Command{
		Use:   "fsck [FILE]",
		Short: "verify a ledger: its file, each receipt, each chain",
		Long: `Verify a ledger: the structures of the file, each receipt, its row, its place in
the chain, and the heads.

FILE-head detects a ledger that lost its newest receipts. For a copy without
that file, use --expect-head.`,
		Example: `  receipt ledger fsck ledger.db --integrity-only
  receipt ledger fsck ledger.db --keys keys.json`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0]) },
	}

	o.PolicyFlags.Register(cmd.Flags())
	cmd.Flags().StringVar(&o.expect, "expect-head", "", "receipt, or report with heads, that must be present (`HASH|REPORT`)")
	cmd.Flags().IntVar(&o.limit, "limit", 20, "maximum number of faults to print (`N`)")
	return cmd
}

// Fsck verifies an entire ledger. The ledger must contain receipts, because otherwise nothing is
// verified.
func Fsck(ctx context.Context, e *cli.Env, policy trust.PolicyFlags, address string) error {
	return (&ledgerFsckOptions{PolicyFlags: policy, limit: 20, some: true}).run(ctx, e, address)
}

func (o *ledgerFsckOptions) run(ctx context.Context, e *cli.Env, path string) error {
	v, file, err := o.Verifier(e)
	if err != nil {
		return err
	}

	var expected input.Known
	if o.expect != "" {
		if expected, err = input.ReadKnown(e, o.expect); err != nil {
			return err
		}
	}

	l, err := input.OpenLedger(ctx, e, path, false)
	if err != nil {
		return err
	}
	defer l.Close()
	path = input.LedgerName(path)

	// Faults are printed as soon as they are found, because checking a large ledger takes a long
	// time.
	told := 0
	tell := func(f ledger.Fault) {
		if told++; told <= o.limit {
			fmt.Fprintf(e.Text(), "%s: refuted, %s%s: %s\n", cli.EscapeLine(path), f.Code, faultPlace(f), cli.EscapeLine(f.Detail))
		}
	}

	progress := e.Progress("checking the file", "verifying")
	defer progress.End()
	of := max(entries(ctx, l, ledger.Query{}), 0)
	seen := func(receipts int) {
		progress.Pass(1, 0, of)
		progress.Receipts(min(receipts, 1)) // 0 at the beginning of a pass
	}

	c, err := ledger.Check(ctx, l, v, tell, seen)
	if err != nil {
		return cli.Usage("", "%q was not checked completely: %w", path, err)
	}

	// A truncated or rolled-back ledger is internally consistent, so it is compared with known
	// heads.
	lost := func(f ledger.Fault) {
		c.Faults++
		tell(f)
	}
	if err := expectHeads(ctx, l, expected, lost); err != nil {
		return err
	}
	if more := told - o.limit; more > 0 {
		fmt.Fprintf(e.Text(), "%s more\n", cli.Plural(more, "fault", ""))
	}

	return o.total(e, path, c, expected, file)
}

// faultPlace describes the receipt with a fault, based on the information that the fault contains.
func faultPlace(f ledger.Fault) string {
	var parts []string
	if f.ID != "" {
		parts = append(parts, fmt.Sprintf("receipt %q", f.ID))
	}
	if f.Position > 0 {
		parts = append(parts, fmt.Sprintf("number %d", f.Position))
	}

	text := strings.Join(parts, ", ")
	if f.Stream != (chain.Stream{}) {
		text = strings.TrimSpace(text + " of " + input.StreamText(f.Stream))
	}
	if text == "" {
		return ""
	}

	return ", " + cli.EscapeLine(text)
}

// knownHeads returns known heads by stream. A hash alone does not identify a stream, so its stream is
// zero, which stands for any stream.
func knownHeads(k input.Known) map[chain.Stream]chain.Head {
	if k.Summary != nil {
		return k.Summary.Heads()
	}
	head, s := chain.Head{Hash: k.Hash}, chain.Stream{}
	if head.IsZero() {
		return nil
	}
	if k.Stream != nil {
		s = *k.Stream
	}
	return map[chain.Stream]chain.Head{s: head}
}

// expectHeads reports known heads that are not in the ledger.
func expectHeads(ctx context.Context, l ledger.Database, k input.Known, tell func(ledger.Fault)) error {
	for s, head := range knownHeads(k) {
		found, err := ledger.Lookup(ctx, l, ledger.Key{Hash: head.Hash})
		ok := err == nil
		if !ok && !errors.Is(err, ledger.ErrNotFound) && !errors.As(err, new(*ledger.Fault)) { // other errors are not about this receipt
			return cli.Usage("", "%w", err)
		}

		f := ledger.Fault{Code: string(receipt.CodeHeadMismatch), Detail: fmt.Sprintf("the receipt with the hash %v is not in the ledger: it was rolled back, cut off, or replaced", head.Hash)}
		if named := s != (chain.Stream{}); named {
			f.Stream = s
			ok = ok && found.Stream == s
		}
		if !ok {
			tell(f)
		}
	}

	return nil
}

// total prints the results of the checks and returns the exit code.
func (o *ledgerFsckOptions) total(e *cli.Env, path string, c *ledger.Checked, expected input.Known, file *trust.KeyFile) error {
	for _, s := range c.Streams {
		missing, text := c.Missing[s.Stream], ""
		if missing > 0 {
			text = ", " + cli.Count(missing) + " missing or unreadable"
		}
		fmt.Fprintf(e.Text(), "stream       %s: %s%s, head %v\n", cli.EscapeLine(input.StreamText(s.Stream)), cli.Plural(int(s.Head.Count)-missing, "receipt", ""), text, s.Head.Hash)
	}
	open := unchecked(c, expected)
	fmt.Fprint(e.Text(), cli.Rows("not checked", open, len(open), len(open)))
	if !o.IntegrityOnly {
		fmt.Fprintf(e.Text(), "keys         %s\n", cli.EscapeLine(file.String()))
	}

	// With --integrity-only, the result is called intact instead of verified, because anyone can
	// write a receipt that matches its hash.
	verdict := c.Verdict()
	word := verdict.String()
	if verdict == receipt.Verified && o.IntegrityOnly {
		word = "intact"
	}

	if empty := verdict == receipt.Verified && c.Receipts+c.Pruned == 0; empty && o.some {
		return input.EmptyLedger(e, path)
	} else if empty { // nothing was verified
		word = "no damage found"
	}

	pruned := ""
	if c.Pruned > 0 {
		pruned = fmt.Sprintf(", %s pruned", cli.Count(c.Pruned))
	}
	fmt.Fprintf(e.Text(), "%s: %s: %s, %s verified, %s undecided%s%s, %s\n", cli.EscapeLine(path), word,
		cli.Plural(c.Receipts, "receipt", ""), cli.Count(c.Verified), cli.Count(c.Undecided), print.CodeCounts(c.Codes), pruned, cli.Plural(c.Faults, "fault", ""))
	return cli.ExitWith(cli.VerdictExit(verdict))
}

// unchecked lists the checks that were not made, in the words of receipt verify.
func unchecked(c *ledger.Checked, expected input.Known) (open []string) {
	// A chain does not show whether its end was cut off, and FILE-head contains only the receipt
	// that was stored last.
	heads, tails := knownHeads(expected), 0
	for _, s := range c.Streams {
		if shown := c.Marked && s.Stream == c.Newest; !shown && heads[s.Stream].Hash != s.Head.Hash && heads[chain.Stream{}].Hash != s.Head.Hash {
			tails++
		}
	}
	if tails > 0 {
		text := "whether receipts follow the head"
		if len(c.Streams) > 1 {
			text += " of " + cli.Plural(tails, "stream", "")
		}
		open = append(open, text+" (--expect-head)")
	}

	if !c.Audited {
		open = append(open, "the structures of the database, and rows that belong to no stream")
	}
	if c.Pruned > 0 {
		open = append(open, "the content of "+cli.Plural(c.Pruned, "pruned receipt", "")+", which is in archives; their hashes are covered by checkpoints")
	}
	if c.Unsigned > 0 {
		open = append(open, "who signed "+cli.Plural(c.Unsigned, "checkpoint", "")+" covering them: no trusted key of its log")
	}
	for _, n := range headline.Unchecked(c.Unchecked, c.Withheld) {
		open = append(open, n.Detail)
	}
	return open
}
