package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// TestTooLarge verifies that a body is rejected if it exceeds the limit, whether or not its length
// is stated, and that the connection is closed. Reliability 301.
func TestTooLarge(t *testing.T) {
	o := options(t)
	o.Limits.Document = 100_000
	h := start(t, o)
	large := bytes.Repeat([]byte(" "), 100_001)
	exact := append(bytes.Clone(large[:100_000-2]), "{}"...)
	if got := h.post("/v1/verify", "application/json", exact); got.status != 200 {
		t.Errorf("as long as the limit: %d %s", got.status, got.body)
	}
	for name, body := range map[string]io.Reader{"stated": bytes.NewReader(large), "chunked": io.MultiReader(bytes.NewReader(large))} {
		got := h.do("POST", "/v1/verify", body, "Content-Type", "application/json")
		if got.status != 413 || got.code() != "payload_too_large" || !got.closed {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
	}
	// A stated length that exceeds the limit is sufficient, so nothing is read.
	answer := h.raw("POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000000000000000\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 413 ") || !strings.Contains(answer, "Connection: close") {
		t.Errorf("%.300s", answer)
	}
	if got := h.do("POST", "/v1/verify", io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("\x80"), 300_000))), "Content-Type", "application/cbor"); got.status != 413 {
		t.Errorf("CBOR: %d %s", got.status, got.body)
	}
}

// TestRefusedMidway verifies that a client receives the response even if it is still sending when
// its request is rejected. The connection must end without a reset. Reliability 301.
func TestRefusedMidway(t *testing.T) {
	o := options(t)
	o.Limits.Document = 1000
	h := start(t, o)
	const size = 120_000 // more than the server reads, but less than the system buffers
	request := fmt.Sprintf("POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", size, strings.Repeat(" ", size))
	for range 20 { // a reset would arrive half a second later, which is a short time on a busy machine
		conn, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, request)
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err == nil && bytes.HasPrefix(answer, []byte("HTTP/1.1 413 ")) {
			return
		}
		t.Logf("%v %.60q", err, answer)
	}
	t.Error("every answer was lost in a reset")
}

// TestEndWithData verifies that the limit applies to a body whose last bytes arrive together with
// its end.
func TestEndWithData(t *testing.T) {
	o := options(t)
	o.Limits.Document = 10
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{10: 200, 11: 413} {
		r := httptest.NewRequest("POST", "/v1/verify", iotest.DataErrReader(strings.NewReader(strings.Repeat(" ", n))))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d bytes: %d", n, w.Code)
		}
	}
}

// TestMalformedLengths verifies that messages are rejected if two parsers could disagree about
// where they end. Reliability 302.
func TestMalformedLengths(t *testing.T) {
	h := start(t, options(t))
	for name, headers := range map[string]string{
		"negative":         "Content-Length: -1\r\n",
		"twice, different": "Content-Length: 2\r\nContent-Length: 3\r\n",
		"no number":        "Content-Length: 2x\r\n",
		"plus":             "Content-Length: +2\r\n",
		"huge":             "Content-Length: 99999999999999999999\r\n",
		"list":             "Content-Length: 2, 3\r\n",
		"unknown coding":   "Transfer-Encoding: identity\r\n",
		"two codings":      "Transfer-Encoding: gzip, chunked\r\n",
		"no host":          "\x00",
	} {
		request := "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers + "\r\n{}"
		if name == "no host" {
			request = "POST /v1/verify HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
		}
		if answer := h.raw(request); !strings.HasPrefix(answer, "HTTP/1.1 400 ") && !strings.HasPrefix(answer, "HTTP/1.1 501 ") {
			t.Errorf("%s: %.200s", name, answer)
		}
	}
	// If both headers are present, the chunk sizes apply and the connection is closed, so that
	// subsequent bytes cannot be interpreted as a second request (RFC 9112, section 6.1).
	answer := h.raw("POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if strings.Count(answer, "HTTP/1.1 ") != 1 {
		t.Errorf("a smuggled request was answered: %s", answer)
	}
	if answer := h.rawHalf("POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{}"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("fewer bytes than stated: %.200s", answer)
	}
}

