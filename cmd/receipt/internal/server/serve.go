// Package server contains the serve command: its flags, the files that it watches, and the HTTP
// server around package receipt/serve.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

type serveOptions struct {
	trust.PolicyFlags
	addr                string
	hosts, receipts     []string
	batches             []string
	apiKeys, newAPIKey  string
	anchors, checkpoint string
	ledger              string
	noAuth, pageOnly    bool
	partial             bool
	logFormat           string
	limits              serve.Limits
	connections         int
	grace               time.Duration
}

// New returns the command "receipt serve".
func New(e *cli.Env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [--receipts PATH…]",
		Short: "verify receipts over HTTP, and serve stored receipts",
		Long: `Verify receipts over HTTP (POST /v1/verify), and serve a page that verifies in
the browser and, with --receipts or --ledger, stored receipts.

On an address that is not loopback, clients must present a key from --api-keys,
unless --no-auth is set. Changed key, policy, and API key files are reloaded.
Receipts are indexed once.`,
		Example: `  receipt serve --addr 127.0.0.1:0 --keys keys.json --receipts receipts.jsonl
  receipt serve --api-keys api-keys.jsonl --new-api-key ci`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := (flagCheck{&o}).all(cmd.Flags(), args); err != nil {
				return err
			}
			if o.newAPIKey != "" {
				return addAPIKey(e, &o)
			}
			if cmd.Flags().NFlag()+len(args) == 0 { // a flag may allow other clients
				o.ledger = e.Defaults.Ledger
			}
			o.receipts = append(slices.Clip(o.receipts), args...)
			return serveHTTP(cmd.Context(), e, &o)
		},
	}

	f := cmd.Flags()
	f.SortFlags = false
	o.register(f)
	return cmd
}

func (o *serveOptions) register(f *pflag.FlagSet) {
	// The flags are in the order that the help text uses: served receipts, requirements, clients,
	// and limits.
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "address; port 0 selects a free one (`IP:PORT`)")
	f.StringArrayVar(&o.receipts, "receipts", nil, "receipts to serve: file, directory, or pattern; repeatable (`PATH`)")
	f.BoolVar(&o.partial, "partial", false, "do not check absent predecessors")

	f.StringVarP(&o.Keys, "keys", "k", "", "trusted keys (JWK Set) (`FILE`)")
	f.StringVar(&o.ledger, "ledger", "", "ledger to serve, including later receipts (`FILE`)")
	f.StringVar(&o.Issuer, "issuer", "", "required issuer (`ID`)")
	f.StringVar(&o.Policy, "policy", "", "additional requirements: JSON, or a tlog-policy (`FILE`)")
	f.BoolVar(&o.IntegrityOnly, "integrity-only", false, "check only content and hashes")
	f.BoolVar(&o.Strict, "strict", false, "report undecided if an applicable step was not checked")
	f.StringVar(&o.anchors, "anchors", "", "key sets that requests select: {\"NAME\": \"KEY-FILE\"} (`FILE`)")
	f.StringVar(&o.checkpoint, "checkpoint", "", "checkpoint to serve, with proofs (`FILE`)")
	f.StringArrayVar(&o.batches, "batch", nil, "batch manifest of stored receipts; repeatable (`FILE`)")

	f.StringVar(&o.apiKeys, "api-keys", "", "API keys of clients (`FILE`)")
	f.StringVar(&o.newAPIKey, "new-api-key", "", "add a new key to --api-keys, print it, and exit (`NAME`)")
	f.BoolVar(&o.noAuth, "no-auth", false, "accept all clients, including remote ones")
	f.StringArrayVar(&o.hosts, "host", nil, "accepted host name, such as a proxy's; repeatable (`NAME`)")
	f.BoolVar(&o.pageOnly, "page-only", false, "serve only the page, /healthz, and /readyz")
	o.logFormat = "auto"
	cli.Choose(f, &o.logFormat, "log-format", "log format; auto is text on a terminal (`FORMAT`)", "text", "json", "auto")

	// 0 selects the default of package serve, which is stated in the help text.
	f.Int64Var(&o.limits.Document, "max-body", 0, "maximum receipt size (default: 16 MiB) (`BYTES`)")
	f.Int64Var(&o.limits.Memory, "max-memory", 0, "maximum memory for bodies (default: 128 MiB) (`BYTES`)")
	f.Int64Var(&o.limits.Judging, "max-judging", 0, "maximum memory for receipts beyond 256 KiB (default: 256 MiB) (`BYTES`)")
	f.IntVar(&o.connections, "max-connections", 0, "maximum connections (default: 4096) (`N`)")
	f.IntVar(&o.limits.Requests, "max-requests", 0, "maximum concurrent requests (default: 256) (`N`)")
	f.IntVar(&o.limits.Streams, "max-streams", 0, "maximum concurrent streams (default: 8) (`N`)")
	f.IntVar(&o.limits.Jobs, "jobs", 0, "number of processors (default: all) (`N`)")
	f.DurationVar(&o.limits.Idle, "idle-timeout", 0, "maximum time without progress (default: 30s) (`DURATION`)")
	f.DurationVar(&o.limits.Body, "body-timeout", 0, "maximum time for a receipt (default: 60s) (`DURATION`)")
	f.DurationVar(&o.grace, "shutdown-timeout", 20*time.Second, "time to finish requests after SIGTERM (`DURATION`)")
}

