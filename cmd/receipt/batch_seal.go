package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type batchSealOptions struct {
	inputFlags
	previous         string
	key              keyFlags
	output, manifest string
	force            bool
}

func newBatchSeal(e *env) *cobra.Command {
	var o batchSealOptions
	cmd := &cobra.Command{
		Use:   "seal [DRAFT…] --manifest FILE -o FILE",
		Short: "make one batch of drafts",
		Long: fmt.Sprintf(`Make receipts of drafts, in their order, as one batch of the content profile: each
states the root over all of them. They are linked, hashed and, with --key, signed,
as receipt seal does it; at most %s of them. -o FILE ends in .jsonl, .ndjson or
.cborseq; without it the receipts go to stdout, one a line.

The manifest lists the receipts of the batch, and verify --batch takes it.

--previous is what the drafts follow: a hash or a receipt when they are all of one
stream; otherwise the report of an earlier verification, which has to state a head
for every stream of the batch. Without it each stream begins here.`, count(batch.MaxEntries)),
		Example: `  receipt batch seal drafts.jsonl --key issuer.private.json --manifest manifest.json -o batch.jsonl
  receipt batch seal draft.json --previous last-receipt.json --manifest manifest.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return batchSeal(cmd.Context(), e, args, &o)
		},
	}
	f := cmd.Flags()
	o.inputFlags.register(f)
	f.StringVar(&o.previous, "previous", "", "what the drafts follow: `HASH|FILE|REPORT`")
	f.StringVarP(&o.output, "output", "o", "", "write the receipts to this `FILE`")
	f.StringVar(&o.manifest, "manifest", "", "write the manifest to this `FILE`")
	f.BoolVar(&o.force, "force", false, "overwrite the output files")
	o.key.add(cmd)
	return cmd
}

func batchSeal(ctx context.Context, e *env, paths []string, o *batchSealOptions) error {
	switch {
	case o.manifest == "" || o.manifest == stdinName:
		return usage("receipt batch seal --help shows examples", "--manifest FILE is missing")
	case o.output != "" && sameFile(o.output, o.manifest):
		return usage("", "--manifest and -o name the same file, %q", o.manifest)
	}
	selected, err := o.selected(e, paths)
	if err != nil {
		return err
	}
	if selected.stdin && o.previous == stdinName {
		return usage("", "the drafts and --previous are both -, but stdin can be read once")
	}
	out, err := newDocumentWriter(e, o.output, []string{".jsonl", ".ndjson", ".cborseq"}, o.force)
	if err != nil {
		return err
	}
	defer out.discard()
	manifest, err := newReportFile(o.manifest, o.force)
	if err != nil {
		return err
	}
	defer manifest.discard()
	made, err := o.make(ctx, e, selected)
	if err != nil {
		return err
	}
	return o.write(made, out, manifest)
}

// make reads the drafts and seals them.
func (o *batchSealOptions) make(ctx context.Context, e *env, selected *selection) (*batch.Batch, error) {
	drafts, places, err := o.drafts(ctx, selected)
	if err != nil {
		return nil, err
	}
	selected.tellSkipped(e)
	heads, err := headsOf(e, o.previous, drafts)
	if err != nil {
		return nil, err
	}
	var signer receipt.Signer // nil: unsigned
	signed, err := o.key.given()
	if err != nil {
		return nil, err
	}
	if signed {
		private, err := o.key.read(e)
		if err != nil {
			return nil, err
		}
		warnOtherKeys(e, drafts, private.ID())
		signer = keys.NewSigner(private, e.now)
	}
	sealer, err := receipt.NewSealer()
	if err != nil {
		return nil, err
	}
	made, err := batch.Seal(ctx, sealer, drafts, heads, signer)
	if err != nil {
		return nil, batchFailure(err, places)
	}
	return made, nil
}

// drafts reads the drafts, and where each came from.
func (o *batchSealOptions) drafts(ctx context.Context, selected *selection) (drafts []*canon.Document, places []string, err error) {
	err = selected.each(ctx, o.long, func(d *stream.Document) error {
		if len(drafts) == batch.MaxEntries {
			return usage("seal several batches, one after the other", "the input has more than %s drafts", count(batch.MaxEntries))
		}
		draft, err := canon.Parse(bytes.Clone(d.Document.Source()))
		if err != nil {
			return err
		}
		drafts, places = append(drafts, draft), append(places, d.Address())
		return nil
	})
	if err == nil && len(drafts) == 0 {
		err = usage("", "the input holds no draft")
	}
	return drafts, places, err
}

// headsOf finds what the first draft of each stream follows.
func headsOf(e *env, previous string, drafts []*canon.Document) (map[chain.Stream]chain.Head, error) {
	heads := map[chain.Stream]chain.Head{}
	if previous == "" {
		return heads, nil
	}
	for _, d := range drafts {
		heads[chain.StreamOf(d)] = chain.Head{}
	}
	if len(heads) == 1 {
		only := chain.StreamOf(drafts[0])
		head, err := headOf(e, previous, only)
		heads[only] = head
		return heads, err
	}
	k, err := readKnown(e, previous)
	switch {
	case err != nil:
		return nil, err
	case k.summary == nil:
		return nil, usage("give a report of an earlier run, which names the heads of all streams", "the drafts are of %s streams, so one hash or receipt cannot be what they follow", count(len(heads)))
	case k.summary.Verdict() != receipt.Verified:
		return nil, usage("give a report that says verified", "%q says %s, so the heads that it states prove nothing", previous, k.summary.Verdict())
	}
	stated := k.summary.Heads()
	for s := range heads {
		head, found := stated[s]
		if !found {
			return nil, noHead(previous, s)
		}
		heads[s] = head
	}
	return heads, nil
}

// warnOtherKeys says that drafts name another key than the one that signs.
func warnOtherKeys(e *env, drafts []*canon.Document, id string) {
	others := 0
	for _, d := range drafts {
		if named := d.Root().Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != id {
			others++
		}
	}
	if others > 0 {
		fmt.Fprintf(e.err, "receipt: warning: in %s the issuer's key is another one; a signature by %s can only count as a witness's\n",
			plural(others, "draft", ""), escapeLine(fmt.Sprintf("%q", id)))
	}
}

// maxDrafts is how many drafts a failure words.
const maxDrafts = 20

// batchFailure words every problem of every draft.
func batchFailure(err error, places []string) error {
	list := draftErrors(err)
	if len(list) == 0 {
		return usage("", "%w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s cannot be sealed, so none was", count(len(list)), plural(len(places), "draft", ""))
	for i, d := range list {
		if i == maxDrafts {
			fmt.Fprintf(&b, "\n  and %s more", count(len(list)-i))
			break
		}
		fmt.Fprintf(&b, "\n  %s", escapeLine(places[d.Index]))
		var invalid *receipt.InvalidError
		if !errors.As(d.Err, &invalid) {
			fmt.Fprintf(&b, "\n    %s", escapeLine(d.Err.Error()))
			continue
		}
		for _, p := range invalid.Problems {
			at := ""
			if p.Pointer != "" {
				at = " at " + escapeLine(p.Pointer)
			}
			fmt.Fprintf(&b, "\n    %s%s: %s", p.Code, at, escapeLine(p.Detail))
		}
	}
	return refuted("", "%s", b.String())
}

func draftErrors(err error) (list []*batch.DraftError) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var d *batch.DraftError
		if errors.As(err, &d) {
			list = append(list, d)
		}
	}
	return list
}

// write writes both files or none.
func (o *batchSealOptions) write(made *batch.Batch, out *documentWriter, manifest *reportFile) error {
	for _, r := range made.Receipts {
		if err := out.write(r.ID(), r.Document()); err != nil {
			return err
		}
	}
	if _, err := manifest.Write(made.Manifest.Marshal()); err != nil {
		return usage("", "%q: %w", o.manifest, reason(err))
	}
	if err := out.commit(); err != nil {
		return err
	}
	if err := manifest.commit(); err != nil {
		if out.file != nil && !o.force {
			os.Remove(o.output)
		}
		return err
	}
	return nil
}
