package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestBrowser verifies that the page, running in Chromium, reaches the expected verdicts for
// receipts and for corpus cases.
func TestBrowser(t *testing.T) {
	const browser = "chromium"
	if _, err := exec.LookPath(browser); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	reports := make(chan string, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("..")))
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			text = []byte(err.Error())
		}
		reports <- string(text)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	every := testsize.Of(10, 1)
	cases := corpus(t)

	pages := map[string]string{
		"trust=/fixtures/keys/trust.json&receipt=/fixtures/valid/task.json":            "verified",
		"trust=/fixtures/keys/trust.json&receipt=/fixtures/malicious/flipped-bit.json": "refuted, signature_invalid /signatures/0",
		"trust=/fixtures/keys/trust.json&receipt=/fixtures/absent.json":                "not judged: /fixtures/absent.json: 404",
		fmt.Sprintf("corpus=/fixtures/corpus/&every=%d", every):                        sample(cases, every),
	}
	for query, want := range pages {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
			"--user-data-dir="+t.TempDir(), server.URL+"/interop/js/?report=/report&"+query)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		select {
		case got := <-reports:
			if got != want {
				t.Errorf("%s: %q, expected %q", query, got, want)
			}
		case <-ctx.Done():
			t.Fatalf("%s: no report: %v", query, ctx.Err())
		}
		cancel()
		_ = cmd.Wait() // it was ended
	}
}

// sample checks that all answers are as expected, and returns the page's reports for every n-th
// case.
func sample(cases []corpusCase, n int) string {
	chosen := (len(cases) + n - 1) / n
	return fmt.Sprintf("%d cases, %d answered, 0 differ", chosen, chosen)
}
