package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forkedFolder has receipts a, b and c in files of their own, of which b and c follow a.
func forkedFolder(t *testing.T) (dir, keys string) {
	t.Helper()
	dir = t.TempDir()
	draft := draftOf(t, []byte(fixture(t, "valid/task.json")))
	key := filepath.Join(dir, "key.json")
	if err := os.WriteFile(key, []byte(fixture(t, "keys/key_2026_04.private.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	keys = filepath.Join(dir, "keys.json")
	if err := os.WriteFile(keys, []byte(fixture(t, "keys/trust.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "receipts")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		args := []string{"seal", "-", "--key", key, "-o", filepath.Join(folder, name+".json")}
		if name != "a" {
			args = append(args, "--previous", filepath.Join(folder, "a.json"))
		}
		text := strings.Replace(string(draft), "receipt_01K0TASK", "receipt_"+name, 1)
		if code, _, stderr := command(strings.NewReader(text), args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	return folder, keys
}

// TestServeFork: one folder has one verdict, by the command and by the endpoint.
func TestServeFork(t *testing.T) {
	folder, keys := forkedFolder(t)
	code, stdout, _ := command(nil, "verify", folder, "--keys", keys, "--format", "ndjson")
	if code != exitRefuted || strings.Count(stdout, `"chain_fork"`) == 0 {
		t.Fatalf("receipt verify: exit %d\n%s", code, stdout)
	}
	r := startServe(t, folder, "--addr", "127.0.0.1:0", "--keys", keys, "--receipts", folder, "--receipts", folder)
	for _, name := range []string{"a", "b", "c"} {
		refuted := false
		for line := range strings.Lines(stdout) {
			refuted = refuted || strings.Contains(line, `"receipt_id":"receipt_`+name+`"`) && strings.Contains(line, `"verdict":"refuted"`)
		}
		status, answer := r.do("POST", "/v1/receipts/receipt_"+name+"/verify", "{}", version, "Content-Type: application/json")
		if want := fmt.Sprintf(`{"valid":%v,`, !refuted); status != 200 || !strings.HasPrefix(answer, want) || strings.Contains(answer, "chain_fork") != refuted || strings.Contains(answer, folder) {
			t.Errorf("%s: expected %s: %d %s", name, want, status, answer)
		}
	}
}
