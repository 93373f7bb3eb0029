package protocol

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Handler responds to a request or returns an error. If the error is an [*Error], it is sent to
// the client. For any other error, the client is only informed that an internal error occurred. An
// error means that the handler has done nothing, unless the status is 500, in which case the
// outcome is unknown.
type Handler func(w http.ResponseWriter, r *Request) error

// A Body specifies which body a route accepts in POST, PUT, and PATCH requests. Bodies of requests
// with other methods are not read.
type Body int

const (
	BodyJSON     Body = iota // a JSON object, which is available as Request.JSON
	BodyOptional             // like BodyJSON, but an absent body is treated as {}
	BodyText                 // like BodyOptional, but the handler parses Request.Bytes and reports its own errors
	BodyBytes                // anything, in Request.Bytes
	BodyStream               // the handler reads the body as it arrives; an Idempotency-Key is ignored
)

// A Route is a handler for a method and a path.
type Route struct {
	// Pattern is a method and a path, such as "GET /v1/tasks/{task_id}". {name} matches one
	// segment, which is available from PathValue. GET includes HEAD. A pattern without a method
	// matches any method, and a path that ends in / matches everything below it. If several
	// patterns match, the pattern with the earlier literal segment is used, regardless of the order
	// of the routes.
	Pattern string

	Scope  Scope    // scope without which the route is treated as absent; "" for none
	Open   bool     // requires no protocol version and no API key, such as for discovery and health
	Params []string // allowed query parameters; ignored for a path that ends in /
	Body   Body     // body of POST, PUT, and PATCH requests
	Limit  int64    // the maximum size of the body, in bytes; zero means [Limits].Body
	Again  bool     // a request may be processed again, so an Idempotency-Key is ignored
	Serve  Handler

	AnyVersion bool // requires no protocol version, because the route is not part of the protocol
	AnyQuery   bool // accepts and ignores any query, because mail and chat programs add parameters to links
	Free       bool // needs no request slot; open routes do not need one either
}

// A servedRoute is a Route whose pattern has been parsed.
type servedRoute struct {
	Route
	method string // "" for any
	path   string
}

// newRoute parses a Route.
func newRoute(r Route) (*servedRoute, error) {
	method, path, found := strings.Cut(r.Pattern, " ")
	if !found {
		method, path = "", r.Pattern
	}

	switch {
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " ?#"):
		return nil, fmt.Errorf("protocol: route %q: expected a method and a path, such as %q", r.Pattern, "GET /v1/tasks/{task_id}")
	case method != strings.ToUpper(method) || method == http.MethodHead:
		return nil, fmt.Errorf("protocol: route %q: expected a method in uppercase; GET includes HEAD", r.Pattern)
	case r.Serve == nil:
		return nil, fmt.Errorf("protocol: route %q has no handler", r.Pattern)
	case r.Open && r.Scope != "":
		return nil, fmt.Errorf("protocol: route %q is open, but requires the scope %q", r.Pattern, r.Scope)
	}

	// Names must be distinct, because PathValue returns only one value per name.
	names := namesOf(path)
	if subtree(path) && len(names) > 0 {
		return nil, fmt.Errorf("protocol: route %q: expected no {…} in a path that is everything below it", r.Pattern)
	}

	for segment := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
			segment = segment[1 : len(segment)-1]
		}
		if strings.ContainsAny(segment, "{}") {
			return nil, fmt.Errorf("protocol: route %q: expected a segment that is a {…} or contains no braces", r.Pattern)
		}
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("protocol: route %q: expected a different name in each {…}", r.Pattern)
		}
	}
	return &servedRoute{r, method, path}, nil
}

// versioned reports whether requests must state the protocol version.
func (r *servedRoute) versioned() bool { return !r.Open && !r.AnyVersion }

// placed reports whether requests need a request slot.
func (r *servedRoute) placed() bool { return !r.Open && !r.Free }

// readsQuery reports whether the Mux parses the query. If the path ends in /, the handler parses
// the query itself.
func (r *servedRoute) readsQuery() bool { return !r.AnyQuery && !subtree(r.path) }

// namesOf returns the variable names in a path.
func namesOf(path string) (names []string) {
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// shape returns a path without the names of its variables.
func shape(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// subtree reports whether a path matches everything below it.
func subtree(path string) bool { return strings.HasSuffix(path, "/") && len(path) > 1 }

func (r *servedRoute) methods() []string {
	if r.method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{r.method}
}

func (r *servedRoute) takes(method string) bool {
	return r.method == "" || slices.Contains(r.methods(), method)
}

// before reports whether a route takes precedence over another route that also matches.
func (r *servedRoute) before(other *servedRoute) bool {
	one, two := strings.Split(r.path, "/"), strings.Split(other.path, "/")

	// The first segments that differ determine the order.
	for i := range min(len(one), len(two)) {
		if a, b := rank(one[i]), rank(two[i]); a != b {
			return a < b
		}
	}

	return len(one) > len(two) || r.method != "" && other.method == ""
}

// rank orders the segments of a pattern by what they match: a literal segment, any one segment, or
// everything below.
func rank(segment string) int {
	switch {
	case segment == "":
		return 2
	case strings.HasPrefix(segment, "{"):
		return 1
	}
	return 0
}

// matchPath matches an escaped path against the path of a pattern. In the pattern, {name} matches
// one segment, and a trailing / matches everything below the path. It returns the unescaped values
// of the variables. Each segment is unescaped separately, so an escaped slash does not separate
// segments. Paths are not cleaned; for example, .. is an ordinary segment.
func matchPath(pattern, escaped string) (vars []string, ok bool) {
	if subtree(pattern) {
		return nil, strings.HasPrefix(escaped, pattern)
	}

	names, path := strings.Split(pattern, "/"), strings.Split(escaped, "/")
	if len(names) != len(path) {
		return nil, false
	}

	for i, want := range names {
		if !strings.HasPrefix(want, "{") {
			if want != path[i] {
				return nil, false
			}
			continue
		}

		// The path has already been split, so an escaped slash stays in its segment.
		value, err := url.PathUnescape(path[i])
		if err != nil || !isID(value) {
			return nil, false
		}
		vars = append(vars, value)
	}

	return vars, true
}

// isID reports whether a segment can be an ID, which is a non-empty string without control
// characters.
func isID(text string) bool {
	return text != "" && len(text) <= MaxID && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
