package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// browser returns the path of Chromium, in which pages are run.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no chromium in PATH")
	}
	t.Skip("no chromium in PATH")
	return ""
}

// dump opens an address, and returns the document as it is after its scripts have run.
func dump(t *testing.T, chromium, address string) string {
	t.Helper()
	profile := t.TempDir()
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir="+profile, "--dump-dom", address)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, &complaints)
	}
	return out.String()
}

// A caseJSON is a fixture in the form that testdata/views.js expects.
type caseJSON struct {
	File    string          `json:"file"`
	Verdict receipt.Verdict `json:"verdict"`
	Report  *receipt.Report `json:"report"`
	Receipt json.RawMessage `json:"receipt"`

	Headline *headline.Headline `json:"headline"` // nil when the receipt is not a JSON object
}

func verifier(t testing.TB) *receipt.Verifier {
	t.Helper()
	text, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := keys.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// judged returns the fixtures with their reports. All tests share the result.
func judged(t testing.TB) []caseJSON {
	t.Helper()
	shared.once.Do(func() { shared.list = judge(t) })
	if shared.list == nil {
		t.Fatal("the fixtures were not judged")
	}
	return slices.Clone(shared.list)
}

var shared struct {
	once sync.Once
	list []caseJSON
}

func judge(t testing.TB) (list []caseJSON) {
	t.Helper()
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t)
	for _, c := range m.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		doc, rep := new(canon.Document), &receipt.Report{Source: c.File}
		v.VerifyBytes(text, doc, rep)
		one := caseJSON{File: c.File, Verdict: rep.Verdict, Report: rep, Receipt: json.RawMessage("null")}
		if rep.Check(receipt.StepParse).Status == receipt.StatusPassed {
			one.Receipt = doc.AppendCanonical(nil)
			if doc.Root().Kind() == canon.KindObject {
				one.Headline = headline.Read(doc.Root()).Headline()
			}
		}
		list = append(list, one)
	}
	if len(list) < 150 {
		t.Fatalf("found %d fixtures", len(list))
	}
	return list
}

// TestViews verifies that testdata/views.js passes in a browser for all fixtures.
func TestViews(t *testing.T) {
	got := opened(t, "views")
	if failures := element(t, got, "pre", "failures"); failures != "" {
		t.Errorf("%s", failures)
	}
	var done, failed int
	if _, err := fmt.Sscanf(element(t, got, "p", "done"), "%d done, %d failures", &done, &failed); err != nil || done < 5000 || failed > 0 {
		t.Errorf("%d done, %d failures, %v", done, failed, err)
	}
}

// opened returns the document "views" or "report" as it is after its scripts have run. With
// testsize.Full, each document is opened separately, and the report is opened as a file. Otherwise,
// a single browser opens both documents.
func opened(t *testing.T, name string) string {
	t.Helper()
	chromium := browser(t)
	if testsize.Full() && name == "report" {
		file := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(file, []byte(run(t, judged(t))), 0o644); err != nil {
			t.Fatal(err)
		}
		return dump(t, chromium, "file://"+file)
	}
	if testsize.Full() {
		return dump(t, chromium, serve(t))
	}
	both.once.Do(func() { both.doc = dump(t, chromium, serve(t)+"/both") })
	return element(t, both.doc, "pre", name)
}

// both contains the resulting content of both documents.
var both struct {
	once sync.Once
	doc  string
}

// beside is a page that opens both documents, and shows as text what they contain after their
// scripts have run.
const beside = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><pre id="views"></pre><pre id="report"></pre><iframe src="/"></iframe><iframe src="/report"></iframe>
<script>onload = () => ["views", "report"].forEach((id, n) => { document.getElementById(id).textContent = frames[n].document.documentElement.outerHTML; });</script></html>`

// serve serves the views, the report, and the page that contains both, and returns the address.
func serve(t *testing.T) string {
	t.Helper()
	list := judged(t)
	report := run(t, list)
	data, err := json.Marshal(map[string]any{"cases": list, "run": json.RawMessage(block(t, report))})
	if err != nil {
		t.Fatal(err)
	}
	doc := fmt.Sprintf(`<!doctype html><html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'">
