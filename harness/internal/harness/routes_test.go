package harness_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestOneMux verifies that every request, including requests for receipts, is handled and counted
// once, and that the host of every request is checked.
func TestOneMux(t *testing.T) {
	o := options(t, t.TempDir())
	o.Hosts = []string{"127.0.0.1"}
	h, c := start(t, o)
	c.ask("GET", "/v1/receipts/none", 404, nil)
	c.get("/v1/workspaces")
	_, text := c.do("GET", "/metrics", nil)
	for _, want := range []string{
		`receipt_http_requests_total{method="GET",route="/v1/receipts/{id}",status="404"} 1`,
		`receipt_http_requests_total{method="GET",route="/v1/workspaces",status="200"} 1`,
		`receipt_http_requests_in_flight 1`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}

	for _, path := range []string{"/v1", "/v1/tasks", "/v1/receipts/none", "/healthz"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "evil.example"
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		w := httptest.NewRecorder()
		if h.Handler().ServeHTTP(w, r); w.Code != 403 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