// serveHTTP serves until ctx is done.
func serveHTTP(ctx context.Context, e *cli.Env, o *serveOptions) error {
	log := newServeLog(e, o.logFormat)
	files := &watchedFiles{}
	options, err := o.assemble(ctx, e, files, log)
	if err != nil {
		return err
	}

	server, err := serve.New(*options)
	if err != nil {
		return cli.Usage("", "%w", err)
	}

	// If a reloaded file is invalid, its previous content remains in use.
	files.report = func(name string, err error) {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		server.KeysReloaded(err)
	}

	h := &httpServer{server: server, handler: server, log: log, files: files, grace: o.grace, clients: o.clients(), connections: o.connections}
	if o.pageOnly {
		h.handler = onlyPage(server)
	}

	return h.run(ctx, e, o.addr)
}

// assemble reads all files, and returns the options of the server.
func (o *serveOptions) assemble(ctx context.Context, e *cli.Env, w *watchedFiles, log *slog.Logger) (*serve.Options, error) {
	s := &serve.Options{Page: page.Handler(), Tool: cli.ToolName(), Now: e.Now, Log: log, Limits: o.limits, Hosts: o.hostNames()}
	if o.pageOnly {
		o.IntegrityOnly = true // receipts are verified in the browser, so the server does not see them
	}

	// Each watched file is loaded once, because a server must not start with an invalid file.
	judge := newTrusted(e, o.PolicyFlags)
	if err := w.add("keys", judge.load, judge.paths()...); err != nil {
		return nil, err
	}

	// These options are functions, so that each request uses the keys that were loaded most
	// recently.
	s.Verifier, s.Keys = judge.verifier.Load, judge.publicKeys
	if err := addAnchors(o, e, w, s); err != nil {
		return nil, err
	}
	if o.apiKeys != "" {
		list := &apiKeyFile{e: e, path: o.apiKeys}
		if err := w.add("api-keys", list.load, o.apiKeys); err != nil {
			return nil, err
		}
		s.Auth = list
	}
	s.Public = o.apiKeys == "" // the address is a loopback address, or --no-auth is set

	for _, path := range o.batches {
		m, err := trust.ReadManifest(e, path)
		if err != nil {
			return nil, err
		}
		s.Batches = append(s.Batches, m)
	}

	// The flags have been checked, so at most one store is set.
	switch {
	case o.ledger != "":
		return s, addLedger(ctx, o, e, s)
	case len(o.receipts) > 0:
		return s, addReceipts(ctx, o, e, judge, s, log)
	}

	return s, nil
}

// clients describes the clients that are accepted.
func (o *serveOptions) clients() string {
	loopback, _ := cli.CheckAddr(o.addr)
	switch {
	case o.apiKeys != "":
		return "with an API key"
	case loopback:
		return "everybody on this machine"
	}
	return "everybody"
}

// hostNames returns the names that the Host header may contain. If it returns no names, any name is
// accepted. Without this check, a web page could reach a server on a loopback address through a
// host name that resolves to the address (DNS rebinding).
func (o *serveOptions) hostNames() []string {
	if loopback, _ := cli.CheckAddr(o.addr); !loopback {
		return o.hosts
	}
	host, _, _ := net.SplitHostPort(o.addr) // validated by flagCheck
	return append([]string{"localhost", "127.0.0.1", "::1", host}, o.hosts...)
}

// newServeLog returns the log of the server on stderr. The default is text on a terminal, and one
// JSON object per line otherwise.
func newServeLog(e *cli.Env, format string) *slog.Logger {
	if format == "text" || format == "auto" && e.ErrTerminal {
		return slog.New(slog.NewTextHandler(e.Err, nil))
	}
	return slog.New(slog.NewJSONHandler(e.Err, nil))
}

// addLedger serves a ledger until the process ends. The ledger is opened read-only, so that other
// processes can issue receipts into it.
func addLedger(ctx context.Context, o *serveOptions, e *cli.Env, s *serve.Options) error {
	l, err := input.OpenLedger(ctx, e, o.ledger, false)
	if err != nil {
		return err
	}
	s.Source = served.New(l)
	return nil
}
