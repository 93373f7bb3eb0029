package print

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// printMany prints n undecided receipts and then n refuted ones. The names have the given size and
// are hard to compress.
func printMany(t *testing.T, p printer, n, size int) {
	t.Helper()
	r := rand.New(rand.NewPCG(31, 1))
	name := make([]byte, size)
	for i := range 2 * n {
		for j := range name {
			name[j] = byte('!' + r.IntN(90))
		}
		rep := &receipt.Report{Verdict: receipt.Undecided, Source: string(name), Index: i + 1, Listed: true,
			Checks: []receipt.Check{{Step: receipt.StepSignatures, Status: receipt.StatusNotChecked, Code: receipt.CodeUnsigned, Detail: string(name)}}}
		if i >= n {
			rep.Verdict = receipt.Refuted
			rep.Checks = []receipt.Check{{Step: receipt.StepHash, Status: receipt.StatusFailed, Code: receipt.CodeHashMismatch, Detail: string(name)}}
		}
		if err := p.Report(rep, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(&stream.Summary{Receipts: 2 * n, Refuted: n, Undecided: n, Complete: true}); err != nil {
		t.Fatal(err)
	}
}

// TestSarifLimits verifies that the SARIF output stays within GitHub's limits, lists refuted
// receipts first, and states the number of omitted results.
func TestSarifLimits(t *testing.T) {
	for _, c := range []struct{ n, size, results int }{{2, 10, 4}, {3000, 10, 5000}, {6000, 10, 5000}, {1000, 4000, 0}} {
		var b bytes.Buffer
		printMany(t, &sarifPrinter{w: &b}, c.n, c.size)
		var log struct{ Runs []sarifRun }
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}

		results, notes := log.Runs[0].Results, log.Runs[0].Invocations[0].Notifications
		if c.results > 0 && len(results) != c.results || len(results) == 0 {
			t.Errorf("%+v: found %d results", c, len(results))
		}
		for i, r := range results {
			if (r.Level == "error") != (i < c.n) {
				t.Fatalf("%+v: result %d has level %q", c, i, r.Level)
			}
		}
		want := fmt.Sprintf("%d results not listed", 2*c.n-len(results))
		stated := len(notes) > 1 && strings.ReplaceAll(notes[1].Message.Text, ",", "") == want
		if stated != (len(results) < 2*c.n) {
			t.Errorf("%+v: notifications %v do not match %q", c, notes, want)
		}

		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.Copy(w, &b)
		if _ = w.Close(); packed.Len() > 10_000_000 {
			t.Errorf("%+v: %d bytes of gzip", c, packed.Len())
		}
	}
}

// TestFingerprints verifies that fingerprints are distinct, and are the same in each run.
func TestFingerprints(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		var b bytes.Buffer
		printMany(t, &qualityPrinter{w: &b}, 1000, 10)
		var issues []qualityIssue
		if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
			t.Fatal(err)
		}
		for _, i := range issues {
			seen[i.Fingerprint] = true
		}
	}
	if len(seen) != 2000 {
		t.Errorf("2 runs with 2,000 problems each have %d fingerprints", len(seen))
	}
}

// TestMarkdownLimit verifies that a job summary is smaller than 1 MiB and states what was omitted.
func TestMarkdownLimit(t *testing.T) {
	for _, size := range []int{10, 4000} {
		var b bytes.Buffer
		printMany(t, &markdownPrinter{w: &b}, 500, size)
		rows := strings.Count(b.String(), "\n* ")
		want := fmt.Sprintf("%d more findings not listed here.", 1000-rows)
		if b.Len() > 1<<20 || rows == 0 || !strings.Contains(b.String(), want) {
			t.Errorf("%d rows in %d bytes, without %q", rows, b.Len(), want)
		}
	}
}

// TestGithubLines verifies that a line that is not an annotation cannot be interpreted as a
// workflow command in the older syntax.
func TestGithubLines(t *testing.T) {
	var b bytes.Buffer
	p := newGithubPrinter(&b)
	for i := range 2 * maxAnnotations {
		name := fmt.Sprintf("###[add-mask]%d", i)
		rep := &receipt.Report{Verdict: receipt.Undecided, Source: name, Checks: []receipt.Check{{Step: receipt.StepSignatures, Status: receipt.StatusNotChecked, Code: receipt.CodeUnsigned, Detail: name}}}
		if err := p.Report(rep, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(&stream.Summary{NotChecked: []receipt.Note{{Code: receipt.CodeTailNotChecked, Detail: "##[add-mask]x"}}}); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "::") {
			continue
		}
		if lines++; strings.Contains(line, "##[") {
			t.Errorf("the line has a command: %s", line)
		}
	}
	if lines < maxAnnotations {
		t.Errorf("%d lines are no annotations", lines)
	}
}

// TestGithubFinding verifies that the annotation of a finding has separate fields for the file and
// the line.
func TestGithubFinding(t *testing.T) {
	var b bytes.Buffer
	finding := stream.Finding{Code: receipt.CodeChainBreak, Source: "day.jsonl:3", Detail: "it names line 1"}
	if err := newGithubPrinter(&b).End(&stream.Summary{Findings: []stream.Finding{finding}, Receipts: 3, Refuted: 1, Complete: true}); err != nil {
		t.Fatal(err)
	}
	if want := "::error file=day.jsonl,line=3,title="; !strings.HasPrefix(b.String(), want) {
		t.Errorf("found %q, expected %q", b.String(), want)
	}
}
