package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/log/store"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// startLog serves a log without witnesses, and writes the policy for it.
func startLog(t *testing.T) (url, policy string) {
	t.Helper()
	l, key := openLog(t, t.TempDir())
	server := httptest.NewServer(l.Handler(""))
	t.Cleanup(server.Close)
	return server.URL, writeFile(t, "policy", "log "+key.String()+"\nquorum none\n")
}

// openLog opens a log without witnesses, which is closed at the end of the test.
func openLog(t *testing.T, dir string) (*store.Log, *tlog.Log) {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	key, err := tlog.NewLog("log.example/receipts", private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	signer := tlog.LogSigner{Log: key, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(private, message), nil
	}}
	l, err := store.Open(t.Context(), store.Config{Dir: dir, Key: key, Sign: signer.SignCheckpoint, Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return l, key
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fixture returns the path of a copy of a fixture.
func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, filepath.Base(name), string(data))
}

// command runs a command line, and returns its exit code, stdout, and stderr. After a minute, it
// stops the command, so that a server that starts by mistake does not block the test.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var o, e bytes.Buffer
	code = run(ctx, args, &o, &e)
	return code, o.String(), e.String()
}

func TestAppend(t *testing.T) {
	url, policy := startLog(t)
	proofs := filepath.Join(t.TempDir(), "proofs")
	good := filepath.Dir(fixture(t, "valid/task.json"))
	altered := fixture(t, "valid/full.json")
	data, err := os.ReadFile(altered)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(altered, bytes.Replace(data, []byte(`SUCCEEDED`), []byte(`FAILED`), 1), 0o600); err != nil {
		t.Fatal(err)
	}

	// Append a directory twice. The second run sends nothing, so it needs no log.
	for _, log := range []string{url, "http://127.0.0.1:1"} {
		code, out, errs := command(t, "append", good, "--log", log, "--policy", policy, "--proofs", proofs, "--wait", "10s")
		if code != exitVerified || !strings.HasPrefix(out, "0 sha256:") || !strings.HasSuffix(out, "task.json\n") {
			t.Errorf("%s: exit %d, %q, %s", log, code, out, errs)
		}
	}

	other := writeFile(t, "other", strings.Replace(readFile(t, policy), "quorum none", "witness w w1.example.com+04f29dbe+BHePzpiqC67suVaU15Ty8VRrpe8OTBL9q4LlVn1U4GX1\nquorum w", 1))
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	damaged := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "damaged", http.StatusInternalServerError)
	}))
	defer damaged.Close()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"altered receipt": {[]string{altered, "--log", url, "--policy", policy, "--proofs", proofs}, exitRefuted, "hash_mismatch"},
		"no witness":      {[]string{fixture(t, "valid/minimal.json"), "--log", url, "--policy", other, "--proofs", t.TempDir()}, exitUndecided, "the policy is not met"},
		"no log":          {[]string{fixture(t, "valid/minimal.json"), "--log", "http://127.0.0.1:1", "--policy", policy, "--proofs", t.TempDir(), "--wait", "2s"}, exitUsage, "connection refused"},
		"no response": {[]string{fixture(t, "valid/minimal.json"), "--log", silent.URL, "--policy", policy, "--proofs", t.TempDir(), "--wait", "300ms"}, exitUsage,
			"minimal.json: no proof after 300ms: gave up: the log did not respond in time\n" +
				"receipt-log: receipts in the log: 0; not added: 0 invalid, 1 not read or not answered, 0 undecided\n" +
				"receipt-log: hint: the log may already contain the hashes without proofs, and its witness quorum may not have cosigned yet: repeat append to get the proofs\n"},
		"log damaged": {[]string{fixture(t, "valid/minimal.json"), "--log", damaged.URL, "--policy", policy, "--proofs", t.TempDir()}, exitUsage,
			"minimal.json: no proof: the log answered 500: \"damaged\"\n" +
				"receipt-log: receipts in the log: 0; not added: 0 invalid, 1 not read or not answered, 0 undecided\n" +
				"receipt-log: hint: the log may already contain the hashes without proofs"},
		"no URL":     {[]string{fixture(t, "valid/minimal.json"), "--log", "log.example.net", "--policy", policy, "--proofs", t.TempDir()}, exitUsage, `invalid --log "log.example.net"`},
		"no receipt": {[]string{t.TempDir(), "--log", url, "--policy", policy, "--proofs", proofs}, exitUsage, "found no receipt"},
		"no file":    {[]string{"absent.json", "--log", url, "--policy", policy, "--proofs", proofs}, exitUsage, "absent.json"},
		"no policy":  {[]string{good, "--log", url, "--proofs", proofs}, exitUsage, "missing --policy"},
	} {
		code, out, errs := command(t, append([]string{"append"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: exit %d, expected %d; %q; %s", name, code, c.code, out, errs)
		}
	}
}

// TestAppendLied verifies that a proof for another receipt is not stored.
func TestAppendLied(t *testing.T) {
	url, policy := startLog(t)
	proofs := t.TempDir()
	if code, _, errs := command(t, "append", fixture(t, "valid/task.json"), "--log", url, "--policy", policy, "--proofs", proofs); code != exitVerified {
		t.Fatal(errs)
	}
	files, err := filepath.Glob(filepath.Join(proofs, "*.tlog-proof"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	lying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(readFile(t, files[0])))
	}))
	defer lying.Close()

	empty := t.TempDir()
	code, out, errs := command(t, "append", fixture(t, "valid/minimal.json"), "--log", lying.URL, "--policy", policy, "--proofs", empty)
	if code != exitRefuted || out != "" || !strings.Contains(errs, "the proof of the log") {
		t.Errorf("exit %d, %q, %s", code, out, errs)
	}
	if files, _ := filepath.Glob(filepath.Join(empty, "*")); len(files) > 0 {
		t.Errorf("stored %v", files)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
