//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestProgram verifies the results of a program and the limits that apply to it.
func TestProgram(t *testing.T) {
	const long = time.Minute
	for _, c := range []struct {
		script       string
		patience     time.Duration
		stdout, said string
		exit         int
		err          error
	}{
		{"cat; echo problem >&2; exit 3", long, "in", "prob", 3, nil},
		{"printf 12345678", long, "12345678", "", 0, nil},
		{"printf 123456789; sleep 60", long, "12345678", "", -1, ErrLoud},
		{"sleep 60", 100 * time.Millisecond, "", "", -1, ErrLate},
	} {
		p := Program{Path: "/bin/sh", Args: []string{"-c", c.script}, Env: []string{}, Stdin: []byte("in"), Patience: c.patience, Most: 8, MostSaid: 4}
		out, err := p.Run(t.Context())
		if string(out.Stdout) != c.stdout || string(out.Said) != c.said || out.State.ExitCode() != c.exit || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %q, %v, %v", c.script, out.Stdout, out.Said, out.State, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Program{Path: "/bin/sh", Patience: long}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	var start *StartError
	if _, err := (&Program{Path: t.TempDir(), Patience: long}).Run(t.Context()); !errors.As(err, &start) || !strings.HasPrefix(err.Error(), "does not run: ") {
		t.Errorf("a directory: %v", err)
	}
}

// TestProgramLeavesNothing verifies that processes that a program leaves running are killed.
func TestProgramLeavesNothing(t *testing.T) {
	mark := t.TempDir() + "/mark"
	p := Program{Path: "/bin/sh", Args: []string{"-c", `(sleep 1; : >"$0") & printf done`, mark}, Patience: time.Minute, Most: 8}
	if out, err := p.Run(t.Context()); string(out.Stdout) != "done" || err != nil {
		t.Fatalf("%q, %v", out.Stdout, err)
	}
	time.Sleep(1500 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Error("the process ran on")
	}
}
