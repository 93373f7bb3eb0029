package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestExamples verifies that both examples in the help of every command work. Each example runs in
// a directory that contains the files it uses. The examples of "receipt keys" depend on each other,
// and the examples of "receipt init" and "receipt hook" depend on the user's home directory, so
// these examples are tested by scripts instead. The examples of "receipt serve" run until they are
// interrupted, so they have a separate test.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some hundred processes")
	}
	needs(t, "sh")
	files := exampleFiles(t)
	shared := absolute(t, "../../fixtures")
	ran := 0
	err := eachCommand(newRoot(testEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) error {
		lines := strings.Split(cmd.Example, "\n")
		if len(lines) != 2 {
			t.Errorf("%s has %d examples, expected 2", cmd.CommandPath(), len(lines))
		}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if name := strings.Fields(line)[1]; !slices.Contains([]string{"keys", "init", "hook", "serve"}, name) && !strings.Contains(line, "--last") {
				runExample(t, files, shared, line)
				ran++
			}
		}
		return nil
	})
	if err != nil || ran < 20 {
		t.Errorf("%d examples ran: %v", ran, err)
	}
}

func runExample(t *testing.T, files map[string][]byte, shared, line string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if strings.HasSuffix(line, "-o "+name) || !strings.Contains(line, name) && !strings.Contains(line, "*") {
			continue
		}
		writeFile(t, filepath.Join(dir, name), data)
	}
	if strings.Contains(line, "fixtures/") {
		if err := os.Symlink(shared, filepath.Join(dir, "fixtures")); err != nil {
			t.Fatal(err)
		}
	}

	// An example without shell syntax runs in the test process, except at full size.
	if !testsize.Full() && !strings.ContainsAny(line, "|<>$;&*'\"") {
		t.Chdir(dir)
		code, out, message := command(nil, strings.Fields(line)[1:]...)
		if code != 0 || strings.Contains(message, "error") {
			t.Errorf("%s: exit %d\n%s%s", line, code, out, message)
		}
		return
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "RECEIPT_KEYS=")
	var message bytes.Buffer
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil || strings.Contains(message.String(), "error") {
		t.Errorf("%s: %v\n%s%s", line, err, out, &message)
	}
}

func exampleFiles(t *testing.T) map[string][]byte {
	t.Helper()
	read := func(path string) []byte {
		data := readFixture(t, path)
		return data
	}
	task := read("valid/task.json")
	files := map[string][]byte{
		"receipt.json": task, "last-receipt.json": task, "mine.json": task, "theirs.json": task,
		"draft.json":           draftOf(t, task),
		"keys.json":            read("keys/trust.json"),
		"issuer.private.json":  read("keys/key_2026_04.private.json"),
		"witness.private.json": read("keys/witness_1.private.json"),
		"issuer.pem":           testPEM(t),
	}
	addBatchFiles(t, files)
	addRedactedFiles(t, files)
	addLogs(t, files)
	addReplay(t, files)
	addBundles(t, files)
	files["ledger.db"] = emptyLedger(t)
	for _, name := range []string{"receipt.timestamp", "answer.tsr", "roots.pem"} {
		data, err := os.ReadFile(filepath.Join("../../internal/timestamp/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func emptyLedger(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if code, _, stderr := command(nil, "ledger", "init", path); code != 0 {
		t.Fatal(stderr)
	}
	data := readFile(t, path)
	return data
}

// draftOf returns the draft from which a receipt was sealed.
func draftOf(t *testing.T, sealed []byte) []byte {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(sealed, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "signatures")
	delete(members, "chain")
	draft, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return draft
}

func testPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
