package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
)

// A tokens value is an Authenticator that does not use API keys. Instead, the header X-Token
// contains the client's tenant.
type tokens struct{ withoutActor bool }

func (a tokens) Authenticate(r *http.Request) (*Client, error) {
	switch token := r.Header.Get("X-Token"); token {
	case "":
		return nil, nil
	case "busy":
		return nil, Busy(3, "the key service is down")
	case "broken":
		return nil, errors.New("secret detail")
	default:
		c := &Client{Name: token, Scopes: []Scope{TasksWrite}, Reach: Everything().OfTenants(token)}
		if !a.withoutActor {
			c.Actor = sha256.Sum256([]byte(token))
		}
		return c, nil
	}
}

// things is a route that returns how many things the client has created.
func things() Route {
	count := map[string]int{}
	return Route{Pattern: "POST /v1/things", Scope: TasksWrite, Serve: func(w http.ResponseWriter, r *Request) error {
		count[r.Client.Name]++
		mine := r.Client.Reach.Sees(chain.Stream{Tenant: r.Client.Name, HasTenant: true})
		return WriteJSON(w, http.StatusCreated, map[string]any{"of": r.Client.Name, "number": count[r.Client.Name], "mine": mine})
	}}
}

// TestNoClient verifies that the response to a client that a caller's Authenticator does not know
// does not request an API key of this package.
func TestNoClient(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Auth = tokens{} }, things())
	if got := ask(m, "POST", "/v1/things", "{}", "X-Token", ""); got.status != http.StatusUnauthorized || strings.Contains(got.body, "rk_") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestAuthenticator verifies that a caller's Authenticator separates tenants, so that no client
// gets a response that was remembered for another client.
func TestAuthenticator(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Auth = tokens{} }, things())
	for _, c := range []struct{ token, key, want string }{
		{"a", "k", `201 {"mine":true,"number":1,"of":"a"}`},
		{"b", "k", `201 {"mine":true,"number":1,"of":"b"}`},
		{"a", "k", `201 {"mine":true,"number":1,"of":"a"}`},
		{"a", "l", `201 {"mine":true,"number":2,"of":"a"}`},
		{"", "k", "401"},
		{"busy", "k", "503"},
		{"broken", "k", "500"},
	} {
		got := ask(m, "POST", "/v1/things", "{}", "X-Token", c.token, "Idempotency-Key", c.key)
		if text := fmt.Sprintf("%d %s", got.status, got.body); !strings.HasPrefix(text, c.want) || strings.Contains(text, "secret") {
			t.Errorf("%q, %q: got %s, want %s", c.token, c.key, text, c.want)
		}
	}
}

// TestAuthenticatorWithoutActor verifies that an Idempotency-Key is rejected if clients cannot be
// distinguished. Requests without a key must still be served.
func TestAuthenticatorWithoutActor(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Auth = tokens{withoutActor: true} }, things())
	if got := ask(m, "POST", "/v1/things", "{}", "X-Token", "a", "Idempotency-Key", "k"); got.status != 400 || !strings.Contains(got.body, "Idempotency-Key") {
		t.Errorf("with a key: %d %s", got.status, got.body)
	}
	if got := ask(m, "POST", "/v1/things", "{}", "X-Token", "a"); got.status != 201 {
		t.Errorf("without a key: %d %s", got.status, got.body)
	}
}

// TestAuthIsConfigured verifies that a Mux requires either an Authenticator or the explicit choice
// to serve all clients. No client may be accepted before the keys are loaded.
func TestAuthIsConfigured(t *testing.T) {
	for _, o := range []Options{{}, {Auth: tokens{}, Public: true}} {
		o.Now, o.Random = noon, endless{}
		if m, err := NewMux(o); err == nil || m != nil {
			t.Errorf("%+v: no error", o)
		}
	}

	m := muxOf(t, func(o *Options) { o.Auth = (*APIKeys)(nil) }, things())
	if got := ask(m, "POST", "/v1/things", "{}"); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("keys that are not loaded: %d %s", got.status, got.body)
	}
}

// TestReachIsNarrowed verifies that the zero Reach cannot see anything, and that an empty list of
// names never means all names.
func TestReachIsNarrowed(t *testing.T) {
	a := chain.Stream{Issuer: "i", Tenant: "a", HasTenant: true, Workspace: "w"}
	all := Everything()
	var claim []string // the value for a token without the claim
	for name, c := range map[string]struct {
		reach Reach
		sees  bool
	}{
		"zero":                 {Reach{}, false},
		"zero, of a tenant":    {Reach{}.OfTenants("a"), false},
		"everything":           {all, true},
		"no tenants":           {all.OfTenants(claim...), false},
		"no issuers":           {all.OfIssuers(claim...), false},
		"no workspaces":        {all.OfWorkspaces(claim...), false},
		"tenant":               {all.OfTenants("b", "a"), true},
		"another tenant":       {all.OfTenants("b"), false},
		"widened":              {all.OfTenants("b").OfTenants("a", "b"), false},
		"narrowed":             {all.OfTenants("a", "b").OfTenants("a"), true},
		"issuer and workspace": {all.OfIssuers("i").OfWorkspaces("w"), true},
		"another workspace":    {all.OfIssuers("i").OfWorkspaces("v"), false},
	} {
		if got := c.reach.Sees(a); got != c.sees {
			t.Errorf("%s: sees %t, want %t", name, got, c.sees)
		}
		if got, want := c.reach.All(), name == "everything"; got != want {
			t.Errorf("%s: all %t, want %t", name, got, want)
		}
	}
}
