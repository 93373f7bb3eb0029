package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestHarness verifies that the program serves the page and the receipts of its tasks, and ends
// when it is interrupted. The second run continues the stream from the first run.
func TestHarness(t *testing.T) {
	program, path := build(t), filepath.Join(t.TempDir(), "it's a ledger.db")
	set := trust(t, keyFile)
	for n := range 2 {
		p := start(t, program, "-tasks", "2", "-ledger", path)
		if len(p.receipts) != 2 {
			t.Fatalf("%d receipts", len(p.receipts))
		}
		for _, id := range p.receipts {
			p.check(t, id, set)
		}
		if html := p.do(t, http.MethodGet, "/", nil); !bytes.HasPrefix(html, []byte("<!doctype html>")) {
			t.Errorf("the page: %.100s", html)
		}
		p.interrupt(t)
		fsck(t, path, set, 2*n+2)
	}
}

// TestFolder verifies that a run without -ledger leaves no files.
func TestFolder(t *testing.T) {
	program, temp := build(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := start(t, program)
	if within, err := os.ReadDir(temp); err != nil || len(within) != 1 {
		t.Errorf("at work: %v, %v", within, err)
	}
	p.interrupt(t)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestFailedTask verifies that the receipt for a failed task states the failure.
func TestFailedTask(t *testing.T) {
	for _, test := range []struct {
		folder, site, calls string
	}{
		{t.TempDir(), "http://127.0.0.1:1", "succeeded failed"},
		{t.TempDir(), "://", "succeeded failed"},
		{filepath.Join(t.TempDir(), "absent"), "", "failed"},
	} {
		h := &harness{issuer: issuer(t), folder: test.folder, site: test.site}
		sealed, err := h.do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var d receipt.Draft
		if err := json.Unmarshal(sealed.JSON(), &d); err != nil {
			t.Fatal(err)
		}
		var calls []string
		for _, c := range d.SideEffects.ToolCalls {
			calls = append(calls, c.Status)
		}
		if got := strings.Join(calls, " "); d.Lifecycle.FinalState != "FAILED" || got != test.calls || len(d.SideEffects.NetworkEgress) > 0 {
			t.Errorf("%s, %s, %v", d.Lifecycle.FinalState, got, d.SideEffects.NetworkEgress)
		}
	}
}

// TestUnknownOutcome verifies that the program retries a draft until the outcome is known, even
// while the program is being stopped.
func TestUnknownOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	i := issuer(t)
	store := i.Store.(*sqlite.Ledger)
	forgets := &forgetful{Store: store, times: 2}
	i.Store = forgets
	h := &harness{issuer: i, folder: t.TempDir(), site: "http://127.0.0.1:1"}
	cancel()
	sealed, err := h.do(ctx)
	if err != nil || forgets.times != 0 {
		t.Fatalf("%v, %d", err, forgets.times)
	}
	if streams, err := store.Streams(t.Context()); err != nil || streams[0].Head.Count != 1 || streams[0].Head.Hash != sealed.Hash() {
		t.Errorf("%v, %v", streams, err)
	}
}

// forgetful is a store that stores receipts but reports an error.
type forgetful struct {
	ledger.Store
	times int
}

func (f *forgetful) Append(ctx context.Context, runs ...ledger.Run) error {
	err := f.Store.Append(ctx, runs...)
	if f.times > 0 {
		f.times--
		return io.ErrUnexpectedEOF
	}
	return err
}

// issuer returns an issuer that has a separate ledger.
func issuer(t *testing.T) *ledger.Issuer {
	t.Helper()
	store, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	key, err := read("../../fixtures/keys/key_2026_04.private.json", keys.ParsePrivate)
	if err != nil {
		t.Fatal(err)
	}
	return &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now)}
}

// TestReadme verifies that each part of the program excerpts in the README matches consecutive
// lines of the program.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range []string{"main.go", "task.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lines(string(text))...)
	}
	blocks := regexp.MustCompile("(?s)<!-- from: examples/harness -->\n```go\n(.*?)```\n").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("the README has no excerpt")
	}
	for _, block := range blocks {
		for piece := range strings.SplitSeq(block[1], "\n\n") {
			want := lines(piece)
			if !contains(all, want) {
				t.Errorf("no such piece in this folder:\n%s", piece)
			}
		}
	}
}