// TestSlowClients verifies that clients are disconnected if they send single bytes at intervals,
// and that other clients are served in the meantime. Reliability 303, 320.
func TestSlowClients(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("slow", func(t *testing.T) {
		o := options(t)
		o.Limits.Idle, o.Limits.Body = 200*time.Millisecond, 600*time.Millisecond
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		h := startHandler(t, s, s, func(hs *http.Server) {
			if hs.ReadHeaderTimeout <= 0 || hs.IdleTimeout <= 0 || hs.MaxHeaderBytes <= 0 {
				t.Errorf("the server has no bounds for headers: %+v", hs)
			}
			hs.ReadHeaderTimeout = 200 * time.Millisecond
		})
		var wg sync.WaitGroup
		for name, c := range map[string]struct{ request, drip, want string }{
			"header":   {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nX-", "a", ""},
			"silent":   {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", "", "504"},
			"dripping": {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", " ", "504"},
			"stream":   {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100\r\n\r\n", "", "504"},
			"continue": {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", "", "504"},
			"refused":  {"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "", "404"},
			"unread":   {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "", "200"},
			"unwanted": {"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", "", "415"},
		} {
			wg.Go(func() {
				answer := h.drip(c.request, c.drip)
				answer = strings.TrimPrefix(answer, "HTTP/1.1 100 Continue\r\n\r\n")
				status, _, _ := strings.Cut(strings.TrimPrefix(answer, "HTTP/1.1 "), " ")
				if status != c.want && (c.want != "" || status != "400" && status != "408") {
					t.Errorf("%s: %.300s", name, answer)
				}
			})
		}
		for range 20 {
			if got := h.post("/v1/verify", "application/json", []byte("{}")); got.status != 200 {
				t.Errorf("meanwhile: %d %s", got.status, got.body)
			}
		}
		wg.Wait()
	})
	quiet(t, before)
}

// drip sends a request and then a byte at intervals until the server closes the connection.
func (h *host) drip(request, drip string) string {
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Error(err)
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, request)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	if drip != "" {
		wg.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					if _, err := io.WriteString(conn, drip); err != nil {
						return
					}
				case <-stop:
					return
				}
			}
		})
	}
	answer, _ := io.ReadAll(conn)
	close(stop)
	wg.Wait()
	return string(answer)
}

// TestSlowReader verifies that the server abandons a response if the client does not read it.
// Reliability 304.
func TestSlowReader(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("reader", func(t *testing.T) {
		o := options(t)
		o.Limits.Idle, o.Limits.Streams = 300*time.Millisecond, 1
		h := start(t, o)
		conn, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
		lines := strings.Repeat("{}\n", 10_000)
		for err == nil { // write until both buffers are full and the server closes the connection
			_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(lines), lines)
		}
		for { // wait until the slot is free again
			got := h.post("/v1/verify", "application/x-ndjson", []byte("{}\n"))
			if got.status == 200 {
				break
			}
			time.Sleep(time.Millisecond)
		}
	})
	quiet(t, before)
}

// TestMedia verifies that a body with an unsupported media type is not read. Reliability 306.
func TestMedia(t *testing.T) {
	h := start(t, options(t))
	for _, media := range []string{"", "text/plain", "text/html", "application/xml", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
		"application/json; charset=utf-16", "application/json; charset=latin1", "application/json;;", "json", "*/*", "application/*", "application/json, application/json", strings.Repeat("a", 5000)} {
		got := h.post("/v1/verify", media, []byte("{}"))
		if got.status != 415 || got.code() != "invalid_request" || got.param() != "Content-Type" || len(got.body) > 1000 {
			t.Errorf("%.60q: %d %.300s", media, got.status, got.body)
		}
	}
	if got := h.post("/v1/verify", "application/json", []byte("{}"), "Content-Type", "application/cbor"); got.status != 415 {
		t.Errorf("two types: %d", got.status)
	}
	if got := h.post("/v1/verify", "application/json", []byte("{}"), "Content-Encoding", "deflate"); got.status != 415 || got.header.Get("Accept-Encoding") != "identity" || !strings.Contains(string(got.body), `or identity, found \"deflate\"`) {
		t.Errorf("deflate: %d %v", got.status, got.header)
	}
}

