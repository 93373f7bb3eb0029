package protocol

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counting is a handler that counts its calls and responds with the number.
func counting(n *atomic.Int64) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		w.Header().Set("Location", "/v1/things/1")
		return WriteJSON(w, 201, map[string]int64{"n": n.Add(1)})
	}
}

// TestOnceScope verifies that a key belongs to an actor, a workspace, a method, and a target, and
// that bodies with the same canonical form are equal.
func TestOnceScope(t *testing.T) {
	keys, bearer := keysOf(t, map[string]string{"a": "", "b": ""})
	var n atomic.Int64
	var time clock
	m := muxOf(t, func(o *Options) { o.Auth, o.Now = keys, time.now },
		Route{Pattern: "/v1/things", Params: []string{"workspace_id", "p"}, Serve: counting(&n)},
		Route{Pattern: "POST /v1/things/{id}", Body: BodyOptional, Serve: counting(&n)},
		Route{Pattern: "POST /v1/again", Again: true, Serve: counting(&n)},
	)
	for i, c := range []struct{ actor, method, path, body, key, want string }{
		{"a", "POST", "/v1/things", `{"x":1,"y":2}`, "k", "201 1"},
		{"a", "POST", "/v1/things", `{"y":2.0, "x":1}`, "k", "201 1"}, // the same, in another spelling
		{"a", "POST", "/v1/things", `{"x":2}`, "k", "409 idempotency_key_reused Idempotency-Key"},
		{"a", "POST", "/v1/things", `{"x":2}`, "K", "201 2"},
		{"b", "POST", "/v1/things", `{"x":2}`, "k", "201 3"},  // another actor
		{"a", "PATCH", "/v1/things", `{"x":2}`, "k", "201 4"}, // another method
		{"a", "POST", "/v1/things", `{"workspace_id":"w"}`, "k", "201 5"},
		{"a", "POST", "/v1/things", `{"workspace_id":"w","x":1}`, "k", "409 idempotency_key_reused Idempotency-Key"},
		{"a", "POST", "/v1/things", `{"workspace_id":"v","x":1}`, "k", "201 6"},
		{"a", "POST", "/v1/things?workspace_id=u&p=1", `{}`, "k", "201 7"},
		{"a", "POST", "/v1/things?p=1&workspace_id=u", `{}`, "k", "201 7"},
		{"a", "POST", "/v1/things?p=2&workspace_id=u", `{}`, "k", "201 8"}, // another target
		{"a", "POST", "/v1/things/1", ``, "k", "201 9"},
		{"a", "POST", "/v1/things/1", `{}`, "k", "201 9"}, // no body means {}
		{"a", "POST", "/v1/things/%31", ``, "k", "201 9"}, // the same target, in another spelling
		{"a", "POST", "/v1/things/2", ``, "k", "201 10"},
		{"a", "DELETE", "/v1/things", ``, "k", "201 11"},
		{"a", "DELETE", "/v1/things", ``, "k", "201 11"},
		{"a", "GET", "/v1/things", ``, "k", "201 12"}, // GET requests ignore the key
		{"a", "GET", "/v1/things", ``, "k", "201 13"},
		{"a", "POST", "/v1/again", `{}`, "k", "201 14"},
		{"a", "POST", "/v1/again", `{}`, "k", "201 15"},
		{"a", "POST", "/v1/things", `{}`, "", "201 16"},
		{"a", "POST", "/v1/things", `{}`, "", "201 17"},
		{"a", "POST", "/v1/things", `{}`, strings.Repeat("k", 256), "400 invalid_request Idempotency-Key"},
	} {
		got := ask(m, c.method, c.path, c.body, "Authorization", bearer[c.actor], "Idempotency-Key", c.key)
		said := got.said()
		if got.status == 201 {
			said = "201 " + strings.Trim(got.body, "{\"n:}\n")
		}
		if said != c.want || got.status == 201 && got.header.Get("Location") != "/v1/things/1" {
			t.Errorf("%d: %s %v, expected %s", i, said, got.header, c.want)
		}
	}

	// A key is valid for one day and no longer.
	for _, c := range []struct {
		after int
		want  string
	}{{24, "201"}, {25, "201"}} {
		before := n.Load()
		time.past.Store(int64(c.after) * 3600e9)
		got := ask(m, "POST", "/v1/things", `{"y":2, "x":1}`, "Authorization", bearer["a"], "Idempotency-Key", "k")
		if did := n.Load() - before; got.said() != c.want || did != map[int]int64{24: 0, 25: 1}[c.after] {
			t.Errorf("after %d hours: %s, done %d times", c.after, got.body, did)
		}
	}
}

