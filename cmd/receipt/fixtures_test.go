package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

const trustedKeys = "../../fixtures/keys/trust.json"

// command runs one command line in the test process.
func command(stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, &cli.Env{
		In: stdin, Out: &out, Err: &err,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) },

		Messages: messagesOnce,
	})
	return code, out.String(), err.String()
}

// messagesOnce compiles the message policy once for all tests, because they run thousands of
// commands.
var messagesOnce = sync.OnceValues(cli.CompileMessages)

// cases returns the fixtures listed in the manifest.
func cases(t *testing.T) []fixtures.Case {
	t.Helper()
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Cases) < 150 {
		t.Fatalf("found %d cases, expected more", len(m.Cases))
	}
	return m.Cases
}

// receipts returns the cases whose file contains a document. A file without a document is an
// unusable input, not a receipt that can be verified.
func receipts(t *testing.T) []fixtures.Case {
	t.Helper()
	all := cases(t)
	list := slices.DeleteFunc(slices.Clone(all), func(c fixtures.Case) bool { return c.Code == "empty_input" })
	if len(all)-len(list) != 2 {
		t.Fatalf("found %d empty files, expected 2", len(all)-len(list))
	}
	return list
}

// TestEmptyFiles verifies that a file without a document causes exit code 2, both alone and
// together with other files.
func TestEmptyFiles(t *testing.T) {
	for _, c := range cases(t) {
		if c.Code != "empty_input" {
			continue
		}
		for _, args := range [][]string{{fixturePath(c)}, {"../../fixtures/valid/task.json", fixturePath(c)}} {
			code, _, stderr := command(nil, append([]string{"verify", "--keys", trustedKeys}, args...)...)
			if code != cli.ExitUsage || !strings.Contains(stderr, "contains no receipt") {
				t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
			}
		}
	}
}

