package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/conformance"
)

// TestAgents runs the example as a separate process. The example must pass all probes of the
// upstream runner and all probes of this module, with both forms of the agent card.
func TestAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("a program is built")
	}
	program := filepath.Join(t.TempDir(), "agents.exe")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/agents") // the test does not need debug information
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	for dialect, most := range map[string]int{"agent_card": 0, "harn_agent_card": 1} {
		if most > 0 && !testsize.Full() {
			continue
		}
		url, key := startAgents(t, program, "-card", dialect)
		env := func(name string) string { return map[string]string{keyVariable: key}[name] }
		trusted := []string{"--target", url, "--keys", "../../../fixtures/keys/trust.json", "--waits", "/wait"}

		got := runIt(t, env, trusted...)
		if got.code != exitPassed || got.err != "" || !strings.Contains(got.out, "\nthe card's dialect is "+dialect+"\n") {
			t.Errorf("%s: %d, %s\n%s", dialect, got.code, got.err, got.out)
		}

		// The upstream runner requires the format agent_card.
		got = runIt(t, env, append(trusted, "--suite", "upstream", "--card", "agent_card", "--json")...)
		var report conformance.Report
		if err := json.Unmarshal([]byte(got.out), &report); err != nil {
			t.Fatalf("%v\n%s", err, got.out)
		}
		if s := report.Summary; s.Total != 26 || s.Failed != most || s.Skipped != 2 || got.code != min(most, exitFailed) {
			t.Errorf("%s: %d, %+v", dialect, got.code, s)
		}
		if strings.Contains(got.out, key) {
			t.Error("the report has the key")
		}
	}
}

// startAgents starts the example, and returns its address and the key that it generated.
func startAgents(t *testing.T, program string, args ...string) (url, key string) {
	t.Helper()
	p := exec.Command(program, append(args, "-data", t.TempDir())...)
	p.Dir, p.Stderr = "../..", os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { p.Process.Kill() })
	t.Cleanup(func() {
		kill.Stop()
		if runtime.GOOS == "windows" || p.Process.Signal(os.Interrupt) != nil {
			p.Process.Kill()
		}
		if err := p.Wait(); err != nil && runtime.GOOS != "windows" {
			t.Error(err)
		}
	})
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		label, text, _ := strings.Cut(scanner.Text(), " ")
		switch text = strings.TrimSpace(text); label {
		case "key":
			key = text
		case "serving":
			url, _, _ = strings.Cut(text, " ")
			return url, key
		}
	}
	t.Fatal("it ended before it served")
	return "", ""
}
