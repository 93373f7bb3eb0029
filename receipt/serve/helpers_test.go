package serve_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// fixture returns the content of a file from package fixtures.
func fixture(t testing.TB, path string) []byte {
	t.Helper()
	text, err := fixtures.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func trusted(t testing.TB) *keys.Set {
	t.Helper()
	set, err := keys.ParseSet(fixture(t, "keys/trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// verifierOf returns a verifier that uses the keys from the fixtures.
func verifierOf(t testing.TB, policy receipt.Policy) *serve.Verifier {
	t.Helper()
	text := fixture(t, "keys/trust.json")
	set := trusted(t)
	v, err := serve.NewVerifier(set, policy, &stream.Keys{Path: "trust.json", SHA256: canon.Sum(text), Count: set.Len()})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// noon returns the time that the test servers use as the current time. It is later than the time of
// every fixture, except fixtures from the future.
func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// options returns options that use the keys from the fixtures and a clock that is set to noon.
func options(t testing.TB) serve.Options {
	t.Helper()
	v := verifierOf(t, receipt.Policy{})
	return serve.Options{Verifier: func() *serve.Verifier { return v }, Public: true, Now: noon}
}

// apiKeysOf returns an API key with the given name and a key set that contains it.
func apiKeysOf(t testing.TB, name string) (key string, keys *protocol.APIKeys) {
	t.Helper()
	key, entry, err := protocol.NewAPIKey(rand.Reader, name, noon())
	if err != nil {
		t.Fatal(err)
	}
	if keys, err = protocol.NewAPIKeys(entry); err != nil {
		t.Fatal(err)
	}
	return key, keys
}

// A host is a server on a loopback address.
type host struct {
	t      testing.TB
	server *serve.Server
	http   *http.Server
	addr   string
	client *http.Client
}

// start starts a server that runs until the test ends.
func start(t testing.TB, o serve.Options) *host {
	t.Helper()
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return startHandler(t, s, s)
}

func startHandler(t testing.TB, s *serve.Server, h http.Handler, change ...func(*http.Server)) *host {
	t.Helper()
	return startServer(t, s, serve.HTTPServer(h, nil, 0), change...)
}

func startServer(t testing.TB, s *serve.Server, hs *http.Server, change ...func(*http.Server)) *host {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(hs)
	}
	var done sync.WaitGroup
	done.Go(func() { _ = hs.Serve(l) })
	client := &http.Client{Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		hs.Close()
		done.Wait()
	})
	return &host{t, s, hs, l.Addr().String(), client}
}

// A reply is a response that was read completely.
type reply struct {
	status int
	header http.Header
	body   []byte
	err    error // error from reading the body
	closed bool  // whether the connection is closed after the response
}

// do sends a request. Headers are pairs of a name and a value.
func (h *host) do(method, path string, body io.Reader, headers ...string) reply {
	h.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+h.addr+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := h.client.Do(r)
	if err != nil {
		h.t.Fatalf("%s %.60s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, text, err, res.Close}
}

func (h *host) get(path string, headers ...string) reply {
	h.t.Helper()
	return h.do("GET", path, nil, headers...)
}

func (h *host) post(path, media string, body []byte, headers ...string) reply {
	h.t.Helper()
	return h.do("POST", path, bytes.NewReader(body), append(headers, "Content-Type", media)...)
}

// version returns the version header that the protocol's routes require.
func version() []string { return []string{"Harn-Agents-Protocol-Version", protocol.Version} }

// raw sends bytes, and returns everything that the server sends until it closes the connection.
func (h *host) raw(request string) string {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, request) // a server that rejects the request closes the connection early
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// object parses a response as a JSON object.
func (r reply) object(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("%d: no JSON object: %v: %.200q", r.status, err, r.body)
	}
	return v
}

// code returns the code in an error response, or "" if there is none.
func (r reply) code() string {
	var e struct {
		Error struct{ Code, Type, Param string }
	}
	_ = json.Unmarshal(r.body, &e)
	return e.Error.Code
}

func (r reply) param() string {
	var e struct{ Error struct{ Param string } }
	_ = json.Unmarshal(r.body, &e)
	return e.Error.Param
}

// lines returns the lines of a streamed response.
func (r reply) lines() []string {
	if len(r.body) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(r.body), "\n"), "\n")
}

// quiet waits until there are at most as many goroutines as before.
func quiet(t testing.TB, before int) {
	t.Helper()
	for range 600 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond) // there is no event for the end of a goroutine
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// A shelf is an in-memory source of receipts.
type shelf struct {
	texts map[string][]byte
	tasks map[string][]string // receipt IDs indexed by task, in order
	err   error               // returned by every call if it is not nil
}

func newShelf() *shelf { return &shelf{texts: map[string][]byte{}, tasks: map[string][]string{}} }

func (s *shelf) put(task, id string, text []byte) {
	s.texts[id] = text
	s.tasks[task] = append(s.tasks[task], id)
}

// Get ignores the client's reach, as a faulty source might.
func (s *shelf) Get(_ context.Context, id string, _ protocol.Reach) (serve.Stored, error) {
	if s.err != nil {
		return serve.Stored{}, s.err
	}
	text, ok := s.texts[id]
	if !ok {
		return serve.Stored{}, ledger.ErrNotFound
	}
	return serve.Stored{JSON: text}, nil
}

func (s *shelf) ByTask(_ context.Context, q serve.TaskQuery) (page []serve.Stored, more bool, err error) {
	if s.err != nil {
		return nil, false, s.err
	}
	list := s.tasks[q.Task]
	if !q.After.IsZero() {
		at := slices.IndexFunc(list, func(id string) bool { return servetest.HashOf(s.texts[id]) == q.After })
		if at < 0 {
			return nil, false, ledger.ErrCursor
		}
		list = list[at+1:]
	}
	for i, id := range list {
		if i == q.Limit {
			return page, true, nil
		}
		page = append(page, serve.Stored{JSON: s.texts[id]})
	}
	return page, false, nil
}

func openFiles(t testing.TB, content map[string][]byte) *files.Index {
	t.Helper()
	_, sources := servetest.Files(t, content)
	f, err := files.Open(context.Background(), files.Options{}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
