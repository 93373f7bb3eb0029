package serve_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// TestProofsHTTP verifies the routes for proofs, and that there are no others.
func TestProofsHTTP(t *testing.T) {
	list := [][]byte{servetest.Receipt(t, "r0", "t", "t"), servetest.Receipt(t, "../../etc/passwd", "t", "t")}
	note := servetest.Checkpoint(t, list[:1]...)
	p, err := files.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(list...)}), note)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Proofs = p
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Proof("r0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/x/checkpoint", 200, string(note)},
		{"HEAD", "/x/checkpoint", 200, string(note)}, // net/http omits the body
		{"GET", "/x/receipts/r0/proof", 200, string(proof)},
		{"GET", "/x/receipts/r%30/proof", 200, string(proof)},
		{"GET", "/x/receipts/r1/proof", 404, "resource_not_found"},
		{"GET", "/x/receipts/..%2F..%2Fetc%2Fpasswd/proof", 404, "resource_not_found"}, // this receipt is not covered by the checkpoint
		{"GET", "/x/receipts//proof", 404, "resource_not_found"},
		{"GET", "/x/receipts/r0", 404, "resource_not_found"},
		{"GET", "/x/receipts/r0/proof/", 404, "resource_not_found"},
		{"GET", "/x/", 404, "resource_not_found"},
		{"GET", "/x/checkpoint/", 404, "resource_not_found"},
		{"GET", "/x//checkpoint", 404, "resource_not_found"},
		{"GET", "/x/%63heckpoint", 404, "resource_not_found"},
		{"GET", "/x/checkpoint?a=b", 400, "invalid_request"},
		{"POST", "/x/checkpoint", 405, "invalid_request"},
		{"DELETE", "/x/receipts/r0/proof", 405, "invalid_request"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		media, want := "text/plain; charset=utf-8", w.Body.String() == c.want
		if c.status != 200 {
			media, want = "application/json", strings.Contains(w.Body.String(), `{"error":{"code":"`+c.want+`",`)
		}
		h := w.Header()
		if w.Code != c.status || !want || h.Get("Content-Type") != media || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %d %v\n%s", c.method, c.path, w.Code, h, w.Body)
		}
		if (w.Code == 405) != (h.Get("Allow") == "GET, HEAD") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, h.Get("Allow"))
		}
	}
}

// TestProofsRequestID verifies that an error on a route under /x/ contains the request ID, as on
// all other routes.
func TestProofsRequestID(t *testing.T) {
	list := [][]byte{servetest.Receipt(t, "r0", "t", "t")}
	p, err := files.NewProofs(openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(list...)}), servetest.Checkpoint(t, list...))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Proofs = p
	got := start(t, o).get("/x/receipts/r1/proof")
	failure, _ := got.object(t)["error"].(map[string]any)
	if id, _ := failure["request_id"].(string); got.status != 404 || len(id) != 16 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
