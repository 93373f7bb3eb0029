package conformance

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// testKey is an API key that must not appear in any error or report.
const testKey = "rk_a_key_that_no_error_and_no_report_may_have_1"

// TestHostileServers verifies that a run against any of the hostile servers ends quickly, fails,
// and does not reveal the key.
func TestHostileServers(t *testing.T) {
	for name, serve := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // the handler notices a disconnect only after it has read the body
				serve(w, r)
			}))
			defer server.Close()
			o := Options{Timeout: 50 * time.Millisecond, Now: time.Now, Random: rand.Reader}
			if !testsize.Full() {
				o.Categories = []string{"core", "streaming"}
			}
			began := time.Now()
			report, err := Run(t.Context(), Target{URL: server.URL, Key: testKey}, o)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %s", took)
			}
			text, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			if passed(report) > 0 || report.Summary.Failed < 10 {
				t.Errorf("%+v", report.Summary)
			}
			for at := range len(testKey) - 8 {
				if part := testKey[at : at+8]; bytes.Contains(text, []byte(part)) || strings.Contains(report.Err().Error(), part) {
					t.Fatalf("the report has %q of the key: %s", part, text)
				}
			}
			for _, c := range report.Categories {
				for _, test := range c.Tests {
					if len(test.Error) > 2000 || strings.ContainsAny(test.Error, "\x1b\n\r") {
						t.Errorf("%s: %.3000q", test.Name, test.Error)
					}
				}
			}
		})
	}
}

// passed returns the number of probes that passed. It does not count the probe that checks whether
// a key was revealed, because that probe passes for an empty response.
func passed(r *Report) (n int) {
	for _, c := range r.Categories {
		for _, test := range c.Tests {
			if test.Status == Passed && test.Name != "key_is_not_told" {
				n++
			}
		}
	}
	return n
}

// hostile returns hostile servers, indexed by name.
func hostile(t *testing.T) map[string]http.HandlerFunc {
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text) }
	}
	endless := func(media, piece string, pause time.Duration) http.HandlerFunc {
		var asked atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) {
			pause := pause
			if asked.Add(1)%4 > 0 && !testsize.Full() {
				pause = max(pause, time.Millisecond) // most responses are slower
			}
			w.Header().Set("Content-Type", media)
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, piece); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(pause)
			}
		}
	}
	return map[string]http.HandlerFunc{
		"endless body":     endless("application/json", strings.Repeat("[", 64<<10), 0),
		"slow drip":        endless("application/json", " ", time.Millisecond),
		"endless frame":    endless("text/event-stream", "data: "+strings.Repeat("x", 32<<10), 0),
		"endless comments": endless("text/event-stream", strings.Repeat(":\n\n", 100), 200*time.Microsecond), // a higher rate would only prolong this test
		"nothing":          func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"broken off":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no JSON":          answer("<html>"),
		"not UTF-8":        answer("{\"object\":\"\xff\"}"),
		"twice":            answer(`{"object":"list","object":"list","data":[]}`),
		"deep":             answer(strings.Repeat(`{"data":`, 100_000)),
		"terminal":         answer("{\"object\":\"\x1b]0;x\\u001b[2J\"}"),
		"an echo of what came": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"object":%q,"error":{"code":%[1]q}}`, strings.Repeat("x", 40)+r.Header.Get("Authorization"))
		},
		"large header": func(w http.ResponseWriter, r *http.Request) {
			for n := range 1000 {
				w.Header().Set(fmt.Sprint("X-", n), strings.Repeat("x", 1000))
			}
		},
		"many 1xx": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
			}
		},
		"wrong types": answer(`{"object":1,"data":{},"id":null,"error":[],"capabilities":7,"status":{}}`),
	}
}

// TestEndlessList verifies that an endless list of valid pages is read only up to the documented
// limits.
func TestEndlessList(t *testing.T) {
	var pages atomic.Int64
	padding := strings.Repeat("x", 4<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := pages.Add(1); strings.Contains(r.URL.Path, "tasks") || strings.Contains(r.URL.Path, "events") {
			fmt.Fprintf(w, `{"object":"list","data":[{"id":"%d","padding":"%s"}],"page":{"has_more":true,"next_cursor":"%[1]d"}}`, n, padding)
		}
	}))
	defer server.Close()
	s, err := newSuite(server.URL+"/", Target{}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() []canon.Node{
		"items":  func() []canon.Node { return items(t.Context(), s, "v1/tasks", 2) },
		"events": func() []canon.Node { return eventsOf(t.Context(), s, "v1/events", 2) },
	} {
		pages.Store(0)
		var list []canon.Node
		if err := caught(func() { list = read() }); err == nil || list != nil || pages.Load() > 10 {
			t.Errorf("%s: %d items of %d pages, %v", name, len(list), pages.Load(), err)
		}
	}
}

// TestRedirect verifies that a redirect sends neither a request nor the key to another server.
func TestRedirect(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	report, err := Run(t.Context(), Target{URL: server.URL, Key: testKey}, testOptions())
	if err != nil || passed(report) > 0 || asked.Load() > 0 {
		t.Errorf("%v, %+v, the other was asked %d times", err, report.Summary, asked.Load())
	}
}

// TestBomb verifies that responses are not decompressed, regardless of the transport.
func TestBomb(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 64 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb.Bytes())
	}))
	defer server.Close()

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := Run(t.Context(), Target{URL: server.URL, Client: &http.Client{Transport: &http.Transport{}}}, testOptions())
	runtime.ReadMemStats(&after)
	if err != nil || passed(report) > 0 {
		t.Errorf("%v, %+v", err, report.Summary)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 48<<20 {
		t.Errorf("a run took %d MiB of a bomb of %d KiB", grown>>20, bomb.Len()>>10)
	}
}

func testOptions() Options {
	return Options{Timeout: 2 * time.Second, Now: time.Now, Random: rand.Reader}
}

// TestTargets verifies that invalid targets are rejected before any request.
func TestTargets(t *testing.T) {
	for _, target := range []string{"", "127.0.0.1:80", "ftp://x", "http://", "http://robin:secret@x", "http://x?a=b", "http://x/?", "http://x#y", "http://[", "http://x\x7f"} {
		_, err := Run(t.Context(), Target{URL: target}, testOptions())
		if _, ok := err.(*TargetError); !ok || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", target, err)
		}
	}
	o := testOptions()
	o.Categories = []string{"core", "cores"}
	if _, err := Run(t.Context(), Target{URL: "http://x"}, o); err == nil || !strings.Contains(err.Error(), `found "cores"`) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), Target{URL: "http://x"}, Options{}); err == nil {
		t.Error("a run without a clock")
	}
}

// TestRequests verifies that all requests have the required headers, and that their paths are below
// the path of the target.
func TestRequests(t *testing.T) {
	var wrong atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := r.Header.Get(protocol.VersionHeader)
		if !strings.HasPrefix(r.URL.Path, "/base/v1") || r.Header.Get("Accept") == "" || version == "" && r.URL.Path != "/base/v1/tasks" {
			text := fmt.Sprint(r.Method, " ", r.URL, " ", r.Header)
			wrong.Store(&text)
		}
		http.Error(w, "{}", http.StatusNotFound)
	}))
	defer server.Close()
	if _, err := Run(t.Context(), Target{URL: server.URL + "/base", Key: testKey}, testOptions()); err != nil {
		t.Fatal(err)
	}
	if text := wrong.Load(); text != nil {
		t.Error(*text)
	}
}
