package e2e

import (
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

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the time limit for each wait, which allows for a busy machine.
const patience = 90 * time.Second

// A tab is a page in the browser.
type tab struct {
	*testing.T
	ctx       context.Context
	downloads string

	mu    sync.Mutex
	noise []string // unexpected requests and console messages
	url   string
}

// needs skips a test if a tool is missing, except in CI, where all tests must run.
func needs(t *testing.T, what string, missing bool) {
	t.Helper()
	if !missing {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no %s", what)
	}
	t.Skipf("no %s", what)
}

// start starts a browser that can reach only this machine.
func start(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	if path == "" {
		path, _ = exec.LookPath("chromium")
	}
	needs(t, "chromium, Debian's package of that name", path == "")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// open opens the page in a new tab, and returns when the page is ready.
func open(t *testing.T, parent context.Context, url string) *tab {
	t.Helper()
	b := load(t, parent, url)
	b.wait(`document.getElementById("tool").textContent.startsWith("receipt ")`)
	return b
}

// load opens a page and records all of its activity.
func load(t *testing.T, parent context.Context, url string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(parent)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx, url: url, downloads: t.TempDir()}
	b.must(chromedp.Do(ctx))
	b.must(chromedp.Listen(ctx, b.listen))
	b.call(chromedp.Call(ctx, network.Enable, network.EnableParams{}))
	b.call(chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: b.downloads}))
	b.size(1100, 900)
	b.must(chromedp.Do(ctx, chromedp.Navigate(url)))
	return b
}

// listen records every request except the one for the page itself, and everything that is written
// to the console.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != b.url && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, "data:") {
			b.noise = append(b.noise, "request "+u)
		}
	case *network.EventWebSocketCreated:
		b.noise = append(b.noise, "websocket "+e.URL)
	case *runtime.EventConsoleAPICalled:
		b.noise = append(b.noise, fmt.Sprintf("console %s %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		b.noise = append(b.noise, fmt.Sprintf("exception %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		b.noise = append(b.noise, "log "+e.Entry.Text)
	}
}

// quiet fails the test if the page made a request or wrote to the console.
func (b *tab) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.noise {
		b.Error(n)
	}
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *tab) call(_ any, err error) {
	b.Helper()
	b.must(err)
}

// eval evaluates an expression, and returns its value decoded from JSON.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression becomes true.
func (b *tab) wait(expression string) {
	b.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Boolean("+expression+")") {
			return
		}
	}
	b.Fatalf("never true: %s; the page shows:\n%.2000s", expression, b.text("main"))
}

func quote(text string) string {
	q, _ := json.Marshal(text) // encoding a string cannot fail
	return string(q)
}

// text returns the text shown by an element, or "" if the element does not exist.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, `document.querySelector(`+quote(selector)+`)?.innerText ?? ""`)
}

func (b *tab) count(selector string) int {
	b.Helper()
	return eval[int](b, `document.querySelectorAll(`+quote(selector)+`).length`)
}

// click clicks the middle of the visible part of an element.
func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// do performs an action on the page. Before that, it marks the current outcome as old.
func (b *tab) do(action chromedp.Action[chromedp.Void]) {
	b.Helper()
	eval[bool](b, `document.querySelector("#outcome > *")?.setAttribute("data-old", ""), true`)
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	b.must(chromedp.Do(ctx, action))
}

// drop drops files onto the middle of the page.
func (b *tab) drop(files ...string) {
	b.Helper()
	eval[bool](b, `document.querySelector("#outcome > *")?.setAttribute("data-old", ""), true`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		b.call(chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 500, Y: 300, Data: data}))
	}
}

// pick selects files as the browser's file dialog would.
func (b *tab) pick(field string, files ...string) {
	b.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(field), files, chromedp.NodeReady))
}

// expect waits for a new outcome that shows the verdict and, for a single receipt, the headlines.
func (b *tab) expect(verdict string, headlines ...string) {
	b.Helper()
	b.wait(`document.querySelector("#outcome > :not([data-old]) .verdict strong")?.textContent === ` + quote(verdict) +
		` && document.getElementById("running").hidden`)
	got := eval[[]string](b, `[...document.querySelectorAll("#outcome .pair h2")].map((h) => h.textContent)`)
	if strings.Join(got, ", ") != strings.Join(headlines, ", ") {
		b.Errorf("headlines %q, want %q", got, headlines)
	}
	if said := b.said(); !strings.Contains(said, verdict) {
		b.Errorf("the live region says %q, want %q", said, verdict)
	}
}

func (b *tab) said() string {
	return eval[string](b, `document.getElementById("live").textContent`)
}

func (b *tab) size(width, height int64) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
}

func (b *tab) scheme(name string) {
	b.Helper()
	b.call(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}))
}

func (b *tab) media(name string) {
	b.Helper()
	b.call(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name}))
}

// downloaded waits until the page creates a file.
func (b *tab) downloaded(name string) []byte {
	b.Helper()
	path := filepath.Join(b.downloads, name)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return data
		}
	}
	b.Fatalf("no download %s", name)
	return nil
}

// picture saves a screenshot if screenshots were requested.
func (b *tab) picture(name string) {
	b.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.must(err)
	b.must(os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644))
}
