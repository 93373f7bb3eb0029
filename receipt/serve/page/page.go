package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:generate go run -C generate .

// The embedded directory contains the output of go generate, and a file that always exists.
//
//go:embed dist/served
var served embed.FS

// Built reports whether this program contains the page, that is, whether the page was generated
// before the program was built.
func Built() bool {
	_, err := fs.Stat(served, "dist/served/page.html.gz")
	return err == nil
}

// Handler serves the page at /. If the program was built without the page, the handler serves build
// instructions instead. The handler accepts GET and HEAD requests.
func Handler() http.Handler {
	packed, err := served.ReadFile("dist/served/page.html.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return newHandler(nil, absentPage())
	}

	h, err := NewHandler(packed)
	if err != nil { // the generated page was damaged before the program was built
		return newHandler(nil, absentPage())
	}
	return h
}

// NewHandler returns a handler for a page in gzip format (RFC 1952), as go generate writes it.
func NewHandler(packed []byte) (http.Handler, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}

	// Clients that do not accept gzip receive the uncompressed page.
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return newHandler(packed, plain), nil
}

// A handler contains the page in compressed and in uncompressed form. The two forms have different
// entity tags, because their bytes differ (RFC 9110 section 8.8.3.3).
type handler struct {
	packed, plain []byte
	policy, tag   string
}

func newHandler(packed, plain []byte) *handler {
	sum := sha256.Sum256(plain)
	return &handler{packed: packed, plain: plain, policy: policyOf(plain), tag: hex.EncodeToString(sum[:16])}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" && r.URL.Path != "" {
		http.NotFound(w, r)
		return
	}

	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page is read with GET", http.StatusMethodNotAllowed)
		return
	}

	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")

	// The directive frame-ancestors has an effect only in a header (CSP 3 section 6.4.2).
	header.Set("Content-Security-Policy", h.policy+"; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")

	// The response depends on the Accept-Encoding header.
	body, tag := h.plain, h.tag
	if h.packed != nil && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		body, tag = h.packed, h.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}

	header.Set("ETag", `"`+tag+`"`)
	if strings.Contains(strings.Join(r.Header.Values("If-None-Match"), ","), `"`+tag+`"`) { // RFC 9110 section 13.1.2
		w.WriteHeader(http.StatusNotModified)
		return
	}

	// The page is written in one call, because copies of its parts would accumulate if clients do
	// not read them.
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a client that does not read the response is treated as disconnected
	}
}

// acceptsGzip reports whether Accept-Encoding headers (RFC 9110 section 12.5.3) contain gzip with a
// weight other than 0.
func acceptsGzip(values []string) bool {
	// A weight of 0, in any spelling, means that gzip is not acceptable.
	return slices.ContainsFunc(strings.Split(strings.Join(values, ","), ","), func(one string) bool {
		name, weight, _ := strings.Cut(one, ";")
		_, q, _ := strings.Cut(weight, "=")
		q = strings.TrimSpace(q)
		return strings.EqualFold(strings.TrimSpace(name), "gzip") && (q == "" || strings.Trim(q, "0.") != "")
	})
}

// policyOf returns the Content Security Policy in a page.
func policyOf(page []byte) string {
	_, rest, found := bytes.Cut(page, []byte(`<meta http-equiv="Content-Security-Policy" content="`))
	policy, _, closed := bytes.Cut(rest, []byte(`"`))
	if !found || !closed {
		return "default-src 'none'"
	}
	return string(policy)
}

// absentPage returns a page with instructions for building the verification page.
func absentPage() []byte {
	return []byte(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<title>receipt: no verification page</title>
<h1>This command was built without the verification page</h1>
<p>Everything else works: the routes below /v1, and receipt verify on the command line.</p>
<p>To build a command with the page, in a checkout of its source:</p>
<pre>go generate ./receipt/serve/page
go build ./cmd/receipt</pre>
</html>
`)
}
