package logs

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type checkpointOptions struct {
	receiptFlags
	key                      trust.KeyFlags
	origin, extends, tempDir string
	output                   cli.OutputFlags
}

func newCheckpoint(e *cli.Env, ledger bool) *cobra.Command {
	o := checkpointOptions{receiptFlags: receiptFlags{ledger: ledger}}
	cmd := &cobra.Command{
		Use:   "checkpoint [PATH…|LEDGER] --key KEY --origin NAME",
		Short: "sign a checkpoint that covers receipts",
		Long: `Sign a checkpoint (C2SP tlog-checkpoint): the root of the RFC 9162 tree of the
receipt hashes, in the order of the input (file names, or a LEDGER's order),
copies included. Nothing is signed if a hash is incorrect, or a receipt is
missing between others. Issuer signatures are not checked.

Each checkpoint of a log must extend the previous one, which --extends specifies.

--stream, --from, and --before select a part of a ledger, which needs its own
origin, and the same flags for prove, consistency, and ledger export. --until
selects the beginning of the ledger, for receipt ledger prune.

KEY is an Ed25519 or ML-DSA-44 key (receipt keys generate --role checkpoint
--origin NAME).`,
		Example: `  receipt batch checkpoint receipts.jsonl --key log.private.json --origin log.example.net/receipts -o checkpoint.txt
  receipt batch checkpoint more-receipts.jsonl --key log.private.json --origin log.example.net/receipts --extends checkpoint.txt`,
		Hidden: ledger,
		Args:   o.args,
		RunE:   func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}

	o.key.Add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.origin, "origin", "", "name of the log, a URL without https:// (`NAME`)")
	f.StringVar(&o.extends, "extends", "", "last checkpoint of the log (`FILE`)")
	o.output.Register(f, "output (`FILE`)")
	f.StringVar(&o.tempDir, "temp-dir", os.TempDir(), "directory for temporary files (`DIR`)")
	o.register(f, "from")
	return cmd
}

func (o *checkpointOptions) run(ctx context.Context, e *cli.Env, paths []string) error {
	key, log, err := o.signer(ctx, e)
	if err != nil {
		return err
	}
	if err := input.CheckTempDir(o.tempDir); err != nil {
		return err
	}

	written := o.output.Path
	if o.extends != "" && cli.SameFile(o.extends, written) { // the checkpoint in the output file is the one to extend
		written = ""
	}
	return o.with(ctx, e, paths, written, func(m *meant) error { return o.checkpoint(ctx, e, m, key, log) })
}