// TestMethods verifies that an unsupported method is rejected with a list of the supported methods,
// and that no response allows another origin. Reliability 307, 314.
func TestMethods(t *testing.T) {
	h := start(t, shelved(t))
	for path, allow := range map[string]string{
		"/v1/verify": "POST", "/v1": "GET, HEAD", "/healthz": "GET, HEAD", "/": "GET, HEAD", "/metrics": "GET, HEAD",
		"/v1/receipts/good": "GET, HEAD", "/v1/receipts/good/verify": "POST", "/v1/tasks/t/receipts": "GET, HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"} {
			if strings.Contains(allow, method) {
				continue
			}
			got := h.do(method, path, nil, append(version(), "Origin", "https://example.com", "Access-Control-Request-Method", "POST")...)
			if got.status != 405 || got.header.Get("Allow") != allow || method != "HEAD" && got.code() != "invalid_request" {
				t.Errorf("%s %s: %d %q %s", method, path, got.status, got.header.Get("Allow"), got.body)
			}
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s: %s", method, path, name)
				}
			}
		}
		if strings.HasPrefix(allow, "GET") {
			whole, head := h.get(path, version()...), h.do("HEAD", path, nil, version()...)
			if head.status != whole.status || len(head.body) != 0 || head.header.Get("Content-Type") != whole.header.Get("Content-Type") {
				t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
			}
		}
	}
	if answer := h.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 404 ") {
		t.Errorf("%.200s", answer)
	}
}

// TestPaths verifies that the server neither cleans paths nor uses them to open files. Reliability
// 308.
func TestPaths(t *testing.T) {
	h := start(t, shelved(t))
	for _, path := range []string{"//v1/verify", "/v1/verify/", "/v1//verify", "/./v1/verify", "/%2e%2e/", "/%2e%2e%2fetc%2fpasswd", "/../../etc/passwd", "/v1/verify%00",
		"/v1%2fverify", "/healthz/", "/HEALTHZ", "/openapi.json/", "/page/", "/x", "/favicon.ico", "/etc/passwd", "/\\..\\windows"} {
		answer := h.raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + version()[0] + ": " + version()[1] + "\r\n\r\n")
		status, _, _ := strings.Cut(strings.TrimPrefix(answer, "HTTP/1.1 "), " ")
		if status != "404" && status != "400" || strings.Contains(answer, "Location:") || strings.Contains(answer, "root:") {
			t.Errorf("%s: %.200s", path, answer)
		}
	}
	for _, id := range []string{"..", "%2e%2e", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "a%00b", "a%0ab", "%ff", strings.Repeat("a", 1025), "%2f"} {
		if got := h.get("/v1/receipts/"+id, version()...); got.status != 404 || got.code() != "resource_not_found" {
			t.Errorf("%.60s: %d %s", id, got.status, got.body)
		}
	}
	if got := h.get("/" + strings.Repeat("a", 5000)); got.status != 400 {
		t.Errorf("a path of 5 KB: %d", got.status)
	}
	for name, request := range map[string]string{
		"path":   "GET /" + strings.Repeat("a", 100<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"header": "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 100<<10) + "\r\n\r\n",
		"many":   "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: a\r\n", 20_000) + "\r\n",
	} {
		if answer := h.raw(request); !strings.HasPrefix(answer, "HTTP/1.1 431 ") {
			t.Errorf("%s of 100 KB: %.100q", name, answer)
		}
	}
}

