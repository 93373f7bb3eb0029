package serve_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// locked returns options that require one of two API keys, together with the headers for both keys.
func locked(t *testing.T) (o serve.Options, one, other string) {
	t.Helper()
	var file []byte
	var auth []string
	for _, name := range []string{"one", "other"} {
		key, entry, err := protocol.NewAPIKey(rand.Reader, name, noon())
		if err != nil {
			t.Fatal(err)
		}
		line, err := entry.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		file = append(append(file, line...), '\n')
		auth = append(auth, "Bearer "+key)
	}
	keys, err := serve.ParseAPIKeys(file)
	if err != nil {
		t.Fatal(err)
	}
	o = options(t)
	o.Auth, o.Public = keys, false
	return o, auth[0], auth[1]
}

// dial sends a request without reading the response.
func (h *host) dial(request string) net.Conn {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		h.t.Fatal(err)
	}
	return conn
}

// TestUnreadPages verifies that clients do not use up the slots of clients with a key by requesting
// the page without reading it, and that the server stays ready.
func TestUnreadPages(t *testing.T) {
	o, auth, _ := locked(t)
	o.Limits.Requests = 2
	begun, large := make(chan struct{}, 20), make([]byte, 64<<20)
	o.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		_, _ = w.Write(large)
	})
	h := start(t, o)
	for range cap(begun) {
		h.dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	for range cap(begun) {
		<-begun
	}
	if got := h.post("/v1/verify", "application/json", []byte("{}"), "Authorization", auth); got.status != 200 {
		t.Errorf("with a key: %d %s", got.status, got.body)
	}
	if got := h.get("/readyz"); got.status != 200 {
		t.Errorf("ready: %d %s", got.status, got.body)
	}
}

// TestSharedPlaces verifies that clients with the same key cannot use all slots for requests or
// streams, and that the server reports that it is busy if all slots are in use.
func TestSharedPlaces(t *testing.T) {
	o, one, other := locked(t)
	o.Limits.Requests, o.Limits.Streams = 16, 4
	h := start(t, o)
	stream := "POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: " + one + "\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n"
	for range 8 {
		h.dial(stream)
	}
	ask := func(auth, media string) int {
		return h.post("/v1/verify", media, []byte("{}\n"), "Authorization", auth).status
	}
	// Wait until the requests have arrived. A request that arrives while the function ask is using
	// the last slot is rejected.
	for ask(one, "application/x-ndjson") != 503 {
		h.dial(stream)
		time.Sleep(time.Millisecond)
	}
	if got := ask(other, "application/x-ndjson"); got != 200 {
		t.Errorf("a stream of another key: %d", got)
	}
	single := "POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: " + one + "\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
	for range 32 {
		h.dial(single)
	}
	for ask(one, "application/json") != 503 {
		h.dial(single)
		time.Sleep(time.Millisecond)
	}
	if got := ask(other, "application/json"); got != 200 {
		t.Errorf("a request of another key: %d", got)
	}
	if got := h.get("/readyz"); got.status != 200 {
		t.Errorf("ready for others: %d %s", got.status, got.body)
	}
	others := strings.Replace(single, one, other, 1)
	for range 32 {
		h.dial(others)
	}
	for ask(other, "application/json") != 503 {
		h.dial(others)
		time.Sleep(time.Millisecond)
	}
}

// TestSharedMemory verifies that request bodies from clients with one key leave memory for clients
// with another key.
func TestSharedMemory(t *testing.T) {
	o, one, other := locked(t)
	o.Limits.Memory = 1 << 20
	h := start(t, o)
	body := strings.Repeat(" ", 128<<10)
	ask := func(auth string) int {
		return h.post("/v1/verify", "application/json", bytes.Repeat([]byte(" "), 192<<10), "Authorization", auth).status
	}
	for tries := 0; ask(one) != 503; tries++ {
		if tries == 100 {
			t.Fatal("one key gets all the memory")
		}
		h.dial(fmt.Sprintf("POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", one, len(body)+1, body)) // the last byte is missing
		time.Sleep(10 * time.Millisecond)
	}
	if got := ask(other); got != 200 {
		t.Errorf("another key: %d", got)
	}
}

