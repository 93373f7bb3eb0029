package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// TestAsOneMachine verifies that objects in any order have the same findings as a single file.
func TestAsOneMachine(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 12)
	l.put("day/c.jsonl", lines[:5]...)
	l.put("day/a.jsonl", lines[5:9]...)
	l.put("day/b.jsonl", lines[9:]...)
	l.put("day/notes.txt", []byte("not a receipt"))
	l.put("other/x.jsonl", []byte("{}\n"))

	code, out, messages := verify(t, "--format", "json", l.address("day/"))
	sum := summaryOf(t, out)
	if code != 0 || sum.Receipts != 12 || sum.Inputs.Files != 3 || len(sum.Streams) != 1 || sum.Streams[0].Count != 12 || sum.SkippedCount != 1 {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
	if !strings.Contains(out, `"source":"s3://lake/day/c.jsonl"`) || strings.Contains(out, "endpoint") {
		t.Errorf("objects are named by their address alone, found %s", out)
	}

	// One line is missing, and another was changed.
	l.put("day/a.jsonl", lines[5], lines[7], bytes.Replace(lines[8], []byte(`"none needed"`), []byte(`"none wanted"`), 1))
	code, out, _ = verify(t, "--format", "json", l.address("day/"))
	var files [][]byte
	for _, key := range []string{"a", "b", "c"} {
		o, err := l.store.GetObject(bucket, "day/"+key+".jsonl", nil)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(o.Contents); err != nil {
			t.Fatal(err)
		}
		files = append(files, text.Bytes())
	}
	local := localSummary(t, files)
	got := summaryOf(t, out)
	if code != terms.ExitRefuted || got.Refuted != 2 || fmt.Sprint(got.Codes) != fmt.Sprint(local.Codes) || fmt.Sprint(got.Streams) != fmt.Sprint(local.Streams) {
		t.Errorf("exit code %d, %v %v; one machine reports %v %v", code, got.Codes, got.Streams, local.Codes, local.Streams)
	}
}

// localSummary verifies the same bytes from local files.
func localSummary(t *testing.T, files [][]byte) *stream.Summary {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var sources []stream.Source
	for i, data := range files {
		name := filepath.Join(t.TempDir(), fmt.Sprint(i)+".jsonl")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, fileSource(name))
	}
	run := stream.VerifyFiles(context.Background(), v, sources, stream.Options{})
	for range run.Reports() {
	}
	sum, err := run.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestReplaced verifies that replacing or deleting an object between the two passes leads to an
// error without a verdict, even if the new bytes are valid.
func TestReplaced(t *testing.T) {
	lines := receipts(t, 12)
	for name, change := range map[string]func(l *lake){
		"replaced": func(l *lake) { l.put("day/b.jsonl", lines[6:9]...) },
		"shorter":  func(l *lake) { l.put("day/b.jsonl", lines[6]) },
		"same":     func(l *lake) { l.put("day/b.jsonl", append(lines[6:12:12], []byte("\n"))...) }, // the same receipts in other bytes
		"deleted": func(l *lake) {
			if _, err := l.store.DeleteObject(bucket, "day/b.jsonl"); err != nil {
				l.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLake(t)
			l.put("day/a.jsonl", lines[:6]...)
			l.put("day/b.jsonl", lines[6:]...)
			l.watch = func(w http.ResponseWriter, r *http.Request, times int) http.ResponseWriter {
				if strings.HasSuffix(r.URL.Path, "b.jsonl") && times == 2 {
					change(l)
				}
				return w
			}
			for _, format := range []string{"text", "json", "ndjson"} {
				l.put("day/b.jsonl", lines[6:]...)
				l.gets = map[string]int{}
				code, out, messages := verify(t, "--format", format, l.address("day/"))
				if code != terms.ExitUsage || strings.Contains(out, "summary") || strings.Contains(out, "receipts, ") || !strings.Contains(messages, "while it was read") {
					t.Errorf("%s: exit %d, %s%s", format, code, out, messages)
				}
			}
		})
	}
}

// TestVersions verifies that, if the bucket keeps versions, both passes read the version that was
// opened first.
func TestVersions(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 12)
	if err := l.store.(gofakes3.VersionedBackend).SetVersioningConfiguration(bucket, gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	l.put("day/a.jsonl", lines[:6]...)
	l.put("day/b.jsonl", lines[6:]...)
	asked := 0
	l.watch = func(w http.ResponseWriter, r *http.Request, times int) http.ResponseWriter {
		if times == 2 {
			l.put(strings.TrimPrefix(r.URL.Path, "/"+bucket+"/"), []byte("{}\n"))
			if r.URL.Query().Get("versionId") != "" {
				asked++
			}
		}
		return w
	}
	if code, out, messages := verify(t, l.address("day/")); code != 0 || asked != 2 || !strings.Contains(out, "intact: 12 receipts") {
		t.Errorf("exit %d, %d requests for a version, %s%s", code, asked, out, messages)
	}
}

