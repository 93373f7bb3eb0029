package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// hostile is a workspace name that would be executed if it were interpreted as markup.
const hostile = `<img src=x onerror=alert(1)></script>`

// buildReceipt builds the command.
func buildReceipt(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "receipt")
	if out, err := exec.Command("go", "build", "-C", "../../../..", "-o", path, "./cmd/receipt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// writeTree writes receipts from seven streams to two directories. One receipt is altered, and
// another is missing, so that its successor breaks a stream.
func writeTree(t *testing.T, count int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	signer := keys.NewSigner(privateKey(t, "key_2026_04"), func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) })
	var out [2]bytes.Buffer
	var heads [7]chain.Head
	for i := range count + 1 {
		d, lane := draft(i), i%len(heads)
		d.Identifiers.WorkspaceRef = fmt.Sprint("workspace-", lane)
		if lane == 3 {
			d.Identifiers.WorkspaceRef = hostile
		}
		sealed, err := receipt.Seal(d, heads[lane])
		if err == nil {
			heads[lane] = sealed.Head()
			sealed, err = sealed.Sign(t.Context(), signer)
		}
		if err != nil {
			t.Fatal(err)
		}
		text := sealed.JSON()
		if i == 15 {
			text = bytes.Replace(text, []byte(`"best_effort"`), []byte(`"unavailable"`), 1)
		}
		if i != 30 {
			half := &out[min(2*i/count, 1)]
			half.Write(append(text, '\n'))
		}
	}
	for i, name := range []string{"east", "west"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "receipts.jsonl"), out[i].Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// export runs the command "receipt browse" with the option --output in a directory, and returns the
// address of the exported page.
func export(t *testing.T, command, dir string) (url string) {
	t.Helper()
	site := filepath.Join(t.TempDir(), "site")
	cmd := exec.Command(command, "browse", ".", "--keys", fixture(t, "keys/trust.json"), "--output", site)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 { // the altered receipt is refuted
		t.Fatalf("%v\n%s", err, out)
	}
	return "file://" + filepath.Join(site, "index.html")
}

// serve runs the command "receipt browse" in a directory until the test ends, and returns the
// address of the page.
func serve(t *testing.T, command, dir string) (url string) {
	t.Helper()
	cmd := exec.Command(command, "browse", ".", "--keys", fixture(t, "keys/trust.json"))
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("after an interrupt: %v", err)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "view: "); found {
			url, _, _ = strings.Cut(rest, " ")
			return url
		}
	}
	t.Fatal("receipt browse prints no address")
	return ""
}

// TestBrowse verifies the view that the command "receipt browse" creates, in Chromium and Firefox,
// opened from disk and from its server.
func TestBrowse(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	command, dir, browser := buildReceipt(t), writeTree(t, 600), start(t)
	file := export(t, command, dir)
	for name, url := range map[string]string{"http": serve(t, command, dir), "file": file} {
		t.Run(name, func(t *testing.T) { testView(t, browser, url) })
	}
	t.Run("accessibility", func(t *testing.T) { testViewAccessibility(t, browser, file) })
	t.Run("firefox", func(t *testing.T) { testViewFirefox(t, file) })
	t.Run("firefox-looks", func(t *testing.T) { testViewFirefoxLooks(t, file) })
}

const firstView = `performance.getEntriesByName("first-view").length > 0`

// enter is a script that types text into one of the filter fields.
func enter(label, value string) string {
	return `(() => { const field = document.querySelector(` + quote(".filters ."+label+" input") + `); field.value = ` + quote(value) + `; field.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`
}

// choose is a script that selects the filter value that begins with the given text.
func choose(label, value string) string {
	return `(() => { const field = document.querySelector(` + quote(".filters ."+label+" select") + `); field.selectedIndex = [...field.options].findIndex((one) => one.textContent.startsWith(` + quote(value) + `)); field.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`
}

const clear = `document.querySelector(".filters button").click(), true`

