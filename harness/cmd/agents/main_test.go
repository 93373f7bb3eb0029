package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// asProgram is the environment variable that makes the test binary run as the program.
const asProgram = "TEST_AS_AGENTS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
}

// A process is a running instance of the program.
type process struct {
	cmd      *exec.Cmd
	errors   bytes.Buffer
	url, key string
}

// start starts the program in the directory of the module, and waits until the program serves
// requests.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.Env = "../..", &p.errors, append(os.Environ(), asProgram+"=1")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		label, text, _ := strings.Cut(lines.Text(), " ")
		switch text = strings.TrimSpace(text); label {
		case "key":
			p.key = text
		case "serving":
			p.url, _, _ = strings.Cut(text, " ")
			go io.Copy(io.Discard, out)
			return p
		}
	}
	t.Fatalf("it ended: %v\n%s", p.cmd.Wait(), &p.errors)
	return nil
}

// TestProgram verifies that the program serves a client that has the printed key, and that the
// program leaves no files behind.
func TestProgram(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := start(t)
	for key, want := range map[string]int{p.key: http.StatusOK, "": http.StatusUnauthorized} {
		r, err := http.NewRequest("GET", p.url+"/v1/tasks", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d, expected %d", answer.StatusCode, want)
		}
	}
	answer, err := http.Get(p.url + "/")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	if answer.Body.Close(); err != nil || !bytes.HasPrefix(page, []byte("<!doctype html>")) {
		t.Errorf("%v: %.100s", err, page)
	}

	p.endedBy(t, os.Interrupt)
	start(t).endedBy(t, syscall.SIGTERM)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// endedBy ends the program with a signal, and checks that the program prints nothing about the
// signal.
func (p *process) endedBy(t *testing.T, by os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil || p.errors.Len() > 0 {
		t.Errorf("%v: %v\n%s", by, err, &p.errors)
	}
}

// TestOptions verifies that invalid options are reported before the program serves requests.
func TestOptions(t *testing.T) {
	for _, o := range []settings{
		{listen: "0.0.0.0:0", private: "../../../fixtures/keys/key_2026_04.private.json", public: "../../../fixtures/keys/trust.json", issuer: "i"},
		{listen: "127.0.0.1:0", private: "absent", public: "../../../fixtures/keys/trust.json", issuer: "i"},
		{listen: "127.0.0.1:0", private: "../../../fixtures/keys/key_2026_04.private.json", public: "../../../fixtures/keys/trust.json", issuer: "i", clients: "absent"},
		{listen: "127.0.0.1:0", private: "../../../fixtures/keys/key_2026_04.private.json", public: "../../../fixtures/keys/trust.json", issuer: ""},
	} {
		o.data = t.TempDir()
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- run(t.Context(), o, &out) }()
		select {
		case err := <-ended:
			if err == nil || out.Len() > 0 {
				t.Errorf("%+v: %v, %s", o, err, &out)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%+v: it serves", o)
		}
	}
}

// TestOpensFirst verifies that the program reads its log before it listens, so that an unreadable
// log is reported before an address in use.
func TestOpensFirst(t *testing.T) {
	taken, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := settings{listen: taken.Addr().String(), data: t.TempDir(), private: "../../../fixtures/keys/key_2026_04.private.json", public: "../../../fixtures/keys/trust.json", issuer: "harness_example_cloud"}
	if err := os.WriteFile(filepath.Join(o.data, "events.jsonl"), []byte("not a journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), o, &out); err == nil || !strings.Contains(err.Error(), "line 1") || out.Len() > 0 {
		t.Errorf("%v, %s", err, &out)
	}
	if err := os.Remove(filepath.Join(o.data, "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), o, &out); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("%v, %s", err, &out)
	}
}
