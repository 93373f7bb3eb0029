package logs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type ledgerListOptions struct {
	ledgerRange
	format string
	pruned bool
}

func newLedgerList(e *cli.Env) *cobra.Command {
	o := &ledgerListOptions{format: "text"}
	cmd := &cobra.Command{
		Use:    "list [FILE]",
		Hidden: true, // "receipt list" is the command for people
		Short:  "list the receipts of a ledger",
		Long: `List receipts, one per line, in stored order: receipt_id, time of issue, final
state, and task ID. --format json adds the hash, the position in the stream, and
the number of signatures. Receipts are not verified.

Pruned receipts are counted on stderr or, with --pruned, listed first with their
archive.`,
		Example: `  receipt ledger list april.db
  receipt ledger list april.db --from 2026-04-25T00:00:00Z --format json`,
		Args: onlyLedgerFile,
		RunE: onLedger(e, o.run),
	}

	f := cmd.Flags()
	o.registerIDs(f)
	o.ledgerRange.register(f, "from")
	f.BoolVar(&o.pruned, "pruned", false, "also list pruned receipts")
	cli.Choose(f, &o.format, "format", "format of the lines (`FORMAT`)", "text", "json")
	return cmd
}

func (o *ledgerListOptions) run(ctx context.Context, e *cli.Env, l ledger.Database, _ []string) error {
	query, err := o.query(ctx, l)
	if err != nil {
		return err
	}

	progress := e.Progress("listing")
	defer progress.End()
	progress.Pass(0, 0, max(entries(ctx, l, query), 0))

	// Only one line is kept in memory, because a ledger may be large.
	out := bufio.NewWriter(e.Text())
	if o.format == "json" {
		out = bufio.NewWriter(e.Out)
	}
	write := print.NewJSONWriter(out)
	line := func(row any) error {
		if o.format == "json" {
			return write.Write("", row, "\n")
		}
		_, err := fmt.Fprintln(out, row)
		return err
	}

	if o.pruned {
		if err := o.listPruned(ctx, l, query, line); err != nil {
			return err
		}
	} else if err := tellPruned(ctx, e, l, query, "--pruned lists them"); err != nil {
		return err
	}
	newer, err := successors(ctx, l)
	if err != nil {
		return err
	}
	for entry, err := range l.Walk(ctx, query, 0) {
		if err != nil {
			return input.LedgerReading(err)
		}
		row, err := rowOf(&entry, newer)
		if err != nil {
			return input.LedgerReading(err)
		}
		if err := line(row); err != nil {
			return err
		}
		progress.Receipts(1)
	}
	return out.Flush()
}

// listPruned lists what remains in the ledger about receipts in archives.
func (o *ledgerListOptions) listPruned(ctx context.Context, l ledger.Database, q ledger.Query, line func(any) error) error {
	prunings, err := ledger.Prunings(ctx, l)
	if err != nil {
		return input.LedgerReading(err)
	}
	for entry, err := range prunedOf(ctx, l, q, new(int)) {
		if err != nil {
			return input.LedgerReading(err)
		}

		// Pruned receipts are in the order in which they were pruned, so the loop advances to the
		// pruning that contains this receipt.
		for len(prunings) > 1 && entry.Sequence > prunings[0].Last {
			prunings = prunings[1:]
		}
		row := &prunedReceipt{entry.Sequence, entry.Position, entry.ID, entry.Hash, true, prunings[0].Archive, prunings[0].Digest}
		if err := line(row); err != nil {
			return err
		}
	}
	return nil
}

// A prunedReceipt is a line in the list for a receipt that is in an archive.
type prunedReceipt struct {
	Sequence int64        `json:"sequence"`
	Position uint64       `json:"position"`
	ID       string       `json:"receipt_id"`
	Hash     canon.Digest `json:"receipt_hash"`
	Pruned   bool         `json:"pruned"`
	Archive  string       `json:"archive"`
	Digest   canon.Digest `json:"archive_sha256"`
}

// String returns the line as text.
func (r *prunedReceipt) String() string {
	return cli.EscapeLine(fmt.Sprintf("%s  pruned  %s", r.ID, r.Archive))
}

// A listedReceipt is a line in the list.
type listedReceipt struct {
	Sequence   int64        `json:"sequence"`
	Position   uint64       `json:"position"`
	ID         string       `json:"receipt_id"`
	Hash       canon.Digest `json:"receipt_hash"`
	IssuedAt   *string      `json:"issued_at"`   // null if the source did not record it
	State      *string      `json:"final_state"` // null if the source did not record it
	Task       string       `json:"task_id"`
	Signatures int          `json:"signatures"`

	Supersedes   string `json:"supersedes,omitzero"`    // hash that metadata.supersedes states
	SupersededBy string `json:"superseded_by,omitzero"` // receipt_id of a receipt in the ledger
}

func rowOf(entry *ledger.Row, newer versions) (*listedReceipt, error) {
	doc, err := canon.Parse(entry.JSON)
	if err != nil {
		return nil, err
	}
	root := doc.Root()
	unreported := receipt.ReadUnreported(root)
	recorded := func(pointer string, n canon.Node) *string {
		if unreported.Has(pointer) {
			return nil
		}
		text := n.String()
		return &text
	}
	return &listedReceipt{entry.Sequence, entry.Position, entry.ID, entry.Hash, recorded("/issued_at", root.Member("issued_at")),
		recorded("/lifecycle/final_state", root.Member("lifecycle").Member("final_state")), root.Member("identifiers").Member("task_id").String(), root.Member("signatures").Len(),
		root.Member("metadata").Member("supersedes").String(), newer.of(root, entry.Hash)}, nil
}

// String returns the line as text.
func (r *listedReceipt) String() string {
	unsigned := ""
	if r.Signatures == 0 {
		unsigned = "  not signed"
	}
	text := func(recorded *string) string {
		if recorded == nil {
			return headline.NotRecorded
		}
		return *recorded
	}
	version := ""
	if r.Supersedes != "" {
		version = "  supersedes " + r.Supersedes
	}
	if r.SupersededBy != "" {
		version += "  superseded by " + r.SupersededBy
	}
	return cli.EscapeLine(fmt.Sprintf("%s  %-20s  %-9s  %s%s%s", r.ID, text(r.IssuedAt), text(r.State), r.Task, unsigned, version))
}

// versions maps superseded receipts to the receipt_id of their successor.
type versions map[version]string

// A version identifies a receipt by its issuer and hash. A receipt can be superseded only by the
// same issuer, regardless of what other receipts state.
type version struct {
	issuer string
	hash   canon.Digest
}

// successors returns the receipts in a ledger that supersede other receipts. There are only a few.
// A receipt is superseded only to withhold something that it should not have stated, or because its
// log has changed.
func successors(ctx context.Context, l ledger.Database) (versions, error) {
	newer := versions{}
	for entry, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			return nil, input.LedgerReading(err)
		}
		if !bytes.Contains(entry.JSON, []byte(`"supersedes"`)) {
			continue
		}
		doc, err := canon.Parse(entry.JSON)
		if err != nil {
			return nil, input.LedgerReading(err)
		}
		root := doc.Root()
		if hash, err := canon.ParseDigest(root.Member("metadata").Member("supersedes").Text()); err == nil {
			newer[version{root.Member("issuer").Member("id").String(), hash}] = entry.ID
		}
	}
	return newer, nil
}

// of returns the receipt_id of the successor of a receipt, or "".
func (v versions) of(root canon.Node, hash canon.Digest) string {
	return v[version{root.Member("issuer").Member("id").String(), hash}]
}
