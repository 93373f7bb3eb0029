package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/log/store"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type serveOptions struct {
	dir, key, origin, policy, listen, token string
	interval, heartbeat                     time.Duration
	open                                    bool
}

func newServe(t *terminal) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --dir DIR --key FILE",
		Short: "run a log of receipt hashes",
		Long: `Run a log of receipt hashes (C2SP tlog-tiles) over HTTP. POST /add adds a hash,
waits for a checkpoint that includes it, and answers with its proof. A hash that
is in the log is not added again.

A checkpoint is published when the witnesses of --policy have cosigned it as its
quorum requires. The lines witness need a URL. The lines log are not used. A log
with a cosigned checkpoint does not start without witnesses: --policy is needed
at each start, and its quorum can be none.

  receipt keys generate --role checkpoint --origin NAME --private FILE --keys FILE

creates the key. The directory is for one process at a time. Tiles can also be
published by a web server, from DIR/tile and DIR/.receipt-log/checkpoint.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), t) },
	}

	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "directory of the log, created if necessary (`DIR`)")
	f.StringVar(&o.key, "key", "", "private key of the log, a JWK (`FILE`)")
	f.StringVar(&o.origin, "origin", "", "name of the log (default: that of the key) (`NAME`)")
	f.StringVar(&o.policy, "policy", "", "witnesses and quorum, a tlog-policy (`FILE`)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:7380", "address (`HOST:PORT`)")
	f.StringVar(&o.token, "token", "", "token that clients need to add hashes (`FILE`)")
	f.BoolVar(&o.open, "no-auth", false, "accept hashes from all clients, also over the network")
	f.DurationVar(&o.interval, "interval", time.Second, "time between checkpoints (`DURATION`)")
	f.DurationVar(&o.heartbeat, "heartbeat", 10*time.Minute, "time after which an unchanged tree is cosigned again (`DURATION`)")
	return cmd
}

func (o *serveOptions) run(ctx context.Context, t *terminal) error {
	config, token, err := o.config(t)
	if err != nil {
		return err
	}
	l, err := store.Open(ctx, config)
	if err != nil {
		return err
	}

	// If it is unknown whether an entry was added, the log stops. It reads its entries again when it
	// is restarted.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := false
	go func() {
		select {
		case <-l.Failed:
			failed = true
			cancel()
		case <-ctx.Done():
		}
	}()

	err = serveHTTP(ctx, o.listen, l.Handler(token), func(url string) {
		t.note("log %s", config.Key)
		t.note("listening on %s", url)
	})
	err = errors.Join(err, l.Close(context.WithoutCancel(ctx)))
	switch {
	case failed && err != nil:
		return fmt.Errorf("an entry could not be added: start the log again; %w", err)
	case failed:
		return errors.New("an entry could not be added: start the log again")
	}
	return err
}

func (o *serveOptions) config(t *terminal) (c store.Config, token string, err error) {
	if o.dir == "" {
		return c, "", errors.New("missing --dir DIR")
	}
	if o.heartbeat <= 0 {
		return c, "", fmt.Errorf("invalid --heartbeat %v: must be positive", o.heartbeat)
	}
	if token, err = readToken(o.token); err != nil {
		return c, "", err
	}
	if token == "" && !o.open && !isLoopback(o.listen) {
		return c, "", fmt.Errorf("%q is reachable from other machines: use --token FILE to require a token, or --no-auth to accept all clients", o.listen)
	}

	key, err := readKey(o.key)
	if err != nil {
		return c, "", err
	}
	public := key.Public()
	origin := cmp.Or(o.origin, public.Origin)
	switch {
	case !public.Has(receipt.RoleCheckpoint): // a witness's ML-DSA-44 key creates the same signatures as a log's key
		return c, "", fmt.Errorf("%q: expected a key with the role %s, found %v", o.key, receipt.RoleCheckpoint, public.Roles)
	case origin == "":
		return c, "", fmt.Errorf("missing --origin NAME: the key %q names no log", o.key)
	case public.Origin != "" && public.Origin != origin:
		return c, "", fmt.Errorf("%q is the key of the log %q, found --origin %q", o.key, public.Origin, origin)
	}
	if c.Key, err = public.Log(origin); err != nil {
		return c, "", fmt.Errorf("%q: %w", o.key, err)
	}

	c.Dir, c.Sign, c.Interval, c.Heartbeat, c.Warn = o.dir, keys.NewSigner(key, nil).SignCheckpoint, o.interval, o.heartbeat, t.warn
	if o.policy != "" {
		policy, err := readPolicy(o.policy)
		if err != nil {
			return c, "", err
		}
		if !attainable(policy, c.Key) {
			return c, "", fmt.Errorf("%q: the quorum can never be met, because witnesses have no URL, or the key of the log", o.policy)
		}
		c.Policy = *policy
	}
	return c, token, nil
}

// attainable reports whether the witnesses that a log can reach are sufficient for the quorum of a
// policy. The log cannot be its own witness.
func attainable(p *tlog.Policy, key *tlog.Log) bool {
	reached := map[*tlog.Witness]bool{}
	for _, w := range p.Witnesses {
		reached[w.Witness] = w.URL != "" && !w.HasKey(key.Public())
	}
	return p.Quorum.Met(reached)
}
