package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// says returns a handler that responds with the given text and the values from the path, so that
// routes can be distinguished.
func says(text string) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		Write(w, 200, "text/plain", []byte(strings.TrimSpace(text+" "+r.PathValue("id")+r.PathValue("task_id"))))
		return nil
	}
}

// TestOrder verifies the order of the checks: form, version, key, route, scope, query, and body.
func TestOrder(t *testing.T) {
	keys, bearer := keysOf(t, map[string]string{"all": "", "reader": `,"scopes":["tasks:read"]`})
	m := muxOf(t, func(o *Options) { o.Auth = keys },
		Route{Pattern: "GET /v1", Open: true, Serve: says("discovery")},
		Route{Pattern: "GET /v1/tasks/{task_id}", Scope: TasksRead, Serve: says("task")},
		Route{Pattern: "POST /v1/tasks", Scope: TasksWrite, Params: []string{"workspace_id"}, Serve: says("submitted")},
	)
	all, reader := []string{"Authorization", bearer["all"]}, []string{"Authorization", bearer["reader"]}
	none := []string{VersionHeader, ""}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		want               string
	}{
		{"GET", "/v1", "", none, "200"},
		{"HEAD", "/v1", "", none, "200"},
		{"POST", "/v1", "", none, "405 invalid_request"},
		{"GET", "/v1/" + strings.Repeat("x", 4100), "", none, "400 invalid_request"},
		{"GET", "/v1/absent", "", none, "426 unsupported_protocol_version Harn-Agents-Protocol-Version"},
		{"GET", "/v1/tasks/t", "", append(none, all...), "426 unsupported_protocol_version Harn-Agents-Protocol-Version"},
		{"GET", "/v1/tasks/t", "", nil, "401 unauthenticated"},
		{"GET", "/v1/absent", "", nil, "401 unauthenticated"},
		{"PUT", "/v1/tasks/t", "", nil, "401 unauthenticated"},
		{"GET", "/v1/tasks/t", "", []string{"Authorization", "Bearer rk_none"}, "401 unauthenticated"},
		{"GET", "/v1/absent", "", all, "404 resource_not_found"},
		{"GET", "/v1/tasks/", "", all, "404 resource_not_found"},
		{"PUT", "/v1/tasks/t", "", all, "405 invalid_request"},
		{"GET", "/v1/tasks/t", "", all, "200"},
		{"GET", "/v1/tasks/t", "", reader, "200"},
		{"POST", "/v1/tasks?x=1", "nonsense", reader, "404 resource_not_found"}, // same response as if the route did not exist
		{"POST", "/v1/tasks?x=1", "nonsense", all, "400 invalid_request x"},
		{"POST", "/v1/tasks?workspace_id=", "{}", all, "400 invalid_request workspace_id"},
		{"POST", "/v1/tasks", "nonsense", all, "400 invalid_request"},
		{"POST", "/v1/tasks?workspace_id=w", "{}", all, "200"},
	} {
		got := ask(m, c.method, c.path, c.body, c.headers...)
		if got.said() != c.want {
			t.Errorf("%s %.40s: %s, expected %s", c.method, c.path, got.body, c.want)
		}
		if allow := got.header.Get("Allow"); got.status == 405 && allow != "GET, HEAD" {
			t.Errorf("%s %s allows %q", c.method, c.path, allow)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if got.header.Get(name) != want {
				t.Errorf("%s %.40s: %s is %q", c.method, c.path, name, got.header.Get(name))
			}
		}
		for _, secret := range bearer {
			if strings.Contains(got.body, strings.TrimPrefix(secret, "Bearer rk_")) {
				t.Errorf("%s %.40s tells a key: %s", c.method, c.path, got.body)
			}
		}
	}
}

