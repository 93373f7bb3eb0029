package server

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A flagCheck rejects conflicting flags before any file is read.
type flagCheck struct{ *serveOptions }

func (o flagCheck) all(flags *pflag.FlagSet, args []string) error {
	if len(args) > 0 && len(o.receipts) == 0 {
		return cli.Usage("serve receipts with --receipts PATH", "expected flags, found %q", args[0])
	}
	if o.newAPIKey != "" {
		return o.checkNewKey(flags)
	}
	if o.pageOnly {
		return o.checkPageOnly(flags)
	}

	// The following checks are for servers that verify or serve receipts.
	if err := o.checkClients(); err != nil {
		return err
	}
	if err := o.checkStores(); err != nil {
		return err
	}
	switch {
	case o.noAuth && o.apiKeys != "":
		return cli.Usage("omit one of them", "--no-auth and --api-keys exclude each other")
	case o.IntegrityOnly && (o.Keys != "" || o.Issuer != "" || o.Policy != "" || o.anchors != ""):
		return cli.Usage("", "--integrity-only checks no signatures, so it excludes --keys, --issuer, --policy, and --anchors")
	}

	// Files may be read again while the server runs, so stdin is not permitted.
	for _, path := range append([]string{o.Keys, o.Policy, o.apiKeys, o.anchors, o.checkpoint}, o.batches...) {
		if path == cli.StdinName {
			return cli.Usage("write the input to a file", "a server may have to read a file again, but stdin can be read only once")
		}
	}

	return o.checkLimits()
}

// checkStores returns an error if there are two stores, or if there is evidence about stored
// receipts but no store.
func (o flagCheck) checkStores() error {
	switch {
	case o.ledger != "" && len(o.receipts) > 0:
		return cli.Usage("store the receipts with receipt ledger import", "--ledger and --receipts exclude each other")
	case o.partial && len(o.receipts) == 0:
		return cli.Usage("specify receipts with --receipts PATH", "--partial requires --receipts")
	case len(o.batches) > 0 && len(o.receipts) == 0 && o.ledger == "":
		return cli.Usage("specify receipts with --receipts PATH or --ledger FILE", "--batch requires stored receipts")
	case o.checkpoint != "" && o.ledger != "":
		return cli.Usage("receipt ledger export "+cli.ShellName(o.ledger)+" --checkpoint "+cli.ShellName(o.checkpoint)+" -o RECEIPTS writes the receipts that it covers, for --receipts",
			"--checkpoint must cover receipts in files, but a ledger is served")
	case o.checkpoint != "" && len(o.receipts) == 0:
		return cli.Usage("specify receipts with --receipts PATH", "--checkpoint requires stored receipts")
	}
	return nil
}

func (o flagCheck) checkLimits() error {
	l := &o.limits
	if l.Document < 0 || l.Memory < 0 || l.Judging < 0 || o.connections < 0 || l.Requests < 0 || l.Streams < 0 || l.Jobs < 0 || l.Idle < 0 || l.Body < 0 || o.grace < 0 {
		return cli.Usage("omit it to use the default", "limits must not be negative")
	}
	if l.Jobs > cli.MaxJobs {
		return cli.Usage("", "--jobs must be 0 to %d, found %d", cli.MaxJobs, l.Jobs)
	}
	return nil
}

// checkNewKey checks the flags that are used with --new-api-key, which creates a key and does not
// start a server.
func (o flagCheck) checkNewKey(flags *pflag.FlagSet) error {
	if o.apiKeys == "" {
		return cli.Usage("specify the file with --api-keys FILE; it is created if it does not exist", "--new-api-key requires a file of API keys")
	}
	return onlyFlags(flags, "--new-api-key creates a key and serves nothing", "new-api-key", "api-keys")
}

func (o flagCheck) checkPageOnly(flags *pflag.FlagSet) error {
	if err := onlyFlags(flags, "--page-only verifies in the browser, with files that the user drops there", "page-only", "addr", "host", "log-format",
		"no-auth", "max-requests", "max-connections", "idle-timeout", "shutdown-timeout"); err != nil {
		return err
	}
	if err := o.checkClients(); err != nil {
		return err
	}
	return o.checkLimits()
}

// checkClients returns an error if other machines can reach the address and no flag specifies which
// clients are accepted.
func (o flagCheck) checkClients() error {
	loopback, err := cli.CheckAddr(o.addr)
	if err != nil || loopback || o.noAuth || o.apiKeys != "" {
		return err
	}
	hint := "use --api-keys FILE to require a key (create one with --new-api-key NAME), or --no-auth to accept all clients"
	if o.pageOnly {
		hint = "use --no-auth to accept all clients"
	}
	return cli.Usage(hint, "%q is reachable from other machines, but no authentication is configured", o.addr)
}

// onlyFlags returns an error if a flag other than the known ones is set.
func onlyFlags(flags *pflag.FlagSet, why string, known ...string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(known, f.Name) && err == nil {
			err = cli.Usage("leave --"+f.Name+" out", "%s, so --%s means nothing", why, f.Name)
		}
	})
	return err
}

// onlyPage returns 404 for all paths except the page and the health checks.
func onlyPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() {
		case "/", "/healthz", "/readyz":
		default:
			r = r.Clone(r.Context())
			r.URL = &url.URL{Path: "/none"}
		}
		next.ServeHTTP(w, r)
	})
}
