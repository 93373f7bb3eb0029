package page_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestReportGroups verifies that a department with many refuted receipts does not hide other
// departments, and that streams with breaks are listed first.
func TestReportGroups(t *testing.T) {
	r, sum := new(page.Report), &stream.Summary{Scope: receipt.ScopeFull, Codes: map[receipt.Code]int{}}
	add := func(n int, source, issuer, key string, code receipt.Code) {
		for range n {
			sum.Receipts++
			sum.Refuted++
			r.Add(&receipt.Report{Source: source, Index: sum.Receipts, Listed: true, Verdict: receipt.Refuted, Signatures: []receipt.SignatureResult{{KeyID: key}},
				Checks: []receipt.Check{{Step: receipt.StepLink, Status: receipt.StatusFailed, Code: code}}}, fmt.Appendf(nil, `{"issuer":{"id":%q},"identifiers":{"workspace_ref":"w"}}`, issuer))
		}
	}
	add(5000, "sales/a.jsonl", "i", "k", "chain_break")
	add(70, "legal/a.jsonl", "i", "k", "chain_break")
	add(3, "legal/a.jsonl", "i", "k", "hash_mismatch")
	add(2, "legal/b.jsonl", "j", "k", "hash_mismatch")
	add(1, "legal/b.jsonl", "j", "l", "hash_mismatch")
	for i := range 1500 {
		g := chain.Segment{Stream: chain.Stream{Issuer: "i", Workspace: fmt.Sprint("w", i)}, Count: 1}
		if i == 1400 {
			g.Failures = 7
		}
		sum.Streams = append(sum.Streams, g)
	}

	var out strings.Builder
	if err := r.Render(&out, sum); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Reports []struct{ Source string }
		Groups  struct {
			Refuted []struct {
				Directory, Issuer, Key, Code string
				Count                        int
			}
			Count int `json:"refuted_count"`
		}
		Summary struct {
			Streams []struct{ Failures int }
		}
	}
	if err := json.Unmarshal([]byte(block(t, out.String())), &data); err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, rep := range data.Reports {
		listed[rep.Source]++
	}
	if len(data.Reports) != 100 || listed["sales/a.jsonl"] != 47 || listed["legal/a.jsonl"] != 50 || listed["legal/b.jsonl"] != 3 {
		t.Errorf("%d reports are listed: %v", len(data.Reports), listed)
	}
	if got := fmt.Sprint(data.Groups); got != "{[{sales i k chain_break 5000} {legal i k chain_break 70} {legal i k hash_mismatch 3} {legal j k hash_mismatch 2} {legal j l hash_mismatch 1}] 5}" {
		t.Errorf("groups are %s", got)
	}
	if data.Summary.Streams[0].Failures != 7 {
		t.Error("the stream with breaks is not the first")
	}

	plain := between(t, out.String(), "<main", "</main>")
	for _, want := range []string{"Refuted receipts (100 of 5076)", "… 4976 more", "<tr><td>5000<td", "<td>sales<td>i<td>w<td>k</tr>", "Streams and their heads (1000 of 1500)", "<td>i / w1400<td>1<td>7<td>"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the plain part has no %q", want)
		}
	}
}

// TestReportManyGroups verifies that the number of groups is limited, but all receipts are counted.
func TestReportManyGroups(t *testing.T) {
	r, sum := new(page.Report), &stream.Summary{Scope: receipt.ScopeFull, Receipts: 3000, Refuted: 3000, Codes: map[receipt.Code]int{}}
	for i := range sum.Receipts {
		r.Add(&receipt.Report{Source: fmt.Sprintf("d%d/a.json", i), Verdict: receipt.Refuted, Checks: []receipt.Check{{Step: receipt.StepHash, Status: receipt.StatusFailed, Code: "hash_mismatch"}}}, nil)
	}
	var out strings.Builder
	if err := r.Render(&out, sum); err != nil {
		t.Fatal(err)
	}
	plain := between(t, out.String(), "<main", "</main>")
	for _, want := range []string{"Refuted receipts (100 of 3000)", "<tr><td>2000<td colspan=5>of other groups", "… 901 more groups", "… 2900 more"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the plain part has no %q", want)
		}
	}
}