// TestQueries verifies that the length of a query is checked before the query is parsed.
// Reliability 309.
func TestQueries(t *testing.T) {
	h := start(t, options(t))
	for _, query := range []string{strings.Repeat("a&", 2100), strings.Repeat("scope=full&", 300), "scope=full;scope=full", ";", "a", "%", "scope=%zz"} {
		got := h.post("/v1/verify?"+query, "application/json", []byte("{}"))
		if got.status != 400 || got.code() != "invalid_request" || len(got.body) > 1000 {
			t.Errorf("%.40q: %d %.300s", query, got.status, got.body)
		}
	}
	for _, path := range []string{"/healthz?a=1", "/v1?a=1", "/openapi.json?v=2"} {
		if got := h.get(path); got.status != 400 || got.param() == "" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// TestEcho verifies that a response repeats only a small part of a request, escapes it, and is
// never HTML. Reliability 311, 312, 313.
func TestEcho(t *testing.T) {
	h := start(t, shelved(t))
	long := strings.Repeat("<script>", 400)
	for _, got := range []reply{
		h.get("/v1/receipts/%3Cscript%3E", version()...),
		h.do("POST", "/v1/receipts/%3Cscript%3E/verify", nil, version()...),
		h.get("/v1/tasks/markup/receipts", version()...),
		h.get("/v1/receipts/"+long[:800], version()...),
		h.post("/v1/verify", "application/json", fixture(t, "edge/markup.json")),
		h.post("/v1/verify?"+strings.Repeat("%3Cscript%3E", 100)+"=1", "application/json", nil),
		h.post("/v1/verify?scope="+strings.Repeat("%3Cscript%3E", 100), "application/json", nil),
		h.post("/v1/verify?at_time="+strings.Repeat("%0d%0aX-Injected:%20yes", 50), "application/json", nil),
		h.post("/v1/verify", long, nil),
		h.post("/v1/receipts/good/verify", "application/json", []byte(`{"trust_anchor":"`+long+`"}`), version()...),
		h.post("/v1/receipts/good/verify", "application/json", []byte(`{"`+long+`":null}`), version()...),
		h.do("BREW", "/v1/verify", nil),
		h.get("/nowhere"),
	} {
		stored := bytes.Contains(got.body, []byte(`"wire"`)) || bytes.Contains(got.body, []byte(`"report_version"`))
		if media := got.header.Get("Content-Type"); media != "application/json" || got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", got.status, got.header)
		}
		if !stored && len(got.body) > 1000 || got.header.Get("X-Injected") != "" {
			t.Errorf("%d bytes: %.300s", len(got.body), got.body)
		}
		if bytes.Contains(got.body, []byte("<script>")) && !bytes.Contains(got.body, []byte(`"payload"`)) { // a payload is byte-stable
			t.Errorf("unescaped: %.300s", got.body)
		}
		got.object(t)
	}
}

// TestHosts verifies that a request with an unlisted host name reveals nothing about the server.
// Reliability 314.
func TestHosts(t *testing.T) {
	o := options(t)
	o.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	h := start(t, o)
	for host, want := range map[string]string{
		"localhost": "200", "LOCALHOST:8080": "200", "localhost.:80": "200", "127.0.0.1:1": "200", "[::1]:1": "200", "[::1]": "200",
		"evil.example": "403", "localhost.evil.example": "403", "127.0.0.1.nip.example:80": "403", "": "403",
	} {
		answer := h.raw("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if status, _, _ := strings.Cut(strings.TrimPrefix(answer, "HTTP/1.1 "), " "); status != want {
			t.Errorf("%q: %.200s", host, answer)
		}
	}
}

// TestSaturated verifies that 1,000 concurrent posts of 1 MB each are answered with reports or with
// 503, in bounded memory. Reliability 315.
func TestSaturated(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("posts", func(t *testing.T) {
		posts := testsize.Of(500, 1000)
		o := options(t)
		o.Limits.Requests, o.Limits.Memory = 64, 16<<20
		h := start(t, o)
		h.client.Transport = &http.Transport{DisableKeepAlives: true}
		body := append(bytes.Repeat([]byte(" "), 1<<20-2), "{}"...)
		var answered, refused, other atomic.Int64
		peak := watch(func() {
			var wg sync.WaitGroup
			for range posts {
				wg.Go(func() {
					r, err := http.NewRequestWithContext(context.Background(), "POST", "http://"+h.addr+"/v1/verify", bytes.NewReader(body))
					if err != nil {
						other.Add(1)
						return
					}
					r.Header.Set("Content-Type", "application/json")
					res, err := h.client.Do(r)
					if err != nil { // the request was rejected while the client was still sending
						refused.Add(1)
						return
					}
					text, _ := io.ReadAll(res.Body)
					res.Body.Close()
					switch {
					case res.StatusCode == 200 && bytes.Contains(text, []byte(`"report_version"`)):
						answered.Add(1)
					case res.StatusCode == 503 && res.Header.Get("Retry-After") != "" && bytes.Contains(text, []byte("service_unavailable")):
						refused.Add(1)
					default:
						other.Add(1)
					}
				})
			}
			wg.Wait()
		})
		if answered.Load() == 0 || other.Load() > 0 {
			t.Errorf("%d answered, %d refused, %d otherwise", answered.Load(), refused.Load(), other.Load())
		}
		const most = 200 << 20 // at least half a gigabyte was sent, including by the clients and in connection buffers
		if peak > most {
			t.Errorf("%d MiB in use, expected at most %d", peak>>20, most>>20)
		}
		if got := h.post("/v1/verify", "application/json", body); got.status != 200 {
			t.Errorf("afterwards: %d %s", got.status, got.body)
		}
	})
	quiet(t, before)
}

// watch returns the maximum growth of the heap while f runs, with the default settings of the
// garbage collector.
func watch(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			case <-stop:
				return
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return most - min(most, before.HeapAlloc)
}

// TestBusy verifies that each limit has its own response, and that a released slot can be used
// again.
func TestBusy(t *testing.T) {
	o := options(t)
	o.Limits.Requests, o.Limits.Memory = 1, 100
	h := start(t, o)
	got := h.post("/v1/verify", "application/json", bytes.Repeat([]byte(" "), 1000))
	if got.status != 503 || got.code() != "service_unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("no memory: %d %s", got.status, got.body)
	}
	const begins = "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
	conn := h.dial(begins)
	answer := bufio.NewReader(conn)
	small := func() int { return h.post("/v1/verify", "application/json", []byte("{}")).status }
	for small() != 503 { // wait until the large request has started, because it is rejected while a small request occupies the slot
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := answer.Peek(1); err == nil {
			conn = h.dial(begins)
			answer = bufio.NewReader(conn)
		}
	}
	_ = conn.SetReadDeadline(time.Time{})
	for path, want := range map[string]int{"/healthz": 200, "/v1": 200, "/": 200, "/openapi.json": 200, "/readyz": 503} {
		if got := h.get(path); got.status != want {
			t.Errorf("meanwhile %s: %d", path, got.status)
		}
	}
	_, _ = io.WriteString(conn, strings.Repeat(" ", 50))
	res, err := http.ReadResponse(answer, nil)
	if err != nil || res.StatusCode != 200 {
		t.Errorf("the one request: %v %v", res, err)
	}
	conn.Close()
	for small() != 200 {
		time.Sleep(time.Millisecond)
	}
}

