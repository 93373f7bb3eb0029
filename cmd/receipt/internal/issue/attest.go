package issue

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type attestOptions struct {
	key          trust.KeyFlags
	keys, commit string
	output       cli.OutputFlags
}

// NewAttest returns the command receipt attest.
func NewAttest(e *cli.Env) *cobra.Command {
	var o attestOptions
	cmd := &cobra.Command{
		Use:   "attest RECEIPT --key KEY",
		Short: "create a signed in-toto attestation of a receipt",
		Long: `Create an in-toto statement about a sealed and signed receipt, in a signed
envelope (a Sigstore bundle) that other tools can verify. receipt verify reads
it back. The subjects are artifacts, written files, and commits of the receipt,
or --commit if it names no commit.

KEY is an ed25519 or ES256 key that may speak for the receipt's issuer. attest
rejects receipts that are refuted or unsigned. Signatures by other keys are
checked only with --keys.`,
		Example: `  receipt attest receipt.json --key issuer.private.json -o attestation.json
  receipt attest receipt.json --key issuer.private.json --commit 8f94139338f9404f26296befa88755fc2598c289 -o attestation.json`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.key.Required(); err != nil {
				return err
			}
			return o.attest(cmd.Context(), e, args[0])
		},
	}

	o.key.Add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.commit, "commit", "", "git commit that the task produced (`SHA`)")
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys that must verify the receipt, a JWK Set (`FILE`)")
	o.output.Register(f, "output file (`FILE`)")
	return cmd
}

func (o *attestOptions) attest(ctx context.Context, e *cli.Env, path string) error {
	sealed, err := readSealed(e, path, "attested", o.key.Path)
	if err != nil {
		return err
	}
	statement, err := attest.NewStatement(sealed, o.commit)
	if err != nil {
		return commitFailure(path, err)
	}

	// Open the key only after the receipt and the commit were checked, because the user may have to
	// type a passphrase.
	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	envelope, err := attest.Sign(ctx, statement, key.Signer())
	if err != nil {
		return o.key.Failure(ctx, err)
	}
	if err := o.review(e, path, envelope, sealed, key.Public()); err != nil {
		return err
	}

	return o.output.Write(e, envelope.Bytes(), 0o644)
}

// review verifies the attestation before it is written, with the trusted keys or, without --keys,
// with the signing key only.
func (o *attestOptions) review(e *cli.Env, path string, envelope *attest.Envelope, sealed *receipt.Sealed, public *keys.PublicKey) error {
	set, err := o.trusted(e, sealed, public)
	if err != nil {
		return err
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{Now: e.Now()})
	if err != nil {
		return cli.Usage("", "%w", err)
	}

	// The last signature in the report is that of the attestation, because it is checked after the
	// signatures of the receipt.
	rep := new(receipt.Report)
	attest.NewOpener(set, v.Policy()).Judge(v, envelope.Bytes(), rep)
	f, last := rep.Finding(), rep.Signatures[len(rep.Signatures)-1]
	switch {
	case rep.Verdict == receipt.Verified:
		return nil
	case rep.Verdict == receipt.Refuted:
		return cli.Refuted("receipt verify shows all of it", "%q must not be attested: %s: %s", cli.SourceName(path), f.Code, f.Detail)
	case o.keys == "" && f.Code == receipt.CodeUnknownKey && last.Status == receipt.SignatureValid:
		warnOtherKey(e, sealed, public)
		e.Warn("", "whether the signatures of %q hold was not checked: they are by other keys than %q; --keys checks them", cli.SourceName(path), public.ID)
		return nil
	}
	return cli.Undecided(attestHow(path, f.Code), "%q cannot be attested: %s: %s", cli.SourceName(path), f.Code, f.Detail)
}

// warnOtherKey prints a warning if the receipt names a different key from the one that attests it.
func warnOtherKey(e *cli.Env, sealed *receipt.Sealed, public *keys.PublicKey) {
	if named := sealed.Document().Root().Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != public.ID {
		e.Warn("", "the receipt names %q as its issuer's key; an attestation by %q does not count as its issuer's", named.String(), public.ID)
	}
}

// trusted returns the keys in the file of --keys. Without --keys, it returns the signing key,
// restricted to the issuer of this receipt.
func (o *attestOptions) trusted(e *cli.Env, sealed *receipt.Sealed, public *keys.PublicKey) (*keys.Set, error) {
	if o.keys != "" {
		file, err := trust.ReadKeys(e, o.keys)
		if err != nil {
			return nil, err
		}
		return file.Set, nil
	}

	public.Issuers = []string{sealed.Stream().Issuer}
	set, err := keys.NewSet(public)
	if err != nil {
		return nil, cli.Usage("", "%q: %w", o.key.Path, err)
	}
	return set, nil
}

func attestHow(path string, code receipt.Code) string {
	if code == receipt.CodeUnsigned {
		return "receipt sign " + cli.ShellFile(cli.SourceName(path)) + " --key KEY -o SIGNED"
	}
	return "receipt explain " + string(code)
}

// commitFailure describes why no statement can be created: --commit is invalid, or the receipt
// names a different commit.
func commitFailure(path string, err error) error {
	var word *attest.CommitError
	switch {
	case errors.As(err, &word) && len(word.Named) > 0:
		return cli.Refuted("", "%q must not be attested for that commit: it names %s, but --commit is %s", cli.SourceName(path), word.Named[0], word.Commit)
	case errors.As(err, &word):
		return cli.Usage("git rev-parse HEAD prints it", "--commit must be the full name of a commit, 40 or 64 lowercase hexadecimal digits, found %.80q", word.Commit)
	}
	return cli.Usage("", "%q: %w", cli.SourceName(path), err)
}
