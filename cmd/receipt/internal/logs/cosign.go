package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type cosignOptions struct {
	key         trust.KeyFlags
	keys, state string
	output      cli.OutputFlags
}

func newCosign(e *cli.Env) *cobra.Command {
	var o cosignOptions
	cmd := &cobra.Command{
		Use:   "cosign CHECKPOINT --key WITNESS",
		Short: "add a witness cosignature to a checkpoint",
		Long: `Add the cosignature of a witness (C2SP tlog-cosignature, cosignature/v1) to a
signed checkpoint: it states that the checkpoint existed at this time.

WITNESS is an Ed25519 or ML-DSA-44 key (receipt keys generate --role witness),
named by its origin or key ID. With --keys, a trusted key of the log must have
signed the checkpoint.

The record of cosigned checkpoints prevents a smaller tree, and a second tree of
the same size. For a larger tree, use receipt batch consistency --check.`,
		Example: `  receipt batch cosign checkpoint.txt --key witness.private.json --keys keys.json -o cosigned.txt
  receipt batch cosign checkpoint.txt --key witness.private.json`,
		Args: cli.ExactArgs(1, "one checkpoint"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.cosign(cmd.Context(), e, args[0]) },
	}

	o.key.Add(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys of the log and the witness (`FILE`)")
	f.StringVar(&o.state, "state", "", "record of cosigned checkpoints (default: KEY-cosigned) (`FILE`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func (o *cosignOptions) cosign(ctx context.Context, e *cli.Env, path string) error {
	if err := cli.OnceStdin(path, o.key.Path); err != nil {
		return err
	}
	file, err := o.trusted(e)
	if err != nil {
		return err
	}

	w, err := o.witness(ctx, e, file)
	if err != nil {
		return err
	}

	c, err := w.open(e, path, file)
	if err != nil {
		return err
	}
	state, err := o.stateFile(e, w.key.Public())
	if err != nil {
		return err
	}
	switch err := c.add(ctx, e.Now()); {
	case err != nil && ctx.Err() != nil:
		return cli.Usage("", "interrupted")
	case err != nil:
		return cli.Usage("", "%q: %w", cli.SourceName(path), err)
	}

	// The claim is recorded on disk before the process outputs the cosignature.
	if err := trust.Claim(state, c.Head); err != nil {
		return err
	}
	if err := o.output.Write(e, c.Note, 0o644); err != nil {
		return err
	}

	if o.output.Stdout() {
		return nil // the checkpoint is written to stdout
	}
	return c.print(e)
}

// stateFile returns the path of the state file, which records the cosigned checkpoints. It is the
// file specified by --state, or a file next to the key. If the key is not in a file, the state file
// is in the user's configuration directory.
func (o *cosignOptions) stateFile(e *cli.Env, key *keys.PublicKey) (string, error) {
	switch {
	case o.state == cli.StdinName:
		return "", cli.Usage("", "--state must be a file, not -")
	case o.state != "":
		return o.state, nil
	case o.key.Path == cli.StdinName || custody.Elsewhere(o.key.Path):
		return trust.ClaimsOf(e, key)
	}
	return o.key.Path + "-cosigned", nil
}

// trusted reads the trusted keys, or returns nil if --keys is not set.
func (o *cosignOptions) trusted(e *cli.Env) (*trust.KeyFile, error) {
	if o.keys == "" {
		return nil, nil
	}
	return trust.ReadKeys(e, o.keys)
}

// A cosigner contains a witness's key, and the name that the witness uses in cosignatures.
type cosigner struct {
	key     *keys.Signer
	name    string
	witness *tlog.Witness
}

// witness opens the key. It reads the role of the key from the trusted keys if they contain the
// key, and otherwise from the key file.
func (o *cosignOptions) witness(ctx context.Context, e *cli.Env, file *trust.KeyFile) (*cosigner, error) {
	hint := "generate a key with receipt keys generate --any-issuer --role witness"
	if o.key.Path == "" {
		return nil, cli.Usage(hint, "missing --key KEY")
	}

	key, err := o.key.Open(ctx, e)
	if err != nil {
		return nil, err
	}

	// If both contain the key (RFC 7638), the trusted keys take precedence over the key file. A
	// revocation with a reason other than "superseded" applies to all IDs of the key.
	public, ended := key.Public(), false
	if file != nil {
		for _, k := range file.Set.Keys() {
			if k.Thumbprint != public.Thumbprint {
				continue
			}
			if k.ID == public.ID || !public.Has(receipt.RoleWitness) {
				public = k
			}
			ended = ended || k.Revoked != nil && k.Revoked.Reason != receipt.ReasonSuperseded
		}
	}

	if !public.Has(receipt.RoleWitness) {
		if custody.Elsewhere(o.key.Path) { // such keys have no file that states a role
			hint = "assign the role with receipt keys import KEY --any-issuer --role witness, and specify the trust file with --keys"
		}
		return nil, cli.Usage(hint, "the key %q has the role %s, but cosigning requires the role witness", public.ID, cli.RolesText(public))
	}

	// A cosignature by an expired or revoked key would not be accepted, so it is not created.
	why := lapsed(public, e.Now())
	if ended {
		why = "is revoked"
	}
	if why != "" {
		return nil, cli.Usage(hint, "the key %q %s, so its cosignature would not count; nothing was cosigned", public.ID, why)
	}
	w := &cosigner{key: key, name: cmp.Or(public.Origin, public.ID)}
	if w.witness, err = public.Witness(w.name); err != nil {
		if errors.As(err, new(*tlog.NameError)) {
			return nil, cli.Usage("set an --origin for the key", "%q: %s", o.key.Path, trust.PlainMerkle(err))
		}
		return nil, cli.Usage(hint, "%w", err)
	}

	return w, nil
}

// lapsed explains why a signature that is made now would be rejected. It returns "" if the
// signature would be accepted.
func lapsed(k *keys.PublicKey, now time.Time) string {
	switch cli.KeyStatus(k, now) {
	case "revoked":
		return "is revoked"
	case "expired":
		return "was valid before " + receipt.At(k.NotAfter).String()
	case "not_yet_valid":
		return "is valid from " + receipt.At(k.NotBefore).String() + " on"
	}
	return ""
}

// A cosigned checkpoint is a checkpoint that has the cosignature or will receive it.
type cosigned struct {
	*trust.Head
	by      *cosigner
	log     string    // ID of the trusted key that signed for the log; "" if this was not checked
	at      time.Time // time of the cosignature
	already bool
}

// open reads a checkpoint. It returns an error if the witness must not cosign the checkpoint,
// because the checkpoint is malformed or invalid, or because no trusted key of the log signed it.
func (w *cosigner) open(e *cli.Env, path string, file *trust.KeyFile) (*cosigned, error) {
	var logs []*tlog.Log
	if file != nil {
		logs = receipt.Logs(file.Set)
	}

	h, err := trust.ReadHead(e, path, logs, w.witness)
	if err != nil {
		return nil, err
	}

	// If the witness has already cosigned the checkpoint, the earlier time is kept.
	c := &cosigned{Head: h, by: w}
	for _, s := range h.Cosignatures {
		c.at, c.already = s.At, true
	}

	if file == nil {
		return c, nil
	}

	// Without the log's key, the witness would vouch for trees of unknown origin.
	key, code := receipt.CheckpointSigner(file.Set, h.Signed)
	switch code {
	case "":
		c.log = key.ID
	case receipt.CodeKeyRevoked:
		return nil, cli.Refuted("", "%q: %s: %q signed it, and is revoked; nothing was cosigned", cli.SourceName(path), code, key.ID)
	default:
		return nil, cli.Undecided("use trusted keys that contain the key of the log, with the role checkpoint and its origin",
			"%q: %s: no trusted key of the log %q signed it; nothing was cosigned", cli.SourceName(path), code, h.Origin)
	}

	// A log that is its own witness adds no assurance.
	for _, log := range logs {
		if log.Name() == h.Origin && log.HasKey(w.witness.Public()) {
			return nil, cli.Usage("use a key of a witness that is independent of the log", "%q is a key of the log %q itself", w.key.Public().ID, h.Origin)
		}
	}

	return c, nil
}

// add adds the cosignature, unless the checkpoint already has it.
func (c *cosigned) add(ctx context.Context, now time.Time) error {
	if c.already {
		return nil
	}
	note, err := c.by.key.Cosign(ctx, c.by.name, c.Note, now)
	if err != nil {
		return err
	}
	signed, err := tlog.OpenSigned(note, nil, []*tlog.Witness{c.by.witness}) // the size of a note is limited
	if err != nil {
		return err
	}
	c.Note, c.at = note, signed.Cosignatures[0].At
	return nil
}

func (c *cosigned) print(e *cli.Env) error {
	var b print.Block
	word := "cosigned"
	if c.already {
		word = "already cosigned, and unchanged"
	}

	fmt.Fprintf(&b, "%s: %s\n", word, c.Head)
	b.Row("log", c.Origin)
	if c.log != "" {
		b.Row("signed by", c.log)
	} else {
		b.Row("not checked", "who signed the checkpoint (--keys)")
	}

	b.Row("witness", c.by.name)
	b.Row("time", receipt.At(c.at).String())
	_, err := e.Out.Write(b.Bytes())
	return err
}
