package browse

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// loopback returns the host of an address, which must be a loopback address.
func loopback(addr string) (host string, err error) {
	host, _, err = net.SplitHostPort(addr)
	if err != nil {
		return "", cli.Usage("", "--addr %q: expected HOST:PORT", addr)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "", cli.Usage("to publish a view, write it with --output", "--addr %q is not a loopback address", addr)
	}
	return host, nil
}

// serveDir serves a view until ctx is done.
func serveDir(ctx context.Context, e *cli.Env, host, addr, dir string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return cli.Usage("", "--addr %q: %w", addr, err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	own := net.JoinHostPort(host, port)
	server := serve.HTTPServer(newHandler(dir, own, net.JoinHostPort("localhost", port)), slog.New(slog.DiscardHandler), 0)
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(e.Out, "view: http://%s/ (interrupt to stop)\n", own)
	if err := server.Serve(listener); ctx.Err() == nil {
		return cli.Usage("", "%w", err)
	}
	return nil
}

// dataName matches the names of data files.
var dataName = regexp.MustCompile(`^/data/(table|receipts)-[0-9]+\.js$`)

// newHandler returns a handler of the files of a view. It rejects requests for other hosts, with
// which a foreign page could read the view by DNS rebinding.
func newHandler(dir string, hosts ...string) http.Handler {
	files := os.DirFS(dir)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy()+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !slices.Contains(hosts, r.Host):
			http.Error(w, "this view has another address", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the view is read with GET", http.StatusMethodNotAllowed)
		case r.URL.Path == "/":
			http.ServeFileFS(w, r, files, "index.html")
		case dataName.MatchString(r.URL.Path):
			http.ServeFileFS(w, r, files, r.URL.Path[1:])
		default:
			http.NotFound(w, r)
		}
	})
}