// TestGuarded verifies which requests need a version and a key if the Mux also serves paths that
// are not part of the protocol.
func TestGuarded(t *testing.T) {
	keys, bearer := keysOf(t, map[string]string{"all": ""})
	m := muxOf(t, func(o *Options) { o.Auth, o.Guarded, o.Limits.Requests = keys, "/v1/", 1 },
		Route{Pattern: "GET /v1/tasks", Serve: says("tasks")},
		Route{Pattern: "POST /v1/verify", AnyVersion: true, Serve: says("verify")},
		Route{Pattern: "GET /metrics", AnyVersion: true, Free: true, Serve: says("metrics")},
		Route{Pattern: "GET /wait", Serve: func(_ http.ResponseWriter, r *Request) error {
			for path, want := range map[string]string{"/metrics": "200", "/v1/tasks": "503 service_unavailable"} {
				if got := ask(r.Context().Value(muxKey{}).(http.Handler), "GET", path, "", "Authorization", bearer["all"]); got.said() != want || !r.Saturated() {
					t.Errorf("while all places are taken, %s: %s", path, got.body)
				}
			}
			return nil
		}},
		Route{Pattern: "GET /", Open: true, AnyQuery: true, Serve: says("page")},
	)
	none, any := []string{VersionHeader, ""}, []string{VersionHeader, "", "Authorization", bearer["all"]}
	for _, c := range []struct {
		method, path string
		headers      []string
		want         string
	}{
		{"GET", "/absent", none, "404 resource_not_found"},
		{"GET", "/v1", none, "404 resource_not_found"},
		{"GET", "/v1/absent", none, "426 unsupported_protocol_version Harn-Agents-Protocol-Version"},
		{"GET", "/v1/absent", nil, "401 unauthenticated"},
		{"PUT", "/v1/tasks", none, "426 unsupported_protocol_version Harn-Agents-Protocol-Version"},
		{"PUT", "/v1/verify", none, "405 invalid_request"},
		{"POST", "/v1/verify", none, "401 unauthenticated"},
		{"POST", "/v1/verify", any, "200"},
		{"PUT", "/metrics", none, "405 invalid_request"},
		{"GET", "/metrics", none, "401 unauthenticated"},
		{"GET", "/metrics", any, "200"},
		{"GET", "/metrics?x=1", any, "400 invalid_request x"},
		{"GET", "/?x=1&x;y", none, "200"},
	} {
		if got := ask(m, c.method, c.path, "{}", append(c.headers, "Content-Type", "application/json")...); got.said() != c.want {
			t.Errorf("%s %s: %s, expected %s", c.method, c.path, got.body, c.want)
		}
	}

	above := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), muxKey{}, m)))
	})
	if got := ask(above, "GET", "/wait", "", "Authorization", bearer["all"]); got.status != 200 {
		t.Error(got.body)
	}
}

// A muxKey is the context key for a Mux.
type muxKey struct{}

// TestObserve verifies that each request is observed twice, when it arrives and when the response
// is complete.
func TestObserve(t *testing.T) {
	now, seen := 0, ""
	m := muxOf(t, func(o *Options) {
		o.Observe = func() func(Outcome) {
			now++
			return func(p Outcome) {
				now--
				seen = fmt.Sprint(p.Request.Method, " ", p.Request.Route, " ", p.Status, " ", p.Bytes, " ", p.Aborted)
			}
		}
	}, Route{Pattern: "GET /v1/tasks/{task_id}", Serve: func(w http.ResponseWriter, r *Request) error {
		if now != 1 {
			t.Errorf("%d requests", now)
		}
		return says("task")(w, r)
	}}, Route{Pattern: "GET /v1/panic", Serve: func(w http.ResponseWriter, _ *Request) error {
		_, _ = w.Write([]byte("begun"))
		panic("late")
	}})
	for path, want := range map[string]string{
		"/v1/tasks/t": "GET /v1/tasks/{task_id} 200 6 false", "/v1/tasks/t?x=1": "GET /v1/tasks/{task_id} 400 176 false",
		"/v1/absent": "GET  404 181 false", "/v1/panic": "GET /v1/panic 200 5 true",
	} {
		func() {
			defer func() { _ = recover() }()
			ask(m, "GET", path, "")
		}()
		if seen != want || now != 0 {
			t.Errorf("%s: %s, %d", path, seen, now)
		}
	}
}

// TestRoutes verifies that the route with the earlier literal segment takes precedence, regardless
// of the order of the routes, and that segments are unescaped separately.
func TestRoutes(t *testing.T) {
	routes := []Route{
		{Pattern: "GET /v1/events/{id}", Serve: says("event")},
		{Pattern: "GET /v1/events/stream", Serve: says("stream")},
		{Pattern: "GET /v1/{id}/stream", Serve: says("any stream")},
		{Pattern: "/v1/files/", Serve: says("files")},
		{Pattern: "GET /v1/files/{id}", Serve: says("file")},
		{Pattern: "/v1/", Serve: says("rest")},
	}
	for range routes {
		m := muxOf(t, nil, routes...)
		for path, want := range map[string]string{
			"/v1/events/stream": "stream", "/v1/events/e1": "event e1", "/v1/sessions/stream": "any stream sessions", "/v1/events/a%2Fb": "event a/b",
			"/v1/events/%73tream": "event stream", "/v1/files/a/b": "files", "/v1/files/a": "file a", "/v1/else": "rest", "/v1/": "rest", "/v1/events/%ff": "rest", "/v1/events/%00": "rest",
		} {
			if got := ask(m, "GET", path, ""); got.body != want || got.status != 200 {
				t.Errorf("%s: %d %s, expected %s", path, got.status, got.body, want)
			}
		}
		if got := ask(m, "GET", "/v2/events", ""); got.said() != "404 resource_not_found" {
			t.Error(got.body)
		}
		routes = append(routes[1:], routes[0])
	}
}

