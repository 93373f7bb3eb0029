package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type ledgerFsckOptions struct {
	policyFlags
	expect string
	limit  int
}

func newLedgerFsck(e *env) *cobra.Command {
	var o ledgerFsckOptions
	cmd := &cobra.Command{
		Use:   "fsck FILE",
		Short: "check a ledger: its file, each receipt, each chain",
		Long: `Read all of a ledger and verify it again: the structures of the file, each receipt,
its row, its place in its chain, and the heads. Nothing is repaired.

A ledger whose newest receipts were removed with their heads, or that was replaced by
an older copy, looks sound from inside. FILE-head, which lies beside a ledger, shows
it; a copy is elsewhere and has none. --expect-head takes what was known before: the
hash of a receipt, or a report that receipt verify wrote, all of whose heads must be
in the ledger.

Exit status: 0 all is verified, 1 something is damaged, 3 undecided, 2 not checked.`,
		Example: `  receipt ledger fsck ledger.db --integrity-only
  receipt ledger fsck ledger.db --keys keys.json`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), e, args[0])
		},
	}
	o.policyFlags.register(cmd.Flags())
	cmd.Flags().StringVar(&o.expect, "expect-head", "", "the `HASH` of a receipt that must be there, or a REPORT whose heads must be")
	cmd.Flags().IntVar(&o.limit, "limit", 20, "print `N` faults; the rest is counted")
	return cmd
}

func (o *ledgerFsckOptions) run(ctx context.Context, e *env, path string) error {
	v, file, err := o.verifier(e)
	if err != nil {
		return err
	}
	var expected known
	if o.expect != "" {
		if expected, err = readKnown(e, o.expect); err != nil {
			return err
		}
	}
	l, err := openLedger(ctx, path, false)
	if err != nil {
		return err
	}
	defer l.Close()
	told := 0
	tell := func(f ledger.Fault) {
		if told++; told <= o.limit {
			fmt.Fprintf(e.out, "%s: refuted, %s%s: %s\n", escapeLine(path), f.Code, faultPlace(f), escapeLine(f.Detail))
		}
	}
	c, err := l.Check(ctx, v, tell)
	if err != nil {
		return usage("", "%q is not checked to its end: %w", path, err)
	}
	if err := expectHeads(ctx, l, expected, tell); err != nil {
		return err
	}
	if more := told - o.limit; more > 0 {
		fmt.Fprintf(e.out, "%s more\n", plural(more, "fault", ""))
	}
	return o.total(e, path, c, file, told)
}

// faultPlace names the receipt of a fault, as far as it is known.
func faultPlace(f ledger.Fault) string {
	var parts []string
	if f.ID != "" {
		parts = append(parts, fmt.Sprintf("receipt %q", f.ID))
	}
	if f.Position > 0 {
		parts = append(parts, fmt.Sprintf("number %d", f.Position))
	}
	text := strings.Join(parts, ", ")
	if f.Stream != nil {
		text = strings.TrimSpace(text + " of " + streamText(*f.Stream))
	}
	if text == "" {
		return ""
	}
	return ", " + escapeLine(text)
}

// expectHeads looks for heads that were known before.
func expectHeads(ctx context.Context, l *ledger.SQLite, k known, tell func(ledger.Fault)) error {
	wanted := map[chain.Stream]chain.Head{}
	if k.summary != nil {
		wanted = k.summary.Heads()
	} else if !(chain.Head{Hash: k.hash}).IsZero() {
		s := chain.Stream{}
		if k.stream != nil {
			s = *k.stream
		}
		wanted[s] = chain.Head{Hash: k.hash}
	}
	for s, head := range wanted {
		found, ok, err := l.Find(ctx, head.Hash)
		if err != nil && !errors.As(err, new(*ledger.DamageError)) { // which is no such receipt
			return usage("", "%w", err)
		}
		f := ledger.Fault{Code: string(receipt.CodeHeadMismatch), Detail: fmt.Sprintf("the receipt with the hash %v is not in the ledger: it was rolled back or cut off, or is another one", head.Hash)}
		if named := s != (chain.Stream{}); named {
			f.Stream = &s
			ok = ok && found == s
		}
		if !ok {
			tell(f)
		}
	}
	return nil
}

// total prints what was checked, and decides.
func (o *ledgerFsckOptions) total(e *env, path string, c *ledger.Checked, file *keyFile, faults int) error {
	for _, s := range c.Streams {
		fmt.Fprintf(e.out, "stream       %s: %s, head %v\n", escapeLine(streamText(s.Stream)), plural(int(s.Head.Count), "receipt", ""), s.Head.Hash)
	}
	if o.expect == "" && !c.Marked {
		fmt.Fprintln(e.out, "not checked  whether receipts are missing behind the heads (--expect-head)")
	}
	if o.integrityOnly {
		fmt.Fprintln(e.out, "not checked  signatures (--integrity-only)")
	} else {
		fmt.Fprintf(e.out, "keys         %s\n", escapeLine(file.String()))
	}
	verdict := receipt.Undecided
	switch {
	case faults > 0:
		verdict = receipt.Refuted
	case c.Undecided == 0:
		verdict = receipt.Verified
	}
	word := verdict.String()
	if verdict == receipt.Verified && o.integrityOnly {
		word = "intact"
	}
	fmt.Fprintf(e.out, "%s: %s: %s, %d verified, %d undecided, %s\n", escapeLine(path), word,
		plural(c.Receipts, "receipt", ""), c.Verified, c.Undecided, plural(faults, "fault", ""))
	return exitWith(verdictExit(verdict))
}
