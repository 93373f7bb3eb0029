package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// begin initializes Beam only once, because its registry is global.
var begin = sync.OnceFunc(beam.Init)

func now() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }

// runBeam runs a command line with the runner prism, and returns the exit code and the output. If
// prism itself panics, which happens rarely and leaves no output, the command line is run again.
func runBeam(t testing.TB, args ...string) (code int, out, messages string) {
	t.Helper()
	for range 3 {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), args, &surroundings{out: &stdout, err: &stderr, getenv: func(string) string { return "" }, now: now, begin: begin})
		if out, messages = stdout.String(), stderr.String(); !strings.Contains(messages, "panic in stage.Execute bundle processing goroutine") {
			break
		}
		t.Logf("prism panicked: %s", messages)
	}
	return code, out, messages
}

// fixture returns the path of a fixture.
func fixture(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// verifier returns a verifier that uses the keys from the fixtures.
func verifier(t testing.TB, strict bool) *receipt.Verifier {
	t.Helper()
	text, err := fixtures.Read(lake.Keys)
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{Now: now(), Strict: strict})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A verdict is the result of a run. It contains the summary, without the name of the program or the
// times, and a line for each receipt that is not verified.
type verdict struct {
	summary map[string]any
	reports []string
}

// bare removes the parts of a summary that may differ between programs: the name, the times, the
// source of the keys, and the roster. An engine does not keep a roster.
func bare(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, name := range []string{"tool", "started", "finished", "keys", "roster"} {
		delete(m, name)
	}
	return m
}

// verify returns the result of "receipt verify --unordered" for the same files.
func verify(t *testing.T, paths []string, o stream.Options) verdict {
	t.Helper()
	return verifyBy(t, verifier(t, false), paths, o)
}

func verifyBy(t *testing.T, judge *receipt.Verifier, paths []string, o stream.Options) verdict {
	t.Helper()
	return verdictOf(t, judge, sources(paths), o)
}

func verdictOf(t *testing.T, judge *receipt.Verifier, sources []stream.Source, o stream.Options) verdict {
	t.Helper()
	o.Unordered, o.TempDir = true, t.TempDir()
	run := stream.VerifyFiles(t.Context(), judge, sources, o)
	var v verdict
	for rep := range run.Reports() {
		if rep.Verdict != receipt.Verified {
			line, err := receipt.AppendJSON(nil, rep)
			if err != nil {
				t.Fatal(err)
			}
			v.reports = append(v.reports, string(line))
		}
	}
	sum, _ := run.Summary()
	text, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	v.summary = bare(t, text)
	return v
}

// readVerdict reads the result of a run from the files that receipt-beam wrote.
func readVerdict(t *testing.T, prefix string) (v verdict) {
	t.Helper()
	text, err := os.ReadFile(prefix + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Reports []json.RawMessage
		Summary json.RawMessage
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	v.summary = bare(t, report.Summary)

	text, err = os.ReadFile(prefix + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	last := lines[len(lines)-1]
	if last != `{"summary":`+string(report.Summary)+"}" {
		t.Errorf("the last line of %s.ndjson is another summary: %.300s", prefix, last)
	}
	v.reports = slices.Clip(lines[:len(lines)-1])
	return v
}

// compare fails the test if two verdicts differ.
func compare(t *testing.T, got, want verdict) {
	t.Helper()
	for name := range want.summary {
		if g, w := canonical(t, got.summary[name]), canonical(t, want.summary[name]); g != w {
			t.Errorf("summary: %s is %.1000s, want %.1000s", name, g, w)
		}
	}
	for name := range got.summary {
		if _, there := want.summary[name]; !there {
			t.Errorf("summary: %s is there: %.200s", name, canonical(t, got.summary[name]))
		}
	}
	if len(got.reports) != len(want.reports) {
		t.Errorf("%d reports, want %d", len(got.reports), len(want.reports))
	}
	for i := range min(len(got.reports), len(want.reports)) {
		if got.reports[i] != want.reports[i] {
			from := 0
			for from < min(len(got.reports[i]), len(want.reports[i])) && got.reports[i][from] == want.reports[i][from] {
				from++
			}
			from = max(from-200, 0)
			t.Fatalf("report %d is %.200s …\n%.600s, want\n%.600s", i, got.reports[i], got.reports[i][from:], want.reports[i][from:])
		}
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// full reports whether tests run at full size, as in CI.
func full() bool { return os.Getenv("CI") != "" }

// lay writes a lake to files, and returns their paths in the order of their names.
func lay(t *testing.T, l *lake.Lake, parts int, overlap, mix bool, dice *rand.Rand) (dir string, paths []string, copies int) {
	t.Helper()
	files, copies := l.Deal(parts, overlap, mix, dice)
	dir = t.TempDir()
	for i, text := range files {
		paths = append(paths, write(t, filepath.Join(dir, "part-"+string(rune('a'+i/26))+string(rune('a'+i%26))+".jsonl"), text))
	}
	return dir, paths, copies
}

func write(t testing.TB, path string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAgreement verifies that the findings in a lake equal those of "receipt verify", regardless of
// how the lake is divided into parts and how the parts are ordered.
func TestAgreement(t *testing.T) {
	n, parts, ways := 600, 12, 2
	if full() {
		n, parts, ways = 100_000, 100, 2
	}
	l, err := lake.New(n, 7)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for way := range ways {
		dir, paths, copies := lay(t, l, parts, true, way%2 == 1, dice)
		prefix := filepath.Join(t.TempDir(), "v")
		head := heads(t, l)
		code, out, messages := runBeam(t, "--input", filepath.Join(dir, "*.jsonl"), "--keys", fixture(t, lake.Keys), "--expect-head", head, "--output", prefix)
		if code != terms.ExitRefuted || messages != "" {
			t.Fatalf("way %d: exit %d, %s%s", way, code, out, messages)
		}

		got := readVerdict(t, prefix)
		want := verify(t, paths, stream.Options{Continuity: stream.Continuity{Expect: l.Expect}})
		compare(t, got, want)

		// The findings must also equal the planted faults.
		found := map[string]any{"receipts": l.Receipts, "verified": l.Verified, "refuted": l.Refuted, "undecided": l.Undecided, "copies": l.Copies + copies, "codes": l.Codes}
		for name, planted := range found {
			if g, w := canonical(t, got.summary[name]), canonical(t, planted); g != w {
				t.Errorf("way %d: %s is %s, planted were %s", way, name, g, w)
			}
		}
	}
}

// heads writes a report that contains the heads that a lake had before it was truncated.
func heads(t *testing.T, l *lake.Lake) string {
	t.Helper()
	var whole join.Result
	for s, h := range l.Expect {
		whole.Strands = append(whole.Strands, join.Strand{Stream: s, Count: int64(h.Count), Intact: true, First: true, Head: h.Hash})
		whole.Counts.Receipts += int64(h.Count)
		whole.Counts.Verified += int64(h.Count)
	}
	sum, err := stream.Conclude(verifier(t, false), &whole, stream.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"reports": []any{}, "summary": sum})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(t.TempDir(), "before.json"), text)
}

// TestFixtures verifies that the results for all fixtures equal those of "receipt verify", in every
// form, with every fault, and with all options.
func TestFixtures(t *testing.T) {
	trusted := fixture(t, lake.Keys)
	strange := t.TempDir()
	text, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		t.Fatal(err)
	}
	whole := append(line.Bytes(), '\n')
	write(t, filepath.Join(strange, "lines.jsonl"), slices.Concat(whole, []byte("{\n"), []byte("[]\n"), whole, []byte(`{"torn":`)))
	write(t, filepath.Join(strange, "list.json"), slices.Concat([]byte("["), line.Bytes(), []byte(","), line.Bytes(), []byte("]")))
	write(t, filepath.Join(strange, "picture.json"), []byte("\x89PNG\r\n\x1a\n0123456789"))
	write(t, filepath.Join(strange, "cut.jsonl.gz"), packed(t, whole)[:60])
	write(t, filepath.Join(strange, "day.jsonl.gz"), packed(t, slices.Concat(whole, whole)))

	for _, dir := range []string{fixture(t, "valid"), fixture(t, "malicious"), fixture(t, "edge"), strange} {
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		paths = slices.DeleteFunc(paths, func(p string) bool {
			info, err := os.Stat(p)
			return err != nil || info.IsDir()
		})
		for name, o := range map[string]struct {
			args    []string
			strict  bool
			options stream.Options
		}{
			"whole":   {},
			"partial": {args: []string{"--partial"}, options: stream.Options{Partial: true}},
			"strict":  {args: []string{"--strict"}, strict: true},
		} {
			t.Run(filepath.Base(dir)+" "+name, func(t *testing.T) {
				prefix := filepath.Join(t.TempDir(), "v")
				args := append([]string{"--keys", trusted, "--output", prefix, "--shards", "3"}, o.args...)
				for _, path := range paths {
					args = append(args, "--input", path)
				}
				if _, _, messages := runBeam(t, args...); messages != "" {
					t.Fatal(messages)
				}
				compare(t, readVerdict(t, prefix), verifyBy(t, verifier(t, o.strict), paths, o.options))
			})
		}
	}
}

// packed compresses a string with gzip.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