// TestBadRoutes verifies that NewMux rejects invalid routes.
func TestBadRoutes(t *testing.T) {
	ok := says("x")
	for name, list := range map[string][]Route{
		"no path":          {{Pattern: "GET", Serve: ok}},
		"a relative path":  {{Pattern: "GET v1/tasks", Serve: ok}},
		"a query":          {{Pattern: "GET /v1/tasks?x=1", Serve: ok}},
		"small letters":    {{Pattern: "get /v1", Serve: ok}},
		"HEAD":             {{Pattern: "HEAD /v1", Serve: ok}},
		"no handler":       {{Pattern: "GET /v1"}},
		"an open scope":    {{Pattern: "GET /v1", Open: true, Scope: TasksRead, Serve: ok}},
		"a name twice":     {{Pattern: "GET /v1/{id}/{id}", Serve: ok}},
		"a named subtree":  {{Pattern: "/v1/{id}/files/", Serve: ok}},
		"no name":          {{Pattern: "GET /v1/{}", Serve: ok}},
		"an open brace":    {{Pattern: "GET /v1/{id", Serve: ok}},
		"a closing brace":  {{Pattern: "GET /v1/id}", Serve: ok}},
		"braces inside":    {{Pattern: "GET /v1/task-{id}", Serve: ok}},
		"the same":         {{Pattern: "GET /v1/{a}", Serve: ok}, {Pattern: "GET /v1/{b}", Serve: ok}},
		"the same subtree": {{Pattern: "/v1/", Serve: ok}, {Pattern: "/v1/", Serve: ok}},
	} {
		if m, err := NewMux(Options{Routes: list, Now: noon, Random: endless{}, Public: true}); err == nil || m != nil || !strings.HasPrefix(err.Error(), "protocol: route") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []Options{{Now: noon, Public: true}, {Random: endless{}, Public: true}} {
		if _, err := NewMux(o); err == nil {
			t.Error("no clock, or no randomness")
		}
	}
	if _, err := NewMux(Options{Now: noon, Random: endless{}, Public: true, Routes: []Route{{Pattern: "/v1/", Serve: ok}, {Pattern: "/v2/", Serve: ok}, {Pattern: "GET /v1/", Serve: ok}, {Pattern: "POST /v1/{a}", Serve: ok}, {Pattern: "GET /v1/{a}", Serve: ok}}}); err != nil {
		t.Error(err)
	}
}

// TestBodies verifies which request bodies each kind of route accepts, and what its handler
// receives.
func TestBodies(t *testing.T) {
	show := func(w http.ResponseWriter, r *Request) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		shown := "none"
		if r.JSON != nil {
			shown = string(r.JSON.Root().AppendCanonical(nil))
		}
		Write(w, 200, "text/plain", fmt.Appendf(nil, "%s|%s", text, shown))
		return nil
	}
	m := muxOf(t, func(o *Options) { o.Limits.Body = 64 },
		Route{Pattern: "/json", Serve: show},
		Route{Pattern: "POST /optional", Body: BodyOptional, Serve: show},
		Route{Pattern: "POST /bytes", Body: BodyBytes, Serve: show},
		Route{Pattern: "POST /stream", Body: BodyStream, Serve: show},
	)
	long := strings.Repeat("x", 65)
	for _, c := range []struct{ method, path, body, media, want string }{
		{"POST", "/json", ` {"b":1,"a":2}`, "application/json", `200  {"b":1,"a":2}|{"a":2,"b":1}`},
		{"PATCH", "/json", `{}`, "application/json; charset=UTF-8", `200 {}|{}`},
		{"GET", "/json", ``, "", `200 |none`},
		{"DELETE", "/json", ``, "", `200 |none`},
		{"PUT", "/json", ``, "application/json", "400 invalid_request"},
		{"POST", "/json", `[]`, "application/json", "400 invalid_request"},
		{"POST", "/json", `{"a":1,"a":2}`, "application/json", "400 invalid_request"},
		{"POST", "/json", `{}`, "text/plain", "415 invalid_request Content-Type"},
		{"POST", "/json", `{}`, "application/json; charset=utf-16", "415 invalid_request Content-Type"},
		{"POST", "/json", `{"a":"` + long + `"}`, "application/json", "413 payload_too_large"},
		{"POST", "/optional", ``, "", `200 |{}`},
		{"POST", "/optional", `{"a":1}`, "application/json", `200 {"a":1}|{"a":1}`},
		{"POST", "/optional", `null`, "application/json", "400 invalid_request"},
		{"POST", "/bytes", `anything`, "text/plain", `200 anything|none`},
		{"POST", "/bytes", ` {} `, "application/json", `200  {} |{}`},
		{"POST", "/bytes", `[`, "application/json", `200 [|none`},
		{"POST", "/bytes", long, "", "413 payload_too_large"},
		{"POST", "/stream", long, "", "200 " + long + "|none"},
	} {
		got := ask(m, c.method, c.path, c.body, "Content-Type", c.media)
		said := got.said()
		if got.status == 200 {
			said = "200 " + got.body
		}
		if said != c.want {
			t.Errorf("%s %s %.20q: %s, expected %s", c.method, c.path, c.body, said, c.want)
		}
	}
	if got := ask(m, "POST", "/json", "{}", "Content-Encoding", "gzip"); got.said() != "415 invalid_request Content-Encoding" || got.header.Get("Accept-Encoding") == "" {
		t.Error(got.body)
	}
	if got := ask(m, "POST", "/json", `{"sk_secret`); strings.Contains(got.body, "sk_secret") {
		t.Errorf("an error repeats the body: %s", got.body)
	}
}

