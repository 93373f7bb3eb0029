package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
)

// TestBrowser verifies that the page reaches the same verdicts in chromium.
func TestBrowser(t *testing.T) {
	const browser = "chromium"
	if _, err := exec.LookPath(browser); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("js")))
	mux.HandleFunc("/fixtures/{path...}", func(w http.ResponseWriter, r *http.Request) {
		data, err := fixtures.Read(r.PathValue("path"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	for receipt, verdict := range map[string]string{
		"valid/task.json":             "verified",
		"malicious/changed-cost.json": "refuted, hash_mismatch /chain/receipt_hash",
		"malicious/flipped-bit.json":  "refuted, signature_invalid /signatures/0",
		"malicious/unknown-key.json":  "undecided, unknown_key /signatures/0",
	} {
		page := server.URL + "/?trust=fixtures/keys/trust.json&receipt=fixtures/" + receipt
		cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=10000", "--dump-dom", page)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
		if want := ">" + verdict + "</output>"; !strings.Contains(string(out), want) {
			t.Errorf("%s: the page has no %q:\n%s", receipt, want, out)
		}
	}
}
