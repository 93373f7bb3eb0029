package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"runtime"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestReportPolicy verifies that the content security policy allows exactly the script and the
// style in the file.
func TestReportPolicy(t *testing.T) {
	doc := run(t, judged(t))
	policy := html.UnescapeString(between(t, doc, `<meta http-equiv="Content-Security-Policy" content="`, `">`))
	for directive, text := range map[string]string{
		"script-src ": between(t, doc, "<script>", "</script>"),
		"style-src ":  between(t, doc, "<style>", "</style>"),
	} {
		sum := sha256.Sum256([]byte(text))
		if want := directive + "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "; !strings.Contains(policy, want) {
			t.Errorf("%q has no %q", policy, want)
		}
	}
	for _, want := range []string{"default-src 'none'; ", "base-uri 'none'; ", "form-action 'none'; ", "trusted-types 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q has no %q", policy, want)
		}
	}
	for _, bad := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, bad) {
			t.Errorf("%q has %q", policy, bad)
		}
	}
}

func between(t testing.TB, doc, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(doc, before)
	text, _, closed := strings.Cut(rest, after)
	if !found || !closed {
		t.Fatalf("no %s in a document of %d bytes", before, len(doc))
	}
	return text
}

// TestReportForeignText verifies that values from receipts, paths, and issuers are treated as text,
// both in the plain part and in the data.
func TestReportForeignText(t *testing.T) {
	list := judged(t)
	bad := list[0]
	bad.Verdict = receipt.Refuted
	bad.Report = &receipt.Report{Source: hostile, Verdict: receipt.Refuted, ReceiptID: receipt.Text(hostile), Checks: []receipt.Check{
		{Step: receipt.StepParse, Status: receipt.StatusFailed, Code: receipt.CodeSyntax, Pointer: hostile, Stated: hostile, Computed: hostile, Detail: hostile, Hint: hostile}}}
	doc := run(t, append([]caseJSON{bad}, list...))
	for sign, want := range map[string]int{"<script": 2, "</script": 2, "<style": 1, "</style": 1, "<!--": 0, "<img": 0, "<main": 1, "\u202e": 0, "\x1b": 0} {
		if got := strings.Count(strings.ToLower(doc), sign); got != want {
			t.Errorf("%q is there %d times, want %d", sign, got, want)
		}
	}
	plain := between(t, doc, "<main", "</main>")
	if n := strings.Count(plain, `&lt;/script&gt;&lt;/style&gt;`); n < 6 {
		t.Errorf("the plain part shows the hostile text %d times:\n%s", n, plain)
	}
	if !strings.Contains(plain, `\u202e\x1b[31m`) {
		t.Error("the plain part does not show invisible characters")
	}
	var data struct{ Reports []struct{ Source string } }
	if err := json.Unmarshal([]byte(block(t, doc)), &data); err != nil || data.Reports[0].Source != hostile {
		t.Errorf("the data has another source: %v", err)
	}
}

// TestReportPlain verifies that the file shows the same totals if scripts are disabled.
func TestReportPlain(t *testing.T) {
	list := judged(t)
	doc := run(t, list)
	plain := between(t, doc, "<main", "</main>")
	counts := map[receipt.Verdict]int{}
	for _, c := range list {
		counts[c.Verdict]++
	}
	for _, want := range []string{
		"<h2>refuted</h2>",
		fmt.Sprintf("%d receipts judged: %d verified, %d refuted, %d undecided.", len(list), counts[receipt.Verified], counts[receipt.Refuted], counts[receipt.Undecided]),
		fmt.Sprintf("Refuted receipts (100 of %d)", counts[receipt.Refuted]), fmt.Sprintf("Undecided receipts (%d)", counts[receipt.Undecided]),
		fmt.Sprintf("… %d more", counts[receipt.Refuted]-100),
		"<code>truncated</code>", "whether receipts follow <code>tail_not_checked</code>", "3 keys, " + canon.Sum(nil).String(),
		"5 files, 70000 bytes; 1 could not be read; 1 skipped", "Started 2026-04-25T19:17:33Z, finished 2026-04-25T19:18:33Z", "<code>" + canon.Sum(nil).String() + "</code>",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the plain part has no %q", want)
		}
	}
}

