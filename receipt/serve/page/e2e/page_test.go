package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

// maxPage is the maximum number of compressed bytes that a browser must fetch. About 120,000 of
// these bytes verify third-party documents, and 30,000 describe receipts.
const maxPage = 3_450_000

func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser := start(t)
	dir := buildPage(t)
	packed, err := os.ReadFile(filepath.Join(dir, "served", "page.html.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(packed) > maxPage {
		t.Errorf("the page has %d bytes compressed, at most %d are wanted", len(packed), maxPage)
	}
	handler, err := page.NewHandler(packed)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.String())
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	stream := writeStream(t, 120)
	for name, url := range map[string]string{"http": server.URL + "/", "file": "file://" + filepath.Join(dir, "page.html")} {
		t.Run(name, func(t *testing.T) {
			testUse(t, browser, url, stream)
			mu.Lock()
			defer mu.Unlock()
			if name == "http" && !slices.Equal(asked, []string{"GET /"}) {
				t.Errorf("the server was asked %q, want the page once", asked)
			}
		})
	}
	t.Run("broken", func(t *testing.T) { testBroken(t, browser, filepath.Join(dir, "page.html")) })
	t.Run("shut", func(t *testing.T) {
		before := len(asked)
		testShut(t, browser, "file://"+filepath.Join(dir, "page.html"), server.URL)
		if mu.Lock(); len(asked) != before {
			t.Errorf("the server was asked %q", asked[before:])
		}
		mu.Unlock()
	})
	t.Run("fixtures", func(t *testing.T) { testFixtures(t, browser, server.URL+"/") })
	t.Run("sitting", func(t *testing.T) { testSitting(t, browser, server.URL+"/", stream) })
	t.Run("overtaken", func(t *testing.T) { testOvertaken(t, browser, server.URL+"/", stream) })
	t.Run("strange", func(t *testing.T) { testStrange(t, browser, server.URL+"/") })
	t.Run("kinds", func(t *testing.T) { testKinds(t, browser, server.URL+"/") })
	t.Run("speed", func(t *testing.T) { testSpeed(t, browser, server.URL+"/") })
	t.Run("show", func(t *testing.T) { testShow(t, browser, server.URL+"/") })
	t.Run("paper", func(t *testing.T) { testPaper(t, browser, server.URL+"/") })
	t.Run("example", func(t *testing.T) { testExampleIsNobody(t, browser, server.URL+"/") })
	t.Run("cancel", func(t *testing.T) { testCancel(t, browser, server.URL+"/", stream) })
	t.Run("accessibility", func(t *testing.T) { testAccessibility(t, browser, server.URL+"/", stream) })
	t.Run("firefox", func(t *testing.T) { testFirefox(t, server.URL+"/", stream) })
	t.Run("firefox-keys", func(t *testing.T) { testFirefoxKeys(t, server.URL+"/") })
	t.Run("looks", func(t *testing.T) { testLooks(t, browser, server.URL+"/", stream) })
}

// testUse performs typical actions in one session.
func testUse(t *testing.T, browser context.Context, url, stream string) {
	b := open(t, browser, url)
	b.drop(fixture(t, "valid/task.json"), fixture(t, "keys/trust.json"))
	b.expect("Verified", "Unchanged", "Signer confirmed")
	testReceipt(b)
	testAnswer(b)
	testTamper(b)

	b.drop(fixture(t, "keys/trust.json"))
	b.wait(`document.getElementById("given").innerText.includes("trust.json")`)
	b.drop(fixture(t, "malicious/changed-cost.json"))
	b.expect("Refuted", "Changed", "Signer not confirmed")
	b.click("#outcome .technical > summary")
	if shown := b.text("#outcome .steps"); !strings.Contains(shown, "stated") || !strings.Contains(shown, "computed") {
		t.Errorf("the steps show %s", shown)
	}
	b.pick("#receipt-files", fixture(t, "malicious/other-key-signed.json"))
	b.expect("Refuted", "Matches its own hash", "Signature forged")
	b.pick("#receipt-files", fixture(t, "malicious/unknown-key.json"))
	b.expect("Undecided", "Matches its own hash", "Signer not confirmed")
	b.pick("#receipt-files", fixture(t, "malicious/cut-off.json"))
	b.expect("Refuted", "Not readable", "Signer not confirmed")

	testOld(b, stream)
	testMany(b, stream)
	testPages(b)
	b.drop(stream)
	b.expect("Refuted")
	testIntegrity(b)
	testPaste(b)
	testProblems(b)
	b.quiet()
}

