package protocol

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestCheckForm verifies each limit with values at and beyond the limit.
func TestCheckForm(t *testing.T) {
	many := func(n int) http.Header {
		h := http.Header{}
		for i := range n {
			h.Set(fmt.Sprint("H", i), "x")
		}
		return h
	}
	for name, c := range map[string]struct {
		r    *http.Request
		good bool
	}{
		"headers":          {&http.Request{URL: &url.URL{Path: "/"}, Header: many(100)}, true},
		"too many headers": {&http.Request{URL: &url.URL{Path: "/"}, Header: many(101)}, false},
		"path":             {httptest.NewRequest("GET", "/"+strings.Repeat("p", 4095), nil), true},
		"a longer path":    {httptest.NewRequest("GET", "/"+strings.Repeat("p", 4096), nil), false},
		"query":            {httptest.NewRequest("GET", "/?"+strings.Repeat("q", 4096), nil), true},
		"a longer query":   {httptest.NewRequest("GET", "/?"+strings.Repeat("q", 4097), nil), false},
	} {
		err := checkForm(c.r)
		if (err == nil) != c.good || err != nil && errorOf(err).status() != 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPermits verifies that clients without a required scope are rejected, and that only operators
// have the scope Operator.
func TestPermits(t *testing.T) {
	want := map[string]string{"all": "tasks:read tasks:write operator", "some": "tasks:read", "none": "", "reach": "tasks:read tasks:write"}
	for _, key := range []APIKey{
		{Name: "all", Reach: Everything()}, {Name: "some", Scopes: []Scope{TasksRead}, Reach: Everything()},
		{Name: "none", Scopes: []Scope{}, Reach: Everything()}, {Name: "reach", Reach: Everything().OfTenants("a")},
	} {
		var may []string
		for _, scope := range []Scope{TasksRead, TasksWrite, Operator} {
			if key.client().permits(scope) {
				may = append(may, string(scope))
			}
		}
		if got := strings.Join(may, " "); got != want[key.Name] || !key.client().permits("") {
			t.Errorf("%s: %q", key.Name, got)
		}
	}
	if !anyone().permits(Operator) {
		t.Error("a server without authentication refuses its clients")
	}
	if nobody := new(Client); nobody.permits(TasksRead) || nobody.permits(Operator) {
		t.Error("the zero client has a scope")
	}
	if _, err := ParseAPIKeys([]byte(`{"name":"x","sha256":"`+strings.Repeat("a", 64)+`","created":"2026-04-25T19:00:00Z","scopes":["operator"]}`), Scopes()...); err == nil {
		t.Error("a key for operators")
	}
	for _, h := range []http.Header{{}, {"Authorization": {"Bearer rk_x"}}, {"Authorization": {"Bearer rk_secretsecret", "Bearer b"}}} {
		key, err := new(APIKeys).Authenticate(&http.Request{Header: h})
		if e := errorOf(err); key != nil || e.status() != 401 || e.Header.Get("WWW-Authenticate") == "" || strings.Contains(err.Error(), "secretsecret") {
			t.Errorf("%v: %v, %v", h, key, err)
		}
	}
}

// TestHosts verifies that a Mux with Hosts rejects other host names before it checks the protocol
// version.
func TestHosts(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Hosts = []string{"localhost", "::1"} }, Route{Pattern: "GET /v1", Serve: says("x")})
	for host, want := range map[string]int{
		"localhost": 426, "LOCALHOST:8080": 426, "localhost.:80": 426, "[::1]:1": 426, "[::1]": 426,
		"127.0.0.1": 403, "localhost.evil.example": 403, "": 403,
	} {
		r := httptest.NewRequest("GET", "/v1", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if m.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d %s", host, w.Code, w.Body)
		}
	}
}
