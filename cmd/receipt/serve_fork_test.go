package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// forkedFolder creates a directory that contains receipts a, b, and c in separate files. Receipt a
// is the predecessor of both b and c.
func forkedFolder(t *testing.T) (dir, keys string) {
	t.Helper()
	dir = t.TempDir()
	draft := draftOf(t, []byte(fixture(t, "valid/task.json")))
	key := filepath.Join(dir, "key.json")
	writeFile(t, key, []byte(fixture(t, "keys/key_2026_04.private.json")))
	keys = filepath.Join(dir, "keys.json")
	writeFile(t, keys, []byte(fixture(t, "keys/trust.json")))
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

// TestServeFork verifies that the command and the endpoint return the same verdict for a directory.
func TestServeFork(t *testing.T) {
	folder, keys := forkedFolder(t)
	code, stdout, _ := command(nil, "verify", folder, "--keys", keys, "--format", "ndjson")
	if code != cli.ExitRefuted || strings.Count(stdout, `"chain_fork"`) == 0 {
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

// TestServeBatch verifies that the server verifies a stored receipt together with its batch, as the
// command does.
func TestServeBatch(t *testing.T) {
	folder, keys := forkedFolder(t)
	dir := filepath.Dir(folder)
	var drafts strings.Builder
	for _, id := range []string{"receipt_x", "receipt_y"} {
		fmt.Fprintln(&drafts, strings.Replace(string(draftOf(t, []byte(fixture(t, "valid/task.json")))), "receipt_01K0TASK", id, 1))
	}
	for name, text := range map[string]string{"drafts.jsonl": drafts.String(), "other.jsonl": strings.ReplaceAll(drafts.String(), `"receipt_x"`, `"receipt_z"`)} {
		writeFile(t, filepath.Join(dir, name), text)
		if code, _, stderr := command(nil, "batch", "seal", filepath.Join(dir, name), "--key", filepath.Join(dir, "key.json"), "--manifest", filepath.Join(dir, name+".manifest"), "-o", filepath.Join(dir, "sealed-"+name)); code != 0 {
			t.Fatal(stderr)
		}
	}
	sealed := filepath.Join(dir, "sealed-drafts.jsonl")
	for _, manifest := range []string{"drafts.jsonl.manifest", "other.jsonl.manifest"} {
		manifest = filepath.Join(dir, manifest)
		_, stdout, _ := command(nil, "verify", sealed, "--keys", keys, "--batch", manifest, "--format", "ndjson")
		r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", keys, "--receipts", sealed, "--batch", manifest)
		for line := range strings.Lines(stdout) {
			id := regexp.MustCompile(`"receipt_id":"([^"]*)"`).FindStringSubmatch(line)
			if id == nil { // the summary
				continue
			}
			batch := regexp.MustCompile(`{"check":"batch","status":"[a-z_]*","code":"[a-z_]*"`).FindString(line)
			valid := fmt.Sprintf(`{"valid":%v,`, strings.Contains(line, `"verdict":"verified"`))
			if status, answer := r.do("POST", "/v1/receipts/"+id[1]+"/verify", "{}", version, "Content-Type: application/json"); status != 200 || batch == "" || !strings.Contains(answer, batch) || !strings.HasPrefix(answer, valid) {
				t.Errorf("%s, %s: expected %s and %s: %d %s", manifest, id[1], valid, batch, status, answer)
			}
		}
	}
}
