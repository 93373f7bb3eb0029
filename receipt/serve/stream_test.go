package serve_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// oneLine returns a fixture without line endings.
func oneLine(t testing.TB, path string) []byte {
	t.Helper()
	text, err := canon.Transform(fixture(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func ndjson(docs ...[]byte) []byte { return append(bytes.Join(docs, []byte("\n")), '\n') }

// verdicts parses a streamed response. It returns one word for each report, and then the summary.
func verdicts(t testing.TB, r reply) (list []string, sum *stream.Summary) {
	t.Helper()
	for _, line := range r.lines() {
		if sum != nil {
			t.Errorf("a line follows the summary: %s", line)
		}
		var last struct{ Summary *stream.Summary }
		if err := json.Unmarshal([]byte(line), &last); err == nil && last.Summary != nil {
			sum = last.Summary
			continue
		}
		var rep receipt.Report
		if err := json.Unmarshal([]byte(line), &rep); err != nil || len(rep.Checks) == 0 {
			list = append(list, "error")
			continue
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d %v %s", rep.Index, rep.Verdict, rep.Finding().Code)))
	}
	return list, sum
}

// TestStream verifies that there is one report for each valid, invalid, or oversized line, in
// order, and that the summary is the last line. Reliability 322.
func TestStream(t *testing.T) {
	h := start(t, options(t))
	good, bad := oneLine(t, "valid/minimal.json"), oneLine(t, "malicious/changed-cost.json")
	oversize := bytes.Repeat([]byte("x"), receipt.MaxBytes+2)
	body := ndjson(good, oversize, []byte("{"), bad, []byte(""), good, []byte("[1]"))
	got := h.post("/v1/verify", "application/x-ndjson", body)
	if got.status != 200 || got.header.Get("Content-Type") != "application/x-ndjson" || got.err != nil {
		t.Fatalf("%d %v %v %.300s", got.status, got.header, got.err, got.body)
	}
	list, sum := verdicts(t, got)
	const want = "1 verified; 2 refuted size_limit; 3 refuted syntax; 4 refuted hash_mismatch; 6 verified; 7 refuted not_object"
	if text := strings.Join(list, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if sum == nil || !sum.Complete || sum.Verdict() != receipt.Refuted || sum.Keys == nil || sum.Keys.Path != "trust.json" || sum.Tool != "receipt" {
		t.Errorf("summary %+v", sum)
	}
}

// TestStreamKinds verifies each kind of stream, compressed or not, and that a body without receipts
// is rejected. Reliability 305.
func TestStreamKinds(t *testing.T) {
	h := start(t, options(t))
	good := oneLine(t, "valid/minimal.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	lines := ndjson(good, good)
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = w.Write(lines)
	_ = w.Close()
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(lines)
	_ = z.Close()
	for _, c := range []struct {
		name, media, encoding string
		body                  []byte
		want                  string
	}{
		{"lines", "application/x-ndjson", "", lines, "200 verified"},
		{"jsonl", "application/jsonl", "", lines, "200 verified"},
		{"identity", "application/jsonl", "identity", lines, "200 verified"},
		{"sequence", "application/cbor-seq", "", append(item, item...), "200 verified"},
		{"gzip", "application/x-ndjson", "gzip", gz.Bytes(), "200 verified"},
		{"zstd", "application/x-ndjson", "zstd", zst.Bytes(), "200 verified"},
		{"gzip that is none", "application/x-ndjson", "gzip", lines, "400 Content-Encoding"},
		{"zstd that is gzip", "application/x-ndjson", "zstd", gz.Bytes(), "400 Content-Encoding"},
		{"gzip of one byte", "application/x-ndjson", "gzip", gz.Bytes()[:1], "400 Content-Encoding"},
		{"br", "application/x-ndjson", "br", lines, "415 Content-Encoding"},
		{"deflate", "application/x-ndjson", "deflate", lines, "415 Content-Encoding"},
		{"twice", "application/x-ndjson", "gzip, gzip", lines, "415 Content-Encoding"},
		{"gzip of one receipt", "application/json", "gzip", gz.Bytes(), "415 Content-Encoding"},
		{"nothing", "application/x-ndjson", "", nil, "400 "},
		{"blank", "application/x-ndjson", "", []byte("\n\n"), "400 "},
		{"gzip cut at once", "application/x-ndjson", "gzip", gz.Bytes()[:12], "400 "},
	} {
		var headers []string
		if c.encoding != "" {
			headers = []string{"Content-Encoding", c.encoding}
		}
		got := h.post("/v1/verify", c.media, c.body, headers...)
		text := fmt.Sprintf("%d %s", got.status, got.param())
		if got.status == 200 {
			_, sum := verdicts(t, got)
			text = fmt.Sprintf("200 %v", sum.Verdict())
		}
		if text != c.want {
			t.Errorf("%s: %s, expected %s: %.300s", c.name, text, c.want, got.body)
		}
	}
	if got := h.post("/v1/verify", "application/x-ndjson", nil); !strings.Contains(string(got.body), `the body is not a whole stream of receipts: contains no receipt`) {
		t.Errorf("nothing: %s", got.body)
	}
}

// TestContinuity verifies the parameters that specify how a stream must end.
func TestContinuity(t *testing.T) {
	h := start(t, options(t))
	good := oneLine(t, "valid/minimal.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	head := doc.Root().Member("chain").Member("receipt_hash").String()
	other := "sha256:" + strings.Repeat("a", 64)
	for _, c := range []struct{ query, want string }{
		{"?expect_head=" + head, "verified"},
		{"?expect_head=" + other, "refuted"},
		{"?expect_count=1", "verified"},
		{"?expect_count=2&expect_head=" + head, "refuted"},
		{"?partial=true", "verified"},
		{"?partial=false", "verified"},
		{"?expect_head=" + head + "&expect_head=" + other, "400"},
		{"?expect_head=x", "400"},
		{"?expect_head=sha256:" + strings.Repeat("0", 64), "400"},
		{"?expect_count=0", "400"},
		{"?expect_count=-1", "400"},
		{"?expect_count=%2B1", "400"},
		{"?partial=1", "400"},
	} {
		got := h.post("/v1/verify"+c.query, "application/x-ndjson", ndjson(good))
		text := fmt.Sprint(got.status)
		if got.status == 200 {
			_, sum := verdicts(t, got)
			text = sum.Verdict().String()
		}
		if text != c.want {
			t.Errorf("%s: %s, expected %s: %.300s", c.query, text, c.want, got.body)
		}
	}
}

// TestStreamLive verifies that reports are sent while the body is still arriving, whether or not
// its length is stated.
func TestStreamLive(t *testing.T) {
	h := start(t, options(t))
	h.live(t, -1)
	h.live(t, int64(4*len(ndjson(oneLine(t, "valid/minimal.json")))))
}

func (h *host) live(t *testing.T, length int64) {
	t.Helper()
	r, w := io.Pipe()
	defer w.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/v1/verify", r)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = length
	req.Header.Set("Content-Type", "application/x-ndjson")
	good := oneLine(t, "valid/minimal.json")
	go func() { _, _ = w.Write(ndjson(good, good, good)) }()
	res, err := h.client.Do(req) // returns when the first report arrives
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for range 3 {
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"report_version"`) {
			t.Fatalf("%v %s", err, line)
		}
	}
	go func() {
		_, _ = w.Write(ndjson(good))
		w.Close()
	}()
	rest, err := io.ReadAll(lines)
	if err != nil || strings.Count(string(rest), "\n") != 2 || !strings.Contains(string(rest), `{"summary":`) {
		t.Errorf("%v %s", err, rest)
	}
}

// TestLongStream verifies that a stream may last much longer than the idle timeout.
func TestLongStream(t *testing.T) {
	for idle := 400 * time.Millisecond; ; idle *= 2 {
		got, took, pause := longStream(t, idle)
		if _, sum := verdicts(t, got); got.err == nil && sum != nil && sum.Verdict() == receipt.Verified && took > idle {
			return
		}
		if pause > idle/4 && idle < 10*time.Second {
			t.Logf("the machine is busy: the client stood still for %v", pause)
			continue
		}
		t.Fatalf("%v after %v, with pauses of %v at most: %.300s", got.err, took, pause, got.body[max(0, len(got.body)-300):])
	}
}

// longStream sends a stream that lasts four times as long as the idle timeout. It returns the
// response, the time that sending took, and the client's longest pause.
func longStream(t *testing.T, idle time.Duration) (got reply, took, pause time.Duration) {
	o := options(t)
	o.Limits.Idle = idle
	h := start(t, o)
	r, w := io.Pipe()
	good := ndjson(oneLine(t, "valid/minimal.json"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer w.Close()
		for began, last := time.Now(), time.Now(); took < 4*idle; took = last.Sub(began) {
			_, err := w.Write(good)
			pause, last = max(pause, time.Since(last)), time.Now()
			if err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond) // slows the client down without making it idle
		}
	}()
	res, err := h.client.Post("http://"+h.addr+"/v1/verify", "application/x-ndjson", r)
	if err == nil {
		got.body, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	got.err = err
	_ = r.Close() // a client that was idle for too long stops writing
	<-ended
	return got, took, pause
}

// TestStreamBreaks verifies that an incomplete response has no summary. If the body ends early, or
// if a requirement does not apply to it, the last line must be an error, and the connection must be
// aborted. Reliability 316.
func TestStreamBreaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("breaks", func(t *testing.T) {
		h := start(t, options(t))
		good := oneLine(t, "valid/minimal.json")
		body := string(ndjson(good, good, good))
		head := "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
		for name, request := range map[string]string{
			"cut body":  head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+1000, body),
			"bad chunk": head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nzz\r\n", len(body), body),
			"cut chunk": head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(body)+1000, body),
		} {
			got := h.rawHalf(request)
			refused := strings.HasPrefix(got, "HTTP/1.1 400") // possible if the server reaches the end of the body before the first report
			broken := strings.HasPrefix(got, "HTTP/1.1 200") && !strings.HasSuffix(got, "\r\n0\r\n\r\n")
			if !refused && !broken || strings.Contains(got, `"summary":{`) {
				t.Errorf("%s: %.200s … %.300s", name, got, got[max(0, len(got)-300):])
			}
		}
		two := ndjson(good, oneLine(t, "edge/path-id.json"))
		got := h.post("/v1/verify?expect_count=2", "application/x-ndjson", two)
		list, sum := verdicts(t, got)
		if text := strings.Join(list, "; "); got.err == nil || sum != nil || text != "1 verified; error" || !strings.Contains(string(got.body), `"param":"expect_head"`) {
			t.Errorf("two streams: %v %v: %s %s", got.err, sum, text, got.body)
		}
	})
	quiet(t, before)
}

// rawHalf sends bytes, closes its side of the connection, and returns the response.
func (h *host) rawHalf(request string) string {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, request)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// TestClientLeaves verifies that no work continues after a client disconnects while it is sending
// the body and receiving the response, so that the only slot for streams becomes free again.
// Reliability 316.
func TestClientLeaves(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("leaves", func(t *testing.T) {
		o := options(t)
		o.Limits.Streams = 1
		h := start(t, o)
		good := oneLine(t, "valid/minimal.json")
		for range 3 {
			for !h.begin(t, ndjson(good, good, good)) { // while the previous request is still ending, there is no slot
				time.Sleep(time.Millisecond)
			}
		}
	})
	quiet(t, before)
}

// begin sends part of a stream, reads part of the response, and disconnects. It reports whether a
// slot was available.
func (h *host) begin(t *testing.T, part []byte) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	defer r.Close()
	defer w.Close()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+h.addr+"/v1/verify", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	go func() { _, _ = w.Write(part) }()
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == 503 && res.Header.Get("Retry-After") != "" {
		return false
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil || res.StatusCode != 200 {
		t.Fatal(res.StatusCode, err)
	}
	return true
}

var _ serve.Source = (*shelf)(nil)