// A trap panics at a point that the test chooses.
type trap struct{ *shelf }

func (trap) Get(context.Context, string, protocol.Reach) (serve.Stored, error) {
	panic("secret of the trap")
}

// TestPanic verifies that a panic is logged and leads to a 500 response, and that the process
// continues. The response must not contain the panic value. Reliability 317.
func TestPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("panic", func(t *testing.T) {
		var log logBuffer
		o := options(t)
		o.Source = trap{newShelf()}
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
		o.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
			panic(errors.New("late"))
		})
		h := start(t, o)
		for range 3 {
			got := h.get("/v1/receipts/x", version()...)
			if got.status != 500 || got.code() != "internal_error" || bytes.Contains(got.body, []byte("secret")) || bytes.Contains(got.body, []byte("goroutine")) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if got := h.get("/"); got.err == nil {
				t.Errorf("an answer that broke off looks whole: %d bytes", len(got.body))
			}
		}
		if got := h.get("/healthz"); got.status != 200 {
			t.Errorf("%d", got.status)
		}
		if text := log.String(); !strings.Contains(text, "secret of the trap") || !strings.Contains(text, "goroutine") {
			t.Errorf("the log does not tell: %s", text)
		}
	})
	quiet(t, before)
}

// TestShutdown verifies that requests in progress receive complete responses. Reliability 318.
func TestShutdown(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("shutdown", func(t *testing.T) {
		h := start(t, options(t))
		r, w := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/v1/verify", r)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		good := oneLine(t, "valid/minimal.json")
		go func() { _, _ = w.Write(ndjson(good, good, good)) }()
		res, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		h.server.Drain()
		if got := h.get("/readyz"); got.status != 503 {
			t.Errorf("ready while draining: %d", got.status)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := h.http.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		_, _ = w.Write(ndjson(good))
		w.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Contains(text, []byte(`{"summary":`)) {
			t.Errorf("%v %.300s", err, text)
		}
		wg.Wait()
	})
	quiet(t, before)
}

// TestNoHTTP2 verifies that the server does not accept HTTP/2 without TLS, so that HTTP/2 floods
// have no effect. Reliability 319.
func TestNoHTTP2(t *testing.T) {
	h := start(t, options(t))
	answer := h.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if !strings.HasPrefix(answer, "HTTP/1.1 4") && !strings.HasPrefix(answer, "HTTP/1.1 505") {
		t.Errorf("%.200q", answer)
	}
	answer = h.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("%.200q", answer)
	}
}

