package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// TestMonitorDeletion verifies that, if a log deletes old tiles, a monitor that has followed the
// log exits with status 3 and names the first missing tile.
func TestMonitorDeletion(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	l, key := openLog(t, dir)
	server := httptest.NewServer(l.Handler(""))
	defer server.Close()
	policy := writeFile(t, "policy", fmt.Sprintf("log %v %s\nquorum none\n", key, server.URL))
	var group sync.WaitGroup
	for i := range 301 {
		group.Go(func() {
			if _, err := l.Add(t.Context(), canon.Sum(fmt.Appendf(nil, "receipt %d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()

	args := []string{"monitor", "--once", "--policy", policy, "--dir", state, "--silence", "1h"}
	if code, out, errs := command(t, args...); code != exitVerified || out != "growth log.example/receipts from size 0 to 301\n" {
		t.Fatalf("exit %d, %q, %s", code, out, errs)
	}
	for _, name := range []string{"tile/0/000", "tile/entries/000"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Add(t.Context(), canon.Sum([]byte("another receipt"))); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--full"}} {
		code, out, errs := command(t, append(args, flags...)...)
		if code != exitUndecided || !strings.Contains(out, "unreachable log.example/receipts get "+server.URL+"/tile/entries/000") {
			t.Errorf("%v: exit %d, %q, %s", flags, code, out, errs)
		}
	}
}

// TestMonitorFlags verifies that a monitor requires a directory and valid times.
func TestMonitorFlags(t *testing.T) {
	_, policy := startLog(t)
	for _, flags := range [][]string{{"--dir", ""}, {"--every", "0s"}, {"--every", "-1s"}, {"--silence", "-1s"}} {
		args := append([]string{"monitor", "--once", "--policy", policy, "--dir", t.TempDir()}, flags...)
		if code, _, errs := command(t, args...); code != exitUsage || !strings.Contains(errs, "--silence is negative") {
			t.Errorf("%v: exit %d, %s", flags, code, errs)
		}
	}
}
