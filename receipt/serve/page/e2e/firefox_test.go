package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A fox is a page in Firefox, which is controlled through the standard protocol WebDriver BiDi.
type fox struct {
	*testing.T
	conn    *websocket.Conn
	context string // the page
	url     string

	mu      sync.Mutex
	count   int
	answers map[int]chan answer
	noise   []string // unexpected requests and console messages
}

type answer struct {
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

// startFirefox starts a browser with a separate profile.
func startFirefox(t *testing.T, dark bool) *fox {
	t.Helper()
	path := os.Getenv("FIREFOX")
	for _, name := range []string{"firefox-esr", "firefox"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	needs(t, "Firefox, Debian's package firefox-esr", path == "")

	// The browser itself makes no network requests.
	profile := t.TempDir()
	prefs := fmt.Sprintf("user_pref(%q, %d);\nuser_pref(%q, false);\nuser_pref(%q, %q);\n", "layout.css.prefers-color-scheme.content-override", map[bool]int{true: 0, false: 1}[dark],
		"network.captive-portal-service.enabled", "datareporting.policy.dataSubmissionEnabled", "false")
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_HEADLESS=1")
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })

	found := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(messages); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				found <- strings.TrimSpace(at)
			}
		}
	}()
	f := &fox{T: t, answers: map[int]chan answer{}}
	select {
	case at := <-found:
		f.connect(at + "/session")
	case <-time.After(patience):
		t.Fatal("Firefox does not say where it listens")
	}
	return f
}

func (f *fox) connect(url string) {
	f.Helper()
	conn, _, err := websocket.Dial(context.Background(), url, nil)
	if err != nil {
		f.Fatal(err)
	}
	conn.SetReadLimit(-1)
	f.conn = conn
	go f.listen()
	f.call("session.new", map[string]any{"capabilities": map[string]any{}})
	f.call("session.subscribe", map[string]any{"events": []string{"network.beforeRequestSent", "log.entryAdded"}})
	var made struct{ Context string } // the keyboard works only in a window that was opened
	f.must(json.Unmarshal(f.call("browsingContext.create", map[string]any{"type": "window"}), &made))
	f.context = made.Context
	f.call("browsingContext.activate", map[string]any{"context": f.context})
}

func (f *fox) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// listen delivers responses to the callers that wait for them, and records the page's events.
func (f *fox) listen() {
	for {
		_, data, err := f.conn.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			answer
			ID     int
			Type   string
			Method string
			Params struct {
				Context string
				Text    string
				Request struct{ URL string }
			}
		}
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		f.mu.Lock()
		switch u := m.Params.Request.URL; {
		case m.Type == "success", m.Type == "error":
			f.answers[m.ID] <- m.answer
			delete(f.answers, m.ID)
		case m.Method == "log.entryAdded":
			f.noise = append(f.noise, "log "+m.Params.Text)
		case m.Params.Context == f.context && u != f.url && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, "data:"):
			f.noise = append(f.noise, "request "+u)
		}
		f.mu.Unlock()
	}
}

func (f *fox) call(method string, params any) json.RawMessage {
	f.Helper()
	f.mu.Lock()
	f.count++
	id, done := f.count, make(chan answer, 1)
	f.answers[id] = done
	f.mu.Unlock()
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	f.must(err)
	f.must(f.conn.Write(context.Background(), websocket.MessageText, text))
	select {
	case a := <-done:
		if a.Error != "" {
			f.Fatalf("%s: %s: %s", method, a.Error, a.Message)
		}
		return a.Result
	case <-time.After(patience):
		f.Fatalf("%s: no answer", method)
		return nil
	}
}

// open loads the page and returns when the page is ready.
func (f *fox) open(url string, width int) {
	f.Helper()
	f.visit(url, width)
	f.wait(`document.getElementById("tool").textContent.startsWith("receipt ")`)
}