// TestOnceOutcomes verifies that an error releases the key, because no work was done. After a 500,
// a panic, or a response that is too long, nothing may be repeated.
func TestOnceOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		serve Handler
		first string
		twice bool // whether the work is repeated
	}{
		"an error":       {func(http.ResponseWriter, *Request) error { return Busy(1, "later") }, "503 service_unavailable", true},
		"a refusal":      {func(http.ResponseWriter, *Request) error { return Invalid("x", "no") }, "400 invalid_request x", true},
		"a plain 409":    {func(w http.ResponseWriter, _ *Request) error { w.WriteHeader(409); return nil }, "409", true},
		"a plain 500":    {func(w http.ResponseWriter, _ *Request) error { w.WriteHeader(500); return nil }, "500", false},
		"a mistake":      {func(http.ResponseWriter, *Request) error { return errors.New("disk") }, "500 internal_error", false},
		"a panic":        {func(http.ResponseWriter, *Request) error { panic("disk") }, "500 internal_error", false},
		"a panic of nil": {func(http.ResponseWriter, *Request) error { panic(nil) }, "500 internal_error", false},
		"an abort":       {func(http.ResponseWriter, *Request) error { panic(http.ErrAbortHandler) }, "500 internal_error", false},
		"too long": {func(w http.ResponseWriter, _ *Request) error {
			_, err := w.Write(make([]byte, maxAnswer+1))
			if err == nil {
				t.Error("a value that is too long was written")
			}
			return nil
		}, "500 internal_error", false},
		"the longest": {func(w http.ResponseWriter, _ *Request) error {
			_, err := w.Write(make([]byte, maxAnswer))
			return err
		}, "200", false},
		"nothing":  {func(http.ResponseWriter, *Request) error { return nil }, "200", false},
		"a detour": {func(w http.ResponseWriter, _ *Request) error { w.WriteHeader(303); return nil }, "303", false},
		"written and refused": {func(w http.ResponseWriter, _ *Request) error {
			_, _ = w.Write([]byte("half of a secret"))
			return Conflict("no")
		}, "409 conflict", true},
	} {
		did := 0
		m := muxOf(t, nil, Route{Pattern: "POST /", Serve: func(w http.ResponseWriter, r *Request) error { did++; return c.serve(w, r) }})
		first := ask(m, "POST", "/", "{}", "Idempotency-Key", "k")
		again := ask(m, "POST", "/", "{}", "Idempotency-Key", "k")
		other := ask(m, "POST", "/", `{"x":1}`, "Idempotency-Key", "k")
		if first.said() != c.first || again.body != first.body || again.status != first.status || strings.Contains(first.body, "secret") {
			t.Errorf("%s: %s, then %s", name, first.said(), again.said())
		}
		if want := map[bool]int{true: 3, false: 1}[c.twice]; did != want || (other.status == 409 && strings.Contains(other.body, "reused")) == c.twice {
			t.Errorf("%s: done %d times; with another body %s", name, did, other.body)
		}
	}
}

// TestLateHeader verifies that a header that is set after the response has started is not sent.
func TestLateHeader(t *testing.T) {
	m := muxOf(t, nil, Route{Pattern: "POST /", Serve: func(w http.ResponseWriter, _ *Request) error {
		w.Header().Set("Early", "yes")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(201)
		w.Header().Set("Late", "yes")
		w.WriteHeader(400)
		return nil
	}})
	for range 2 {
		if got := ask(m, "POST", "/", "{}", "Idempotency-Key", "k"); got.status != 201 || got.header.Get("Early") != "yes" || got.header.Get("Late") != "" {
			t.Errorf("%d %v", got.status, got.header)
		}
	}
}

// TestOnceAtOnce verifies that one of many concurrent requests with the same key is served, and
// that the others immediately get its response or a 202.
func TestOnceAtOnce(t *testing.T) {
	for range 20 {
		var n atomic.Int64
		gate := make(chan struct{})
		m := muxOf(t, nil, Route{Pattern: "POST /", Serve: func(w http.ResponseWriter, r *Request) error {
			<-gate
			return counting(&n)(w, r)
		}})
		var among sync.WaitGroup
		var firsts, flying atomic.Int64
		for range 32 {
			among.Go(func() {
				for {
					switch got := ask(m, "POST", "/", "{}", "Idempotency-Key", "k"); {
					case got.status == 201 && got.body == "{\"n\":1}\n":
						firsts.Add(1)
						return
					case got.status == 202 && got.body == "{\"object\":\"request.in_flight\"}\n" && got.header.Get("Retry-After") == "1":
						if flying.Add(1) == 31 { // every request except the one that does the work must receive a 202
							close(gate)
						}
					default:
						t.Error(got.status, got.body)
						return
					}
					runtime.Gosched()
				}
			})
		}
		among.Wait()
		if n.Load() != 1 || firsts.Load() != 32 || flying.Load() < 31 {
			t.Fatalf("done %d times, answered %d, in flight %d", n.Load(), firsts.Load(), flying.Load())
		}
	}
}

