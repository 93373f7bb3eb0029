package protocol

import (
	"net"
	"net/http"
	"strings"
)

// Bounds of what names a resource.
const (
	maxQuery   = 4 << 10 // bytes of a query
	maxPath    = 4 << 10 // bytes of a path
	maxHeaders = 100
	MaxID      = 1 << 10 // bytes of an id in a path
)

// checkForm refuses a request that is longer than any route takes.
func checkForm(r *http.Request) error {
	switch {
	case len(r.Header) > maxHeaders:
		return Invalid("", "expected at most %d headers, found %d", maxHeaders, len(r.Header))
	case len(r.URL.EscapedPath()) > maxPath:
		return Invalid("", "expected a path of at most %d bytes", maxPath)
	case len(r.URL.RawQuery) > maxQuery:
		return Invalid("", "expected a query of at most %d bytes", maxQuery)
	}
	return nil
}

// ambiguous reports whether another reader of the connection may see the end of a
// request elsewhere than net/http does, so that nothing after it may be read as a
// request (RFC 9112, 6.1). With chunks net/http drops a Content-Length. In HTTP/1.0 it
// drops a Transfer-Encoding, and takes the chunks for the next request.
func ambiguous(r *http.Request) bool {
	return r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// checkFraming refuses a body whose end cannot be seen.
func checkFraming(r *http.Request) error {
	if !r.ProtoAtLeast(1, 1) && brings(r.Method) && r.Header.Get("Content-Length") == "" {
		return Invalid("Content-Length", "expected a Content-Length: HTTP/1.0 has no other end of a body")
	}
	return nil
}

// hosts are the names that a server may be reached by; without any, all are.
type hosts map[string]bool

func newHosts(names []string) hosts {
	h := hosts{}
	for _, name := range names {
		h[hostName(name)] = true
	}
	return h
}

// check refuses a request to another name. A web page can reach a local server only by a name
// of its own (DNS rebinding).
func (h hosts) check(r *http.Request) error {
	if len(h) > 0 && !h[hostName(r.Host)] {
		return &Error{Code: CodeForbidden, Param: "Host", Message: "this server is not reached by that name"}
	}
	return nil
}

// hostName returns a Host header without its port, in lowercase.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