<link rel="icon" href="data:,"><div id="place"></div><pre id="failures"></pre><p id="done"></p><script type="application/json" id="data">%s</script><script type="module" src="/testdata/views.js"></script></html>`, data)

	// The scripts are served unchanged, because the browser resolves module imports over HTTP.
	files := http.FileServer(http.Dir("."))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := map[string]string{"/": doc, "/report": report, "/both": beside}[r.URL.Path]
		if !known {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestNames verifies that each cause that can determine a verdict has a readable name.
func TestNames(t *testing.T) {
	words, err := os.ReadFile("view/words.js")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, info := range receipt.Codes() {
		switch info.Outcome {
		case receipt.OutcomeRefutes, receipt.OutcomeUndecides, receipt.OutcomeNotCounted:
			seen++
			if !bytes.Contains(words, fmt.Appendf(nil, "[%q, [\"", string(info.Code))) {
				t.Errorf("view/words.js has no name for %s: %s", info.Code, info.Meaning)
			}
		}
	}
	if seen < 40 {
		t.Errorf("found %d codes", seen)
	}
}

// run renders the report for a run with the given fixtures.
func run(t testing.TB, list []caseJSON) string {
	t.Helper()
	r, sum := new(page.Report), &stream.Summary{Scope: receipt.ScopeFull, Complete: true, Codes: map[receipt.Code]int{}}
	for _, c := range list {
		r.Add(c.Report, c.Receipt)
		sum.Receipts++
		switch c.Verdict {
		case receipt.Verified:
			sum.Verified++
		case receipt.Refuted:
			sum.Refuted++
		default:
			sum.Undecided++
		}
		if c.Verdict != receipt.Verified {
			sum.Codes[c.Report.Finding().Code]++
		}
	}
	sum.Streams = []chain.Segment{{Stream: chain.Stream{Issuer: hostile, Workspace: "w"}, Count: 3, First: true, Head: canon.Sum(nil)}}
	sum.Findings = []stream.Finding{{Code: receipt.CodeTruncated, Stream: &sum.Streams[0].Stream, Source: hostile, Stated: "3", Computed: "2", Detail: "1 receipt is missing"}}
	sum.NotChecked = []receipt.Note{{Code: receipt.CodeTailNotChecked, Detail: "whether receipts follow"}}
	sum.Skipped, sum.SkippedCount = []stream.Notice{{Source: hostile, Detail: "a key set"}}, 1
	sum.Inputs = stream.Inputs{Files: 5, Bytes: 70000, Unreadable: []stream.Notice{{Source: hostile, Detail: "no such file"}}}
	sum.Keys = &stream.Keys{Path: hostile, SHA256: canon.Sum(nil), Count: 3}
	sum.Tool, sum.Started, sum.Finished = "receipt 1.2.3", receipt.At(time.Unix(1777144653, 0)), receipt.At(time.Unix(1777144713, 0))
	var out strings.Builder
	if err := r.Render(&out, sum); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hostile is a name that contains markup, a script, and a change of text direction.
const hostile = "</script></style><!--<script>pwned=1</script>\"'><img src=x onerror=pwned=1>\u202e\x1b[31m{{.Policy}}"

// block returns the data that is embedded in a report.
func block(t testing.TB, doc string) string {
	t.Helper()
	_, rest, found := strings.Cut(doc, `<script type="application/json" id="data">`)
	data, _, closed := strings.Cut(rest, "</script>")
	if !found || !closed {
		t.Fatal("the report has no data")
	}
	return data
}

// element returns the text of an element that has no child elements.
func element(t *testing.T, doc, tag, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(doc, "<"+tag+` id="`+id+`">`)
	text, _, closed := strings.Cut(rest, "</"+tag+">")
	if !found || !closed {
		t.Fatalf("no element %s in a document of %d bytes", id, len(doc))
	}
	return html.UnescapeString(text)
}
