package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// serving starts a server that adds receipts to an existing handler.
func serving(t *testing.T, existing http.HandlerFunc, log io.Writer) (url string, store *sqlite.Ledger) {
	t.Helper()
	data, err := os.ReadFile("../../fixtures/keys/key_2026_04.private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	store, err = sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	server := httptest.NewServer(withReceipts(existing, &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now)}, slog.New(slog.NewTextHandler(log, nil))))
	t.Cleanup(server.Close)
	return server.URL, store
}

// TestReceipts verifies that a verified receipt states the outcome of each request, and that the
// response is the one from the handler.
func TestReceipts(t *testing.T) {
	var log bytes.Buffer
	url, store := serving(t, existing, &log)
	data, err := os.ReadFile("../../fixtures/keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for body, want := range map[string]string{"beans": "200 watered: beans\n succeeded", "": "400 expected the name of a plant\n failed", "roses": "200 watered: roses\n succeeded"} {
		group.Go(func() {
			answer, err := http.Post(url+"/plants", "text/plain", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			text, err := io.ReadAll(answer.Body)
			if answer.Body.Close(); err != nil {
				t.Error(err)
			}
			sealed, err := ledger.Get(t.Context(), store, answer.Header.Get("Receipt-Id"))
			if err != nil {
				t.Error(err)
				return
			}
			r, err := v.Open(sealed.JSON())
			if err != nil {
				t.Error(err)
				return
			}
			if got := answer.Status[:3] + " " + string(text) + " " + r.SideEffects.ToolCalls[0].Status; got != want {
				t.Errorf("%q, expected %q", got, want)
			}
		})
	}
	group.Wait()
	if log.Len() > 0 {
		t.Errorf("%s", &log)
	}
}

// TestNoReceipt verifies that a request is answered even if no receipt can be issued, and that the
// failure is logged.
func TestNoReceipt(t *testing.T) {
	var log bytes.Buffer
	url, store := serving(t, existing, &log)
	store.Close()
	answer, err := http.Post(url, "text/plain", strings.NewReader("beans"))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 || answer.Header.Get("Receipt-Id") != "" || !strings.Contains(log.String(), "a request without a receipt") {
		t.Errorf("%v\n%s", answer, &log)
	}
}

// TestRun verifies that the program serves requests until it is stopped, and that it leaves no
// files behind.
func TestRun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "../../fixtures/keys/key_2026_04.private.json", out); out.Close() }()
	line := make([]byte, 200)
	n, err := in.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(line[:n]))
	answer, err := http.Post(fields[len(fields)-1], "text/plain", strings.NewReader("beans"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.Header.Get("Receipt-Id") == "" {
		t.Errorf("%v", answer)
	}

	// A request that is in progress when the program is stopped also gets a receipt.
	body, rest := io.Pipe()
	answered := make(chan *http.Response, 1)
	go func() {
		answer, err := http.Post(fields[len(fields)-1], "text/plain", body)
		if err != nil {
			t.Error(err)
			answer = &http.Response{Body: http.NoBody}
		}
		answered <- answer
	}()
	io.WriteString(rest, "be")
	time.Sleep(100 * time.Millisecond) // gives the server time to read the first part
	cancel()
	time.Sleep(100 * time.Millisecond)
	io.WriteString(rest, "ans")
	rest.Close()
	if answer = <-answered; answer.Header.Get("Receipt-Id") == "" {
		t.Errorf("the request in progress: %v", answer)
	}
	answer.Body.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestDocs verifies that each part of the excerpt in docs/protocol.md matches consecutive lines of
// receipts.go.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("receipts.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- from: examples/handler -->\n```go\n(.*?)```\n").FindStringSubmatch(string(page))
	if block == nil {
		t.Fatal("docs/protocol.md has no excerpt")
	}
	all := lines(string(source))
	for piece := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n\n") {
		want := lines(piece)
		if !slices.ContainsFunc(windows(all, len(want)), func(w []string) bool { return slices.Equal(w, want) }) {
			t.Errorf("no such piece in receipts.go:\n%s", piece)
		}
	}
}

// lines returns the lines of a text without indentation.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

func windows(all []string, n int) (list [][]string) {
	for at := range len(all) - n + 1 {
		list = append(list, all[at:at+n])
	}
	return list
}
