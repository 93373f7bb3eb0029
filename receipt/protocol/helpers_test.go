package protocol

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// noon returns the time that tests use as the current time.
func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// A clock is a source of time that tests can set.
type clock struct{ past atomic.Int64 }

func (c *clock) now() time.Time { return noon().Add(time.Duration(c.past.Load())) }

// An endless value is a source of identical bytes without an end. It replaces the random source.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xab
	}
	return len(p), nil
}

// muxOf returns a Mux that has the given routes.
func muxOf(t testing.TB, change func(*Options), routes ...Route) *Mux {
	t.Helper()
	o := Options{Routes: routes, Now: noon, Random: endless{}}
	if change != nil {
		change(&o)
	}
	o.Public = o.Auth == nil
	m, err := NewMux(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A reply is a response that has been read completely.
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

// ask sends a request to a handler. Headers are pairs of a name and a value. If the headers do not
// set them, ask adds the protocol version and the JSON content type.
func ask(h http.Handler, method, path, body string, headers ...string) reply {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set(VersionHeader, Version)
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

// serving serves a handler on the loopback interface until the test ends.
func serving(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	conn.Limit(s.Config, 1000)
	s.Start()
	t.Cleanup(s.Close)
	return s
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

// keysOf returns API keys with the given names and members, together with the header for each key.
func keysOf(t testing.TB, members map[string]string) (keys *APIKeys, bearer map[string]string) {
	t.Helper()
	text, bearer := "", map[string]string{}
	for name, more := range members {
		sum := canon.Sum([]byte(name))
		key, entry, err := NewAPIKey(strings.NewReader(string(sum[:])), name, noon())
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		text += strings.TrimSuffix(string(line), "}") + more + "}\n"
		bearer[name] = "Bearer " + key
	}
	keys, err := ParseAPIKeys([]byte(text), Scopes()...)
	if err != nil {
		t.Fatal(err)
	}
	return keys, bearer
}

// parses reports whether the given path can occur in a request.
func parses(path string) bool {
	u, err := url.ParseRequestURI(path)
	return err == nil && u.Host == ""
}

// askRaw sends a request with exactly the given headers.
func askRaw(h http.Handler, method, path, body string, header http.Header) reply {
	u, _ := url.ParseRequestURI(path)
	r := &http.Request{Method: method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), RemoteAddr: "192.0.2.1:1234"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.Background()))
	return reply{w.Code, w.Header(), w.Body.String()}
}

// plain returns a Handler that calls an http.Handler. The http.Handler writes its own error
// responses.
func plain(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		h.ServeHTTP(w, r.Request)
		return nil
	}
}