// A logBuffer collects the log of a server.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestLog verifies that the access log contains one line per request, and that the method is the
// only data from the request. Reliability 313, 325.
func TestLog(t *testing.T) {
	var log logBuffer
	o := shelved(t)
	key, keys := apiKeysOf(t, "ci")
	o.Auth, o.Public = keys, false
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	h := start(t, o)
	auth := append(version(), "Authorization", "Bearer "+key, "X-Private", "privateheader")
	requests := 0
	for _, path := range []string{"/v1/receipts/good", "/v1/receipts/privateid", "/v1/tasks/privatetask/receipts?cursor=privatecursor", "/privatepath%0aprivate", "/v1?privatequery=1"} {
		h.get(path, auth...)
		requests++
	}
	h.post("/v1/verify?issuer=privateissuer", "application/json", []byte(`{"privatebody":1}`), auth...)
	h.post("/v1/verify", "application/json", nil, "Authorization", "Bearer rk_privatekeyprivatekeyprivatekeyprivatekeypriv")
	h.raw("PRIVATEMETHOD / HTTP/1.1\r\nHost: privatehost\r\nConnection: close\r\n\r\n")
	requests += 3
	h.do("POST", "/v1/receipts/broken/verify", nil, auth...)
	h.get("/v1/receipts/broken", auth...)
	requests += 2
	h.http.Close()
	text := log.String()
	if strings.Contains(strings.ToLower(text), "private") || strings.Contains(text, key) || strings.Contains(text, "Bearer") {
		t.Errorf("the log tells too much:\n%s", text)
	}
	if n := strings.Count(text, "msg=request "); n != requests {
		t.Errorf("%d of %d requests in the log:\n%s", n, requests, text)
	}
	for _, want := range []string{"route=/v1/receipts/{id}", "status=200", "status=404", "status=401", "key=ci", "route=none", "method=other"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s:\n%s", want, text)
		}
	}
}

