package logs

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

type consistencyOptions struct {
	receiptFlags
	from, to, check, keys string
	output                cli.OutputFlags
}

func newConsistency(e *cli.Env, ledger bool) *cobra.Command {
	o := consistencyOptions{receiptFlags: receiptFlags{ledger: ledger}}
	mark, since := "", "issued-from"
	if ledger { // for a ledger, --from is a time
		mark, since = "-checkpoint", "from"
	}

	cmd := &cobra.Command{
		Use:   "consistency --from OLD --to NEW [PATH…|LEDGER]",
		Short: "prove or check that a checkpoint extends an earlier one",
		Long: `Write the proof that the checkpoint NEW extends OLD: the log has only added
receipts. PATH… are the receipts that NEW covers, in their order.

With --check, check a proof, and the signatures of both checkpoints with keys
that are trusted for checkpoints of their origin. No receipts are needed.

Package merkle/tlog defines the format.`,
		Example: `  receipt batch consistency --from checkpoint.txt --to later-checkpoint.txt more-receipts.jsonl -o consistency.txt
  receipt batch consistency --from checkpoint.txt --to later-checkpoint.txt --check consistency.txt --keys keys.json`,
		Hidden: ledger,
		Args:   o.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.from == "" || o.to == "" {
				return cli.Usage(cmd.CommandPath()+" --help shows examples", "both --from%s OLD and --to%[1]s NEW are required", mark)
			}
			return o.run(cmd.Context(), e, args)
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.from, "from"+mark, "", "earlier checkpoint (`FILE`)")
	f.StringVar(&o.to, "to"+mark, "", "later checkpoint (`FILE`)")
	o.output.Register(f, "output file for the proof (`FILE`)")
	f.StringVar(&o.check, "check", "", "proof to check, instead of writing one (`FILE`)")
	f.StringVarP(&o.keys, "keys", "k", "", "with --check: trusted keys (`FILE`)")
	o.register(f, since)
	return cmd
}

func (o *consistencyOptions) run(ctx context.Context, e *cli.Env, paths []string) error {
	switch {
	case o.check == "" && o.keys != "":
		return cli.Usage("", "--keys requires --check")
	case o.check != "" && (len(paths) > 0 || o.FilesFrom != ""):
		return cli.Usage("", "--check accepts no receipts")
	case o.check != "" && o.output.Path != "":
		return cli.Usage("", "--check and -o exclude each other")
	}

	if o.check != "" {
		if err := cli.OnceStdin(o.from, o.to, o.check); err != nil {
			return err
		}
		return o.verify(e)
	}

	return o.with(ctx, e, paths, o.output.Path, func(m *meant) error { return o.prove(ctx, e, m) })
}

func (o *consistencyOptions) prove(ctx context.Context, e *cli.Env, selected *meant) error {
	if err := selected.onceStdin(o.from, o.to); err != nil {
		return err
	}
	from, to, err := o.heads(e, nil)
	if err != nil {
		return err
	}

	// If the first tree is larger, or is a different tree of the same size, no proof exists.
	if code := receipt.Contradiction(&from.Checkpoint, &to.Checkpoint); code != "" {
		hint := "if the log signed both, keep both: together they prove that it showed two trees"
		if code == receipt.CodeTruncated {
			hint = wrongOrder
		}
		return cli.Refuted(hint, "%s: %s\n  %s: %s\n  %s: %s",
			code, contradictionText(code, from, to), cli.SourceName(from.Path), from, cli.SourceName(to.Path), to)
	}

	progress := selected.Begin(e, "reading")
	defer progress.End()
	leaves, err := readLeaves(ctx, selected, o.Long, to.Size, func(string, canon.Digest) {})
	if err != nil {
		return err
	}
	selected.TellSkipped(e)

	// Both roots are computed from the receipts, without relying on either checkpoint.
	for _, h := range []*trust.Head{to, from} {
		if err := h.Over(leaves); err != nil {
			return err
		}
	}

	// RFC 9162 section 2.1.4.1
	proof, err := tlog.ProveExtension(leaves, from.Size)
	if err != nil {
		return err
	}

	return o.output.Write(e, proof.Format(), 0o644)
}

// heads reads both checkpoints, which must belong to the same log. The earlier checkpoint must not
// be empty.
func (o *consistencyOptions) heads(e *cli.Env, logs []*tlog.Log) (from, to *trust.Head, err error) {
	if from, err = trust.ReadHead(e, o.from, logs); err != nil {
		return nil, nil, err
	}
	if to, err = trust.ReadHead(e, o.to, logs); err != nil {
		return nil, nil, err
	}
	switch {
	case from.Origin != to.Origin:
		return nil, nil, cli.Usage("", "the checkpoints belong to two logs, %q and %q", from.Origin, to.Origin)
	case from.Size == 0:
		return nil, nil, cli.Usage("", "%q covers no receipts, so there is nothing to prove", cli.SourceName(o.from))
	}
	return from, to, nil
}

