package serve_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// TestMetrics verifies the metrics, and that their labels contain no data from requests.
func TestMetrics(t *testing.T) {
	h := start(t, options(t))
	h.post("/v1/verify", "application/json", fixture(t, "valid/minimal.json"))
	h.post("/v1/verify?scope=integrity", "application/x-ndjson", ndjson(oneLine(t, "valid/minimal.json"), oneLine(t, "malicious/changed-cost.json")))
	h.get("/private")
	h.do("BREW", "/v1/verify", nil)
	h.server.KeysReloaded(nil)
	h.server.KeysReloaded(errors.New("unreadable"))
	h.server.KeysReloaded(errors.New("unreadable"))
	got := h.get("/metrics")
	for _, want := range []string{
		"# TYPE receipt_http_requests_total counter",
		`receipt_http_requests_total{method="POST",route="/v1/verify",status="200"} 2`,
		`receipt_http_requests_total{method="GET",route="none",status="404"} 1`,
		`receipt_http_requests_total{method="other",route="none",status="405"} 1`,
		`receipt_http_request_duration_seconds_count{route="/v1/verify"} 2`,
		`receipt_verdicts_total{scope="full",verdict="verified"} 1`,
		`receipt_verdicts_total{scope="integrity",verdict="verified"} 1`,
		`receipt_verdicts_total{scope="integrity",verdict="refuted"} 1`,
		`receipt_key_reloads_total{result="ok"} 1`,
		`receipt_key_reloads_total{result="failed"} 2`,
		`receipt_http_requests_in_flight 1`,
	} {
		if !strings.Contains(string(got.body), want+"\n") {
			t.Errorf("no %s in\n%s", want, got.body)
		}
	}
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") || strings.Contains(string(got.body), "private") {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// TestKeySet verifies that the key set contains only the public members of keys.
func TestKeySet(t *testing.T) {
	o := options(t)
	text := []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"eA","d":"secret","comment":"inside","issuers":["i"],"x5u":"https://example.com"},` +
		`{"kty":"oct","kid":"b","k":"secret"},{"kty":"RSA","kid":"c","n":"bg","e":"AQAB","d":"secret","p":"secret","q":"secret","dp":"secret","dq":"secret","qi":"secret","oth":[]}],"other":"secret"}`)
	o.Keys = func() []byte { return text }
	h := start(t, o)
	got := h.get("/.well-known/jwks.json")
	const want = `{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","x":"eA","issuers":["i"]},{"kid":"b","kty":"oct"},{"kid":"c","kty":"RSA","n":"bg","e":"AQAB"}]}` + "\n"
	if got.status != 200 || string(got.body) != want || got.header.Get("Content-Type") != "application/jwk-set+json" {
		t.Errorf("%d %s", got.status, got.body)
	}
	text = nil
	if got := h.get("/.well-known/jwks.json"); got.status != 404 {
		t.Errorf("no keys: %d", got.status)
	}
	text = []byte(`{"keys":"secret`)
	if got := h.get("/.well-known/jwks.json"); got.status != 500 || strings.Contains(string(got.body), "secret") {
		t.Errorf("broken keys: %d %s", got.status, got.body)
	}
}

// shownProofs returns a proof for every receipt except the one with the ID "bad". The tree has a
// single leaf.
type shownProofs struct{ note []byte }

func (p shownProofs) Checkpoint() []byte         { return p.note }
func (shownProofs) Within(r protocol.Reach) bool { return r.All() }
func (p shownProofs) Proof(id string) ([]byte, error) {
	if id == "bad" {
		return nil, errors.New("the disk is gone")
	}
	proof := tlog.Proof{Checkpoint: p.note}
	return proof.Format(), nil
}

// TestMounts verifies that the page and the proofs are served if they are configured.
func TestMounts(t *testing.T) {
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text+" "+r.URL.Path) })
	}
	o := options(t)
	h := start(t, o)
	if got := h.get("/"); got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.get("/x/checkpoint"); got.status != 404 || got.code() != "resource_not_found" {
		t.Errorf("%d %s", got.status, got.body)
	}
	shown := shownProofs{servetest.Checkpoint(t, oneLine(t, "valid/minimal.json"))}
	proof, err := shown.Proof("good")
	if err != nil {
		t.Fatal(err)
	}
	o.Page, o.Proofs = say("page"), shown
	h = start(t, o)
	for path, want := range map[string]string{"/": "page /", "/x/checkpoint": string(shown.note), "/x/receipts/good/proof": string(proof)} {
		if got := h.get(path); string(got.body) != want || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	if got := h.get("/x/receipts/bad/proof"); got.status != 500 || got.code() != "internal_error" || bytes.Contains(got.body, []byte("disk")) {
		t.Errorf("a proof that cannot be made: %d %s", got.status, got.body)
	}
	// The server can also be mounted under a path of another server.
	mux := http.NewServeMux()
	mux.Handle("/receipts/", http.StripPrefix("/receipts", h.server))
	below := startHandler(t, h.server, mux)
	if got := below.get("/receipts/v1"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := below.post("/receipts/v1/verify", "application/json", fixture(t, "valid/minimal.json")); got.status != 200 || got.object(t)["verdict"] != "verified" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestDocs verifies that the table of routes in docs/http.md matches the implemented routes.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Routes")
	table, _, _ = strings.Cut(table, "\n##")
	var got []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(cells) > 4 {
			got = append(got, strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2])+" "+strings.TrimSpace(cells[3]))
		}
	}
	want := serve.RouteTable()
	if !slices.Equal(got, want) {
		t.Errorf("docs/http.md has\n%s\nthe server has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