// testView filters the list, clicks a lane, and opens the page of a receipt.
func testView(t *testing.T, browser context.Context, url string) {
	b := load(t, browser, url)
	b.wait(firstView)
	shows := func(status string) {
		b.Helper()
		b.wait(`document.querySelector(".status").textContent === ` + quote(status))
	}
	shows("600 receipts")
	if n := b.count(".rows li"); n == 0 || n > 60 {
		t.Errorf("%d rows are elements", n)
	}

	for _, c := range []struct{ script, status string }{
		{choose("verdict", "refuted"), "2 of 600 receipts"},
		{clear, "600 receipts"},
		{choose("code", "chain_break"), "1 of 600 receipts"},
		{clear, "600 receipts"},
		{choose("directory", "east"), "299 of 600 receipts"},
		{choose("workspace", "<img"), "43 of 600 receipts"},
		{clear, "600 receipts"},
		{enter("text", "WORKSPACE-2 refuted-not"), "0 of 600 receipts"},
		{enter("text", "Workspace-2"), "85 of 600 receipts"},
		{clear, "600 receipts"},
		{enter("from", "2199-01-01"), "0 of 600 receipts"},
		{clear, "600 receipts"},
	} {
		eval[bool](b, c.script)
		shows(c.status)
	}

	// The lane with the break comes first, and clicking it selects its stream.
	if lane := b.text(".lanes li:first-child"); !strings.Contains(lane, "workspace-2") || !strings.Contains(lane, "1 break") {
		t.Errorf("the first lane is %s", lane)
	}
	if n := b.count(".lanes li"); n != 7 {
		t.Errorf("%d lanes", n)
	}
	if n := b.count(".lanes .break"); n != 1 {
		t.Errorf("%d breaks are marked", n)
	}
	if label := eval[string](b, `document.querySelector(".timeline").getAttribute("aria-label")`); !strings.HasPrefix(label, "600 receipts from ") {
		t.Errorf("the timeline is %s", label)
	}
	b.click(".lanes li:first-child button")
	shows("85 of 600 receipts")
	eval[bool](b, clear)

	testReceiptPages(b, url)
	for _, n := range b.noise {
		if !strings.Contains(n, "/data/") {
			t.Error(n)
		}
	}
}

// testReceiptPages opens the pages of receipts by their links and by their addresses.
func testReceiptPages(b *tab, url string) {
	b.Helper()
	eval[bool](b, choose("code", "hash_mismatch"))
	b.wait(`document.querySelectorAll(".rows li").length === 1`)
	b.click(".rows a")
	b.wait(`document.querySelector(".page .verdict strong")?.textContent === "Refuted"`)
	address := eval[string](b, `location.hash`)
	if !strings.HasPrefix(address, "#receipt=") || b.text(".page nav") == "" {
		b.Errorf("the page has the address %s", address)
	}
	eval[bool](b, `history.back(), true`)
	b.wait(`!document.querySelector(".all").hidden && document.activeElement.matches(".rows a")`)

	// The address alone is sufficient to open the page, and the hostile name is shown as text.
	eval[bool](b, clear)
	eval[bool](b, choose("workspace", "<img"))
	b.wait(`document.querySelector(".rows a")`)
	eval[bool](b, `document.querySelector(".rows a").click(), true`)
	b.wait(`document.querySelector(".page .verdict strong")?.textContent === "Verified"`)
	if !strings.Contains(b.text(".page"), hostile) {
		b.Error("the page does not show the workspace")
	}
	address = eval[string](b, `location.hash`)
	other := load(b.T, b.ctx, url+address)
	other.wait(`document.querySelector(".page .verdict strong")?.textContent === "Verified"`)
	if n := b.count(`img, script[src]`); n > 0 {
		b.Errorf("%d elements load something", n)
	}
	eval[bool](b, `location.hash = "#receipt=nosuch", true`)
	b.wait(`document.querySelector("main").innerText.includes("No receipt has this address.")`)
}

// testViewAccessibility runs axe-core on the list and on a receipt page, in wide and narrow windows
// and in light and dark mode.
func testViewAccessibility(t *testing.T, browser context.Context, url string) {
	path := os.Getenv("AXE")
	needs(t, "axe-core: $AXE names no file", path == "")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		b := load(t, browser, url)
		b.scheme(scheme)
		b.wait(firstView)
		eval[bool](b, string(axe)+"\n;true")
		for _, state := range []string{"list", "page"} {
			if state == "page" {
				eval[bool](b, `document.querySelector(".rows a").click(), true`)
				b.wait(`document.querySelector(".page .verdict")`)
				eval[bool](b, `document.querySelector(".page .technical").open = true`)
			} else {
				eval[bool](b, `document.querySelector(".run").open = true`)
			}
			for _, width := range []int64{1100, 390} {
				b.size(width, 800)
				b.judge(fmt.Sprint(state, ", ", scheme, ", ", width), `{}`)
				if over := eval[int](b, unfolded); over > 0 {
					t.Errorf("%s: %d pixels do not fit on a screen of %d", state, over, width)
				}
				b.picture(fmt.Sprint("browse-", state, "-", scheme, "-", width))
			}
		}
	}
}