// TestRefuse verifies that New rejects options without a verifier or with an unnamed anchor, and
// that a server without keys reports the missing keys.
func TestRefuse(t *testing.T) {
	v := verifierOf(t, receipt.Policy{})
	f := func() *serve.Verifier { return v }
	for _, o := range []serve.Options{{Public: true}, {Verifier: f}, {Verifier: f, Public: true, Auth: new(protocol.APIKeys)}, {Public: true, Verifier: f, Anchors: map[string]func() *serve.Verifier{"": f}}, {Public: true, Verifier: f, Anchors: map[string]func() *serve.Verifier{"a": nil}}} {
		if s, err := serve.New(o); err == nil || s != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := serve.NewVerifier(nil, receipt.Policy{}, nil); err == nil {
		t.Error("a verifier without keys")
	}
	h := start(t, serve.Options{Verifier: func() *serve.Verifier { return nil }, Public: true})
	if got := h.post("/v1/verify", "application/json", []byte("{}")); got.status != 503 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.get("/readyz"); got.status != 503 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestHTTP10 verifies that an HTTP/1.0 request with a body requires a Content-Length. Bytes after
// such a request must not be parsed as another request, even if the client wants to keep the
// connection open.
func TestHTTP10(t *testing.T) {
	h := start(t, options(t))
	const (
		head  = " HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
		next  = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
		chunk = "Transfer-Encoding: chunked\r\n"
	)
	smuggled := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(next), next)
	for name, c := range map[string]struct{ request, want string }{
		"chunks":              {"POST /v1/verify" + head + chunk + "\r\n" + smuggled, "400"},
		"a request as body":   {"POST /v1/verify" + head + chunk + "\r\n" + next, "400"},
		"no length":           {"POST /v1/verify" + head + "\r\n" + next, "400"},
		"chunks and a length": {"POST /v1/verify" + head + chunk + "Content-Length: 2\r\n\r\n{}" + next, "200"},
		"a length":            {"POST /v1/verify" + head + "Content-Length: 2\r\n\r\n{}" + next, "200"},
		"chunks of a GET":     {"GET /v1" + head + chunk + "\r\n" + next, "200"},
		"a plain GET":         {"GET /v1" + head + "\r\n" + next, "200"},
	} {
		answer := h.raw(c.request)
		_, rest, _ := strings.Cut(answer, " ")
		if !strings.HasPrefix(rest, c.want+" ") || strings.Count(answer, "\r\nDate: ") != 1 || !strings.Contains(answer, "Connection: close\r\n") {
			t.Errorf("%s: expected one answer %s, found %s", name, c.want, answer)
		}
	}
}

// TestWhatIsTaken verifies that errors list the accepted values, and that unknown parameters are
// reported before malformed ones. A link to the page may have additional parameters.
func TestWhatIsTaken(t *testing.T) {
	h := start(t, shelved(t))
	json := append(version(), "Content-Type", "application/json")
	for want, got := range map[string]reply{
		`unknown parameter "x"; this route takes none`:                        h.get("/v1?x=1"),
		`unknown parameter "x"; this route takes limit, cursor`:               h.get("/v1/tasks/t/receipts?x=1", version()...),
		`unknown member "x"; expected trust_anchor, at_time or none`:          h.do("POST", "/v1/receipts/good/verify", strings.NewReader(`{"x":1}`), json...),
		`expected a string or null as the member "at_time"`:                   h.do("POST", "/v1/receipts/good/verify", strings.NewReader(`{"at_time":1}`), json...),
		`expected the Content-Type application/json, found "text/plain"`:      h.do("POST", "/v1/receipts/good/verify", strings.NewReader(`{}`), append(version(), "Content-Type", "text/plain")...),
		`application/jsonl or application/cbor-seq, found "text/plain"`:       h.post("/v1/verify", "text/plain", nil),
		`scope is full or integrity, found "FULL"`:                            h.post("/v1/verify?scope=FULL", "application/json", nil),
		`expected no Content-Encoding, or gzip, zstd or identity, found "br"`: h.do("POST", "/v1/verify", strings.NewReader(""), "Content-Type", "application/x-ndjson", "Content-Encoding", "br"),
	} {
		if message, _ := got.object(t)["error"].(map[string]any)["message"].(string); got.status < 400 || got.status > 499 || !strings.Contains(message, want) {
			t.Errorf("%d %q, want %q", got.status, message, want)
		}
	}

	if plain, linked := h.get("/"), h.get("/?utm_source=mail&utm_source=x;y"); linked.status != 200 || !bytes.Equal(linked.body, plain.body) {
		t.Errorf("a link with a query: %d %.100s", linked.status, linked.body)
	}
}
