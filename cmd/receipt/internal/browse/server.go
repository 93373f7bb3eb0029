package browse

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// loopback returns the host of an address, which must be a loopback address.
func loopback(addr string) (host string, err error) {
	local, err := cli.CheckAddr(addr)
	if err == nil && !local {
		err = cli.Usage("to publish a view, write it with --output", "--addr %q is not a loopback address", addr)
	}
	if err != nil {
		return "", err
	}
	host, _, err = net.SplitHostPort(addr)
	return host, err
}

// serveDir serves a view until ctx is done. The address contains a secret, because other users of
// the machine can connect to the server, too.
func serveDir(ctx context.Context, e *cli.Env, host, addr, dir string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return cli.Usage("", "--addr %q: %w", addr, err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	secret := rand.Text()
	server := serve.HTTPServer(newHandler(dir, secret, host, "localhost"), slog.New(slog.DiscardHandler), 0)
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(e.Out, "view: http://%s/%s/ (interrupt to stop)\n", net.JoinHostPort(host, port), secret)
	if err := server.Serve(listener); ctx.Err() == nil {
		return cli.Usage("", "%w", err)
	}
	return nil
}

// dataName matches the names of data files.
var dataName = regexp.MustCompile(`^data/(table|receipts)-[0-9]+\.js$`)

// newHandler returns a handler that serves the files of a view below /secret/. It rejects requests
// for other host names, because a third-party page could otherwise read the view by DNS rebinding.
// It also prevents third-party pages from loading the data files as scripts
// (Cross-Origin-Resource-Policy).
func newHandler(dir, secret string, hosts ...string) http.Handler {
	files := os.DirFS(dir)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pageView().Policy()+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		name, found := strings.CutPrefix(r.URL.Path, "/"+secret+"/")
		switch {
		case !slices.Contains(hosts, (&url.URL{Host: r.Host}).Hostname()):
			http.Error(w, "this view has another address", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the view supports only GET", http.StatusMethodNotAllowed)
		case found && name == "":
			http.ServeFileFS(w, r, files, "index.html")
		case found && dataName.MatchString(name):
			http.ServeFileFS(w, r, files, name)
		default:
			http.NotFound(w, r)
		}
	})
}
