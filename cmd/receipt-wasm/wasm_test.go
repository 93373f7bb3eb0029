package main_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// A job is an input line for testdata/run.cjs, and an answer is a line of its output.
type job struct {
	Files   []string       `json:"files"`
	Keys    []string       `json:"keys"`
	Options map[string]any `json:"options"`
	Open    int            `json:"open,omitzero"`
	Tamper  string         `json:"tamper,omitzero"`

	flags []string // flags with which the command does the same
}

type answer struct {
	Error, Lines, Keys, Summary, Aggregate string
	Findings                               []string
	Hash                                   string
	Preimage, Tampered                     []byte
}

const trust = "keys/trust.json"

// TestCore verifies that the WebAssembly core, running in Node.js, produces the same results as the
// command.
func TestCore(t *testing.T) {
	if !testsize.Full() {
		t.Skip("it builds the page, which compiles everything once more; CI=true runs it")
	}
	b := build(t)
	t.Run("same as the command", func(t *testing.T) { testSameAsCommand(t, b) })
	t.Run("bytes of one receipt", func(t *testing.T) { testBytesOfOne(t, b) })
	t.Run("refused", func(t *testing.T) { testRefused(t, b) })
}

// testSameAsCommand verifies that, for every fixture, the core writes the same bytes as the command
// "receipt verify --format ndjson", except for the time of the run.
func testSameAsCommand(t *testing.T, tools tools) {
	jobs := jobs(t, tools)
	answers := tools.run(t, jobs)
	for i, j := range jobs {
		want := timeless(tools.command(t, append([]string{"verify", "--format", "ndjson"}, append(j.flags, j.Files...)...)...))
		got := answers[i]
		if got.Error != "" {
			t.Errorf("%v: %s", j.Files, got.Error)
		}
		if lines := timeless(got.Lines); lines != want {
			t.Errorf("%v %v: %s", j.Files, j.flags, difference(lines, want))
		}
		checkSummary(t, j, got.Lines, got.Summary)
	}
}

// checkSummary verifies that the last line contains the displayed summary. The member "not_checked"
// may differ, because the page adds the checks that were not made for single receipts.
func checkSummary(t *testing.T, j job, lines, summary string) {
	t.Helper()
	lines = strings.TrimSuffix(lines, "\n")
	var last struct{ Summary map[string]any }
	if err := json.Unmarshal([]byte(lines[strings.LastIndexByte(lines, '\n')+1:]), &last); err != nil {
		t.Errorf("%v: the last line: %v", j.Files, err)
	}
	var shown map[string]any
	if err := json.Unmarshal([]byte(summary), &shown); err != nil {
		t.Errorf("%v: the summary: %v", j.Files, err)
	}

	own, _ := last.Summary["not_checked"].([]any)
	all, _ := shown["not_checked"].([]any)
	for len(all) > len(own) && !reflect.DeepEqual(all[:len(own)], own) {
		all = all[1:] // the page may list other checks before and after these
	}
	if len(own) > 0 && (len(all) < len(own) || !reflect.DeepEqual(all[:len(own)], own)) {
		t.Errorf("%v: the page does not list what the summary lists as not checked: %v, %v", j.Files, all, own)
	}
	delete(last.Summary, "not_checked")
	delete(shown, "not_checked")
	if len(shown) == 0 || !reflect.DeepEqual(shown, last.Summary) {
		t.Errorf("%v: the page shows another summary than the last line", j.Files)
	}
}

// jobs returns two jobs per fixture, with and without keys, and additional jobs with other
// encodings and complete streams.
func jobs(t *testing.T, tools tools) (list []job) {
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Cases) < 150 {
		t.Fatalf("found %d fixtures, expected more", len(m.Cases))
	}
	var lines bytes.Buffer
	for _, c := range m.Cases {
		list = append(list, job{Files: []string{c.File}, Keys: []string{trust}, flags: []string{"--keys", trust}})
		if c.Verdict != receipt.Refuted {
			list = append(list, job{Files: []string{c.File}, flags: []string{"--integrity-only"}})
		}
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		var line bytes.Buffer
		if json.Compact(&line, text) == nil {
			lines.Write(append(line.Bytes(), '\n'))
		}
	}
	dir := t.TempDir()
	lines.Write(bytes.Clone(lines.Bytes())) // copies
	many := filepath.Join(dir, "many.jsonl")
	if err := os.WriteFile(many, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	item, packed := filepath.Join(dir, "task.cbor"), filepath.Join(dir, "many.jsonl.gz")
	tools.command(t, "archive", "pack", "valid/task.json", "-o", item)
	if err := os.WriteFile(packed, compress(t, lines.Bytes()), 0o644); err != nil {
		t.Fatal(err)
	}
	list = append(list,
		job{Files: []string{item}, Keys: []string{trust}, flags: []string{"--keys", trust}},
		job{Files: []string{packed}, Keys: []string{trust}, flags: []string{"--keys", trust}},
		job{Files: []string{many}, Keys: []string{trust}, flags: []string{"--keys", trust}},
		job{Files: []string{"valid/task.json", "valid/task-second.json"}, Keys: []string{trust}, flags: []string{"--keys", trust}},
		job{Files: []string{"malicious/unbound-key.json"}, Keys: []string{trust}, Options: map[string]any{"issuer": "harness_example_cloud"}, flags: []string{"--keys", trust, "--issuer", "harness_example_cloud"}},
		job{Files: []string{"valid/task.json"}, Keys: []string{trust}, Options: map[string]any{"at": "2026-04-01T00:00:00Z"}, flags: []string{"--keys", trust, "--at", "2026-04-01T00:00:00Z"}},
		job{Files: []string{"valid/task.json"}, Keys: []string{trust}, Options: map[string]any{"integrity_only": true}, flags: []string{"--integrity-only"}},
	)
	return list
}