// testOld verifies that the page shows nothing about the previous input as soon as new input is
// given.
func testOld(b *tab, stream string) {
	b.Helper()
	for _, next := range []string{stream, fixture(b.T, "keys/trust.json"), fixture(b.T, "malicious/cut-off.json")} {
		b.drop(fixture(b.T, "valid/task.json"), fixture(b.T, "keys/trust.json"))
		b.expect("Verified", "Unchanged", "Signer confirmed")
		if about := b.text("#outcome .headlines > .about"); about != "task.json · receipt receipt_01K0TASK · task task_01K0TASK · issuer harness_example_cloud" {
			b.Errorf("the verdict is about %q", about)
		}

		// Inspect the first frame after the drop, regardless of the state of the core.
		b.do(chromedp.Evaluate[chromedp.Void](`globalThis.seen = undefined;
			addEventListener("drop", () => requestAnimationFrame(() => {
				const outcome = document.getElementById("outcome");
				const judged = outcome.firstElementChild && !outcome.firstElementChild.hasAttribute("data-old"); // again, before a frame was drawn
				globalThis.seen = judged ? [true, "true", ""] : [outcome.hidden, outcome.getAttribute("aria-busy"), document.getElementById("live").textContent];
			}), {once: true})`))
		b.drop(next)
		b.wait(`globalThis.seen !== undefined`)
		if seen := eval[string](b, `JSON.stringify(globalThis.seen)`); seen != `[true,"true",""]` {
			b.Errorf("%s: hidden, busy and said are %s in the frame after the drop", next, seen)
		}
		b.wait(`document.getElementById("outcome").getAttribute("aria-busy") === "false"`)
	}
}

// testReceipt verifies how the page displays a verified receipt.
func testReceipt(b *tab) {
	b.Helper()
	if n := b.count("#outcome .step"); n != 7 {
		b.Errorf("%d steps", n)
	}
	if focused := eval[string](b, `document.activeElement.id`); focused != "outcome" {
		b.Errorf("the focus is at %q, not at the outcome", focused)
	}
	b.click("#outcome .technical > summary")
	for selector, want := range map[string]string{
		"#outcome .headlines .keys": "trust.json", "#outcome .fingerprints": "key_2026_04",
		"#outcome .not-checked": "whether receipts follow the head", "#outcome .receipt": "receipt_01K0TASK",
		"#outcome .basis": "receipt verify --keys KEYS FILE.",
	} {
		if shown := b.text(selector); !strings.Contains(shown, want) {
			b.Errorf("%s shows %q, want %q", selector, shown, want)
		}
	}
	out, err := exec.Command("sh", "-c", eval[string](b, `document.querySelector("#outcome .command").textContent`)).Output()
	b.must(err)
	if stated := b.text("#outcome .bytes .hash"); "sha256:"+strings.Fields(string(out))[0] != stated {
		b.Errorf("the shell line prints %s, the page shows %s", out, stated)
	}
	var report struct {
		Reports []struct{ Verdict string }
		Summary struct{ Verdict string }
	}
	b.click("#outcome .actions button:nth-of-type(2)")
	if err := json.Unmarshal(b.downloaded("receipt-report.json"), &report); err != nil || len(report.Reports) != 1 || report.Reports[0].Verdict != "verified" || report.Summary.Verdict != "verified" {
		b.Errorf("the downloaded report: %v %+v", err, report)
	}
}

