package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type witnessOptions struct{ dir, key, policy, listen string }

func newWitness(t *terminal) *cobra.Command {
	var o witnessOptions
	cmd := &cobra.Command{
		Use:   "witness --dir DIR --key FILE --policy FILE",
		Short: "cosign the checkpoints of logs",
		Long: `Run a witness (C2SP tlog-witness) over HTTP for the logs of --policy. Its lines
witness and quorum are not used, so the quorum can be none.

The witness cosigns a checkpoint if a proof shows that the tree extends the one
that it cosigned last. DIR records these trees, one file per log. Never restore
an old copy of DIR: use a new key instead.

  receipt keys generate --any-issuer --role witness --origin NAME --private FILE --keys FILE

creates the key.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), t) },
	}

	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "directory of the records, created if necessary (`DIR`)")
	f.StringVar(&o.key, "key", "", "private key of the witness, a JWK (`FILE`)")
	f.StringVar(&o.policy, "policy", "", "logs to witness, a tlog-policy (`FILE`)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:7381", "address (`HOST:PORT`)")
	return cmd
}

func (o *witnessOptions) run(ctx context.Context, t *terminal) error {
	if o.dir == "" {
		return errors.New("missing --dir DIR")
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	dir, err := durable.OpenDir(o.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	w, err := witness.New(config, dir)
	if err != nil {
		return err
	}
	return serveHTTP(ctx, o.listen, w.Handler(t.warn), func(url string) {
		t.note("witness %s", config.Key)
		t.note("listening on %s", url)
	})
}

func (o *witnessOptions) config() (c witness.Config, err error) {
	policy, err := readPolicy(o.policy)
	if err != nil {
		return c, err
	}
	for _, l := range policy.Logs {
		c.Logs = append(c.Logs, l.Log)
	}
	if len(c.Logs) == 0 {
		return c, fmt.Errorf("%q has no line log", o.policy)
	}

	key, err := readKey(o.key)
	if err != nil {
		return c, err
	}
	public := key.Public()
	if !public.Has(receipt.RoleWitness) {
		return c, fmt.Errorf("%q is not the key of a witness: generate one with receipt keys generate --any-issuer --role witness", o.key)
	}
	name := cmp.Or(public.Origin, public.ID)
	if c.Key, err = public.Witness(name); err != nil {
		return c, fmt.Errorf("%q: %w", o.key, err)
	}
	for _, l := range c.Logs {
		if l.HasKey(c.Key.Public()) { // a log that is its own witness adds no assurance
			return c, fmt.Errorf("%q is a key of the log %q: use a key that only the witness has", o.key, l.Name())
		}
	}
	c.Cosign = func(ctx context.Context, checkpoint []byte, at time.Time) ([]byte, error) {
		return keys.NewSigner(key, nil).Cosign(ctx, name, checkpoint, at)
	}
	c.Now = time.Now
	return c, nil
}
