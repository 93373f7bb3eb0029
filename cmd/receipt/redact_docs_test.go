package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// TestRedactionExamples verifies that the commands in docs/redaction.md work in order in one
// directory. Package rulefile tests the policies on that page.
func TestRedactionExamples(t *testing.T) {
	page := readFile(t, "../../docs/redaction.md")
	text := readFile(t, "../../docs/draft.json")
	var draft map[string]any
	if err := json.Unmarshal(text, &draft); err != nil {
		t.Fatal(err)
	}
	const secret = "copper-lantern-40"
	draft["metadata"] = map[string]any{"db_password": secret}
	text, err := json.Marshal(draft)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "draft.json"), text)
	sh := func(line string) (out string, code int) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		b, _ := cmd.CombinedOutput()
		return string(b), cmd.ProcessState.ExitCode()
	}
	read := func(name string) string {
		b := readFile(t, filepath.Join(dir, name))
		return string(b)
	}
	if out, code := sh("receipt keys generate --issuer my_harness --private me.private.json --keys keys.json"); code != 0 {
		t.Fatal(out)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d examples, expected 3", len(blocks))
	}

	// The first example starts with a draft and ends with one disclosed value for an auditor.
	for line := range strings.Lines(blocks[0][1]) {
		if out, code := sh(line); code != 0 || strings.Contains(out, secret) {
			t.Errorf("%s: %d, %s", line, code, out)
		}
	}
	if strings.Contains(read("redacted.json"), secret) || strings.Contains(read("receipt.json"), secret) || !strings.Contains(read("for-the-auditor.json"), secret) {
		t.Error("the password is not withheld, or not disclosed")
	}

	// The second example uses redaction as a gate: the draft is rejected with the location and the
	// reason.
	for i, line := range strings.Split(strings.TrimSpace(blocks[1][1]), "\n") {
		out, code := sh(line)
		if want := []int{1, 0, 1}[i]; code != want || strings.Contains(out, secret) || !strings.Contains(out, "/metadata/db_password") {
			t.Errorf("%s: exit %d, expected %d: %s", line, code, want, out)
		}
	}

	// The third example is the formula for commitments.
	if !strings.Contains(string(page), "proof_hash = SHA-256(\"receipt-redaction-v1\\n\" ‖ JCS({\"field\": …, \"salt\": …, \"value\": …}))") {
		t.Error("the formula has another text")
	}
	var shown struct {
		Fields []struct{ Field, Salt, Value string }
	}
	if err := json.Unmarshal([]byte(read("for-the-auditor.json")), &shown); err != nil || len(shown.Fields) != 1 {
		t.Fatal(err)
	}
	f := shown.Fields[0]
	object, err := canon.Transform([]byte(`{"value":"` + f.Value + `","salt":"` + f.Salt + `","field":"` + f.Field + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append([]byte("receipt-redaction-v1\n"), object...))
	if !strings.Contains(read("receipt.json"), "sha256:"+hex.EncodeToString(sum[:])) {
		t.Error("the receipt has another commitment")
	}

	// This draft has a new ID, and should have been redacted before it was sealed.
	draft["receipt_id"] = "receipt_01K0OTHER"
	text, err = json.Marshal(draft)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"draft.json": text, "redacted.json": nil, "withheld.json": nil} {
		os.Remove(filepath.Join(dir, name))
		if content != nil {
			writeFile(t, filepath.Join(dir, name), content)
		}
	}
	if out, code := sh(blocks[2][1]); code != 0 || !strings.Contains(read("redacted.json"), "supersedes") {
		t.Errorf("%d: %s", code, out)
	}
}