// lines splits text into lines and removes their indentation.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

func contains(all, piece []string) bool {
	for at := range len(all) - len(piece) + 1 {
		if slices.Equal(all[at:at+len(piece)], piece) {
			return true
		}
	}
	return false
}

// A process is a running instance of the program.
type process struct {
	cmd      *exec.Cmd
	errors   bytes.Buffer
	url      string
	receipts []string // their ids
	replays  []string // IDs of the receipts for replays
}

const root, keyFile = "../..", "../../fixtures/keys/trust.json"

// asProgram is the environment variable that makes the test binary run the program.
const asProgram = "TEST_AS_HARNESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
}

// build returns the path of the program, which is the test binary itself.
func build(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// start starts the program in a directory of the clone, and reads its output until the program
// waits.
func start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.Env = root, &p.errors, append(os.Environ(), asProgram+"=1")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { p.cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); p.cmd.Process.Kill() })
	var next string
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		label, text, _ := strings.Cut(scanner.Text(), " ")
		switch text = strings.TrimSpace(text); label {
		case "receipt":
			p.receipts = append(p.receipts, text)
		case "replay":
			p.replays = append(p.replays, text)
		case "next":
			next = text
		case "serving":
			p.url, _, _ = strings.Cut(text, " ")
			if last := p.receipts[len(p.receipts)-1]; !strings.Contains(next, p.url+"/v1/receipts/"+last+" | ") {
				t.Errorf("next: %s", next)
			}
			return p
		}
	}
	t.Fatalf("it ended: %v\n%s", p.cmd.Wait(), &p.errors)
	return nil
}

// check fetches a receipt over HTTP as a reader would, and verifies it both with the endpoint and
// in the test.
func (p *process) check(t *testing.T, id string, set *keys.Set) {
	t.Helper()
	var answer struct {
		Wire struct{ Payload json.RawMessage }
	}
	if err := json.Unmarshal(p.do(t, http.MethodGet, "/v1/receipts/"+id, nil), &answer); err != nil {
		t.Fatal(err)
	}
	r, err := verifier(t, set).Open(answer.Wire.Payload)
	if err != nil {
		t.Fatalf("%v\n%s", err, answer.Wire.Payload)
	}
	if r.ReceiptID != id || r.Lifecycle.FinalState != "SUCCEEDED" || len(r.SideEffects.ToolCalls) != 2 || r.Approvals[0].Decision != "approved" {
		t.Errorf("%+v", r)
	}
	if w := r.SideEffects.FSWrites; len(w) != 1 || w[0].Operation != "create" || w[0].AfterSHA256.IsZero() {
		t.Errorf("%+v", w)
	}
	var report struct{ Verdict string }
	if err := json.Unmarshal(p.do(t, http.MethodPost, "/v1/verify", answer.Wire.Payload), &report); err != nil || report.Verdict != "verified" {
		t.Errorf("%v, %v", report, err)
	}
}

// do sends a request and fails the test if the request fails.
func (p *process) do(t *testing.T, method, route string, body []byte) []byte {
	t.Helper()
	status, data := p.ask(t, method, route, body)
	if status != http.StatusOK {
		t.Fatalf("%s: %d\n%s", route, status, data)
	}
	return data
}

func (p *process) ask(t *testing.T, method, route string, body []byte) (status int, data []byte) {
	t.Helper()
	request, err := http.NewRequest(method, p.url+route, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Harn-Agents-Protocol-Version", protocol.Version)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, data
}

func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil || p.errors.Len() > 0 {
		t.Errorf("%v\n%s", err, &p.errors)
	}
}

func trust(t *testing.T, path string) *keys.Set {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func verifier(t *testing.T, set *keys.Set) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fsck checks that a ledger has no faults and contains want receipts in one stream.
func fsck(t *testing.T, path string, set *keys.Set, want int) {
	t.Helper()
	ctx := context.Background()
	l, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := ledger.Check(ctx, l, verifier(t, set), func(f ledger.Fault) { t.Errorf("%+v", f) }, nil)
	if err != nil || c.Verified != want || len(c.Streams) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
