package serve

import (
	"net/http"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A route is a method and a path that is served. The table of them is what
// openapi.json and docs/http.md are checked against.
type route struct {
	method  string         // GET stands for HEAD too; "" for any method
	pattern string         // {name} is one segment; a path that ends in / other than "/" is a subtree
	version bool           // the protocol's version header is required
	key     bool           // an API key is required when the server has any
	scope   protocol.Scope // that the key must have; "" for none
	free    bool           // not counted among Limits.Requests
	params  []string
	links   bool // any query will do, and none is read: mail and chats add theirs to a link
	serve   func(*call) error
}

// routes is the table, in the order of the documentation.
func routes() []route {
	return []route{
		{method: "POST", pattern: "/v1/verify", key: true, scope: ScopeVerify, params: verifyParams(), serve: verify},
		{method: "GET", pattern: "/v1/receipts/{id}", version: true, key: true, scope: ScopeRead, serve: getReceipt},
		{method: "POST", pattern: "/v1/receipts/{id}/verify", version: true, key: true, scope: ScopeVerify, serve: verifyStored},
		{method: "GET", pattern: "/v1/tasks/{id}/receipts", version: true, key: true, scope: ScopeRead, params: []string{"limit", "cursor"}, serve: listReceipts},
		{method: "POST", pattern: "/v1/tasks/{id}/replay", version: true, key: true, scope: ScopeReplay, serve: postReplay},
		{method: "GET", pattern: "/v1", free: true, serve: getDiscovery},
		{method: "GET", pattern: "/v1/agent-card", free: true, serve: getAgentCard},
		{method: "GET", pattern: "/.well-known/jwks.json", free: true, serve: getKeySet},
		{method: "GET", pattern: "/openapi.json", free: true, serve: getOpenAPI},
		{method: "GET", pattern: schemaPath, free: true, serve: getSchema},
		{method: "GET", pattern: "/healthz", free: true, serve: getHealth},
		{method: "GET", pattern: "/readyz", free: true, serve: getReady},
		{method: "GET", pattern: "/metrics", key: true, scope: protocol.Operator, free: true, serve: getMetrics},
		{method: "GET", pattern: "/", free: true, links: true, serve: getPage},
		{pattern: "/x/", key: true, scope: ScopeRead, serve: getProofs},
	}
}

// A router finds the route of a path. It never redirects, cleans or opens a path.
type router struct{ routes []route }

// A match is what a router found.
type match struct {
	route   *route   // nil: no route has the path, or none the method
	vars    []string // of the pattern, unescaped
	allowed []string // methods, when a route has the path
}

// ofProtocol reports whether a path is in the space of the protocol's routes, known
// or not: there the version and the key come before what exists.
func ofProtocol(path string) bool {
	return strings.HasPrefix(path, "/v1/") && path != "/v1/verify" && path != "/v1/agent-card"
}

func (r *router) find(method, escaped string) (m match) {
	for i := range r.routes {
		vars, ok := protocol.MatchPath(r.routes[i].pattern, escaped)
		if !ok {
			continue
		}
		if r.routes[i].takes(method) {
			return match{route: &r.routes[i], vars: vars}
		}
		m.allowed = append(m.allowed, r.routes[i].methods()...)
	}
	return m
}

func (r *route) methods() []string {
	if r.method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{r.method}
}

func (r *route) takes(method string) bool {
	return r.method == "" || slices.Contains(r.methods(), method)
}
