//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServeLinks verifies that the server does not follow symbolic links in a directory, even if a
// link replaces a served file, and that a pipe without a writer does not block the server.
func TestServeLinks(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "receipts"), filepath.Join(dir, "outside.json")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(path, name string) {
		t.Helper()
		writeFile(t, path, []byte(fixture(t, name)))
	}
	put(outside, "valid/full.json")
	put(filepath.Join(dir, "keys.json"), "keys/trust.json")
	put(filepath.Join(inside, "task.json"), "valid/task.json")
	if err := os.Symlink(outside, filepath.Join(inside, "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(inside, filepath.Join(dir, "named")); err != nil { // a directory that is named on the command line may be a link
		t.Fatal(err)
	}
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", "keys.json", "--receipts", "named")
	const task, full = "/v1/receipts/receipt_01K0TASK", "/v1/receipts/receipt_01K0FULL"
	r.expects(404, "resource_not_found", "GET", full, "", version)
	r.expects(200, `"payload":`, "GET", task, "", version)
	if !strings.Contains(r.logged(), `"why":"a symbolic link, not followed"`) {
		t.Errorf("logged:\n%s", r.logged())
	}
	served := filepath.Join(inside, "task.json")
	for name, make := range map[string]func() error{
		"link": func() error { return os.Symlink(outside, served) },
		"pipe": func() error { return syscall.Mkfifo(served, 0o600) },
		"dir":  func() error { return os.Mkdir(served, 0o700) },
		"none": func() error { return nil },
	} {
		if err := os.RemoveAll(served); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(name, err)
		}
		for _, path := range []string{task, "/v1/tasks/task_01K0TASK/receipts"} {
			if status, answer := r.do("GET", path, "", version); status != 500 || strings.Contains(answer, "payload") || strings.Contains(answer, "task.json") {
				t.Errorf("%s: %s: %d %.300s", name, path, status, answer)
			}
		}
	}
	if err := os.RemoveAll(served); err != nil {
		t.Fatal(err)
	}
	put(served, "valid/task.json")
	r.expects(200, `"payload":`, "GET", task, "", version)
}