// contradictionText describes the contradiction between two checkpoints.
func contradictionText(code receipt.Code, from, to *trust.Head) string {
	if code == receipt.CodeTruncated {
		return fmt.Sprintf("the later tree is smaller: %s, after %s", trust.LeavesText(to.Size), trust.LeavesText(from.Size))
	}
	return fmt.Sprintf("two trees of %s", trust.LeavesText(from.Size))
}

// verify checks a proof and prints the result.
func (o *consistencyOptions) verify(e *cli.Env) error {
	file, err := trust.ReadKeys(e, o.keys)
	if err != nil {
		return err
	}

	// ReadHead also verifies the signatures of the checkpoints.
	from, to, err := o.heads(e, receipt.Logs(file.Set))
	if err != nil {
		return err
	}

	proof, err := readExtension(e, o.check)
	if err != nil {
		return err
	}

	r := &consistency{receipt.CheckGrowth(file.Set, from.Signed, to.Signed, proof), from, to, proof, file}
	if err := r.print(e); err != nil {
		return err
	}

	return cli.ExitWith(cli.VerdictExit(r.Verdict))
}

func readExtension(e *cli.Env, path string) (*tlog.Extension, error) {
	data, err := input.ReadBounded(e, path, trust.MaxNoteBytes+1)
	if err != nil {
		return nil, err
	}
	x, err := tlog.ParseExtension(data)
	switch {
	case err == nil:
		return x, nil
	case bytes.HasPrefix(data, []byte("receiptkit/consistency-proof@v1")):
		return nil, cli.Refuted("", "%q: %s: %s", cli.SourceName(path), receipt.CodeProofInvalid, trust.PlainMerkle(err))
	}
	if wrong := input.WrongKind(path, data, "a proof of consistency", kind.Consistency); wrong != nil {
		return nil, wrong
	}
	return nil, cli.Usage("write a proof with receipt batch consistency", "%q: %s", cli.SourceName(path), trust.PlainMerkle(err))
}

// A consistency is the result of checking a proof against two checkpoints.
type consistency struct {
	*receipt.Growth
	from, to *trust.Head
	proof    *tlog.Extension
	file     *trust.KeyFile
}

// text returns the reason for the verdict.
func (r *consistency) text() string {
	head, stated, size, root := r.from, "from", r.proof.Size1, r.proof.Root1
	if r.Later {
		head, stated, size, root = r.to, "to", r.proof.Size2, r.proof.Root2
	}

	switch {
	case r.Code == "":
		return "the later tree extends the earlier one"
	case r.Code == receipt.CodeKeyRevoked:
		return fmt.Sprintf("%s signed %q, and is revoked", r.Revoked.ID, cli.SourceName(head.Path))
	case r.Code == receipt.CodeUnknownKey:
		return fmt.Sprintf("no trusted key of the log %q signed %q", head.Origin, cli.SourceName(head.Path))
	case r.Code != receipt.CodeProofInvalid:
		return contradictionText(r.Code, r.from, r.to)
	case r.Err != nil:
		return trust.PlainMerkle(r.Err)
	}
	return fmt.Sprintf("the proof is %s another tree: %s, root %v", stated, trust.LeavesText(size), root)
}

// signers returns the IDs of the log's keys that signed the checkpoints.
func (r *consistency) signers() (ids []string) {
	for _, key := range r.Signers {
		if key != nil {
			ids = append(ids, key.ID)
		}
	}
	return ids
}

func (r *consistency) print(e *cli.Env) error {
	var b print.Block
	title := r.Verdict.String()
	if r.Code != "" {
		title += ", " + string(r.Code)
	}

	// The compared values are printed, so that a reader can check them.
	fmt.Fprintf(&b, "%s: %s\n", print.PaintIf(e.Colored(), r.Verdict, title), cli.EscapeLine(r.text()))
	b.Row("log", r.from.Origin)
	b.Row("from", r.from.String())
	b.Row("to", r.to.String())
	if names := slices.Compact(r.signers()); len(names) > 0 {
		b.Row("signed by", strings.Join(names, ", "))
	}

	if r.Code == receipt.CodeTruncated || r.Code == receipt.CodeMerkleRootMismatch {
		b.Row("next", r.advice())
	}
	b.Row("keys", r.file.String())
	_, err := e.Out.Write(b.Bytes())
	return err
}

const wrongOrder = "make sure that the first of the two is the earlier one; a log never shrinks"

// advice returns the recommended action for contradicting checkpoints.
func (r *consistency) advice() string {
	switch {
	case r.Code == receipt.CodeTruncated:
		return wrongOrder
	case len(r.signers()) == 2:
		return "keep both checkpoints: together they prove that the log showed two trees"
	}
	return "find out where they came from: no trusted key of the log signed both"
}
