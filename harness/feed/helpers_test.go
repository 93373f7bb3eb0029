package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// noon returns the time that tests use as the current time.
func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// endless is an endless source of identical bytes, which replaces the random source.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xab
	}
	return len(p), nil
}

// muxOf returns a protocol.Mux that has the given routes.
func muxOf(t testing.TB, change func(*protocol.Options), routes ...protocol.Route) *protocol.Mux {
	t.Helper()
	o := protocol.Options{Routes: routes, Now: noon, Random: endless{}}
	if change != nil {
		change(&o)
	}
	o.Public = o.Auth == nil
	m, err := protocol.NewMux(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loadedKeys contains API keys that can be replaced.
type loadedKeys func() *protocol.APIKeys

func (f loadedKeys) Authenticate(r *http.Request) (*protocol.Client, error) {
	return f().Authenticate(r)
}

// A reply is a response that was read completely.
type reply struct {
	status int
	header http.Header
	body   string
}

// said returns the status, the code, and the param of an error response.
func (r reply) said() string {
	var e struct{ Error struct{ Code, Param string } }
	_ = json.Unmarshal([]byte(r.body), &e)
	return strings.TrimSpace(fmt.Sprint(r.status, " ", e.Error.Code, " ", e.Error.Param))
}

// ask sends a request to a handler. The headers alternate between names and values. By default, ask
// sets the protocol version and the JSON content type.
func ask(h http.Handler, method, path, body string, headers ...string) reply {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// quiet waits until there are at most as many goroutines as before.
func quiet(t testing.TB, before int) {
	t.Helper()
	for range 600 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond) // nothing signals the end of a goroutine
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// until waits until the given condition is true.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for range 30_000 {
		if so() {
			return
		}
		time.Sleep(time.Millisecond) // nothing signals that the condition has changed
	}
	t.Fatalf("after half a minute it is not so that %s", what)
}

// A counter counts the requests that a handler is currently processing.
type counter struct {
	http.Handler
	now atomic.Int64
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.now.Add(1)
	defer c.now.Add(-1)
	c.Handler.ServeHTTP(w, r)
}

// askRaw sends a request with exactly the given headers.
func askRaw(h http.Handler, method, path, body string, header http.Header) reply {
	u, _ := url.ParseRequestURI(path)
	r := &http.Request{Method: method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), RemoteAddr: "192.0.2.1:1234"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.Background()))
	return reply{w.Code, w.Header(), w.Body.String()}
}

// A journal is a log that keeps events in memory.
type journal struct {
	Bell
	mu     sync.Mutex
	events []Event
	pruned int   // number of events that were removed from the beginning
	ended  bool  // whether no more events will be appended
	fail   error // returned by every read if it is not nil
	reads  int
	most   int // maximum number of events per read
}

func eventOf(n int) Event {
	id := fmt.Sprintf("e%06d", n)
	return Event{ID: id, Kind: "task.status_changed", JSON: fmt.Appendf(nil, `{"object":"event","id":%q,"event":"task.status_changed","sequence":%d}`, id, n)}
}

func (j *journal) append(n int) {
	j.mu.Lock()
	for range n {
		j.events = append(j.events, eventOf(len(j.events)))
	}
	j.mu.Unlock()
	j.Ring()
}

func (j *journal) set(change func()) {
	j.mu.Lock()
	change()
	j.mu.Unlock()
	j.Ring()
}

func (j *journal) Appended() <-chan struct{} { return j.Rung() }

func (j *journal) After(_ context.Context, id string, limit int) ([]Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	from := 0
	if id != "" {
		if _, err := fmt.Sscanf(id, "e%06d", &from); err != nil || from >= len(j.events) || from < j.pruned {
			return nil, fmt.Errorf("the event %q: %w", id, ErrGone)
		}
		from++
	}
	if j.fail != nil {
		return nil, j.fail
	}
	page := j.events[from:min(from+limit, len(j.events))]
	j.most = max(j.most, len(page))
	if j.ended && from+len(page) == len(j.events) {
		return page, io.EOF
	}
	return page, nil
}

// unread sends a request as a client that does not read the response until gate is closed.
func unread(m http.Handler, path, address string, gate chan struct{}) (w *stuckWriter, ended chan struct{}) {
	w = &stuckWriter{ResponseRecorder: httptest.NewRecorder(), gate: gate, writing: make(chan struct{}, 1000)}
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.RemoteAddr = address + ":1"
	ended = make(chan struct{})
	go func() { m.ServeHTTP(w, r); close(ended) }()
	select {
	case <-w.writing:
	case <-ended:
	case <-time.After(5 * time.Second):
	}
	return w, ended
}

// A stuckWriter is the response writer for a client that does not read.
type stuckWriter struct {
	*httptest.ResponseRecorder
	gate    chan struct{}
	writing chan struct{}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	w.writing <- struct{}{}
	<-w.gate
	return w.ResponseRecorder.Write(p)
}

// keyOf returns a key set with a single API key and the Authorization header for that key.
func keyOf(t testing.TB, name string, reach protocol.Reach) (keys *protocol.APIKeys, bearer string) {
	t.Helper()
	key, entry, err := protocol.NewAPIKey(endless{}, name, noon())
	if err != nil {
		t.Fatal(err)
	}
	entry.Reach = reach
	if keys, err = protocol.NewAPIKeys(entry); err != nil {
		t.Fatal(err)
	}
	return keys, "Bearer " + key
}
