package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// A lakeReport contains the members of a report that describe receipts and streams.
type lakeReport struct {
	Reports []struct {
		ReceiptID string `json:"receipt_id"`
		Verdict   string
		Checks    []struct {
			Status string
			Code   receipt.Code
		}
	}
	Summary struct {
		Verdict                                        string
		Complete                                       bool
		Receipts, Verified, Refuted, Undecided, Copies int
		Codes                                          map[receipt.Code]int
		Streams                                        json.RawMessage
		Findings                                       []struct {
			Code   receipt.Code
			Stream struct{ Workspace string }
		}
	}
}

func readLakeReport(t *testing.T, path string) (r lakeReport) {
	t.Helper()
	data := readFile(t, path)
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// found returns the receipts that are not verified, with the reasons.
func (r *lakeReport) found() (list []lake.Finding) {
	for _, rep := range r.Reports {
		want := map[string]string{"refuted": "failed", "undecided": "not_checked"}[rep.Verdict]
		at := slices.IndexFunc(rep.Checks, func(c struct {
			Status string
			Code   receipt.Code
		}) bool {
			return c.Status == want && c.Code != receipt.CodeLinkNotChecked
		})
		if at < 0 {
			return append(list, lake.Finding{Code: "nothing explains it", ID: rep.ReceiptID})
		}
		list = append(list, lake.Finding{Code: rep.Checks[at].Code, ID: rep.ReceiptID})
	}
	for _, f := range r.Summary.Findings {
		list = append(list, lake.Finding{Code: f.Code, Where: f.Stream.Workspace})
	}
	lake.Sort(list)
	return slices.Compact(list) // a copy that is not counted is also listed
}

// A poured lake is a lake that was written to files, together with its known heads.
type poured struct {
	sqlFolder
	*lake.Lake
	parts   []string
	copies  int
	flags   []string
	earlier string
}

func pour(t *testing.T, l *lake.Lake, parts int, mix bool, r *rand.Rand) *poured {
	t.Helper()
	p := &poured{sqlFolder: sqlFolder{t, t.TempDir()}, Lake: l}
	if mix {
		p.flags = []string{"--unordered"}
	}
	files, copies := l.Deal(parts, true, mix, r)
	p.copies = l.Copies + copies
	for i, text := range files {
		p.parts = append(p.parts, p.write(fmt.Sprintf("part-%03d.jsonl", i), text))
	}

	var before []byte
	for _, line := range l.Earlier {
		before = append(before, line.Text...)
	}
	path := p.write("earlier.jsonl", before)
	p.earlier = filepath.Join(p.dir, "earlier.json")
	if code := p.verify("earlier.json", path, "--report", filepath.Join(p.dir, "earlier.csv")); code != 0 {
		t.Fatalf("exit %d", code)
	}
	return p
}

// whole verifies all parts in a single run.
func (p *poured) whole() (r lakeReport) {
	p.t.Helper()
	args := append(append(slices.Clone(p.flags), "--expect-head", p.earlier, "--report-only", "failures"), p.parts...)
	if code := p.sqlFolder.verify("whole.json", args...); code != 1 {
		p.t.Fatalf("exit %d", code)
	}
	return readLakeReport(p.t, filepath.Join(p.dir, "whole.json"))
}

// merged verifies each part separately, and merges the reports.
func (p *poured) merged() (r lakeReport) {
	p.t.Helper()
	args := []string{"merge", "--expect-head", p.earlier, "--format", "json", "-o", filepath.Join(p.dir, "merged.json")}
	for i, part := range p.parts {
		name := fmt.Sprintf("part-%03d.json", i)
		p.sqlFolder.verify(name, append(slices.Clone(p.flags), "--report-only", "summary", part)...)
		args = append(args, filepath.Join(p.dir, name))
	}
	if code, _, stderr := command(nil, args...); code != 1 || stderr != "" {
		p.t.Fatalf("exit %d: %s", code, stderr)
	}
	return readLakeReport(p.t, filepath.Join(p.dir, "merged.json"))
}

// asked verifies the parts separately and returns the results of SQL queries on the rows of their
// reports.
func (p *poured) asked(engine string) (list []lake.Finding) {
	p.t.Helper()
	if err := os.Mkdir(filepath.Join(p.dir, "rows"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	for i, part := range p.parts {
		p.sqlFolder.verify(fmt.Sprintf("rows/%03d.csv", i), append(slices.Clone(p.flags), "--partial", part)...)
	}

	_, queries := sqlBlocks(p.t)
	once := strings.ReplaceAll(queries["once"], "'verdicts.csv'", "'rows/*.csv'")
	own := `SELECT DISTINCT code, receipt_id FROM receipts WHERE code IN ('hash_mismatch', 'unknown_key')`
	answers := ask(p.t, engine, p.dir, []string{once, queries["findings"], own, queries["gone"]})
	for _, row := range slices.Concat(answers[1], answers[2]) {
		list = append(list, lake.Finding{Code: receipt.Code(row[0].(string)), ID: row[1].(string)})
	}
	gone := map[lake.Finding]bool{}
	for _, row := range answers[3] {
		var stream []any
		if err := json.Unmarshal([]byte(row[1].(string)), &stream); err != nil {
			p.t.Fatal(err)
		}
		gone[lake.Finding{Code: receipt.CodeTruncated, Where: stream[2].(string)}] = true
	}
	list = slices.AppendSeq(list, maps.Keys(gone))
	lake.Sort(list)
	return list
}

// apart describes the differences between two lists of findings.
func apart(got, planted []lake.Finding) string {
	without := func(list, others []lake.Finding) []lake.Finding {
		return slices.DeleteFunc(slices.Clone(list), func(f lake.Finding) bool { return slices.Contains(others, f) })
	}
	return fmt.Sprintf("%d found and %d planted; found alone %v, planted alone %v", len(got), len(planted), without(got, planted), without(planted, got))
}

// TestPartsAgree verifies that three methods find exactly the chain faults that were planted: one
// verification of all parts, a merge of the parts' reports, and SQL queries on their rows. The
// parts overlap and are in any order. Package join performs the same comparison with another
// engine. CI uses 100 parts. In the step "sql", it uses DuckDB and 100,000 receipts.
func TestPartsAgree(t *testing.T) {
	n, parts, engine := 1200, 9, os.Getenv("DUCKDB")
	if testsize.Full() {
		n, parts = 10_000, 100
	}
	if testsize.Full() && engine != "" {
		n = 100_000
	}
	l, err := lake.New(n, 18)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Findings) < 8 {
		t.Fatalf("planted were %v", l.Findings)
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for _, mix := range []bool{false, true} {
		p := pour(t, l, parts, mix, r)
		whole := p.whole()
		s := &whole.Summary
		if got := whole.found(); !slices.Equal(got, l.Findings) || !maps.Equal(s.Codes, l.Codes) {
			t.Fatalf("mixed %v: verify finds %v, planted were %v: %s", mix, s.Codes, l.Codes, apart(got, l.Findings))
		}
		if !s.Complete || s.Receipts != l.Receipts || s.Verified != l.Verified || s.Refuted != l.Refuted || s.Undecided != l.Undecided || s.Copies != p.copies {
			t.Fatalf("mixed %v: verify counts %+v, want %d, %d, %d, %d and %d copies", mix, s, l.Receipts, l.Verified, l.Refuted, l.Undecided, p.copies)
		}

		merged := p.merged()
		m := &merged.Summary
		if !m.Complete || m.Verdict != s.Verdict || m.Receipts != l.Receipts || m.Copies != p.copies || !maps.Equal(m.Codes, l.Codes) {
			t.Fatalf("mixed %v: merged are %+v\nverify finds %+v", mix, m, s)
		}
		if string(m.Streams) != string(s.Streams) {
			t.Fatalf("mixed %v: merge has other streams:\n%s\nverify has\n%s", mix, m.Streams, s.Streams)
		}

		if engine != "" {
			if got := p.asked(engine); !slices.Equal(got, l.Findings) {
				t.Fatalf("mixed %v: SQL: %s", mix, apart(got, l.Findings))
			}
		}
	}
}
