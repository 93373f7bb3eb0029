package serve

import (
	"bytes"
	_ "embed"
	"net/http"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/schemas"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of all routes, as an OpenAPI 3.1 document.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }

func getOpenAPI(c *call) error { return c.send(http.StatusOK, mediaJSON, openAPI) }

// schemaPath is the path of the receipt schema, as listed in openapi.json.
const schemaPath = "/schemas/" + receipt.SchemaMarker + ".schema.json"

// getSchema responds with the JSON Schema for receipts.
func getSchema(c *call) error {
	text, ok := schemas.Source(schemas.Receipt)
	if !ok {
		return protocol.NotFound()
	}
	return c.send(http.StatusOK, mediaSchema, text)
}

func getDiscovery(c *call) error {
	capabilities := []string{"rest"}
	if c.s.options.Source != nil {
		capabilities = append(capabilities, "receipts")
	}
	if c.s.options.Replay != nil {
		capabilities = append(capabilities, "replay")
	}
	return c.json(http.StatusOK, protocol.NewDiscovery(capabilities...))
}

// A status is the response of the routes that load balancers query.
type status struct {
	Status string `json:"status"`
}

func getHealth(c *call) error { return c.json(http.StatusOK, status{"ok"}) }

// getReady serves /readyz, which states whether the server should receive requests.
func getReady(c *call) error {
	switch {
	case c.s.draining.Load():
		return c.json(http.StatusServiceUnavailable, status{"draining"})
	case c.s.options.Verifier() == nil:
		return c.json(http.StatusServiceUnavailable, status{"no keys"})
	case c.r.Saturated():
		return c.json(http.StatusServiceUnavailable, status{"busy"})
	}

	// The reason is only logged, because it may contain file names.
	const mostLogged = 1000
	if c.s.options.Ready == nil {
		return c.json(http.StatusOK, status{"ready"})
	}
	if err := c.s.options.Ready(); err != nil {
		c.s.options.Log.Error("not ready", "request", c.r.ID, "error", untrusted.Escape(untrusted.Cut(err.Error(), mostLogged)))
		return c.json(http.StatusServiceUnavailable, status{"not writable"})
	}
	return c.json(http.StatusOK, status{"ready"})
}

// getPage passes requests for the root to the page handler.
func getPage(c *call) error {
	if c.s.options.Page == nil {
		const text = "This server verifies receipts: POST one to /v1/verify. Its routes are described in /openapi.json.\n"
		return c.send(http.StatusOK, mediaText, []byte(text))
	}

	// The page handler sets its own caching headers, and receives only the request headers that the
	// page depends on.
	c.w.Header().Del("Cache-Control")
	r := c.r.Clone(c.r.Context())
	r.Header = http.Header{}
	for _, name := range []string{"Accept-Encoding", "If-None-Match"} {
		if values, given := c.r.Header[name]; given {
			r.Header[name] = values
		}
	}

	c.r.Header = http.Header{} // saves memory while a client is not reading the page
	c.s.options.Page.ServeHTTP(c.w, r)
	return nil
}

// shownMembers returns the names of the public members of a JWK (RFC 7517 section 4, RFC 7518
// section 6, RFC 8037 section 2, package keys). All other members are removed, especially the
// private ones.
func shownMembers() []string {
	return []string{"kid", "kty", "alg", "use", "key_ops", "crv", "x", "y", "n", "e", "issuers", "roles", "origin", "nbf", "exp", "revoked"}
}

// getKeySet responds with the public members of the keys.
func getKeySet(c *call) error {
	if c.s.options.Keys == nil {
		return protocol.NotFound()
	}

	text := c.s.options.Keys()
	if text == nil {
		return protocol.NotFound()
	}

	// Private and unknown members are removed.
	out, err := c.s.shown.of(text)
	if err != nil {
		return protocol.Internal(protocol.WithoutText(err), "the key set cannot be read")
	}
	return c.send(http.StatusOK, mediaKeys, out)
}

// shownKeys contains the public form of a key set. This form is computed only once, because anyone
// may request it any number of times.
type shownKeys struct {
	mu        sync.Mutex
	text, out []byte
}

func (s *shownKeys) of(text []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out != nil && bytes.Equal(s.text, text) {
		return s.out, nil
	}

	doc, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}

	// A key set is an object with the member keys (RFC 7517 section 5).
	out := []byte(`{"keys":[`)
	for i, key := range doc.Root().Member("keys").Elements() {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendKey(out, key)
	}

	s.text, s.out = bytes.Clone(text), append(out, "]}\n"...)
	return s.out, nil
}

func appendKey(out []byte, key canon.Node) []byte {
	out = append(out, '{')

	// Only listed members are copied, so a private or unknown member is never published.
	first := true
	for _, name := range shownMembers() {
		value := key.Member(name)
		if value.IsZero() {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(canon.AppendString(out, name), ':')
		out = value.AppendCanonical(out)
	}

	return append(out, '}')
}

// getAgentCard serves GET /v1/agent-card for a server that only verifies receipts and serves stored
// receipts. The server does not support the A2A protocol, so the A2A card lists only the interface
// that the server has.
func getAgentCard(c *call) error {
	const about = "Verifies receipts of the format " + receipt.SchemaMarker + ", and gives out stored ones."
	skill := protocol.Skill{ID: "verify-receipts", Name: "Verify receipts", Description: "Reports whether a receipt is verified, refuted, or undecided, and why.", Tags: []string{"receipts", "verification"}}
	card := protocol.Card{ID: "receipt-verifier", Name: "receipt verifier", Description: about, Since: c.s.began, Transports: []string{"rest"},
		Input: verifyMedia(), Output: []string{mediaJSON, mediaNDJSON}, Skills: []protocol.Skill{skill}}
	if c.s.options.Source != nil {
		card.Capabilities = append(card.Capabilities, "receipts")
	}
	if c.s.options.Replay != nil {
		card.Capabilities = append(card.Capabilities, "replay")
	}
	if !c.s.options.Public {
		card.AuthSchemes = append(card.AuthSchemes, "bearer")
	}
	return c.json(http.StatusOK, card)
}
