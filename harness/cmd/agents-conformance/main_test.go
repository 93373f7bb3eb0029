package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ran contains the exit code and the output of one command.
type ran struct {
	code     int
	out, err string
}

func runIt(t *testing.T, getenv func(string) string, args ...string) ran {
	t.Helper()
	var out, messages bytes.Buffer
	code := run(t.Context(), args, &surroundings{out: &out, err: &messages, getenv: getenv, now: time.Now, random: rand.Reader})
	return ran{code, out.String(), messages.String()}
}

func unset(string) string { return "" }

// discovering starts a server that responds only to discovery requests.
func discovering(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1" {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("discovery was asked for with a key")
		}
		protocol.WriteJSON(w, http.StatusOK, protocol.NewDiscovery("rest"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestExitCodes verifies that the exit code is 0 if nothing failed, 1 if a probe failed or the
// report could not be written, and 2 if nothing could be probed.
func TestExitCodes(t *testing.T) {
	url := discovering(t)
	folder := t.TempDir()
	bad := filepath.Join(folder, "bad.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"--target URL --category receipts", exitPassed, ""},
		{"--target URL --category core", exitFailed, ""},
		{"--target URL --category receipts --json-out " + filepath.Join(folder, "absent", "x"), exitFailed, "the report could not be written"},
		{"", exitUsage, "--target: expected the URL of a server, found none"},
		{"--target ftp://x", exitUsage, "expected a URL with http or https and a host"},
		{"--target http://robin:secret@x", exitUsage, "expected a URL without user, query and fragment"},
		{"--target URL --category nothing", exitUsage, `found "nothing"`},
		{"--target URL --suite all", exitUsage, `--suite: expected upstream, ours or both, found "all"`},
		{"--target URL --card x", exitUsage, "--card: expected agent_card or harn_agent_card"},
		{"--target URL --timeout 0", exitUsage, "--timeout: expected 1 to 3600000 milliseconds, found 0"},
		{"--target URL --keys " + filepath.Join(folder, "absent"), exitUsage, "--keys: open"},
		{"--target URL --keys " + bad, exitUsage, "--keys: "},
		{"--target URL --issuer harness_example_cloud", exitUsage, "it cannot require an issuer"},
		{"--target URL more", exitUsage, "unknown command"},
		{"--unknown", exitUsage, "unknown flag"},
	} {
		got := runIt(t, unset, strings.Fields(strings.ReplaceAll(test.args, "URL", url))...)
		if got.code != test.code || !strings.Contains(got.err, test.err) || test.err == "" && got.err != "" || strings.Contains(got.err, "secret") {
			t.Errorf("%s: %d, %q, want %d, %q", test.args, got.code, got.err, test.code, test.err)
		}
		if test.code == exitUsage && got.out != "" {
			t.Errorf("%s: %q", test.args, got.out)
		}
	}
}

// TestOutput verifies that the report has the same content as text, as JSON, and in a file, and
// never contains the key.
func TestOutput(t *testing.T) {
	url, file := discovering(t), filepath.Join(t.TempDir(), "report.json")
	const key = "rk_this_is_the_key_of_this_test"
	env := func(name string) string { return map[string]string{keyVariable: key}[name] }

	text := runIt(t, env, "--target", url, "--category", "core,receipts", "--verbose", "--json-out", file)
	for _, want := range []string{url + "/, agents-protocol-2026-04-25\n", "\n  passed  discovery, ", "\n  failed  agent_card, ", "\n    the protocol: the agent card states", "\n  skipped task_receipts, ", "\nfailed: 1 passed, 9 failed, 2 skipped of 12, score 0.10, "} {
		if !strings.Contains(text.out, want) {
			t.Errorf("no %q in:\n%s", want, text.out)
		}
	}
	asJSON := runIt(t, unset, "--target", url, "--category", "core", "--category", "receipts", "--api-key", key, "--json")
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{asJSON.out, string(written)} {
		var report conformance.Report
		if err := json.Unmarshal([]byte(form), &report); err != nil || report.Schema != conformance.ReportSchema || report.Summary.Failed != 9 || len(report.Categories) != 2 {
			t.Errorf("%v\n%s", err, form)
		}
	}
	if strings.Contains(text.out+asJSON.out+string(written)+text.err+asJSON.err, key) {
		t.Error("the key was reported")
	}
}