// some returns the complete list at full size, and every eighth element of it otherwise.
func some[T any](list []T) (kept []T) {
	for i, v := range list {
		if testsize.Full() || i%8 == 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

func fixturePath(c fixtures.Case) string { return filepath.Join("../../fixtures", c.File) }

// TestFixtureExits verifies that every fixture causes the exit code stated in the manifest, in
// every format, with and without the fast paths. Only the verdict "verified" causes exit code 0.
func TestFixtureExits(t *testing.T) {
	seen := map[int]int{}
	for _, c := range some(cases(t)) {
		for _, flags := range [][]string{nil, {"--plain"}, {"--quiet"}} {
			args := append([]string{"verify", "--keys", trustedKeys, fixturePath(c)}, flags...)
			code, _, stderr := command(nil, args...)
			if code != c.Exit {
				t.Errorf("%s %q: exit %d, expected %d for %v", c.File, flags, code, c.Exit, c.Verdict)
			}
			if (stderr != "") != (c.Exit == cli.ExitUsage) {
				t.Errorf("%s %q: stderr %q", c.File, flags, stderr)
			}
			seen[code]++
		}
		text := readFixture(t, c.File)
		first := strings.Contains(strings.ReplaceAll(string(text), " ", ""), `"previous_receipt_hash":null`)
		if code, _, _ := command(nil, "verify", "--strict", "--integrity-only", fixturePath(c)); code == 0 && !first {
			t.Errorf("%s: --strict ended with 0, but the predecessor was not checked", c.File)
		}
	}
	if !testsize.Full() {
		return
	}
	if seen[0] < 100 || seen[1] < 200 || seen[3] < 15 {
		t.Errorf("exit codes seen: %v, expected more of each", seen)
	}
}

// TestFixtureJSON verifies that the JSON reports of every fixture match their schemas, are strict
// JSON, and agree with the manifest.
func TestFixtureJSON(t *testing.T) {
	whole, one, total := compiled(t, "verify"), compiled(t, "report"), compiled(t, "summary")
	for _, c := range some(receipts(t)) {
		code, out, _ := command(nil, "verify", "--keys", trustedKeys, "--format", "json", fixturePath(c))
		root := fitting(t, c.File, whole, out)
		code2, lines, _ := command(nil, "verify", "--keys", trustedKeys, "--format", "ndjson", fixturePath(c))
		if verified := c.Verdict == receipt.Verified; (code == 0) != verified || code2 != code {
			t.Errorf("%s: exits %d and %d, expected them of %v", c.File, code, code2, c.Verdict)
		}
		first, last, ok := strings.Cut(strings.TrimSuffix(lines, "\n"), "\n")
		if !ok {
			t.Fatalf("%s: found %q, expected two lines", c.File, lines)
		}
		rep := fitting(t, c.File, one, first)
		fitting(t, c.File, total, strings.TrimSuffix(strings.TrimPrefix(last, `{"summary":`), "}"))

		for _, n := range inReport(root, rep) {
			if got := n.Member("verdict").String(); got != c.Verdict.String() {
				t.Errorf("%s: verdict %s, expected %s", c.File, got, c.Verdict)
			}
		}
		if got := root.Member("summary").Member("verdict").String(); got != c.Verdict.String() {
			t.Errorf("%s: summary %s, expected %s", c.File, got, c.Verdict)
		}
	}
}

func compiled(t *testing.T, name schemas.Name) *schemas.Schema {
	t.Helper()
	s, err := schemas.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inReport returns the report in line, followed by the reports in root.
func inReport(root, line canon.Node) []canon.Node {
	list := []canon.Node{line}
	for _, n := range root.Member("reports").Elements() {
		list = append(list, n)
	}
	return list
}

// fitting parses text strictly and validates it against a schema.
func fitting(t *testing.T, file string, s *schemas.Schema, text string) canon.Node {
	t.Helper()
	if at := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); at >= 0 {
		t.Errorf("%s: raw control at %d of %q", file, at, text)
	}
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v in %s", file, err, text)
	}
	if !json.Valid([]byte(text)) {
		t.Errorf("%s: not JSON: %s", file, text)
	}
	for _, p := range s.Check(doc.Root()).Problems {
		t.Errorf("%s: at %s: %s", file, p.Pointer, p.Detail)
	}
	return doc.Root()
}

// TestControls verifies that commands that print foreign text never print a terminal control
// character or a forged line. The inputs are all fixtures, and receipts in which every foreign
// string is a trap.
func TestControls(t *testing.T) {
	for _, c := range some(cases(t)) {
		path := fixturePath(c)
		printsClean(t, [][]string{
			{"verify", "--keys", trustedKeys, path},
			{"verify", "--integrity-only", path, path, path, path},
			{"show", path},
			{"diff", "../../fixtures/valid/task.json", path},
			{"hash", path},
			{"canon", "--check", path},
		})
	}
	key := privateKey(t)
	for _, path := range some(traps(t)) {
		printsClean(t, [][]string{
			{"verify", "--keys", trustedKeys, path},
			{"verify", "--integrity-only", path},
			{"verify", "--integrity-only", path, "../../fixtures/valid/task.json"},
			{"verify", "--keys", trustedKeys, path, path, path, path},
			{"verify", "--keys", trustedKeys, "--format", "json", path},
			{"verify", "--keys", trustedKeys, "--format", "ndjson", path},
			{"verify", "--keys", path, path},
			{"verify", "--keys", trustedKeys, "--policy", path, path},
			{"show", path},
			{"diff", path, "../../fixtures/valid/task.json"},
			{"diff", "../../fixtures/valid/task.json", path},
			{"hash", path},
			{"canon", "--check", path},
			{"seal", path},
			{"seal", "--previous", path, path},
			{"sign", "--key", key, path},
			{"sign", "--key", path, path},
			{"keys", "list", path},
			{"keys", "import", path, "--issuer", "a", "--keys", filepath.Join(t.TempDir(), "k")},
			{"explain", path},
			{"schema", path},
			{path},
			{"verify", "--" + path},
		})
	}
	printsClean(t, [][]string{{"verify", "--keys", trustedKeys, "--issuer", "\x1b[2J\u202e", "../../fixtures/valid/task.json"}})
}

func printsClean(t *testing.T, lines [][]string) {
	t.Helper()
	for _, args := range lines {
		_, stdout, stderr := command(strings.NewReader(""), args...)
		if args[0] != "seal" && args[0] != "sign" || !strings.HasPrefix(stdout, "{") { // the output of these commands is a receipt, which is written unchanged
			clean(t, args, stdout)
		}
		clean(t, args, stderr)
	}
}

// clean verifies that output contains no unsafe characters and no forged lines.
func clean(t *testing.T, args []string, text string) {
	t.Helper()
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != '\n' && (r == utf8.RuneError && size == 1 || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)) {
			t.Errorf("%q prints %q at %d of %q", args, r, i, text)
			return
		}
		i += size
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "forged: verified") {
			t.Errorf("%q prints a forged line: %q", args, text)
		}
	}
}