func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// testBytesOfOne verifies that the core and the command return the same hashed bytes, and that a
// changed byte is detected.
func testBytesOfOne(t *testing.T, tools tools) {
	const file = "valid/task.json"
	got := tools.run(t, []job{{Files: []string{file}, Keys: []string{trust}, Open: 1, Tamper: "/cost/total"}})[0]
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	if want := tools.command(t, "canon", "--preimage", file); string(got.Preimage) != want {
		t.Errorf("preimage\ngot  %s\nwant %s", got.Preimage, want)
	}
	if want := tools.command(t, "hash", file); got.Hash != strings.TrimSpace(want) {
		t.Errorf("hash %s, want %s", got.Hash, want)
	}
	altered := filepath.Join(t.TempDir(), "altered.json")
	if err := os.WriteFile(altered, got.Tampered, 0o644); err != nil {
		t.Fatal(err)
	}
	again := tools.run(t, []job{{Files: []string{altered}, Keys: []string{trust}}})[0]
	if !strings.Contains(again.Lines, `"verdict":"refuted"`) || !strings.Contains(again.Lines, `"hash_mismatch"`) {
		t.Errorf("an altered receipt is not refuted: %s", again.Lines)
	}
}

// testRefused verifies that a request that cannot be carried out as specified results in an error
// and no verdict.
func testRefused(t *testing.T, tools tools) {
	jobs := []job{
		{Files: []string{"valid/task.json"}, Keys: []string{"valid/task.json"}},
		{Files: []string{"valid/task.json"}, Keys: []string{trust}, Options: map[string]any{"at": "yesterday"}},
	}
	for i, want := range []string{"keys never come from receipts", "the time at which keys are judged"} {
		got := tools.run(t, jobs)[i]
		if !strings.Contains(got.Error, want) || got.Lines != "" || got.Summary != "" {
			t.Errorf("%v: %q with lines %q, want %q alone", jobs[i], got.Error, got.Lines, want)
		}
	}
}

// timeless removes the time of the run from a summary, and from the warning about a receipt with a
// future timestamp.
func timeless(lines string) string {
	return regexp.MustCompile(`("started":"|"finished":"|later than now, )[^"]*"`).ReplaceAllString(lines, `$1"`)
}

// difference returns the first line that differs between two strings.
func difference(got, want string) string {
	a, b := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// tools contains the paths of the command, which is built for the test, and of the core, which is taken
// from a page that is built for the test.
type tools struct{ receipt, wasm, exec string }

func build(t *testing.T) tools {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no node, which runs the WebAssembly core")
		}
		t.Skip("no node, which runs the WebAssembly core")
	}
	dir := t.TempDir()
	b := tools{receipt: filepath.Join(dir, "receipt"), wasm: filepath.Join(dir, "receipt.wasm")}
	goTool(t, "build", "-buildvcs=false", "-o", b.receipt, "../receipt")
	goTool(t, "run", "-C", "../../receipt/serve/page/generate", ".", "-o", dir)
	if err := os.WriteFile(b.wasm, coreOf(t, filepath.Join(dir, "page.html")), 0o600); err != nil {
		t.Fatal(err)
	}
	b.exec = filepath.Join(strings.TrimSpace(goTool(t, "env", "GOROOT")), "lib", "wasm", "wasm_exec.js")
	return b
}

// coreOf returns the core that a page contains.
func coreOf(t *testing.T, page string) []byte {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte(`<script type="text/plain" id="core">`))
	core, _, _ := bytes.Cut(rest, []byte("</script>"))
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(core)))
	if err != nil {
		t.Fatalf("the core of the page: %v", err)
	}
	wasm, err := io.ReadAll(packed)
	if err != nil {
		t.Fatalf("the core of the page: %v", err)
	}
	return wasm
}

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// command runs the command in the directory of the fixtures and ignores the exit code.
func (b tools) command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(b.receipt, args...)
	cmd.Dir = "../../fixtures"
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out)
}

// run passes all jobs to the core in a single process.
func (b tools) run(t *testing.T, jobs []job) []answer {
	t.Helper()
	var in bytes.Buffer
	for _, j := range jobs {
		line, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	driver, err := filepath.Abs("testdata/run.cjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", driver, b.exec, b.wasm)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "../../fixtures", &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []answer
	for r := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	if len(list) != len(jobs) {
		t.Fatalf("%d answers to %d jobs", len(list), len(jobs))
	}
	return list
}
