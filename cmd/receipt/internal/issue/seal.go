package issue

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type sealOptions struct {
	previous string
	key      trust.KeyFlags
	output   cli.OutputFlags
	strict   bool
}

// NewSeal returns the command "receipt seal".
func NewSeal(e *cli.Env) *cobra.Command {
	var o sealOptions
	cmd := &cobra.Command{
		Use:   "seal [FILE]",
		Short: "convert a draft to a sealed receipt",
		Long: `Convert a draft to a sealed receipt: link it to its predecessor, compute its
hash and, with --key, sign it. The result is canonical JSON and a newline.

Without --previous, the receipt is the first of its stream.`,
		Example: `  receipt seal draft.json --key issuer.private.json -o receipt.json
  receipt seal draft.json --previous last-receipt.json`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error { return seal(cmd.Context(), e, cli.FileArg(args), &o) },
	}

	cmd.Flags().StringVar(&o.previous, "previous", "", "predecessor (`HASH|FILE|REPORT`)")
	o.output.Register(cmd.Flags(), "output (`FILE`)")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "refuse a draft that seems to contain secrets")
	o.key.Add(cmd)
	return cmd
}

func seal(ctx context.Context, e *cli.Env, path string, o *sealOptions) error {
	// The key is opened first, because the user may have to type a passphrase, and reading stdin
	// may block.
	key, err := o.key.OpenGiven(ctx, e)
	if err != nil {
		return err
	}

	progress := e.Progress("reading", "sealing")
	defer progress.End()
	draft, err := input.ReadDocument(e, path)
	if err != nil {
		return err
	}
	if err := input.RefuseDocument(path, draft.Root(), "draft"); err != nil {
		return err
	}
	progress.Pass(1, 0, 0)
	if err := warnOfSecrets(e, path, draft, o.strict); err != nil {
		return err
	}

	var head chain.Head
	if o.previous != "" {
		if head, err = HeadOf(e, o.previous, chain.StreamOf(draft)); err != nil {
			return err
		}
	}

	// The order is redact, seal, sign, because signatures cover the hash.
	sealed, err := receipt.SealDocument(draft, head)
	if err != nil {
		return SealFailure(path, err)
	}
	if key != nil {
		if sealed, err = o.key.Sign(ctx, e, key, sealed); err != nil {
			return err
		}
	}

	return o.output.Write(e, append(sealed.JSON(), '\n'), 0o644)
}

// SealFailure returns an error that lists all problems of a draft that could not be sealed.
func SealFailure(path string, err error) error {
	var invalid *receipt.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	text := fmt.Sprintf("%q cannot be sealed", cli.SourceName(path))

	// All problems are listed, so that the user can correct the draft in one step.
	for _, p := range invalid.Problems {
		text += "\n  " + string(p.Code)
		if p.Pointer != "" {
			text += " at " + cli.EscapeLine(p.Pointer)
		}
		text += ": " + cli.EscapeLine(p.Detail)
	}
	return cli.Refuted(sealHow(path, invalid), "%s", text)
}

// sealHow returns the hint for a receipt that is already sealed.
func sealHow(path string, invalid *receipt.InvalidError) string {
	for _, p := range invalid.Problems {
		if p.Pointer == "/chain/receipt_hash" {
			return "receipt sign " + cli.ShellFile(cli.SourceName(path)) + " --key KEY adds a signature, and receipt ledger import stores it in a ledger; a new receipt requires a new draft"
		}
	}
	return ""
}

// HeadOf returns the head to which a draft of the stream must link. The argument previous is a
// hash, a receipt of the same stream, or a report that states the head.
func HeadOf(e *cli.Env, previous string, stream chain.Stream) (chain.Head, error) {
	known, err := input.ReadKnown(e, previous)
	var damaged *receipt.RefutedError
	switch {
	case errors.As(err, &damaged):
		return chain.Head{}, cli.Refuted("use a sealed and undamaged receipt, a hash, or a report", "%q: %w", previous, damaged)
	case err != nil:
		return chain.Head{}, err
	case known.Summary != nil:
		return StatedHead(previous, known.Summary, stream)
	case known.Stream != nil && *known.Stream != stream:
		return chain.Head{}, cli.Usage("issuer.id, tenant_id, and workspace_ref must be the same",
			"%s: %q belongs to the stream %s, but the draft belongs to %s", receipt.CodeStreamMismatch, previous, input.StreamText(*known.Stream), input.StreamText(stream))
	}

	return chain.Head{Hash: known.Hash}, nil
}

// StatedHead returns the head of a stream according to the summary of an earlier run. It returns an
// error unless the verdict of the summary is verified.
func StatedHead(path string, sum *stream.Summary, of chain.Stream) (chain.Head, error) {
	if v := sum.Verdict(); v != receipt.Verified {
		return chain.Head{}, cli.Usage("use the predecessor's file or hash", "%q states %s, so its heads are not reliable", path, v)
	}

	for _, s := range sum.Streams {
		if s.Stream == of && s.Failures > 0 { // the summary may cover a selection of receipts
			return chain.Head{}, cli.Usage("use the predecessor's file or hash", "%q: the stream of the draft has %d breaks, so its head is not known", path, s.Failures)
		}
	}

	head, found := sum.Heads()[of]
	if !found {
		return chain.Head{}, cli.Usage("use the predecessor's file or hash", "%q states no head of the draft's stream, %s", path, input.StreamText(of))
	}
	return head, nil
}

// readSealed reads a receipt that will be signed or attested. It returns an error unless the
// receipt is intact. The exit code of the error matches the verdict on the receipt.
func readSealed(e *cli.Env, path, done, key string) (*receipt.Sealed, error) {
	data, err := input.ReadReceipt(e, path)
	if err != nil {
		return nil, err
	}
	if err := input.RefuseDraft(path, data, " --key "+cli.ShellFile(key)); err != nil {
		return nil, err
	}

	sealed, err := receipt.ParseSealed(data)
	switch name := cli.SourceName(path); {
	case err == nil:
		return sealed, nil
	case errors.As(err, new(*receipt.UndecidedError)):
		return nil, cli.Undecided("", "%q cannot be %s: %w", name, done, err)
	default:
		return nil, cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(name)+" lists all faults", "%q must not be %s: %w", name, done, err)
	}
}
