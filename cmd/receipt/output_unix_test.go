//go:build unix

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestNoFile verifies that a pipe is never replaced by an output file, with or without --force.
// Otherwise, a privileged user who runs a command with "-o /dev/null --force" could lose /dev/null.
func TestNoFile(t *testing.T) {
	inFolder(t, 1)
	for name, text := range map[string]string{"task.json": fixture(t, "valid/task.json"), "trust.json": fixture(t, "keys/trust.json"), "key.json": fixture(t, "keys/key_second.private.json")} {
		writeFile(t, name, text)
	}
	pipes := []string{"pipe", "pipe.json", "pipe.cbor"}
	for _, name := range pipes {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink("pipe", "link"); err != nil {
		t.Fatal(err)
	}
	before := strings.Join(files(t), " ")
	for _, args := range []string{
		"seal draft.json -o pipe", "seal draft.json -o link",
		"redact draft.json -o pipe", "redact draft.json -o link", "redact draft.json -o new --disclosures pipe", "redact draft.json -o pipe --disclosures new",
		"sign task.json --key key.json -o pipe",
		"archive pack task.json -o pipe.cbor",
		"verify task.json --keys trust.json --report pipe.json",
		"keys generate --any-issuer --private pipe --keys new", "keys generate --any-issuer --private link --keys new",
	} {
		for _, force := range []string{"", " --force"} {
			code, message := runIn(t, strings.Fields(args+force)...)
			if code != cli.ExitUsage || !strings.Contains(message, "expected a file") {
				t.Errorf("%s: exit %d, %s", args+force, code, message)
			}
		}
	}
	if code, message := runIn(t, "serve", "--api-keys", "pipe", "--new-api-key", "ci"); code != cli.ExitUsage || !strings.Contains(message, "expected a file") {
		t.Errorf("exit %d, %s", code, message)
	}
	if after := strings.Join(files(t), " "); after != before {
		t.Errorf("there is %s, want %s", after, before)
	}
	for _, name := range pipes {
		if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// runIn runs a command in the current directory.
func runIn(t *testing.T, args ...string) (code int, message string) {
	t.Helper()
	var stderr bytes.Buffer
	code = run(t.Context(), args, &cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now})
	return code, stderr.String()
}
