package issue

import (
	"context"
	"crypto/ed25519"
	"errors"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/foreign/audit"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type attestOptions struct {
	key                 trust.KeyFlags
	keys, commit        string
	predicate, verifier string
	output              cli.OutputFlags
}

// The values of --predicate.
const (
	ownPredicate = "receipt"
	auditRecord  = "audit-record"
	vsa          = "vsa"
	svr          = "svr"
)

// NewAttest returns the command "receipt attest".
func NewAttest(e *cli.Env) *cobra.Command {
	o := attestOptions{predicate: ownPredicate}
	cmd := &cobra.Command{
		Use:   "attest RECEIPT|REPORT --key KEY",
		Short: "create a signed in-toto attestation of a receipt",
		Long: `Create an in-toto statement about a signed receipt, in a Sigstore bundle. Its
subjects are artifacts, written files, and commits. KEY is an ed25519 or ES256
key of the issuer, and --keys checks signatures by other keys.

vsa and svr state the verdict on a receipt, checked with --keys, or in a REPORT
(JSON) of receipt verify, unless it is undecided or, for svr, refuted.`,
		Example: `  receipt attest receipt.json --key issuer.private.json -o attestation.json
  receipt attest receipt.json --key issuer.private.json --commit 8f94139338f9404f26296befa88755fc2598c289 -o attestation.json`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.key.Required(); err != nil {
				return err
			}
			return o.run(cmd.Context(), e, args[0])
		},
	}

	o.key.Add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.commit, "commit", "", "git commit that the task produced (`SHA`)")
	cli.Choose(f, &o.predicate, "predicate", "content of the statement (`KIND`)", ownPredicate, auditRecord, vsa, svr)
	f.StringVar(&o.verifier, "verifier", "", "with vsa and svr: issuer ID of the verifier (default: its key) (`ID`)")
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys that must verify the receipt (`FILE`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func (o *attestOptions) run(ctx context.Context, e *cli.Env, path string) error {
	if o.commit != "" && o.predicate != ownPredicate {
		return cli.Usage("", "--commit requires the predicate %s", ownPredicate)
	}
	if o.predicate == vsa || o.predicate == svr {
		return judge(ctx, e, o, path)
	}
	if o.verifier != "" {
		return cli.Usage("", "--verifier requires the predicate %s or %s", vsa, svr)
	}

	sealed, err := readSealed(e, path, "attested", o.key.Path)
	if err != nil {
		return err
	}
	if o.predicate == auditRecord {
		return o.record(ctx, e, path, sealed)
	}
	return o.attest(ctx, e, path, sealed)
}

func (o *attestOptions) attest(ctx context.Context, e *cli.Env, path string, sealed *receipt.Sealed) error {
	statement, err := attest.NewStatement(sealed, o.commit)
	if err != nil {
		return commitFailure(path, err)
	}

	// The key is opened only after the receipt and the commit have been checked, because the user
	// may have to type a passphrase.
	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	envelope, err := attest.Sign(ctx, statement, key)
	if err != nil {
		return o.key.Failure(ctx, err)
	}

	// The last signature in the report is the signature of the attestation, because it is checked
	// after the signatures in the receipt.
	err = o.review(e, path, sealed, key.Public(), func(v *receipt.Verifier, set *keys.Set, rep *receipt.Report) bool {
		attest.NewOpener(set, v.Policy()).Judge(v, envelope.Bytes(), rep)
		n := len(rep.Signatures)
		return n > 0 && rep.Signatures[n-1].Status == receipt.SignatureValid
	})
	if err != nil {
		return err
	}

	return o.output.Write(e, envelope.Bytes(), 0o644)
}

// record writes the receipt as an agent audit record.
func (o *attestOptions) record(ctx context.Context, e *cli.Env, path string, sealed *receipt.Sealed) error {
	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	public, ok := key.Public().Crypto().(ed25519.PublicKey)
	if !ok {
		return cli.Usage("", "%q is for %s, but audit records are signed with Ed25519 keys", key.Public().ID, key.Public().Algorithm)
	}
	err = o.review(e, path, sealed, key.Public(), func(v *receipt.Verifier, _ *keys.Set, rep *receipt.Report) bool {
		v.VerifyBytes(sealed.JSON(), new(canon.Document), rep)
		return true
	})
	if err != nil {
		return err
	}
	text, err := audit.FromReceipt(sealed, public)
	if err != nil {
		return cli.Usage("", "%q: %w", cli.SourceName(path), err)
	}
	return o.sign(ctx, e, key, text)
}

// sign writes a statement in another format as a bundle.
func (o *attestOptions) sign(ctx context.Context, e *cli.Env, key *keys.Signer, text []byte) error {
	envelope, err := attest.SignText(ctx, text, key)
	if err != nil {
		return o.key.Failure(ctx, err)
	}
	return o.output.Write(e, envelope.Bytes(), 0o644)
}

// review verifies the document before it is written. The review uses the trusted keys. Without
// --keys, it uses only the signing key, so signatures of the receipt by other keys are not
// verified. It calls judge to determine whether the added signature, if there is one, is valid.
func (o *attestOptions) review(e *cli.Env, path string, sealed *receipt.Sealed, public *keys.PublicKey, judge func(*receipt.Verifier, *keys.Set, *receipt.Report) bool) error {
	set, err := o.trusted(e, sealed, public)
	if err != nil {
		return err
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{Now: e.Now()})
	if err != nil {
		return cli.Usage("", "%w", err)
	}

	rep := new(receipt.Report)
	added := judge(v, set, rep)
	f := rep.Finding()
	switch {
	case rep.Verdict == receipt.Verified:
		return nil
	case rep.Verdict == receipt.Refuted:
		return cli.Refuted("for details, run receipt verify", "cannot attest %q: %s: %s", cli.SourceName(path), f.Code, f.Detail)
	case o.keys == "" && f.Code == receipt.CodeUnknownKey && added:
		warnOtherKey(e, sealed, public)
		e.Warn("", "the signatures of %q were not checked, because they are by keys other than %q; --keys checks them", cli.SourceName(path), public.ID)
		return nil
	}
	return cli.Undecided(attestHow(path, f.Code), "%q cannot be attested: %s: %s", cli.SourceName(path), f.Code, f.Detail)
}

// warnOtherKey prints a warning if the key that attests the receipt is not the issuer's key that
// the receipt names.
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
		return cli.Refuted("", "cannot attest %q for that commit: it names %s, but --commit is %s", cli.SourceName(path), word.Named[0], word.Commit)
	case errors.As(err, &word):
		return cli.Usage("print it with git rev-parse HEAD", "--commit must be the full name of a commit, 40 or 64 lowercase hexadecimal digits, found %.80q", word.Commit)
	}
	return cli.Usage("", "%q: %w", cli.SourceName(path), err)
}