// TestClientLeaves verifies that work is completed even if its client disconnects, and that a
// repeated request gets the response.
func TestClientLeaves(t *testing.T) {
	before := runtime.NumGoroutine()
	var n atomic.Int64
	begun, gate := make(chan context.Context, 1), make(chan struct{})
	m := muxOf(t, nil, Route{Pattern: "POST /", Serve: func(w http.ResponseWriter, r *Request) error {
		begun <- r.Context()
		<-gate
		if err := r.Context().Err(); err != nil {
			return err
		}
		return counting(&n)(w, r)
	}})
	s := httptest.NewServer(m)
	ctx, leave := context.WithCancel(context.Background())
	send := func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(VersionHeader, Version)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		return s.Client().Do(r)
	}
	left := make(chan error)
	go func() {
		res, err := send(ctx)
		if err == nil {
			res.Body.Close()
		}
		left <- err
	}()
	during := <-begun
	leave()
	if err := <-left; err == nil {
		t.Fatal("the client did not leave")
	}
	time.Sleep(20 * time.Millisecond) // the server detects the disconnect after a delay
	if during.Err() != nil {
		t.Error("the disconnect canceled the handler's context")
	}
	close(gate)

	until(t, "the answer is there", func() bool {
		res, err := send(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == 201
	})
	if n.Load() != 1 {
		t.Errorf("done %d times", n.Load())
	}
	s.Client().CloseIdleConnections()
	s.Close()
	quiet(t, before)
}

// TestUnreadAnswer verifies that, if a client does not read its response, other clients with the
// same key are not delayed.
func TestUnreadAnswer(t *testing.T) {
	var n atomic.Int64
	m := muxOf(t, nil, Route{Pattern: "POST /", Serve: counting(&n)})
	gate := make(chan struct{})
	stuck := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), gate: gate, writing: make(chan struct{}, 4)}
	r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	for name, value := range map[string]string{VersionHeader: Version, "Content-Type": "application/json", "Idempotency-Key": "k"} {
		r.Header.Set(name, value)
	}
	ended := make(chan struct{})
	go func() { m.ServeHTTP(stuck, r); close(ended) }()
	<-stuck.writing
	if got := ask(m, "POST", "/", "{}", "Idempotency-Key", "k"); got.status != 201 || n.Load() != 1 {
		t.Errorf("%d %s, done %d times", got.status, got.body, n.Load())
	}
	close(gate)
	<-ended
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

// TestRestart verifies that, after a restart, a harness can restore its responses from its log.
func TestRestart(t *testing.T) {
	type line struct {
		use    Use
		answer answer
	}
	var log []line
	serve := func(w http.ResponseWriter, r *Request) error {
		body := fmt.Appendf(nil, "{\"n\":%d}\n", len(log)+1)
		log = append(log, line{r.Use, answer{status: 202, header: http.Header{"Content-Type": {"application/json"}}, body: body}})
		Write(w, 202, "application/json", body)
		return nil
	}
	begin := func() http.Handler {
		memory := new(Memory)
		for _, l := range log {
			memory.remember(l.use, l.answer, noon(), noon())
		}
		return muxOf(t, func(o *Options) { o.Memory = memory }, Route{Pattern: "POST /", Serve: serve})
	}
	for range 3 {
		m := begin()
		for _, key := range []string{"a", "b"} {
			got := ask(m, "POST", "/", "{}", "Idempotency-Key", key)
			if want := fmt.Sprintf("{\"n\":%d}\n", 1+strings.Index("ab", key)); got.status != 202 || got.body != want || len(log) > 2 {
				t.Errorf("%s: %d %s, expected %s", key, got.status, got.body, want)
			}
		}
		if got := ask(m, "POST", "/", `{"x":1}`, "Idempotency-Key", "a"); got.status != 409 {
			t.Error(got.status, got.body)
		}
	}
}

// TestOnceBelow verifies that the handler of a path that ends in / parses its own query, and that
// requests with different queries are different, even if the queries are malformed.
func TestOnceBelow(t *testing.T) {
	m := muxOf(t, nil, Route{Pattern: "/v1/", Body: BodyBytes, Serve: plain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.RawQuery)
	}))})
	for _, query := range []string{"", "a=1", "a=%zz", "a=%yy", "a=1;b", "a=1;c"} {
		if r := ask(m, "POST", "/v1/old?"+query, "{}", IdempotencyHeader, "k"); r.body != query {
			t.Errorf("%q is answered as %q", query, r.body)
		}
	}
}
