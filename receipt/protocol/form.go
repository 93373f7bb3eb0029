package protocol

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// These are limits on the parts of a request that identify a resource.
const (
	maxQuery   = 4 << 10 // maximum length of a query, in bytes
	maxPath    = 4 << 10 // maximum length of a path, in bytes
	maxHeaders = 100
	MaxID      = 1 << 10 // maximum length of an ID in a path, in bytes
)

// checkForm rejects a request if its headers, path, or query exceed the limits for all routes.
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

// ambiguous reports whether another HTTP parser might end the request at a different byte than
// net/http does. If so, the connection must be closed, because no later bytes may be parsed as a
// request (RFC 9112 section 6.1). For a chunked body, net/http ignores a Content-Length header. For
// HTTP/1.0, net/http ignores a Transfer-Encoding header, and parses the chunks as the next request.
func ambiguous(r *http.Request) bool {
	return r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// checkFraming rejects a body whose end cannot be determined.
func checkFraming(r *http.Request) error {
	if !r.ProtoAtLeast(1, 1) && brings(r.Method) && r.Header.Get("Content-Length") == "" {
		return Invalid("Content-Length", "expected a Content-Length: HTTP/1.0 has no other end of a body")
	}
	return nil
}

// A hosts value contains the host names that a request may use. An empty set allows every host
// name.
type hosts map[string]bool

func newHosts(names []string) hosts {
	h := hosts{}
	for _, name := range names {
		h[hostName(name)] = true
	}
	return h
}

// check rejects a request with any other host name. A web page can send requests to a local server
// only under the page's own host name (DNS rebinding).
func (h hosts) check(r *http.Request) error {
	if len(h) > 0 && !h[hostName(r.Host)] {
		return &Error{Code: CodeForbidden, Param: "Host", Message: "this server does not accept this host name"}
	}
	return nil
}

// hostName returns the host name in a Host header, in lowercase and without the port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// A Query contains the query parameters of a request. Each parameter is known to the route and
// occurs only once.
type Query map[string]string

// parseQuery parses a query string. It rejects parameters whose names are not in known.
func parseQuery(raw string, known []string) (Query, error) {
	switch {
	case len(raw) > maxQuery:
		return nil, Invalid("", "expected a query of at most %d bytes, found %d", maxQuery, len(raw))
	case strings.Contains(raw, ";"):
		return nil, Invalid("", "a query separates its parameters by &, found a semicolon")
	}

	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, Invalid("", "the query is malformed: expected name=value pairs, percent-encoded")
	}

	// An unknown, repeated, or empty parameter is rejected, because it may express a requirement
	// that would otherwise be ignored.
	q := Query{}
	for _, name := range sortedNames(values) { // in a fixed order, so that equal requests get equal responses
		list := values[name]
		switch {
		case !slices.Contains(known, name):
			return nil, Invalid(name, "unknown parameter %.40q; this route takes %s", name, cmp.Or(strings.Join(known, ", "), "none"))
		case len(list) > 1:
			return nil, Invalid(name, "the parameter %s is given %d times", name, len(list))
		case list[0] == "":
			return nil, Invalid(name, "the parameter %s is empty; leave it out, or give it a value", name)
		}
		q[name] = list[0]
	}

	return q, nil
}

func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Time returns a parameter as an RFC 3339 time, or the zero time if the parameter is absent.
func (q Query) Time(name string) (time.Time, error) {
	text, ok := q[name]
	if !ok {
		return time.Time{}, nil
	}
	return parseTime(name, text)
}

// parseTime parses the RFC 3339 time in a parameter or a member.
func parseTime(name, text string) (time.Time, error) {
	at, err := receipt.ParseTime(text)
	if err == nil && at.IsZero() { // the zero time would mean that the parameter is absent
		return at, Invalid(name, "%s is any time but 0001-01-01T00:00:00Z", name)
	}
	if err != nil {
		return at, Invalid(name, "%s is an RFC 3339 time such as 2026-04-25T19:00:00Z, found %.40q (a + is written %%2B in a query)", name, text)
	}
	return at, nil
}

// Choice returns a parameter, which must be one of the given words. If the parameter is absent, it
// returns "".
func (q Query) Choice(name string, words ...string) (string, error) {
	text, ok := q[name]
	if ok && !slices.Contains(words, text) {
		return "", Invalid(name, "%s is %s, found %.40q", name, oneOf(words), text)
	}
	return text, nil
}

// Number returns a parameter as a number from least to most. If the parameter is absent, it returns
// the given default.
func (q Query) Number(name string, least, most, or uint64) (uint64, error) {
	text, ok := q[name]
	if !ok {
		return or, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || text != strconv.FormatUint(n, 10) {
		return 0, Invalid(name, "%s is a number from %d to %d, found %.40q", name, least, most, text)
	}
	return n, nil
}

// Digest returns a parameter as a digest, or the zero digest if the parameter is absent.
func (q Query) Digest(name string) (canon.Digest, error) {
	text, ok := q[name]
	if !ok {
		return canon.Digest{}, nil
	}
	d, err := canon.ParseDigest(text)
	if err == nil && d.IsZero() {
		return d, Invalid(name, "%s is the hash of something, found nothing but zeros", name)
	}
	if err != nil {
		return canon.Digest{}, Invalid(name, "%s is sha256: and 64 lowercase hexadecimal digits, found %.80q", name, text)
	}
	return d, nil
}