func (o *checkpointOptions) checkpoint(ctx context.Context, e *cli.Env, selected *meant, key *keys.Signer, log *tlog.Log) error {
	if err := selected.onceStdin(o.extends); err != nil {
		return err
	}

	last, err := o.last(e, log)
	if err != nil {
		return err
	}

	remove, err := selected.SpoolStdin(ctx, o.tempDir, false, e.Progress)
	if err != nil {
		return err
	}
	defer remove()

	// The output is opened first, so that an error in opening it is reported before the work is
	// done.
	out, err := o.output.Open(e, 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()

	progress := selected.Begin(e, selected.Readings("verifying", false)...)
	defer progress.End()
	tree, err := o.grow(ctx, e, selected, last, progress)
	if err != nil {
		return err
	}

	// C2SP tlog-checkpoint: the checkpoint is a signed note with the origin, the size, and the
	// root.
	note, err := key.SignCheckpoint(ctx, &tlog.Checkpoint{Origin: o.origin, Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		return o.key.Failure(ctx, err)
	}
	if _, err := out.Write(note); err != nil {
		return err
	}

	return out.Commit()
}

// signer opens the key before the receipts are read, so that an error in opening it is reported
// early.
func (o *checkpointOptions) signer(ctx context.Context, e *cli.Env) (*keys.Signer, *tlog.Log, error) {
	switch {
	case o.key.Path == "":
		return nil, nil, cli.Usage("generate a key with receipt keys generate --role checkpoint --origin NAME", "missing --key KEY")
	case o.origin == "":
		return nil, nil, cli.Usage("use a URL without https://, such as log.example.net/receipts", "missing --origin NAME")
	}

	key, err := o.key.Open(ctx, e)
	if err != nil {
		return nil, nil, err
	}

	// The key file may contain the name of a log. The file of a key from another program does not
	// contain such a name.
	half := key.Public()
	if half.Origin != "" && half.Origin != o.origin {
		return nil, nil, cli.Usage("--origin "+cli.ShellName(half.Origin)+", or a separate key for another log", "%q is the key of the log %q, found --origin %q", o.key.Path, half.Origin, o.origin)
	}

	log, err := half.Log(o.origin)
	switch {
	case errors.As(err, new(*tlog.NameError)):
		return nil, nil, cli.Usage("", "--origin %q: %s", o.origin, trust.PlainMerkle(err))
	case err != nil:
		return nil, nil, cli.Usage("generate a key with receipt keys generate --role checkpoint --origin NAME", "%w", err)
	}

	return key, log, o.ofLog(e, half)
}

// ofLog checks the role of the key. It returns an error if the key has a different role. If the key
// has no role, it only prints a warning, because recipients can assign the role in their trust
// files.
func (o *checkpointOptions) ofLog(e *cli.Env, half *keys.PublicKey) error {
	switch {
	case half.Has(receipt.RoleCheckpoint) || trust.SignsLog(e, half, o.origin):
		return nil
	case len(half.Roles) > 0:
		return cli.Usage("generate a key with receipt keys generate --any-issuer --role checkpoint --origin NAME", "the key %q has the role %s, but checkpoints require the role checkpoint", half.ID, cli.RolesText(half))
	}

	e.Warn(fmt.Sprintf("%s | receipt keys import - --any-issuer --role checkpoint --origin %s --keys FILE", o.key.PublicHalf(), cli.ShellName(o.origin)),
		"the key %q does not state the role checkpoint; verifiers need a trust file in which it has that role", half.ID)
	return nil
}

// last reads the checkpoint that the new one must extend, or returns nil without --extends.
func (o *checkpointOptions) last(e *cli.Env, log *tlog.Log) (*trust.Head, error) {
	if o.extends == "" {
		return nil, nil
	}
	h, err := trust.ReadHead(e, o.extends, []*tlog.Log{log})
	switch {
	case err != nil:
		return nil, err
	case h.Origin != o.origin:
		return nil, cli.Usage("", "%q is of the log %q, but --origin is %q", cli.SourceName(o.extends), h.Origin, o.origin)
	case len(h.Logs) == 0:
		return nil, cli.Undecided("use the last checkpoint that the same key signed",
			"%q is not signed by %q, so it does not show what the log signed; nothing was signed", cli.SourceName(o.extends), o.key.Path)
	}
	return h, nil
}

// grow verifies the receipts, and builds the tree of their hashes.
func (o *checkpointOptions) grow(ctx context.Context, e *cli.Env, selected *meant, last *trust.Head, progress *cli.Progress) (*merkle.Tree, error) {
	// Only integrity is checked, because a log records which receipts exist, but not who signed
	// them.
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Now: e.Now()})
	if err != nil {
		return nil, err
	}

	tree := new(merkle.Tree)
	before := merkle.EmptyRoot() // root at the size of the last checkpoint
	grow := func(hash canon.Digest) {
		tree.Append(receipt.CheckpointLeaf(hash))
		if last != nil && tree.Size() == last.Size {
			before = tree.Root()
		}
		progress.Receipts(1)
	}

	// Pruned receipts come first. The ledger contains only their IDs and hashes.
	for e, err := range selected.pruned {
		if err != nil {
			return nil, input.LedgerReading(err)
		}
		grow(e.Hash)
	}
	if !selected.all {
		run := stream.VerifyFiles(ctx, v, selected.Sources, stream.Options{Long: o.Long, TempDir: o.tempDir})
		for rep := range run.Reports() {
			if rep.Verdict != receipt.Verified {
				return nil, notSigned(rep)
			}
			grow(rep.ReceiptHash)
		}

		sum, err := run.Summary()
		if err := sound(sum, err); err != nil {
			return nil, err
		}
		selected.Skipped = append(selected.Skipped, sum.Skipped...)
		selected.TellSkipped(e)
	}

	if last == nil {
		return tree, nil
	}

	// At the size of the last checkpoint, the tree must have the root of that checkpoint.
	if err = last.CheckRoot(before); tree.Size() < last.Size {
		err = last.TooLarge(tree.Size())
	}
	if err != nil {
		return nil, cli.Refuted("start with the receipts of the last checkpoint, in the same order, because a log only adds receipts", "%w; nothing was signed", err)
	}
	return tree, nil
}

// notSigned describes why a receipt prevents signing a checkpoint.
func notSigned(rep *receipt.Report) error {
	f := rep.Finding()
	return &cli.Failure{Code: cli.VerdictExit(rep.Verdict), Err: fmt.Errorf("%q: %s, %s: %s; nothing was signed", rep.Address(), rep.Verdict, f.Code, print.ReasonLine(f)),
		Hint: "receipt verify --integrity-only " + cli.ShellFile(rep.Address()) + " lists all faults"}
}

// sound returns an error unless all inputs were read and their receipts are linked.
func sound(sum *stream.Summary, err error) error {
	if err := input.Fatal(err); err != nil {
		return err
	}
	if list := sum.Inputs.Unreadable; len(list) > 0 {
		return input.NotRead(list[0])
	}
	if list := sum.Findings; len(list) > 0 {
		return cli.Refuted("for details, run receipt verify --integrity-only PATH…", "%s: %s, %s; nothing was signed", print.FindingName(list[0]), list[0].Code, list[0].Detail)
	}
	if sum.Verdict() != receipt.Verified {
		return cli.Usage("", "input contains no receipt")
	}
	return nil
}
