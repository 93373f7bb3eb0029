package issue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
)

type sealOptions struct {
	previous string
	key      trust.KeyFlags
	output   string
	force    bool
	strict   bool
}

// NewSeal makes the verb seal.
func NewSeal(e *cli.Env) *cobra.Command {
	var o sealOptions
	cmd := &cobra.Command{
		Use:   "seal [FILE]",
		Short: "make a receipt of a draft",
		Long: `Make a receipt of a draft: link it to its predecessor, compute its hash and, with
--key, sign it. The result is canonical JSON and a newline.

A draft is a receipt without /chain/receipt_hash and /signatures. Without
--previous the receipt is the first of its stream. --previous takes a hash, the
predecessor's file, or the report of an earlier verification.`,
		Example: `  receipt seal draft.json --key issuer.private.json -o receipt.json
  receipt seal draft.json --previous last-receipt.json`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return seal(cmd.Context(), e, cli.FileArg(args), &o)
		},
	}

	cmd.Flags().StringVar(&o.previous, "previous", "", "the predecessor: `HASH|FILE|REPORT`")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write to this `FILE`")
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite the output file")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "refuse a draft that seems to hold secrets, instead of a warning")
	o.key.Add(cmd)
	return cmd
}

func seal(ctx context.Context, e *cli.Env, path string, o *sealOptions) error {
	signed, err := o.key.Given()
	if err != nil {
		return err
	}

	draft, err := input.ReadDocument(e, path)
	if err != nil {
		return err
	}
	if err := input.RefuseDocument(path, draft.Root(), "draft"); err != nil {
		return err
	}
	if err := warnOfSecrets(e, path, draft, o.strict); err != nil {
		return err
	}

	var head chain.Head
	if o.previous != "" {
		if head, err = HeadOf(e, o.previous, chain.StreamOf(draft)); err != nil {
			return err
		}
	}

	// Redact, seal, sign: signatures are over the hash.
	sealed, err := receipt.SealDocument(draft, head)
	if err != nil {
		return SealFailure(path, err)
	}
	if signed {
		if sealed, err = o.key.Sign(ctx, e, sealed); err != nil {
			return err
		}
	}

	return cli.WriteOutput(e, o.output, append(sealed.JSON(), '\n'), 0o644, o.force)
}

// SealFailure words why a draft was not sealed: all of its problems at once.
func SealFailure(path string, err error) error {
	var invalid *receipt.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	text := fmt.Sprintf("%q cannot be sealed", cli.SourceName(path))
	for _, p := range invalid.Problems {
		text += "\n  " + string(p.Code)
		if p.Pointer != "" {
			text += " at " + cli.EscapeLine(p.Pointer)
		}
		text += ": " + cli.EscapeLine(p.Detail)
	}
	return cli.Refuted("", "%s", text)
}

// HeadOf finds the hash that a draft of the stream has to name: the argument
// itself, the hash of a receipt of the same stream, or the head that an earlier
// report states for it.
func HeadOf(e *cli.Env, previous string, stream chain.Stream) (chain.Head, error) {
	digest, err := canon.ParseDigest(previous)
	switch {
	case err == nil && digest.IsZero():
		return chain.Head{}, input.ZeroHash(previous)
	case err == nil:
		return chain.Head{Hash: digest}, nil
	}

	// A hash that is misspelt is not looked for among files.
	if strings.HasPrefix(previous, "sha256:") {
		return chain.Head{}, cli.Usage("", "--previous %q: %w", previous, err)
	}

	doc, err := input.ReadDocument(e, previous)
	if err != nil {
		return chain.Head{}, err
	}
	if isReport(doc.Root()) {
		return reportedHead(previous, doc.Root(), stream)
	}

	sealed, err := receipt.ParseSealed(doc.Source())
	if err != nil {
		return chain.Head{}, cli.Refuted("a predecessor is a sealed, undamaged receipt, a hash or a report", "%q: %w", previous, err)
	}
	if sealed.Stream() != stream {
		return chain.Head{}, cli.Usage("a stream is one issuer.id, tenant_id and workspace_ref",
			"%s: %q is of another stream: %s, the draft is of %s", receipt.CodeStreamMismatch, previous, StreamText(sealed.Stream()), StreamText(stream))
	}

	return sealed.Head(), nil
}

func isReport(root canon.Node) bool {
	return !root.Member("report_version").IsZero() || !root.Member("summary").IsZero()
}

// reportedHead reads the head of a stream from a summary's list of streams, or
// from a report of one verified receipt. A report does not name the stream of
// its receipt, so that one is believed.
func reportedHead(path string, root canon.Node, stream chain.Stream) (chain.Head, error) {
	summary := root
	if nested := root.Member("summary"); !nested.IsZero() {
		summary = nested
	}

	// What was not verified has no head to follow.
	if v := summary.Member("verdict").String(); v != receipt.Verified.String() {
		return chain.Head{}, cli.Usage("give the predecessor's file or its hash", "%q says %s, so the heads that it states prove nothing", path, cmp.Or(v, "nothing"))
	}

	// The head that the summary states for this stream.
	for _, s := range summary.Member("streams").Elements() {
		name := s.Member("stream")
		tenant := name.Member("tenant")
		found := chain.Stream{Issuer: name.Member("issuer").String(), Tenant: tenant.String(),
			HasTenant: tenant.Kind() == canon.KindString, Workspace: name.Member("workspace").String()}
		if found != stream {
			continue
		}

		digest, err := canon.ParseDigest(s.Member("head").Text())
		if err != nil {
			return chain.Head{}, cli.Usage("", "%q: the head of the stream: %w", path, err)
		}
		if n := s.Member("failures").Float(); n != 0 {
			return chain.Head{}, cli.Usage("give the predecessor's file or its hash", "%q: the stream of the draft has %v breaks, so its head is not known", path, n)
		}

		return chain.Head{Hash: digest, Count: uint64(s.Member("count").Float())}, nil
	}

	if summary.Member("streams").Len() > 0 { // it names its streams, and this is not one of them
		return chain.Head{}, NoHead(path, stream)
	}

	// A report of one receipt, by itself or in a list.
	reports := root.Member("reports")
	if reports.Len() == 1 {
		for _, only := range reports.Elements() {
			root = only
		}
	}

	digest, err := canon.ParseDigest(root.Member("receipt_hash").Text())
	if err != nil || root.Member("verdict").String() != receipt.Verified.String() {
		return chain.Head{}, NoHead(path, stream)
	}

	return chain.Head{Hash: digest}, nil
}

// NoHead is the failure for a report that names no head of the stream of a draft.
func NoHead(path string, stream chain.Stream) error {
	return cli.Usage("give the predecessor's file or its hash", "%q states no head of the draft's stream, %s", path, StreamText(stream))
}

// StreamText names a stream: issuer, tenant if there is one, workspace.
func StreamText(s chain.Stream) string {
	text := s.Issuer + " / " + s.Workspace
	if s.HasTenant {
		text = s.Issuer + " / " + s.Tenant + " / " + s.Workspace
	}
	return fmt.Sprintf("%q", text)
}
