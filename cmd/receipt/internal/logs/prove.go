package logs

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type proveOptions struct {
	receiptFlags
	checkpoint, receipt string
	output              cli.OutputFlags
}

func newProve(e *cli.Env, ledger bool) *cobra.Command {
	o := proveOptions{receiptFlags: receiptFlags{ledger: ledger}}
	cmd := &cobra.Command{
		Use:   "prove [PATH…|LEDGER] --checkpoint FILE --receipt ID|FILE",
		Short: "prove that a checkpoint covers a receipt",
		Long: `Write the proof (C2SP tlog-proof) that a checkpoint covers a receipt. It
contains the checkpoint, so verify --proof needs only the receipt, the proof,
and the key.

PATH… are the receipts that the checkpoint covers, in their order; more may
follow. A part of a ledger needs the flags that selected it.`,
		Example: `  receipt batch prove receipts.jsonl --checkpoint checkpoint.txt --receipt receipt.json -o receipt.tlog-proof
  receipt batch prove receipts.jsonl --checkpoint checkpoint.txt --receipt receipt_01K0TASK`,
		Hidden: ledger,
		Args:   o.args,
		RunE:   func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}

	f := cmd.Flags()
	f.StringVar(&o.checkpoint, "checkpoint", "", "checkpoint (`FILE`)")
	f.StringVar(&o.receipt, "receipt", "", "receipt (`ID|FILE`)")
	o.output.Register(f, "output file, by convention .tlog-proof (`FILE`)")
	o.register(f, "from")
	return cmd
}

func (o *proveOptions) run(ctx context.Context, e *cli.Env, paths []string) error {
	if o.checkpoint == "" || o.receipt == "" {
		return cli.Usage("receipt batch prove --help shows examples", "both --checkpoint FILE and --receipt ID|FILE are required")
	}
	return o.with(ctx, e, paths, o.output.Path, func(m *meant) error { return o.prove(ctx, e, m) })
}

func (o *proveOptions) prove(ctx context.Context, e *cli.Env, selected *meant) error {
	if err := selected.onceStdin(o.checkpoint, o.receipt); err != nil {
		return err
	}
	h, err := trust.ReadHead(e, o.checkpoint, nil)
	if err != nil {
		return err
	}

	wanted, err := o.wanted(e)
	if err != nil {
		return err
	}

	progress := selected.Begin(e, "reading")
	defer progress.End()
	proof, err := wanted.prove(ctx, selected, o.Long, h)
	if err != nil {
		return err
	}

	selected.TellSkipped(e)
	return o.output.Write(e, proof.Format(), 0o644)
}

// A wanted receipt is the receipt to be proved, with its position in the input.
type wanted struct {
	name  string
	id    string       // ID, or a unique prefix of it; "" for a file
	fit   int          // how well the ID matches, as returned by input.MatchID
	hash  canon.Digest // hash of the file, or of the receipt with this ID
	found bool
	index uint64
	seen  uint64 // number of receipts so far
	twice bool   // several different receipts have this ID
}

func (o *proveOptions) wanted(e *cli.Env) (*wanted, error) {
	_, err := os.Stat(o.receipt)
	if _, _, ok := input.Address(o.receipt); err != nil && !ok && o.receipt != cli.StdinName {
		return &wanted{name: o.receipt, id: o.receipt}, nil
	}
	data, err := input.ReadReceipt(e, o.receipt)
	if err != nil {
		return nil, err
	}
	if err := input.RefuseDraft(o.receipt, data, " -o RECEIPT"); err != nil {
		return nil, err
	}
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		return nil, cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(cli.SourceName(o.receipt))+" lists all faults", "%q: %w", cli.SourceName(o.receipt), err)
	}
	return &wanted{name: cli.SourceName(o.receipt), hash: sealed.Hash()}, nil
}

// look compares the next receipt in the input with the wanted receipt.
func (w *wanted) look(id string, hash canon.Digest) {
	at := w.seen
	w.seen++
	fit := input.MatchID(id, w.id)
	switch {
	case w.id == "" && hash != w.hash:
	case w.id != "" && (fit == 0 || fit < w.fit):
	case w.found && fit == w.fit:
		w.twice = w.twice || hash != w.hash
	default:
		w.found, w.index, w.hash, w.fit, w.twice = true, at, hash, fit, false
	}
}

func (w *wanted) prove(ctx context.Context, selected *meant, long bool, h *trust.Head) (*tlog.Proof, error) {
	leaves, err := readLeaves(ctx, selected, long, h.Size, w.look)
	if err != nil {
		return nil, err
	}

	// A proof for other receipts would belong to a different tree.
	if err := h.Over(leaves); err != nil {
		return nil, err
	}

	switch {
	case w.twice:
		return nil, cli.Usage("specify the receipt as a file", "several receipts match the receipt_id %q", w.name)
	case !w.found:
		return nil, cli.Refuted("use a receipt_id or a file", "%q is not among the %s of the input", w.name, trust.LeavesText(w.seen))
	case w.index >= h.Size:
		return nil, cli.Refuted("use a later checkpoint", "%q is number %d of the input, but the checkpoint covers the first %s", w.name, w.index+1, trust.LeavesText(h.Size))
	}

	// RFC 9162 section 2.1.3.1
	hashes, err := merkle.ProveInclusion(leaves, w.index)
	if err != nil {
		return nil, err
	}

	return &tlog.Proof{Index: w.index, Hashes: hashes, Checkpoint: h.Note}, nil
}

// readLeaves returns the leaf hashes of the first size receipts in the input. It calls each for
// every receipt in the input.
func readLeaves(ctx context.Context, selected *meant, long bool, size uint64, each func(id string, hash canon.Digest)) (leaves []merkle.Hash, err error) {
	add := func(id string, hash canon.Digest) {
		each(id, hash)
		if uint64(len(leaves)) < size {
			leaves = append(leaves, receipt.CheckpointLeaf(hash))
		}
	}

	for e, err := range selected.pruned {
		if err != nil {
			return nil, input.LedgerReading(err)
		}
		add(e.ID, e.Hash)
	}

	if selected.all {
		return leaves, nil
	}
	err = selected.Each(ctx, long, func(d *stream.Document) error {
		hash, err := hashOf(d)
		if err != nil {
			return err
		}
		add(d.Root().Member("receipt_id").String(), hash)
		return nil
	})
	return leaves, err
}

// hashOf computes the hash of a receipt, and returns an error unless it equals the stated hash.
func hashOf(d *stream.Document) (canon.Digest, error) {
	link, placed := chain.LinkOf(d.Document)
	if d.Root().Member("schema").String() != receipt.SchemaMarker || !placed {
		if err := input.RefuseUnsealed(d); err != nil {
			return canon.Digest{}, err
		}
		return canon.Digest{}, cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(d.Address())+" shows why", "%q: %s: a tree can contain only receipts", d.Address(), receipt.CodeNotAReceipt)
	}
	hash, err := chain.Hash(d.Document)
	switch {
	case errors.Is(err, chain.ErrNotObject):
		return hash, cli.Refuted("", "%q: %w", d.Address(), err)
	case err == nil && hash != link.Hash:
		err = cli.Refuted("receipt show "+cli.ShellFile(d.Address())+" shows it", "%q: %s: stated %s, computed %s", d.Address(), receipt.CodeHashMismatch, link.Hash, hash)
	}
	return hash, err
}