// TestAmplified verifies that the length of the response is limited by the length of the stream,
// and that the server stops responding to invalid lines. Reliability 285.
func TestAmplified(t *testing.T) {
	h := start(t, options(t))
	bomb := bytes.Repeat(packed(t, strings.Repeat("{}\n", 1<<16)), 400) // of 78 MB
	line := `{"schema":"receipt-2026-04-25"}` + "\n"
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		want     string
	}{
		"a bomb":         {bomb, "gzip", `"error"`},
		"lines":          {[]byte(strings.Repeat("{}\n", 20_000)), "identity", "more than 10000 lines are none"},
		"false receipts": {[]byte(strings.Repeat(line, 20_000)), "identity", "more than 10000 lines are none"},
		"white space":    {bytes.Repeat(packed(t, strings.Repeat(" ", 1<<20)), 16), "gzip", "more than 200 bytes for each of its own"},
		"members":        {append(bytes.Repeat(packed(t, ""), 100_000), packed(t, "{}\n")...), "gzip", `"complete":true`},
	} {
		got := h.post("/v1/verify", "application/x-ndjson", c.body, "Content-Encoding", c.encoding)
		if !strings.Contains(string(got.body[max(0, len(got.body)-1000):]), c.want) {
			t.Errorf("%s: %d %d bytes, ends in %.300q", name, got.status, len(got.body), got.body[max(0, len(got.body)-300):])
		}
		if len(got.body) > 64<<20 {
			t.Errorf("%s: %d bytes are answered with %d", name, len(c.body), len(got.body))
		}
	}
}

// TestLastLine verifies that a client receives all of an aborted response, including the reason in
// the last line, even if the client is still sending and reads slowly.
func TestLastLine(t *testing.T) {
	h := start(t, options(t))
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	body := strings.Repeat(`{"schema":"receipt-2026-04-25"}`+"\n", 200_000) // 6 MB, of which a third of a MB is looked at
	go io.WriteString(conn, fmt.Sprintf("POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", len(body), body))

	last, piece := []byte(nil), make([]byte, 64<<10)
	for err = nil; err == nil; time.Sleep(time.Millisecond) {
		var n int
		n, err = conn.Read(piece)
		last = append(last, piece[:n]...)
		last = last[max(0, len(last)-1000):]
	}
	if !bytes.Contains(last, []byte("more than 10000 lines are none")) || bytes.HasSuffix(last, []byte("0\r\n\r\n")) {
		t.Errorf("%v; the answer ends in %.300q", err, last[max(0, len(last)-300):])
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestManyHeaders verifies the limit on the number of headers, each of which needs memory.
func TestManyHeaders(t *testing.T) {
	h := start(t, options(t))
	var names strings.Builder
	for i := range 200 {
		fmt.Fprintf(&names, "x%d:\r\n", i)
	}
	if answer := h.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + names.String() + "\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("%.200s", answer)
	}
	if answer := h.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 30<<10) + "\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 431 ") {
		t.Errorf("%.200s", answer)
	}
}

// TestConnections verifies that connections without requests are closed if the limit is exceeded,
// and that a connection that has presented a key stays open.
func TestConnections(t *testing.T) {
	o, auth, _ := locked(t)
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := startServer(t, s, serve.HTTPServer(s, nil, 8))
	request := "POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: " + auth + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	answered := func(conn net.Conn) bool {
		buffer := make([]byte, 64<<10)
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := conn.Read(buffer)
		return err == nil && strings.HasPrefix(string(buffer[:n]), "HTTP/1.1 200 ")
	}
	keyed := h.dial(request)
	if !answered(keyed) {
		t.Fatal("no answer")
	}
	var silent []net.Conn
	for range 30 {
		silent = append(silent, h.dial(""))
	}
	for _, conn := range silent[:20] {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
			t.Fatalf("a silent connection is still open: %v", err)
		}
	}
	if _, err := io.WriteString(keyed, request); err != nil || !answered(keyed) {
		t.Error("the connection of a key was closed")
	}
	if got := h.post("/v1/verify", "application/json", []byte("{}"), "Authorization", auth); got.status != 200 {
		t.Errorf("a new one: %d", got.status)
	}
}