// testViewFirefoxLooks runs axe-core on the list and on a receipt page, in light mode with a wide
// window and in dark mode on a phone.
func testViewFirefoxLooks(t *testing.T, url string) {
	path := os.Getenv("AXE")
	needs(t, "axe-core: $AXE names no file", path == "")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for scheme, width := range map[string]int{"light": 1100, "dark": 390} {
		f := startFirefox(t, scheme == "dark")
		f.visit(url, width)
		f.wait(firstView)
		f.run(axe)
		if dark := f.eval(`matchMedia("(prefers-color-scheme: dark)").matches`); dark != fmt.Sprint(scheme == "dark") {
			t.Errorf("%s: the scheme is not", scheme)
		}
		f.eval(`document.querySelector(".run").open = true`)
		f.judge("list, " + scheme)
		f.picture("browse-list-" + scheme)
		f.eval(`document.querySelector(".rows a").click()`)
		f.wait(`document.querySelector(".page .verdict")`)
		f.eval(`document.querySelector(".page .technical").open = true`)
		f.judge("page, " + scheme)
		f.picture("browse-page-" + scheme)
	}
}

// testViewFirefox uses the view with the keyboard only.
func testViewFirefox(t *testing.T, url string) {
	f := startFirefox(t, false)
	f.visit(url, 1100)
	f.wait(firstView)
	f.reach(".filters input[type=search]")
	for _, key := range "hash_mismatch" {
		f.press(string(key))
	}
	f.wait(`document.querySelector(".status").textContent === "1 of 600 receipts"`)
	for range "hash_mismatch" {
		f.press("\uE003") // backspace
	}
	f.wait(`document.querySelector(".status").textContent === "600 receipts"`)
	f.reach(".rows a")
	f.press("\uE010") // end
	f.wait(`document.activeElement.closest("li")?.getAttribute("aria-posinset") === "600"`)
	f.press("\uE013") // up
	f.wait(`document.activeElement.closest("li")?.getAttribute("aria-posinset") === "599"`)
	f.press(enterKey)
	f.wait(`document.querySelector(".page .verdict") && document.activeElement.matches(".page h2")`)
	f.reach(".page nav a")
	f.press(enterKey)
	f.wait(`document.activeElement.closest("li")?.getAttribute("aria-posinset") === "599"`)
	for _, n := range f.noise {
		if !strings.Contains(n, "/data/") {
			t.Error(n)
		}
	}
}

// timing is a script that applies filters, and returns the times until the next frame in
// milliseconds.
const timing = `(async () => {
	const times = [], frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	const act = async (name, change) => { const from = performance.now(); change(); await frame(); times.push(name + " " + Math.round(performance.now() - from)); };
	const field = document.querySelector(".filters .text input"), verdict = document.querySelector(".filters .verdict select");
	const type = (text) => () => { field.value = text; field.dispatchEvent(new Event("input", { bubbles: true })); };
	await act("first word", type("workspace-2"));
	await act("two words", type("workspace-2 tool"));
	await act("id", type("0fa3"));
	await act("no text", type(""));
	await act("verdict", () => { verdict.selectedIndex = 1; verdict.dispatchEvent(new Event("input", { bubbles: true })); });
	await act("clear", () => document.querySelector(".filters button").click());
	return times.join(", ") + " ms";
})()`

// TestBrowseSpeed prints how long the first view and the filters take. It does not fail, regardless
// of the durations. It runs only if $RECEIPTS is set to the number of receipts.
func TestBrowseSpeed(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv("RECEIPTS"))
	if err != nil {
		t.Skip("$RECEIPTS is not set")
	}
	url := export(t, buildReceipt(t), writeTree(t, count))
	const first = `String(Math.round(performance.getEntriesByName("first-view")[0].startTime))`
	b := load(t, start(t), url)
	b.wait(firstView)
	t.Logf("Chromium: first view %s ms; %s", eval[string](b, first), eval[string](b, timing))
	f := startFirefox(t, false)
	f.visit(url, 1100)
	f.wait(firstView)
	t.Logf("Firefox: first view %s ms; %s", f.eval(first), f.eval(timing))
}