// TestReportVerdict verifies that a result is never called verified if it is based on integrity
// alone.
func TestReportVerdict(t *testing.T) {
	for _, test := range []struct {
		scope receipt.Scope
		sum   stream.Summary
		want  string
	}{
		{receipt.ScopeFull, stream.Summary{Complete: true, Receipts: 1, Verified: 1}, "verified"},
		{receipt.ScopeIntegrity, stream.Summary{Complete: true, Receipts: 1, Verified: 1}, "intact"},
		{receipt.ScopeFull, stream.Summary{Complete: false, Receipts: 1, Verified: 1}, "undecided"},
		{receipt.ScopeFull, stream.Summary{Complete: true, Receipts: 2, Verified: 1, Refuted: 1}, "refuted"},
		{receipt.ScopeFull, stream.Summary{Complete: true}, "undecided"},
	} {
		test.sum.Scope = test.scope
		var out strings.Builder
		if err := new(page.Report).Render(&out, &test.sum); err != nil {
			t.Fatal(err)
		}
		plain := between(t, out.String(), "<main", "</main>")
		if !strings.Contains(plain, "<h2>"+test.want+"</h2>") || !strings.Contains(out.String(), ": "+test.want+"</title>") {
			t.Errorf("%+v: want %s\n%s", test.sum, test.want, plain)
		}
		if test.scope == receipt.ScopeIntegrity && strings.Contains(plain, "verified") {
			t.Errorf("integrity alone is called verified:\n%s", plain)
		}
	}
}

// TestReportOne verifies that the report shows the complete receipt if there is only one, and no
// complete receipt otherwise.
func TestReportOne(t *testing.T) {
	list := judged(t)
	for i, c := range list {
		if c.File == "valid/full.json" {
			list = list[i : i+2]
		}
	}
	var data struct {
		Report  struct{ Address string }
		Receipt struct {
			ID string `json:"receipt_id"`
		}
	}
	doc := run(t, list[:1])
	if err := json.Unmarshal([]byte(block(t, doc)), &data); err != nil || data.Receipt.ID != "receipt_01K0FULL" || data.Report.Address != "valid/full.json" {
		t.Errorf("%+v, %v", data, err)
	}
	plain := html.UnescapeString(between(t, doc, "<main", "</main>"))
	for _, row := range list[0].Headline.Rows {
		if !strings.Contains(plain, "<dd>"+row.Text.String()+"</div>") {
			t.Errorf("the plain part has no row %q", row.Text)
		}
	}
	if text := block(t, run(t, list)); strings.Contains(text, `"receipt":`) || strings.Contains(text, `"report":`) {
		t.Error("one of two receipts is shown whole")
	}
}

// TestReportBounds verifies that neither the file nor the memory grows with the number of receipts.
func TestReportBounds(t *testing.T) {
	c := judged(t)[0]
	rep := *c.Report
	rep.Verdict = receipt.Refuted
	rep.Checks = append([]receipt.Check{{Step: receipt.StepParse, Status: receipt.StatusFailed, Detail: strings.Repeat("x", 5000)}}, rep.Checks...)
	r, sum := new(page.Report), &stream.Summary{Scope: receipt.ScopeFull, Receipts: 30000, Refuted: 30000, Codes: map[receipt.Code]int{}}
	for i := range 5000 {
		sum.Streams = append(sum.Streams, chain.Segment{Stream: chain.Stream{Issuer: fmt.Sprint("i", i), Workspace: "w"}, Count: 1, First: true})
		sum.Inputs.Unreadable = append(sum.Inputs.Unreadable, stream.Notice{Source: "x", Detail: "no such file"})
	}
	var before, after runtime.MemStats
	for i := range sum.Receipts {
		if i == 1000 {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		r.Add(&rep, c.Receipt)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("29,000 more receipts take %d bytes more", grown)
	}
	var out strings.Builder
	if err := r.Render(&out, sum); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 2<<20 {
		t.Errorf("the report has %d bytes", out.Len())
	}
	var data struct {
		Summary struct {
			Verdict string
			Streams []any
			Count   int `json:"streams_count"`
			Inputs  struct {
				Unreadable []any
				Count      int `json:"unreadable_count"`
			}
		}
		Reports []any
		More    struct{ Refuted int }
	}
	if err := json.Unmarshal([]byte(block(t, out.String())), &data); err != nil {
		t.Fatal(err)
	}
	s := data.Summary
	if len(data.Reports) != 100 || data.More.Refuted != 29900 || len(s.Streams) != 1000 || s.Count != 5000 || len(s.Inputs.Unreadable) != 1000 || s.Inputs.Count != 5000 || s.Verdict != "refuted" {
		t.Errorf("%d reports, %+v", len(data.Reports), data.More)
	}
	if !strings.Contains(between(t, out.String(), "<main", "</main>"), "Refuted receipts (100 of 30000)") {
		t.Error("the plain part has another number")
	}
}

// TestReportWriter verifies that an error from the writer is returned.
func TestReportWriter(t *testing.T) {
	if err := new(page.Report).Render(full{}, &stream.Summary{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

type full struct{}

var errFull = errors.New("no space")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestReportInBrowser verifies that the views replace the plain part without an error, and that no
// foreign text is executed.
func TestReportInBrowser(t *testing.T) {
	got := opened(t, "report")
	for _, want := range []string{`<main id="report"><article class="summary">`, `class="measure"`, `class="strip"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the document has no %s", want)
		}
	}
	if strings.Contains(got, "<img") || strings.Count(got, "<script") != 2 {
		t.Error("text from a receipt became markup")
	}
}