// testTamper verifies that an altered copy of the example is refuted and that the change is marked
// everywhere. The button Undo must restore the original receipt. The page must not offer to alter
// receipts that the user provides.
func testTamper(b *tab) {
	b.Helper()
	if b.count("#tamper") != 0 {
		b.Error("a verdict of what was dropped stands beside an altered copy")
	}
	b.click("#example")
	b.expect("Verified", "Unchanged", "Signer confirmed")
	if shown := b.text("#outcome"); !strings.Contains(shown, "an example that is part of the page") {
		b.Errorf("the example shows %q", shown)
	}
	b.do(chromedp.Focus(chromedp.CSS("#tamper-target")))
	b.do(chromedp.KeyEvent(kb.Tab + kb.Enter)) // without a mouse
	b.expect("Refuted", "Changed", "Signer not confirmed")
	if shown := b.text("#outcome .banner"); !strings.Contains(shown, "Demonstration. This is not the receipt that you received") || !strings.Contains(shown, "0.1842") {
		b.Errorf("the banner shows %q", shown)
	}
	if title := eval[string](b, `document.title`); !strings.HasPrefix(title, "Demonstration") || !strings.HasPrefix(b.said(), "Demonstration") {
		b.Errorf("title %q, said %q", title, b.said())
	}
	if buttons := eval[[]string](b, `[...document.querySelectorAll("#outcome button")].map((b) => b.id)`); !slices.Equal(buttons, []string{"undo"}) {
		b.Errorf("a demonstration can do %q, want undo alone", buttons)
	}
	stated := eval[[]string](b, `[...document.querySelectorAll("#outcome .step .comparison dd")].map((d) => d.textContent)`)
	if len(stated) != 2 || stated[0] == stated[1] || !strings.HasPrefix(stated[1], "sha256:") {
		b.Errorf("stated and computed: %q", stated)
	}
	b.click("#undo")
	b.expect("Verified", "Unchanged", "Signer confirmed")
	if b.count(".banner") != 0 {
		b.Error("the demonstration is still there")
	}
	if focused := eval[string](b, `document.activeElement.id`); focused != "tamper" || eval[string](b, `document.title`) != "Verify a receipt" {
		b.Errorf("after undo the focus is at %q", focused)
	}
}

// testMany verifies the page for a stream: the totals, the charts over time, and one of the
// receipts.
func testMany(b *tab, stream string) {
	b.Helper()
	b.drop(stream)
	b.expect("Refuted")
	if shown := strings.Join(strings.Fields(b.text("#outcome .outcomes")), " "); shown != "118 verified 1 refuted 1 undecided" {
		b.Errorf("outcomes %q", shown)
	}
	if n := b.count("#outcome svg.chart .column"); n < 10 {
		b.Errorf("%d columns over time", n)
	}
	b.click("#outcome .of-refuted .finding-head button")
	b.expect("Refuted", "Changed", "Signer not confirmed")
	b.click("#outcome .technical > summary")
	if shown := b.text("#outcome .receipt"); !strings.Contains(shown, "receipt_0040") {
		b.Errorf("opened %q", shown)
	}
	b.click("#outcome .actions button:first-of-type") // back
	b.expect("Refuted")
	b.click("#outcome .of-undecided .finding-head button")
	b.expect("Undecided", "Matches its own hash", "Signer not confirmed")
}

// testPages verifies that thousands of findings are divided into pages, and that a finding can be
// opened.
func testPages(b *tab) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "findings.jsonl")
	b.must(os.WriteFile(path, []byte(strings.Repeat("{\"a\":1}\n", 12_000)), 0o644))
	b.drop(path)
	b.expect("Refuted")
	if n, shown := b.count("#outcome .findings > li"), b.text("#outcome .pager"); n != 50 || !strings.Contains(shown, "1 to 50 of 12,000") {
		b.Errorf("%d findings, %q", n, shown)
	}
	b.click("#outcome .pager button:last-of-type")
	b.wait(`document.querySelector("#outcome .pager").innerText.includes("51 to 100 of 12,000")`)
	b.click("#outcome .finding-head button")
	b.expect("Refuted", "Not readable", "Signer not confirmed")
	b.click("#outcome .technical > summary")
	if shown := b.text("#outcome .bytes .command"); !strings.Contains(shown, `{"a":1}`) {
		b.Errorf("opened %q", shown)
	}
}

// testIntegrity verifies that nothing is shown in green if no keys are provided.
func testIntegrity(b *tab) {
	b.Helper()
	b.click("#given .small")
	b.expect("Refuted") // the stream without the keys
	b.pick("#receipt-files", fixture(b.T, "valid/task.json"))
	b.expect("Intact", "Matches its own hash", "Signer not confirmed")
	if green := eval[[]string](b, `[...document.querySelectorAll("#outcome .good")].map((e) => e.outerHTML.slice(0, 200))`); len(green) > 0 {
		b.Errorf("green, of what only is intact: %q", green)
	}
	if shown := b.text("#given"); !strings.Contains(shown, "No keys yet") {
		b.Errorf("given: %q", shown)
	}
	b.pick("#key-files", fixture(b.T, "keys/trust.json"))
	b.expect("Verified", "Unchanged", "Signer confirmed")
}