// visit loads a page.
func (f *fox) visit(url string, width int) {
	f.Helper()
	f.url = url
	f.call("browsingContext.setViewport", map[string]any{"context": f.context, "viewport": map[string]int{"width": width, "height": 900}})
	f.call("browsingContext.navigate", map[string]any{"context": f.context, "url": url, "wait": "complete"})
}

// eval returns the value of an expression as a string.
func (f *fox) eval(expression string) string {
	f.Helper()
	var got struct {
		Type             string
		Result           struct{ Value any }
		ExceptionDetails struct{ Text string }
	}
	f.must(json.Unmarshal(f.call("script.evaluate", map[string]any{"expression": "Promise.resolve(" + expression + ").then(String)", "target": map[string]string{"context": f.context}, "awaitPromise": true}), &got))
	if got.Type != "success" {
		f.Fatalf("%.300s: %s", expression, got.ExceptionDetails.Text)
	}
	return fmt.Sprint(got.Result.Value)
}

func (f *fox) wait(expression string) {
	f.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if f.eval("Boolean("+expression+")") == "true" {
			return
		}
	}
	f.Fatalf("never true: %s; the page shows:\n%.2000s", expression, f.eval("document.body.innerText"))
}

// give selects files as the browser's file dialog would.
func (f *fox) give(files ...string) {
	f.Helper()
	f.eval(`document.querySelector("#outcome > *")?.setAttribute("data-old", "")`)
	var located struct{ Nodes []struct{ SharedID string } }
	f.must(json.Unmarshal(f.call("browsingContext.locateNodes", map[string]any{"context": f.context, "locator": map[string]string{"type": "css", "value": "#receipt-files"}}), &located))
	if len(located.Nodes) != 1 {
		f.Fatalf("%d fields for files", len(located.Nodes))
	}
	f.call("input.setFiles", map[string]any{"context": f.context, "element": map[string]string{"sharedId": located.Nodes[0].SharedID}, "files": files})
}

func (f *fox) expect(verdict string) {
	f.Helper()
	f.wait(`document.querySelector("#outcome > :not([data-old]) .verdict strong")?.textContent === ` + quote(verdict))
}

// These are the key values that WebDriver defines.
const (
	tabKey   = "\uE004"
	enterKey = "\uE007"
)

// press presses and releases a key.
func (f *fox) press(key string) {
	f.Helper()
	f.call("input.performActions", map[string]any{"context": f.context, "actions": []any{map[string]any{
		"type": "key", "id": "keyboard", "actions": []map[string]string{{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}},
	}}})
}

// reach presses Tab until the element that matches a selector has the focus. Every element on the
// way must show a focus ring.
func (f *fox) reach(selector string) {
	f.Helper()
	var passed []string
	for range 60 {
		f.press(tabKey)
		at := f.eval(`((e) => e.id || e.className || e.localName)(document.activeElement)`)
		passed = append(passed, at)
		if f.eval(`document.activeElement === document.body`) == "true" { // the end of the page
			continue
		}
		if ring := f.eval(`((e) => { const s = getComputedStyle(e), r = e.getBoundingClientRect(); return s.outlineStyle + " " + s.outlineWidth + (r.width * r.height > 1 ? "" : " of nothing"); })(document.activeElement)`); ring != "solid 3px" {
			f.Errorf("%s has the focus, and shows %s", at, ring)
		}
		if f.eval(`document.activeElement.matches(`+quote(selector)+`)`) == "true" {
			return
		}
	}
	f.Fatalf("the Tab key does not lead to %s, but by %q", selector, passed)
}

// run runs a script on the page.
func (f *fox) run(script []byte) {
	f.Helper()
	f.call("script.evaluate", map[string]any{"expression": string(script) + "\n;true", "target": map[string]string{"context": f.context}, "awaitPromise": false})
}