// TestErrorsOfHandlers verifies which parts of an error are sent to the client, and which parts are
// logged.
func TestErrorsOfHandlers(t *testing.T) {
	var log bytes.Buffer
	fail := map[string]error{
		"worded":   Conflict("the task has ended"),
		"wrapped":  fmt.Errorf("in the store: %w", NotFound()),
		"plain":    errors.New("open /secret/file: denied"),
		"caused":   Internal(errors.New("open /secret/file: denied"), "the task cannot be read"),
		"canceled": context.Canceled, // the request was not the source of this error
	}
	m := muxOf(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) },
		Route{Pattern: "GET /{id}", Serve: func(_ http.ResponseWriter, r *Request) error { return fail[r.PathValue("id")] }},
		Route{Pattern: "GET /panic/{id}", Serve: func(w http.ResponseWriter, r *Request) error {
			if r.PathValue("id") == "late" {
				_, _ = w.Write([]byte("begun"))
			}
			panic("of /secret/file")
		}},
	)
	for path, want := range map[string]string{
		"/worded": "409 conflict", "/wrapped": "404 resource_not_found", "/plain": "500 internal_error", "/caused": "500 internal_error", "/canceled": "500 internal_error", "/panic/early": "500 internal_error",
	} {
		log.Reset()
		got := ask(m, "GET", path, "")
		if got.said() != want || strings.Contains(got.body, "secret") || !strings.Contains(got.body, `"request_id":"abababababababab"`) {
			t.Errorf("%s: %s", path, got.body)
		}
		if logged := strings.Contains(log.String(), "request=abababababababab"); logged != (got.status == 500) {
			t.Errorf("%s: logged %q", path, log.String())
		}
	}

	// A response that has started is aborted, so that it never appears to be complete.
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("the answer ends: %v", p)
			}
		}()
		ask(m, "GET", "/panic/late", "")
	}()

	// A client that disconnects does not cause a server error.
	log.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/canceled", nil)
	r.Header.Set(VersionHeader, Version)
	w := httptest.NewRecorder()
	if m.ServeHTTP(w, r); w.Code != 499 || log.Len() > 0 {
		t.Errorf("%d %s, logged %s", w.Code, w.Body, &log)
	}
}

