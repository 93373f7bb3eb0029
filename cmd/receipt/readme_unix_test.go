//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A reader runs the commands of README.md in order, in a checkout and with an empty home directory.
type reader struct {
	t    *testing.T
	dir  string // the current directory
	home string
}

// TestReadme verifies that each block of commands in README.md works. The blocks create a receipt,
// a proof, a disclosure, and a ledger, and start the endpoint. Blocks that build this module run
// only in CI.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some thirty processes")
	}
	page := readFile(t, "../../README.md")
	r := newReader(t)

	// Collect the fenced blocks that contain commands.
	typed, built := "", 0
	for _, m := range regexp.MustCompile("(?ms)(^<!-- ci: tamper -->\n)?^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		block := strings.ReplaceAll(m[2], "go run ./cmd/receipt ", "receipt ")
		typed += block
		switch {
		case strings.Contains(block, "go test") || strings.Contains(block, "go install") || strings.Contains(block, "go run"):
			built++
		case strings.HasPrefix(block, "receipt serve "):
			r.serve(strings.TrimSpace(block))
		case m[1] != "":
			if out, code := r.types(block); code != 1 || !strings.Contains(out, "refuted, hash_mismatch") {
				t.Errorf("%s: exit %d\n%s", block, code, out)
			}
		default:
			if out, code := r.types(block); code != 0 || strings.Contains(out, "error") || strings.Contains(out, "hint") {
				t.Fatalf("%s: exit %d\n%s", block, code, out)
			}
		}
	}
	if built != 3 {
		t.Errorf("%d blocks build something, expected 3: the tests, the install, the harness", built)
	}

	for _, verb := range []string{"verify", "record", "redact", "show", "seal", "sign", "keys generate", "batch checkpoint", "batch prove", "redact disclose", "serve", "ledger issue"} {
		if !strings.Contains(typed, "receipt "+verb+" ") {
			t.Errorf("README.md does not try receipt %s", verb)
		}
	}
	r.keepsTheSecret()
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, dir: t.TempDir(), home: t.TempDir()}
	for _, name := range []string{"docs", "fixtures"} {
		from := absolute(t, "../../"+name)
		if err := os.CopyFS(filepath.Join(r.dir, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *reader) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.home, "XDG_CONFIG_HOME=", "RECEIPT_KEYS=")
	return cmd
}

// types runs a block, and remembers the directory in which the block ends.
func (r *reader) types(block string) (out string, code int) {
	r.t.Helper()
	ended := filepath.Join(r.home, "pwd")
	cmd := r.command("sh", "-ec", block+"\npwd >"+ended)
	b, _ := cmd.CombinedOutput() // the caller checks the exit status
	if code = cmd.ProcessState.ExitCode(); code == 0 {
		dir := readFile(r.t, ended)
		r.dir = strings.TrimSpace(string(dir))
	}
	return string(b), code
}

// serve starts the endpoint on a free port, verifies the first receipt through it, and interrupts
// it.
func (r *reader) serve(line string) {
	r.t.Helper()
	args := append(strings.Fields(line), "--addr", "127.0.0.1:0")
	started := startLine(r.t, r.dir, exec.Command(args[0], args[1:]...))
	night := readFile(r.t, filepath.Join(r.dir, "receipts", "1-night.json"))

	started.expects(http.StatusOK, `"verdict":"verified"`, "POST", "/v1/verify", string(night), jsonType)
	started.signal(os.Interrupt)
	if code := started.exits(); code != 0 {
		r.t.Errorf("%s: exit %d\n%s", line, code, started.logged())
	}
}

// keepsTheSecret verifies that neither the receipts nor the HTML page contain the password. Only the
// log and the disclosure contain it.
func (r *reader) keepsTheSecret() {
	r.t.Helper()
	const secret = "tulips-and-thyme"
	for name, has := range map[string]bool{"../docs/events.jsonl": true, "receipts/1-night.json": false, "receipts/2-day.json": false, "audit.html": false, "shown.json": true} {
		data := readFile(r.t, filepath.Join(r.dir, name))
		if strings.Contains(string(data), secret) != has {
			r.t.Errorf("%s has the password: %t, expected %t", name, !has, has)
		}
	}
}