// traps writes receipts in which every foreign string is a trap, and returns their file names,
// which are also traps.
func traps(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	task := readFixture(t, "valid/task.json")
	for i, trap := range []string{
		"\x1b[2J\x1b]8;;http://e.example\x1b\\text\x1b]8;;\x1b\\\a\b\r\t\v\f\x7f",
		"\u202e\u2066\u200b\u2028\u2029\ufeff\u00ad\u0085\u009b31m\u009d0;title\u009c\U000e0041",
		"\nforged: verified\n  hash  fine\n",
	} {
		for where, edited := range trapped(t, task, trap) {
			path := filepath.Join(dir, fmt.Sprintf("%d-%s-%s", i, where, strings.ReplaceAll(trap, "/", "_")))
			writeFile(t, path, edited)
			paths = append(paths, path)
		}
		paths = append(paths, filepath.Join(dir, "absent-"+strings.ReplaceAll(trap, "/", "_")))
	}
	return paths
}

// trapped returns variants of a receipt that contain trap in many places. The sealed variants have
// a new hash, so that verification reaches the signatures. The others are unsealed.
func trapped(t *testing.T, task []byte, trap string) map[string][]byte {
	t.Helper()
	texts := func(v any) any { return everywhere(v, trap) }
	variants := map[string]func(map[string]any){
		"id":        func(r map[string]any) { r["receipt_id"] = trap },
		"issuer":    func(r map[string]any) { r["issuer"].(map[string]any)["name"] = trap },
		"issuer-id": func(r map[string]any) { r["issuer"].(map[string]any)["id"] = trap },
		"member":    func(r map[string]any) { r[trap] = 1; r["issuer"].(map[string]any)[trap+"/x"] = trap },
		"marker":    func(r map[string]any) { r["schema"] = "receipt-2026-04-25" + trap },
		"hash":      func(r map[string]any) { r["chain"].(map[string]any)["receipt_hash"] = trap },
		"previous":  func(r map[string]any) { r["chain"].(map[string]any)["previous_receipt_hash"] = trap },
		"state":     func(r map[string]any) { r["lifecycle"].(map[string]any)["final_state"] = trap },
		"time":      func(r map[string]any) { r["issued_at"] = trap },
		"key": func(r map[string]any) {
			s := r["signatures"].([]any)[0].(map[string]any)
			s["key_id"], r["issuer"].(map[string]any)["public_key_id"] = trap, trap
		},
		"algorithm": func(r map[string]any) { r["signatures"].([]any)[0].(map[string]any)["algorithm"] = trap },
		"signature": func(r map[string]any) { r["signatures"].([]any)[0].(map[string]any)["signature"] = "jws:" + trap },
		"all": func(r map[string]any) {
			for name, v := range r {
				if name != "schema" && name != "chain" {
					r[name] = texts(v)
				}
			}
		},
	}
	made := map[string][]byte{"raw": []byte(`{"schema":"` + trap + `"}`), "cut": []byte(trap), "list": []byte(`["` + strings.ReplaceAll(trap, "\n", `\n`) + `",]`)}
	for name, edit := range variants {
		var r map[string]any
		if err := json.Unmarshal(task, &r); err != nil {
			t.Fatal(err)
		}
		edit(r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = text
		if _, hash, _ := command(bytes.NewReader(text), "hash"); strings.HasPrefix(hash, "sha256:") && name != "hash" {
			r["chain"].(map[string]any)["receipt_hash"] = strings.TrimSpace(hash)
			if text, err = json.Marshal(r); err != nil {
				t.Fatal(err)
			}
			made[name+"-hashed"] = text
		}
	}
	return made
}

// everywhere appends trap to every string in v.
func everywhere(v any, trap string) any {
	switch v := v.(type) {
	case string:
		return v + trap
	case []any:
		for i := range v {
			v[i] = everywhere(v[i], trap)
		}
	case map[string]any:
		for name := range v {
			v[name] = everywhere(v[name], trap)
		}
	}
	return v
}

// TestUsage verifies that an invalid command line causes exit code 2, prints nothing to stdout, and
// prints an error.
func TestUsage(t *testing.T) {
	const task = "../../fixtures/valid/task.json"
	for _, line := range []string{
		"", "frob", "help frob", "--frob", "verify --frob", "verify --limit x " + task, "verify --limit -1 " + task,
		"verify --format xml --keys " + trustedKeys + " " + task, "verify --keys", "verify --at now " + task,
		"verify --integrity-only --keys " + trustedKeys + " " + task, "verify --integrity-only --issuer a " + task,
		"verify --integrity-only --policy p " + task, "verify --quiet --format json --integrity-only " + task,
		"verify --integrity-only - -", "verify --keys absent " + task, "verify " + task, "verify --keys= " + task, "verify --integrity-only absent",
		"show", "show a b", "show absent", "show .", "diff", "diff a", "diff a b c", "diff - -", "diff absent " + task, "diff " + task + " .",
		"canon a b", "canon absent", "canon --preimage --check " + task, "canon .", "hash a b", "hash absent", "hash .", "hash --frob",
		"seal a b", "seal absent", "seal --previous absent " + task, "sign", "sign " + task, "sign --key absent " + task,
		"explain frob", "explain a b", "schema frob", "schema a b", "version x", "completion", "completion frob", "man frob",
	} {
		code, stdout, stderr := command(strings.NewReader(""), strings.Fields(line)...)
		if code != cli.ExitUsage || stdout != "" || !strings.HasPrefix(stderr, "receipt: error: ") {
			t.Errorf("receipt %s: exit %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}

// A fullWriter fails every write, like a full disk.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFull verifies that a failure to write results causes exit code 2 and a clear error, even if
// the receipt is verified.
func TestFull(t *testing.T) {
	const task = "../../fixtures/valid/task.json"
	for _, args := range [][]string{
		{"verify", "--integrity-only", task},
		{"verify", "--integrity-only", task, task},
		{"verify", "--integrity-only", "--format", "json", task},
		{"verify", "--integrity-only", "--format", "ndjson", task},
		{"show", task}, {"diff", task, "../../fixtures/edge/pretty.json"}, {"canon", task}, {"canon", "--preimage", task}, {"hash", task},
		{"sign", "--key", privateKey(t), task},
		{"schema"}, {"schema", "report"}, {"explain"}, {"version"}, {"completion", "bash"}, {"man"},
	} {
		for _, broken := range []struct {
			w    io.Writer
			text string
		}{{fullWriter{}, "no space left on device"}, {closedPipe(), ""}} {
			var stderr bytes.Buffer
			code := run(context.Background(), args, &cli.Env{Out: broken.w, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now})
			if code != cli.ExitUsage || !strings.Contains(stderr.String(), broken.text) || broken.text == "" && strings.Contains(stderr.String(), "receipt: error") {
				t.Errorf("%q: exit %d, stderr %q; expected %d and %q", args, code, stderr.String(), cli.ExitUsage, broken.text)
			}
		}
	}
}

func closedPipe() io.Writer {
	r, w := io.Pipe()
	r.Close()
	return w
}

// privateKey returns a copy of a test key that other users cannot read.
func privateKey(t *testing.T) string {
	t.Helper()
	key := readFixture(t, "keys/witness_1.private.json")
	path := filepath.Join(t.TempDir(), "key.json")
	writeFile(t, path, key)
	return path
}