// TestBrokenConnection verifies that reading resumes where it stopped after a connection is
// interrupted.
func TestBrokenConnection(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 40)
	l.put("day/a.jsonl", lines...)
	l.watch = func(w http.ResponseWriter, r *http.Request, times int) http.ResponseWriter {
		if times < 4 {
			return &cutWriter{ResponseWriter: w, left: 5000}
		}
		return w
	}
	code, out, messages := verify(t, "--format", "json", l.address("day/a.jsonl"))
	if sum := summaryOf(t, out); code != 0 || sum.Receipts != 40 || l.gets["day/a.jsonl"] != 4 {
		t.Errorf("exit %d after %d requests, %s%s", code, l.gets["day/a.jsonl"], out, messages)
	}

	// If reading makes no progress, this is reported, and the remaining receipts are not verified.
	l.gets = map[string]int{}
	l.watch = func(w http.ResponseWriter, r *http.Request, times int) http.ResponseWriter {
		if times > 1 {
			return &cutWriter{ResponseWriter: w}
		}
		return &cutWriter{ResponseWriter: w, left: 5000}
	}
	code, out, _ = verify(t, "--format", "json", l.address("day/a.jsonl"))
	if sum := summaryOf(t, out); code != terms.ExitUsage || sum.Complete || len(sum.Inputs.Unreadable) != 1 || l.gets["day/a.jsonl"] > 10 /* three times what the SDK tries */ {
		t.Errorf("exit %d after %d requests, %s", code, l.gets["day/a.jsonl"], out)
	}
}

// A cutWriter breaks the connection after the given number of bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// TestMistakes verifies that each error message states the mistake, and that nothing is read.
func TestMistakes(t *testing.T) {
	l := newLake(t)
	l.put("day/a.jsonl", receipts(t, 1)...)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"receipts.json"}, `is not an object address: expected s3://, gs://, azblob://, file://BUCKET/KEY`},
		{[]string{"s3:///day/"}, "does not name a bucket"},
		{[]string{"s3://me:secret@lake/day/"}, "must not contain credentials"},
		{[]string{"s3://lake/[/"}, "invalid pattern"},
		{[]string{l.address("night/")}, "no object there is named *.json"},
		{[]string{l.address("night/*.jsonl")}, "no object there"},
		{[]string{"--format", "xml", l.address("day/")}, "expected text, json, or ndjson"},
		{[]string{"--keys", "keys.json", l.address("day/")}, "--integrity-only checks no signatures"},
		{[]string{"--jobs", "-1", l.address("day/")}, "invalid --jobs -1"},
		{[]string{"--expect-head", "nothing", l.address("day/")}, "--expect-head: expected sha256:"},
		{nil, "no addresses: specify"},
	} {
		code, out, messages := verify(t, test.args...)
		if code != terms.ExitUsage || out != "" || !strings.Contains(messages, test.want) || strings.Contains(messages, "secret") || strings.Count(messages, "\n") != 1 {
			t.Errorf("%q: exit %d, %s%s", test.args, code, out, messages)
		}
	}

	// If an object is missing, this is reported, and the other objects are read.
	code, out, _ := verify(t, l.address("day/a.jsonl"), l.address("day/b.jsonl"))
	if code != terms.ExitUsage || !strings.Contains(out, "s3://lake/day/b.jsonl: not read: the object does not exist") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestContinues verifies that the heads in an earlier report are required.
func TestContinues(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 6)
	l.put("day/a.jsonl", lines...)
	_, out, _ := verify(t, "--format", "json", l.address("day/*.jsonl"))
	report := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(report, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, messages := verify(t, "--expect-head", report, l.address("day/")); code != 0 {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
	l.put("day/a.jsonl", lines[:5]...)
	if code, out, _ := verify(t, "--expect-head", report, l.address("day/")); code != terms.ExitRefuted || !strings.Contains(out, "refuted: 5 receipts") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestFolder verifies addresses that have the scheme file.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	lines := receipts(t, 4)
	for i, part := range [][][]byte{lines[:2], lines[2:]} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i)), bytes.Join(part, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := "not checked: tail_not_checked: whether receipts follow the head\n" +
		fmt.Sprintf("intact: 4 receipts, 4 verified, 0 refuted, 0 undecided, 0 copies; streams: 1; objects: 2 of %d bytes, read twice\n", len(bytes.Join(lines, nil)))
	for _, key := range []string{"/", "/part-*.jsonl", "/part-[01].jsonl"} {
		code, out, messages := verify(t, "file://"+dir+key)
		if code != 0 || out != want {
			t.Errorf("%s: exit %d, %s%s", key, code, out, messages)
		}
	}
}

// TestReadme verifies that the commands in the README print the output shown there.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := filepath.Abs("../../../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	code, out, messages := verifyBy(t, "--keys", filepath.Join(fixtures, "keys", "trust.json"), "file://"+fixtures+"/valid/")
	if code != 0 || !strings.Contains(string(readme), "```\n"+out+"```\n") {
		t.Errorf("exit %d, not in README.md: %s%s", code, out, messages)
	}
}