func testPaste(b *tab) {
	b.Helper()
	text, err := os.ReadFile(fixture(b.T, "valid/full.json"))
	b.must(err)
	b.click("#paste")
	b.wait(`document.activeElement.id === "paste-text"`)
	eval[bool](b, `document.getElementById("paste-text").value = `+quote(string(text))+`, true`)
	b.click("#paste-form button")
	b.wait(`document.getElementById("given").innerText.includes("pasted")`)
	b.expect("Verified", "Unchanged", "Signer confirmed")
}

// testProblems verifies that no outcome is shown for input that cannot be verified.
func testProblems(b *tab) {
	b.Helper()
	b.click(".choices summary")
	eval[bool](b, `document.getElementById("at").value = "noon", true`)
	b.click("#options button")
	b.wait(`document.getElementById("problem").innerText.includes("There is no verdict")`)
	if b.count("#outcome *") != 0 || b.said() != "" {
		b.Errorf("an outcome is left: %q", b.text("#outcome"))
	}
	eval[bool](b, `document.getElementById("at").value = "", true`)
	b.pick("#receipt-files", fixture(b.T, "malicious/empty.json"))
	b.wait(`document.querySelector("#outcome .stranger")?.innerText.includes("This is an empty file")`)
	b.pick("#receipt-files", writeFile(b.T, "none.json", "[]"))
	b.wait(`document.querySelector("#outcome .basis")?.innerText.includes("contains no receipt")`)
	b.expect("Undecided")
}

// testFixtures verifies that the page shows the verdicts that the manifest states, without errors.
// It uses every third fixture, because the tests of the core compare all reports with those of the
// command.
func testFixtures(t *testing.T, browser context.Context, url string) {
	m, err := fixtures.Load()
	if err != nil || len(m.Cases) < 150 {
		t.Fatalf("%d fixtures, %v", len(m.Cases), err)
	}
	words := map[string]string{"verified": "Verified", "refuted": "Refuted", "undecided": "Undecided"}
	b := open(t, browser, url)
	b.drop(fixture(t, "keys/trust.json"))
	b.wait(`document.getElementById("given").innerText.includes("trust.json")`)
	for i, c := range m.Cases {
		if i%3 != 0 {
			continue
		}
		b.pick("#receipt-files", fixture(t, c.File))
		if c.File == "malicious/missing-chain.json" || c.File == "malicious/empty.json" { // an unsealed document in the form of a draft, and an empty file
			b.wait(`document.querySelector("#outcome > .strangers")`)
			continue
		}
		want := words[c.Verdict.String()]
		if c.Code == "empty_input" {
			want = "Undecided" // there is no receipt, so nothing can be refuted
		}
		b.wait(`document.querySelector("#outcome > :not([data-old]) .verdict strong")`)
		if got := b.text("#outcome .verdict strong"); got != want {
			t.Errorf("%s: %s, want %s", c.File, got, want)
		}
		if c.Verdict != receipt.Verified && b.count("#outcome .headline.good") > 0 {
			t.Errorf("%s: a headline is green", c.File)
		}
	}
	b.quiet()
}

// testBroken verifies that the page shows no outcome if the core fails to start.
func testBroken(t *testing.T, browser context.Context, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), `id="core">`)
	_, after, closed := strings.Cut(rest, "<")
	if !found || !closed {
		t.Fatal("the page has no core")
	}
	broken := filepath.Join(t.TempDir(), "broken.html")
	if err := os.WriteFile(broken, []byte(before+`id="core">AAAA<`+after), 0o644); err != nil {
		t.Fatal(err)
	}
	b := load(t, browser, "file://"+broken)
	b.wait(`document.getElementById("problem").innerText.includes("There is no verdict")`)
	b.drop(fixture(t, "valid/task.json"))
	b.wait(`document.getElementById("problem").innerText.includes("There is no verdict")`)
	if b.count("#outcome *") != 0 {
		t.Errorf("an outcome of nothing: %s", b.text("#outcome"))
	}
}

// testCancel verifies that no verdict is shown after a verification is canceled, and that the page
// remains usable.
func testCancel(t *testing.T, browser context.Context, url, stream string) {
	large := largeFile(t, stream)
	b := open(t, browser, url)
	b.drop(fixture(t, "keys/trust.json"), large)
	b.wait(`!document.getElementById("running").hidden && document.getElementById("progress").value > 0`)
	b.click("#cancel")
	b.wait(`document.getElementById("problem").innerText.includes("Canceled. There is no verdict.")`)
	b.drop(fixture(t, "valid/task.json"))
	b.expect("Verified", "Unchanged", "Signer confirmed")
	b.quiet()
}
