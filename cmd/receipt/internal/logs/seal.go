package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type batchSealOptions struct {
	input.Flags
	previous, manifest string
	key                trust.KeyFlags
	output             cli.OutputFlags
}

func newSeal(e *cli.Env) *cobra.Command {
	var o batchSealOptions
	cmd := &cobra.Command{
		Use:   "seal [DRAFT…] --manifest FILE -o FILE",
		Short: "seal drafts as one batch",
		Long: fmt.Sprintf(`Seal at most %s drafts, in their order, as one batch of the content
profile: each receipt states the root of all of them, and is linked, hashed and,
with --key, signed. FILE ends in .jsonl, .ndjson, or .cborseq. The manifest is
for verify --batch.

--previous is a hash or a receipt for a single stream, and otherwise a report
with the heads of all streams.`, cli.Count(batch.MaxEntries)),
		Example: `  receipt batch seal drafts.jsonl --key issuer.private.json --manifest manifest.json -o batch.jsonl
  receipt batch seal draft.json --previous last-receipt.json --manifest manifest.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return batchSeal(cmd.Context(), e, args, &o) },
	}

	f := cmd.Flags()
	o.Flags.Register(f)
	f.StringVar(&o.previous, "previous", "", "predecessor of the drafts (`HASH|FILE|REPORT`)")
	o.output.Register(f, "output file for the receipts (`FILE`)")
	f.StringVar(&o.manifest, "manifest", "", "file for the manifest (`FILE`)")
	o.key.Add(cmd)
	return cmd
}

func batchSeal(ctx context.Context, e *cli.Env, paths []string, o *batchSealOptions) error {
	switch {
	case o.manifest == "" || o.manifest == cli.StdinName:
		return cli.Usage("receipt batch seal --help shows examples", "missing --manifest FILE")
	case o.output.Path != "" && cli.SameFile(o.output.Path, o.manifest):
		return cli.Usage("", "--manifest and -o name the same file, %q", o.manifest)
	}

	selected, err := o.Keeping(e, paths, "manifest", o.manifest)
	if err != nil {
		return err
	}
	if selected.Stdin && o.previous == cli.StdinName {
		return cli.Usage("", "the drafts and --previous are both stdin, which can be read only once")
	}

	// Both files are opened first, so that nothing is sealed unless both files can be written.
	out, err := issue.NewDocumentWriter(e, &o.output, ".jsonl", ".ndjson", ".cborseq")
	if err != nil {
		return err
	}
	defer out.Discard()

	manifest, err := cli.NewFile(o.manifest, 0o644, o.output.Force)
	if err != nil {
		return err
	}
	defer manifest.Discard()

	made, err := o.make(ctx, e, selected)
	if err != nil {
		return err
	}

	return o.write(made, out, manifest)
}

// make reads the drafts and seals them.
func (o *batchSealOptions) make(ctx context.Context, e *cli.Env, selected *input.Selection) (*batch.Batch, error) {
	// The key is opened first, because the user may have to type a passphrase, and reading stdin
	// may block.
	key, err := o.key.OpenGiven(ctx, e)
	if err != nil {
		return nil, err
	}

	progress := selected.Begin(e, "reading", "sealing")
	defer progress.End()
	drafts, places, err := o.drafts(ctx, selected)
	if err != nil {
		return nil, err
	}
	selected.TellSkipped(e)

	heads, err := headsOf(e, o.previous, drafts)
	if err != nil {
		return nil, err
	}

	var signer receipt.Signer // nil: unsigned
	counting := &countingSigner{progress: progress}
	if key != nil {
		warnOtherKeys(e, drafts, key.Public().ID)
		counting.Signer, signer = key, counting
		progress.Pass(1, 0, int64(len(drafts)))
	} else {
		progress.Pass(1, 0, 0)
	}

	// Receipts are signed one after another, which takes most of the time.
	made, err := batch.Seal(ctx, drafts, heads, signer)
	switch {
	case counting.err != nil: // the error is about the key, not about a draft
		return nil, o.key.Failure(ctx, counting.err)
	case err != nil:
		return nil, batchFailure(err, places)
	}

	return made, nil
}

// A countingSigner counts each signature in a progress report, and stores the error of the last
// signature.
type countingSigner struct {
	receipt.Signer
	progress *cli.Progress
	err      error
}

func (s *countingSigner) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	signature, err := s.Signer.Sign(ctx, message)
	s.progress.Receipts(1)
	s.err = err
	return signature, err
}

// drafts reads the drafts and their addresses.
func (o *batchSealOptions) drafts(ctx context.Context, selected *input.Selection) (drafts []*canon.Document, places []string, err error) {
	err = selected.Each(ctx, o.Long, func(d *stream.Document) error {
		if len(drafts) == batch.MaxEntries {
			return cli.Usage("seal several batches", "the input has more than %s drafts", cli.Count(batch.MaxEntries))
		}
		if err := input.RefuseOther(d, "draft"); err != nil {
			return err
		}
		draft, err := canon.Parse(bytes.Clone(d.Document.Source()))
		if err != nil {
			return err
		}
		drafts, places = append(drafts, draft), append(places, d.Address())
		return nil
	})

	if err == nil && len(drafts) == 0 {
		err = cli.Usage("", "input contains no draft")
	}
	return drafts, places, err
}

// headsOf returns the head to which the first draft of each stream links.
func headsOf(e *cli.Env, previous string, drafts []*canon.Document) (map[chain.Stream]chain.Head, error) {
	heads := map[chain.Stream]chain.Head{}
	if previous == "" {
		return heads, nil
	}

	for _, d := range drafts {
		heads[chain.StreamOf(d)] = chain.Head{}
	}

	// If there is only one stream, a hash or a receipt is sufficient.
	if len(heads) == 1 {
		only := chain.StreamOf(drafts[0])
		head, err := issue.HeadOf(e, previous, only)
		heads[only] = head
		return heads, err
	}

	// If there are several streams, a report must state the head of each stream.
	k, err := input.ReadKnown(e, previous)
	switch {
	case err != nil:
		return nil, err
	case k.Summary == nil:
		return nil, cli.Usage("use a report of an earlier run, which contains the heads of all streams", "the drafts belong to %s streams, so they cannot all follow one hash or receipt", cli.Count(len(heads)))
	}

	for s := range heads {
		if heads[s], err = issue.StatedHead(previous, k.Summary, s); err != nil {
			return nil, err
		}
	}

	return heads, nil
}

// warnOtherKeys prints a warning if the key that a draft names is not the signing key.
func warnOtherKeys(e *cli.Env, drafts []*canon.Document, id string) {
	others := 0
	for _, d := range drafts {
		if named := d.Root().Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != id {
			others++
		}
	}
	if others > 0 {
		e.Warn("", "the issuer's key differs in %s; a signature by %q can count only as a witness's", cli.Plural(others, "draft", ""), id)
	}
}

// maxDrafts is the maximum number of drafts that a failure describes.
const maxDrafts = 20

// batchFailure describes the problems of all drafts.
func batchFailure(err error, places []string) error {
	list := draftErrors(err)
	if len(list) == 0 {
		return cli.Usage("", "%w", err)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s cannot be sealed, so none was sealed", cli.Count(len(list)), cli.Plural(len(places), "draft", ""))

	// The first drafts are described in full, and the remaining drafts are only counted.
	for i, d := range list {
		if i == maxDrafts {
			fmt.Fprintf(&b, "\n  and %s more", cli.Count(len(list)-i))
			break
		}

		fmt.Fprintf(&b, "\n  %s", cli.EscapeLine(places[d.Index]))
		var invalid *receipt.InvalidError
		if !errors.As(d.Err, &invalid) {
			fmt.Fprintf(&b, "\n    %s", cli.EscapeLine(d.Err.Error()))
			continue
		}

		for _, p := range invalid.Problems {
			at := ""
			if p.Pointer != "" {
				at = " at " + cli.EscapeLine(p.Pointer)
			}
			fmt.Fprintf(&b, "\n    %s%s: %s", p.Code, at, cli.EscapeLine(p.Detail))
		}
	}

	return cli.Refuted("", "%s", b.String())
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

// write writes both files, or neither.
func (o *batchSealOptions) write(made *batch.Batch, out *issue.DocumentWriter, manifest *cli.File) error {
	for _, r := range made.Receipts {
		if err := out.Put(r.ID(), r.Document()); err != nil {
			return err
		}
	}

	if _, err := manifest.Write(made.Manifest.Marshal()); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}

	// A batch is incomplete without its manifest, so the receipts are removed unless they replaced
	// an existing file.
	if err := manifest.Commit(); err != nil {
		if out.File != nil {
			out.File.Withdraw()
		}
		return err
	}

	return nil
}
