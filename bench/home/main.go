// Command home measures the processor time of two recordings of a home directory that contains the
// logs of several agents. The second recording finds nothing new. See README.md in the parent
// directory.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	sessions := flag.Int("sessions", 300, "number of sessions")
	calls := flag.Int("calls", 60, "calls of tools in each session")
	most := flag.Float64("must", 0, "exit 1 if the second recording takes more than this percentage of the first")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	share, err := measure(ctx, *sessions, *calls)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "home: error: %v\n", err)
		os.Exit(2)
	case *most > 0 && share > *most:
		fmt.Fprintf(os.Stderr, "home: the second recording takes %.1f %% of the first, expected at most %g %%\n", share, *most)
		os.Exit(1)
	}
}

// measure records a new home directory three times. It prints the processor time of each recording,
// and returns the time of the second as a percentage of the first.
func measure(ctx context.Context, sessions, calls int) (share float64, err error) {
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	home, tool := filepath.Join(dir, "home"), filepath.Join(dir, "receipt")
	size, err := write(home, sessions, calls)
	if err != nil {
		return 0, err
	}

	run := func(expected, name string, args ...string) (time.Duration, error) {
		c := exec.CommandContext(ctx, name, args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "RECEIPT_KEYS=")
		out, err := c.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, out)
		}
		if !strings.Contains(string(out), expected) {
			return 0, fmt.Errorf("%s %s: expected %q, found %s", filepath.Base(name), args[0], expected, out)
		}
		return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
	}
	key, ledger := filepath.Join(dir, "key.json"), filepath.Join(dir, "work.db")
	for _, args := range [][]string{
		{"go", "-C", "..", "build", "-o", tool, "./cmd/receipt"},
		{tool, "keys", "generate", "--issuer", "me", "--private", key, "--public", filepath.Join(dir, "trust.json")},
		{tool, "ledger", "init", ledger},
	} {
		if _, err := run("", args[0], args[1:]...); err != nil {
			return 0, err
		}
	}

	fmt.Printf("%d sessions, %.1f MB\n", sessions, float64(size)/1e6)
	var first time.Duration
	for n, name := range []string{"first", "second", "third"} {
		expected := fmt.Sprintf("%d receipts issued, 0 known", sessions)
		if n > 0 {
			expected = fmt.Sprintf("0 receipts issued, %d known", sessions)
		}
		took, err := run(expected, tool, "record", home, "--settled", "0", "--issuer", "me", "--ledger", ledger, "--key", key)
		if err != nil {
			return 0, err
		}
		first = max(first, took)
		percent := 100 * took.Seconds() / first.Seconds()
		if fmt.Printf("%-7s %6.0f ms of processor time, %5.1f %%\n", name, 1000*took.Seconds(), percent); name == "second" {
			share = percent
		}
	}
	return share, nil
}

// write writes session logs of five agents in turn, and returns their total size.
func write(home string, sessions, calls int) (size int, err error) {
	for n := range sessions {
		name, text := log(n, calls)
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return 0, err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return 0, err
		}
		size += len(text)
	}
	return size, nil
}

// at returns the time of a line in a session.
func at(session, line int) string {
	return time.Date(2026, 1, 1, 0, 0, session*3600+line, 0, time.UTC).Format(time.RFC3339)
}

// id returns the ID of an object in a session.
func id(prefix string, session, n int) string {
	return prefix + strconv.Itoa(session) + "_" + strconv.Itoa(n)
}
