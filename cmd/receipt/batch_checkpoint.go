package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type checkpointOptions struct {
	inputFlags
	logFlags
}

// logFlags say which log signs what, and where it goes.
type logFlags struct {
	key                              keyFlags
	origin, extends, output, tempDir string
	force                            bool
}

// A chooser finds the receipts that are meant, when nothing else can go wrong before.
type chooser func() (*selection, error)

func newBatchCheckpoint(e *env) *cobra.Command {
	var o checkpointOptions
	cmd := &cobra.Command{
		Use:   "checkpoint [PATH…] --key KEY --origin NAME",
		Short: "sign a checkpoint over receipts",
		Long: `Sign a checkpoint (C2SP tlog-checkpoint) over receipts: the root of the RFC 9162
tree whose leaves are their hashes, in the order of the input, copies included.
Folders are read in the order of their file names.

The receipts are verified first, for their content and their links: if one does
not fit its hash, or one is missing between others, nothing is signed. Whether
their issuers signed them is not looked at.

A log must never sign two checkpoints of which neither extends the other. With
--extends, the last checkpoint that KEY signed for this origin, it is checked that
this one does; otherwise nothing is signed. Give it for every checkpoint but the
first: --extends FILE -o FILE --force keeps one file up to date.

KEY is an Ed25519 key. Who verifies has its public half in a trust file, with
"roles": ["checkpoint"] and "origin": NAME, as this makes it:

  receipt keys generate --role checkpoint --origin NAME --private FILE --public FILE`,
		Example: `  receipt batch checkpoint receipts.jsonl --key log.private.json --origin log.example.net/receipts -o checkpoint.txt
  receipt batch checkpoint more-receipts.jsonl --key log.private.json --origin log.example.net/receipts --extends checkpoint.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.checkpoint(cmd.Context(), e, func() (*selection, error) { return o.selected(e, args) }, o.long)
		},
	}
	o.inputFlags.register(cmd.Flags())
	o.logFlags.add(cmd)
	return cmd
}

func (o *logFlags) add(cmd *cobra.Command) {
	o.key.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.origin, "origin", "", "the `NAME` of the log, as a URL without https://")
	f.StringVar(&o.extends, "extends", "", "the last checkpoint of the log, a `FILE`")
	f.StringVarP(&o.output, "output", "o", "", "write to this `FILE`")
	f.BoolVar(&o.force, "force", false, "overwrite the output file")
	f.StringVar(&o.tempDir, "temp-dir", os.TempDir(), "keep what does not fit into memory in `DIR`")
}

func (o *logFlags) checkpoint(ctx context.Context, e *env, choose chooser, long bool) error {
	private, log, err := o.signer(e)
	if err != nil {
		return err
	}
	selected, err := choose()
	if err != nil {
		return err
	}
	if selected.stdin && o.extends == stdinName {
		return usage("", "- is given twice, but stdin can be read once")
	}
	last, err := o.last(e, log)
	if err != nil {
		return err
	}
	remove, err := selected.spoolStdin(ctx, o.tempDir, false)
	if err != nil {
		return err
	}
	defer remove()
	out, err := openOutput(e, o.output, o.force)
	if err != nil {
		return err
	}
	defer out.discard()
	tree, err := o.grow(ctx, e, selected, long, last)
	if err != nil {
		return err
	}
	note, err := private.SignCheckpoint(ctx, &tlog.Checkpoint{Origin: o.origin, Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		return usage("", "%q: %w", o.key.path, err)
	}
	if _, err := out.Write(note); err != nil {
		return err
	}
	return out.commit()
}

// signer reads the key, before anything else is done in vain.
func (o *logFlags) signer(e *env) (*keys.PrivateKey, *tlog.Log, error) {
	switch {
	case o.key.path == "":
		return nil, nil, usage("receipt keys generate --role checkpoint --origin NAME makes a key", "--key is missing")
	case o.origin == "":
		return nil, nil, usage("a log is named by a URL without https://, such as log.example.net/receipts", "--origin is missing")
	}
	private, err := o.key.read(e)
	if err != nil {
		return nil, nil, err
	}
	public, ok := private.Public().Crypto().(ed25519.PublicKey)
	if !ok {
		return nil, nil, usage("receipt keys generate --role checkpoint --origin NAME makes a key", "the key %q is for %s; checkpoints are signed with Ed25519 keys", private.ID(), private.Algorithm())
	}
	log, err := tlog.NewLog(o.origin, public)
	if err != nil {
		return nil, nil, usage("", "--origin %q: %s", o.origin, plainMerkle(err))
	}
	return private, log, nil
}

// last reads the checkpoint that the new one has to extend; nil for none.
func (o *logFlags) last(e *env, log *tlog.Log) (*head, error) {
	if o.extends == "" {
		return nil, nil
	}
	h, err := readHead(e, o.extends, []*tlog.Log{log})
	switch {
	case err != nil:
		return nil, err
	case h.Origin != o.origin:
		return nil, usage("", "%q is of the log %q, --origin says %q", sourceName(o.extends), h.Origin, o.origin)
	case len(h.Logs) == 0:
		return nil, &failure{exitUndecided, fmt.Errorf("%q is not signed by %q, so nobody can tell what the log signed; nothing was signed", sourceName(o.extends), o.key.path),
			"--extends takes the last checkpoint that the same key signed"}
	}
	return h, nil
}

// grow verifies the receipts and makes the tree over them.
func (o *logFlags) grow(ctx context.Context, e *env, selected *selection, long bool, last *head) (*merkle.Tree, error) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Now: e.now()})
	if err != nil {
		return nil, err
	}
	run := stream.VerifyFiles(ctx, v, selected.sources, stream.Options{Long: long, TempDir: o.tempDir})
	tree := new(merkle.Tree)
	before := merkle.EmptyRoot() // at the size of the last checkpoint
	for rep := range run.Reports() {
		if rep.Verdict != receipt.Verified {
			return nil, notSigned(rep)
		}
		tree.Append(receipt.CheckpointLeaf(rep.ReceiptHash))
		if last != nil && tree.Size() == last.Size {
			before = tree.Root()
		}
	}
	sum, err := run.Summary()
	if err := sound(sum, err); err != nil {
		return nil, err
	}
	selected.skipped = append(selected.skipped, sum.Skipped...)
	selected.tellSkipped(e)
	if last == nil {
		return tree, nil
	}
	if err = last.checkRoot(before); tree.Size() < last.Size {
		err = last.tooLarge(tree.Size())
	}
	if err != nil {
		return nil, refuted("a log only adds: the receipts of its last checkpoint come first, in the same order", "%w; nothing was signed", err)
	}
	return tree, nil
}

// notSigned words why a receipt keeps a checkpoint from being signed.
func notSigned(rep *receipt.Report) error {
	f := rep.Finding()
	return &failure{verdictExit(rep.Verdict), fmt.Errorf("%q: %s, %s: %s; nothing was signed", rep.Address(), rep.Verdict, f.Code, reasonLine(f)),
		"receipt verify --integrity-only shows all of it"}
}

// sound makes sure that everything was read and holds together.
func sound(sum *stream.Summary, err error) error {
	if err := fatal(err); err != nil {
		return err
	}
	if list := sum.Inputs.Unreadable; len(list) > 0 {
		return notRead(list[0])
	}
	if list := sum.Findings; len(list) > 0 {
		return refuted("receipt verify --integrity-only shows all of it", "%s: %s, %s; nothing was signed", findingName(list[0]), list[0].Code, list[0].Detail)
	}
	if sum.Verdict() != receipt.Verified {
		return usage("", "the input holds no receipt")
	}
	return nil
}