// judge runs axe-core on the current content of the page, and checks that the content fits into the
// window.
func (f *fox) judge(name string) {
	f.Helper()
	if found := f.eval(`axe.run().then(({ passes, violations }) => passes.length === 0 ? "nothing was looked at" : violations.map((v) => v.id + ": " + v.help + " " + v.nodes[0].target).join("; "))`); found != "" {
		f.Errorf("%s: %s", name, found)
	}
	if over := f.eval(`document.documentElement.scrollWidth > innerWidth`); over != "false" {
		f.Errorf("%s: it does not fit", name)
	}
}

func (f *fox) picture(name string) {
	f.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	f.must(json.Unmarshal(f.call("browsingContext.captureScreenshot", map[string]any{"context": f.context, "origin": "document"}), &shot))
	f.must(os.WriteFile(filepath.Join(dir, "firefox-"+name+".png"), shot.Data, 0o644))
}

// testFirefox repeats testSitting in the other browser engine, with wide and narrow windows and in
// light and dark mode.
func testFirefox(t *testing.T, url, stream string) {
	path := os.Getenv("AXE")
	needs(t, "axe-core: $AXE names no file", path == "")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	large := largeFile(t, stream)
	for scheme, width := range map[string]int{"light": 1440, "dark": 390} {
		f := startFirefox(t, scheme == "dark")
		f.open(url, width)
		f.run(axe)
		if dark := f.eval(`matchMedia("(prefers-color-scheme: dark)").matches`); dark != fmt.Sprint(scheme == "dark") {
			t.Errorf("%s: the scheme is not", scheme)
		}
		f.judge("start, " + scheme)

		f.give(fixture(t, "valid/full.json"), fixture(t, "keys/trust.json"))
		f.expect("Verified")
		f.judge("verified, " + scheme)
		f.picture("verified-" + scheme)

		f.give(large)
		f.wait(`!document.getElementById("running").hidden && document.getElementById("progress").value > 0`)
		if shown := f.eval(`document.body.innerText`); strings.Contains(shown, "full.json") {
			t.Errorf("while a newer file is read, the page shows %s", shown)
		}
		f.give(writeFile(t, "invoice.pdf", "%PDF-1.7\n"))
		f.wait(`document.querySelector("#outcome .stranger")?.innerText.includes("This is a PDF document. Nothing was verified.")`)
		f.judge("no receipt, " + scheme)

		f.give(resealed(t))
		f.expect("Refuted")
		if shown := f.eval(`document.getElementById("outcome").innerText`); !strings.Contains(shown, "Signature forged") || !strings.Contains(shown, "Do not rely on this.") {
			t.Errorf("of a forgery: %s", shown)
		}
		f.judge("forged, " + scheme)

		sealed := series(t, 3)
		f.give(proofOf(t, sealed, 1), writeFile(t, "receipt-1.json", string(sealed[1].JSON())))
		f.expect("Verified")

		f.eval(`document.querySelector("#outcome .technical > summary").click()`)
		f.wait(`document.querySelector("#outcome .technical").open`)
		f.wait(`/batch\s+Passed/.test(document.querySelector("#outcome .steps").innerText)`)
		f.judge("steps, " + scheme)

		f.mu.Lock()
		for _, n := range f.noise {
			t.Errorf("%s: %s", scheme, n)
		}
		f.mu.Unlock()
	}
}

// testFirefoxKeys verifies that the page can be used with the keyboard only. The test reaches the
// file button, views the example and its steps, alters the example, and undoes the change.
func testFirefoxKeys(t *testing.T, url string) {
	f := startFirefox(t, false)
	f.open(url, 1100)
	f.reach("#choose-receipts")
	f.reach("#example")
	f.press(enterKey)
	f.expect("Verified")

	f.eval(`document.querySelector("#outcome > *")?.setAttribute("data-old", "")`)
	f.reach("#tamper")
	f.press(enterKey)
	f.expect("Refuted")
	f.reach("#undo")
	f.press(enterKey)
	f.wait(`document.querySelector("#outcome .verdict strong")?.textContent === "Verified"`)

	f.reach("#outcome .technical > summary")
	f.press(enterKey)
	f.wait(`document.querySelector("#outcome .technical").open`)
}
