package browse

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// sealOne seals the receipt rI for one task.
func sealOne(t *testing.T, i int, task string, head chain.Head) *receipt.Sealed {
	t.Helper()
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, i, 0, time.UTC))
	s, err := receipt.Seal(&receipt.Draft{
		ReceiptID:   fmt.Sprint("r", i),
		Subject:     receipt.ResourceRef{Object: "task", ID: task},
		Issuer:      receipt.Issuer{ID: "harness", Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: task},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
		Cost:        receipt.Cost{Currency: "USD"},
	}, head)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sealed seals a stream of n receipts.
func sealed(t *testing.T, n int) (list [][]byte) {
	t.Helper()
	head := chain.Head{}
	for i := range n {
		s := sealOne(t, i, "t", head)
		head = s.Head()
		list = append(list, s.JSON())
	}
	return list
}

// view writes a view of receipts and returns the directory of the view.
func view(t *testing.T, list ...[]byte) string {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := newSite(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := stream.Verify(t.Context(), v, bytes.NewReader(append(bytes.Join(list, []byte("\n")), '\n')), stream.Options{Extract: rows.Extract})
	for rep := range run.Reports() {
		if err := s.add(rep, run.Text()); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := run.Summary()
	if err == nil {
		err = s.end(sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// load reads a data file in the same way as a browser.
func load(t *testing.T, dir, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "data", name+".js"))
	if err != nil {
		t.Fatal(err)
	}
	packed, found := strings.CutPrefix(string(text), `receiptData("`+name+`","`)
	packed, ended := strings.CutSuffix(packed, "\")\n")
	if !found || !ended {
		t.Fatalf("%s: %.80s", name, text)
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err == nil {
		err = json.NewDecoder(r).Decode(to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSite verifies that the data files contain each receipt once, in input order. A break, a
// repeated ID, and a document that is not a receipt must also have their own rows.
func TestSite(t *testing.T) {
	list := slices.Delete(sealed(t, 301), 20, 21)
	list[7] = []byte(`{"not":"a receipt"}`)
	dir := view(t, list...)

	var got table
	load(t, dir, "table-0", &got)
	verdict := got.Columns["verdict"]
	if len(got.IDs) != 300 || got.IDs[299] != "r300" || got.IDs[7] != "" || len(verdict.At) != 300 || verdict.New[verdict.At[7]] != "refuted" {
		t.Errorf("the table has %d rows, %q and %q, %+v", len(got.IDs), got.IDs[299], got.IDs[7], verdict)
	}
	if sentence := got.Columns["sentence"]; sentence.New[sentence.At[7]] != "" || sentence.New[sentence.At[8]] == "" {
		t.Errorf("headlines: %q", sentence.New)
	}
	if model := got.Columns["model"]; model.New[model.At[0]] != "m" {
		t.Errorf("models: %q", model.New)
	}
	if !slices.Equal(got.Breaks, []int{20}) || got.Times[7] != nil || got.Times[0] == nil || *got.Times[0] != 1777143600000 {
		t.Errorf("breaks %v, times %v and %v", got.Breaks, got.Times[7], got.Times[0])
	}

	var entries []struct {
		Report  struct{ Receipt_ID string }
		Receipt map[string]any
	}
	load(t, dir, "receipts-1", &entries)
	if len(entries) != 300-receiptCount || entries[0].Report.Receipt_ID != "r257" || entries[0].Receipt["receipt_id"] != "r257" {
		t.Errorf("%d entries, %+v", len(entries), entries[0])
	}
}

// TestSiteParts verifies that each part of the table continues where the previous part ends.
func TestSiteParts(t *testing.T) {
	var all table
	all.add(&receipt.Report{}, &rows.Row{Verdict: "verified", Issuer: "a"}, "", 0)
	all.next()
	all.add(&receipt.Report{}, &rows.Row{Verdict: "verified", Issuer: "b"}, "", 1)
	all.add(&receipt.Report{}, &rows.Row{Verdict: "refuted", Issuer: "a"}, "", 2)
	if got := fmt.Sprint(all.Columns["issuer"].New, all.Columns["issuer"].At, all.Columns["verdict"].New, all.Columns["verdict"].At); got != "[b] [1 0] [refuted] [0 1]" {
		t.Error(got)
	}
}

// TestSiteSecret verifies that no file contains the content of a receipt that contains a secret.
func TestSiteSecret(t *testing.T) {
	const secret = "AKIAIOSFODNN7EXAMPLQ"
	dir := view(t, sealOne(t, 0, secret, chain.Head{}).JSON(), sealOne(t, 1, "t", chain.Head{}).JSON())
	var entries []map[string]any
	load(t, dir, "receipts-0", &entries)
	if entries[0]["withheld"] != true || entries[0]["receipt"] != nil || entries[1]["receipt"] == nil || entries[1]["withheld"] != nil {
		t.Errorf("%v", entries)
	}
	var got table
	load(t, dir, "table-0", &got)
	if text := fmt.Sprint(entries, got.Columns["sentence"].New); strings.Contains(text, secret) {
		t.Error(text)
	}
}

// TestIndex verifies that names in receipts cannot terminate the embedded data or the title of the
// page.
func TestIndex(t *testing.T) {
	const hostile = `</script><script>alert(1)</script>`
	sum := &stream.Summary{Keys: &stream.Keys{Path: hostile}}
	text, err := indexPage(sum, 0)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("<script>alert")) || bytes.Count(text, []byte("<script")) != 2 {
		t.Errorf("%.2000s", text)
	}
	for _, never := range []string{"unsafe-", "http:", "https:", "*"} {
		if strings.Contains(pageView().Policy(), never) {
			t.Errorf("the policy allows %s", never)
		}
	}
}

// TestHandler verifies that the server answers only GET and HEAD requests for files of the view,
// with the secret path and with one of the view's own host names.
func TestHandler(t *testing.T) {
	dir := view(t, sealed(t, 2)...)
	if err := os.WriteFile(filepath.Join(dir, "data", "other.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHandler(dir, "secret", "127.0.0.1", "::1", "localhost")
	for _, c := range []struct {
		method, host, path string
		want               int
	}{
		{"GET", "127.0.0.1:7000", "/secret/", 200},
		{"HEAD", "localhost:7000", "/secret/", 200},
		{"GET", "[::1]", "/secret/", 200}, // port 80
		{"GET", "127.0.0.1:7000", "/secret/data/table-0.js", 200},
		{"GET", "evil.example:7000", "/secret/", 421},
		{"GET", "127.0.0.1.evil.example", "/secret/", 421},
		{"GET", "evil.example", "/secret/data/table-0.js", 421},
		{"POST", "127.0.0.1:7000", "/secret/", 405},
		{"GET", "127.0.0.1:7000", "/", 404},
		{"GET", "127.0.0.1:7000", "/data/table-0.js", 404},
		{"GET", "127.0.0.1:7000", "/other/data/table-0.js", 404},
		{"GET", "127.0.0.1:7000", "/secret/data/", 404},
		{"GET", "127.0.0.1:7000", "/secret/data/other.txt", 404},
		{"GET", "127.0.0.1:7000", "/secret/data/../../table-0.js", 404},
		{"GET", "127.0.0.1:7000", "/secret/data/table-1.js", 404},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+"/", nil)
		r.URL.Path = c.path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s%s: %d, want %d", c.method, c.host, c.path, w.Code, c.want)
		}
		if w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", c.path, w.Header())
		}
		if c.want == http.StatusOK && c.method == "GET" && w.Body.Len() == 0 {
			t.Errorf("%s is empty", c.path)
		}
	}
}

// TestLoopback verifies that the server listens only on the loopback address.
func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1:0": true, "[::1]:80": true, "localhost:8080": true, "0.0.0.0:80": false, ":80": false, "192.0.2.1:80": false, "example.com:80": false, "127.0.0.1": false} {
		if _, err := loopback(addr); (err == nil) != want {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