// TestPlaces verifies that a request is rejected while all slots are in use, that no client can use
// all slots, and that slots are released, even after a handler panics.
func TestPlaces(t *testing.T) {
	keys, bearer := keysOf(t, map[string]string{"a": "", "b": ""})
	gate, inside := make(chan struct{}), make(chan struct{}, 8)
	m := muxOf(t, func(o *Options) {
		o.Auth, o.Limits.Requests = keys, 4
	}, Route{Pattern: "GET /wait", Serve: func(http.ResponseWriter, *Request) error {
		inside <- struct{}{}
		<-gate
		panic("after the wait")
	}}, Route{Pattern: "GET /", Open: true, Serve: says("open")})
	done := make(chan reply, 8)
	for range 2 {
		go func() { done <- ask(m, "GET", "/wait", "", "Authorization", bearer["a"]) }()
		<-inside
	}
	if got := ask(m, "GET", "/wait", "", "Authorization", bearer["a"]); got.said() != "503 service_unavailable" || got.header.Get("Retry-After") != "1" {
		t.Errorf("a client that has half: %s", got.body)
	}
	go func() { done <- ask(m, "GET", "/wait", "", "Authorization", bearer["b"]) }()
	<-inside
	if got := ask(m, "GET", "/", ""); got.status != 200 {
		t.Errorf("open: %s", got.body)
	}
	close(gate)
	for range 3 {
		if got := <-done; got.status != 500 {
			t.Error(got.body)
		}
	}
	for range 8 {
		if got := ask(m, "GET", "/wait", "", "Authorization", bearer["a"]); got.status != 500 {
			t.Errorf("a place was not given back: %s", got.body)
		}
		<-inside
	}
}

// TestLateBody verifies that the response status is 504 if the request body does not arrive in
// time, and that the request does not occupy a slot afterward.
func TestLateBody(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Limits.Arrive = 50 * time.Millisecond }, Route{Pattern: "POST /", Serve: says("x")})
	s := serving(t, m)
	pr, pw := io.Pipe()
	defer pw.Close()
	r, err := http.NewRequestWithContext(context.Background(), "POST", s.URL+"/", pr)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(VersionHeader, Version)
	r.Header.Set("Content-Type", "application/json")
	go func() { _, _ = pw.Write([]byte(`{"a":`)) }()
	began := time.Now()
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if took := time.Since(began); res.StatusCode != 504 || took > 20*time.Second { // the idle timeout is 30 s
		t.Errorf("%s after %v", res.Status, took)
	}
}

// TestMemoryOfAll verifies that bodies and responses share the memory pool whose size Limits.Memory
// specifies.
func TestMemoryOfAll(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Limits.Memory = 64 << 10 },
		Route{Pattern: "POST /", Body: BodyStream, Serve: func(w http.ResponseWriter, r *Request) error {
			data, err := r.ReadBody(1<<20, "; send less")
			if err != nil {
				return err
			}
			if err := r.Hold(int64(len(data))); err != nil {
				return err
			}
			_, answer := r.Conn()
			_, err = answer.Write(data)
			return err
		}},
	)
	for range 8 {
		for size, want := range map[int]string{12 << 10: "200", 31 << 10: "503 service_unavailable", 1<<20 + 1: "413 payload_too_large"} {
			got := ask(m, "POST", "/", strings.Repeat("x", size))
			if got.said() != want || got.status == 413 && !strings.Contains(got.body, "; send less") {
				t.Errorf("%d bytes: %.300s, expected %s", size, got.body, want)
			}
		}
	}
}

// TestMemoryOfBodies verifies that the memory for bodies and their indexes is shared and is
// released.
func TestMemoryOfBodies(t *testing.T) {
	m := muxOf(t, func(o *Options) { o.Limits.Memory = 64 << 10 },
		Route{Pattern: "POST /", Serve: says("x")},
		Route{Pattern: "POST /bytes", Body: BodyBytes, Serve: says("x")},
	)
	few := `{"a":[1` + strings.Repeat(",1", 1000) + `]}` // whose index is released
	plain, many := `{"a":"`+strings.Repeat("x", 10<<10)+`"}`, `{"a":[1`+strings.Repeat(",1", 5<<10)+`]}`
	for range 8 {
		for _, body := range []string{plain, few} {
			if got := ask(m, "POST", "/", body); got.status != 200 {
				t.Error(got.body)
			}
		}
		for _, path := range []string{"/", "/bytes"} { // a body of the same length whose index is ten times as long
			if got := ask(m, "POST", path, many); got.said() != "503 service_unavailable" || got.header.Get("Retry-After") == "" {
				t.Errorf("%s: %s", path, got.body)
			}
		}
	}
}
