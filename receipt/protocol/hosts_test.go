package protocol_test

import (
	"net/http/httptest"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestHosts verifies that a Mux with Hosts refuses other names, before it asks for a version.
func TestHosts(t *testing.T) {
	m := muxOf(t, func(o *protocol.Options) { o.Hosts = []string{"localhost", "::1"} }, protocol.Route{Pattern: "GET /v1", Serve: says("x")})
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
