package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
)

// inFolder creates a directory that contains a draft with secrets, and changes to it.
func inFolder(t *testing.T, values int) {
	t.Helper()
	base := readFile(t, "../../docs/draft.json")
	var b bytes.Buffer
	for i := range values {
		fmt.Fprintf(&b, `"case_%d":{"password":"hunter2hunter2","note":%q},`, i, strings.Repeat("nothing to see here. ", 20))
	}
	draft := bytes.Replace(base, []byte(`"metadata":{`), []byte(`"metadata":{`+b.String()), 1)
	if bytes.Equal(draft, base) {
		draft = bytes.Replace(base, []byte(`"metadata": {`), []byte(`"metadata": {`+b.String()), 1)
	}
	t.Chdir(t.TempDir())
	writeFile(t, "draft.json", draft)
}

// files returns the names of the files in the current directory.
func files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func redactHere(args ...string) (code int, message string) {
	var stderr bytes.Buffer
	code = run(context.Background(), append([]string{"redact", "draft.json"}, args...), &cli.Env{In: strings.NewReader(""), Out: fullWriter{}, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now, Messages: messagesOnce})
	return code, stderr.String()
}

// checkPair verifies that a redacted draft matches its disclosures.
func checkPair(t *testing.T, output, disclosures string) {
	t.Helper()
	text := readFile(t, output)
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	file := readFile(t, disclosures)
	d, err := redact.ParseDisclosures(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(doc); err != nil || len(d.Fields) != doc.Root().Member("redactions").Len() {
		t.Errorf("%d disclosures of %d entries: %v", len(d.Fields), doc.Root().Member("redactions").Len(), err)
	}
}

// TestRedactFails verifies that a failed run leaves no new file and does not change existing files.
func TestRedactFails(t *testing.T) {
	inFolder(t, 3)
	writeFile(t, "old", "old")
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("draft.json", "link"); err != nil {
		t.Skip(err)
	}
	before := files(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--disclosures", "d", "-o", "old"}, `"old" exists already`},
		{[]string{"--disclosures", "old", "-o", "r"}, `"old" exists already`},
		{[]string{"--disclosures", "d", "-o", "folder"}, `"folder" is a directory`},
		{[]string{"--disclosures", "d", "-o", "folder", "--force"}, `"folder" is a directory`},
		{[]string{"--disclosures", "folder", "-o", "r", "--force"}, `"folder" is a directory`},
		{[]string{"--disclosures", "d", "-o", "absent/r"}, `"absent/r": the directory "absent" does not exist`},
		{[]string{"--disclosures", "absent/d", "-o", "r"}, `"absent/d": the directory "absent" does not exist`},
		{[]string{"--disclosures", "old/d", "-o", "r"}, `"old/d": not a directory`},
		{[]string{"--disclosures", "d", "-o", "./d"}, "--disclosures and --output name the same file"},
		{[]string{"--disclosures", "draft.json", "--force"}, "--disclosures names the draft itself"},
		{[]string{"--disclosures", "link", "-o", "r", "--force"}, "--disclosures names the draft itself"},
		{[]string{"--disclosures", "-"}, "must not be printed"},
		{[]string{"--rules", "absent.yaml", "--disclosures", "d", "-o", "r"}, "absent.yaml"},
	} {
		code, message := redactHere(c.args...)
		if code != cli.ExitUsage || !strings.Contains(message, c.want) || strings.Contains(message, "hunter2") {
			t.Errorf("%q: exit %d, %s", c.args, code, message)
		}
		if now := files(t); !slices.Equal(now, before) {
			t.Errorf("%q changed the files to %q", c.args, now)
		}
	}
	if old, err := os.ReadFile("old"); err != nil || string(old) != "old" {
		t.Errorf("%q, %v", old, err)
	}
	// If stdout is full, the reader may have received the entire draft, so the disclosures are
	// kept.
	if code, message := redactHere("--disclosures", "d"); code != cli.ExitUsage || !strings.Contains(message, "no space left") {
		t.Errorf("exit %d, %s", code, message)
	}
	if _, err := os.Stat("d"); err != nil {
		t.Error(err)
	}
	// Overwrite an existing file, and then the input file.
	if code, message := redactHere("--disclosures", "d", "-o", "old", "--force"); code != cli.ExitVerified {
		t.Error(message)
	}
	checkPair(t, "old", "d")
	if code, message := redactHere("--disclosures", "d", "-o", "draft.json", "--force"); code != cli.ExitVerified {
		t.Error(message)
	}
	checkPair(t, "draft.json", "d")
}

// TestRedactKilled verifies that a process that is killed at any time leaves neither an incomplete
// file nor a redacted draft without its disclosures (number 229).
func TestRedactKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills processes")
	}
	values, kills := 1000, 10
	if testsize.Full() {
		values, kills = 2000, 40
	}
	inFolder(t, values)
	began := time.Now()
	if err := exec.Command("receipt", "redact", "draft.json", "--disclosures", "d", "-o", "r").Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	checkPair(t, "r", "d")
	r := rand.New(rand.NewPCG(15, 16))
	seen := map[string]int{}
	for range kills {
		for _, name := range files(t) {
			if name != "draft.json" {
				os.Remove(name)
			}
		}
		cmd := exec.Command("receipt", "redact", "draft.json", "--disclosures", "d", "-o", "r")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Most processes are killed near the end, when they write files.
		time.Sleep(time.Duration((0.3 + 0.7*r.Float64()) * float64(took)))
		cmd.Process.Kill()
		cmd.Wait()
		state := ""
		for _, name := range files(t) {
			if !strings.HasPrefix(name, ".receipt-") {
				state += name + " "
				continue
			}
			info, err := os.Stat(name)
			if err != nil || info.Mode().Perm()&0o077 != 0 && !redactedOnly(t, name) {
				t.Errorf("%s has the rights %v, %v", name, info.Mode(), err)
			}
		}
		switch seen[state]++; state {
		case "draft.json ":
		case "d draft.json ":
			file := readFile(t, "d")
			if _, err := redact.ParseDisclosures(file); err != nil {
				t.Error(err)
			}
		case "d draft.json r ":
			checkPair(t, "r", "d")
		default:
			t.Errorf("there are %s", state)
		}
	}
	t.Logf("after the kill there were: %v", seen)
}

// redactedOnly reports whether a file contains no secret.
func redactedOnly(t *testing.T, name string) bool {
	t.Helper()
	text := readFile(t, filepath.Clean(name))
	return !bytes.Contains(text, []byte("hunter2"))
}
