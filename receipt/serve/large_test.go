package serve_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestLargeStreams verifies that only one large stream per client is verified at a time, while
// small streams continue. Reliability 301, 315.
func TestLargeStreams(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("large", func(t *testing.T) {
		o := options(t)
		o.Limits.Idle = 2 * time.Second
		h := start(t, o)
		small := ndjson(oneLine(t, "valid/minimal.json"))
		long := append(bytes.Repeat([]byte(" "), 1<<20+1), small...)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(small)
		_ = z.Close()
		item := append([]byte("\xa1\x61a\x7a\x00\x10\x00\x00"), bytes.Repeat([]byte("x"), 1<<20)...) // {"a": "xxx…"}
		large := map[string][]byte{"x-ndjson": long, "jsonl": packed.Bytes(), "cbor-seq": item}
		for media, body := range large {
			if got := h.post("/v1/verify", "application/"+media, body); got.status != 200 || !bytes.Contains(got.body, []byte(`"summary"`)) {
				t.Errorf("%s alone: %d %.200s", media, got.status, got.body)
			}
		}
		many := bytes.Repeat(small, 2000) // consists of several pieces, but has no long line
		one, leave := h.holdLarge(t, long)
		for media, body := range large {
			got := h.post("/v1/verify", "application/"+media, body)
			if got.status == 200 && !bytes.Contains(got.body, []byte(`"error"`)) || got.status != 200 && (got.status != 503 || got.header.Get("Retry-After") == "") {
				t.Errorf("%s during another large request: %d %.200s", media, got.status, got.body)
			}
			_, _ = io.WriteString(one, "\n") // keeps the other stream from being idle
		}
		if got := h.post("/v1/verify", "application/x-ndjson", many); got.status != 200 || len(got.lines()) != 2001 {
			t.Errorf("small request during a large one: %d %d lines", got.status, len(got.lines()))
		}
		leave()
		for {
			got := h.post("/v1/verify", "application/x-ndjson", long)
			if got.status == 200 && bytes.Contains(got.body, []byte(`"summary"`)) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	})
	quiet(t, before)
}

// holdLarge starts a large stream and prevents it from becoming idle.
func (h *host) holdLarge(t *testing.T, part []byte) (io.Writer, func()) {
	t.Helper()
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/v1/verify", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	go func() { _, _ = w.Write(append(part, part...)) }()
	res, err := h.client.Do(req) // returns when the first report arrives
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_, _ = io.WriteString(w, "\n")
			case <-stop:
				return
			}
		}
	}()
	return w, func() {
		close(stop)
		<-stopped
		w.Close()
		res.Body.Close()
	}
}

// TestLimitsInEnvelopes verifies that the limits on receipts do not apply to the envelope of a
// resource, in any form.
func TestLimitsInEnvelopes(t *testing.T) {
	h := start(t, options(t))
	receipt := `{"schema":"receipt-2026-04-25","a":` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `}`
	deeper := strings.Replace(receipt, "[]", "[[]]", 1)
	for text, want := range map[string]string{receipt: "schema_invalid", deeper: "depth_limit"} {
		envelope := `{"n":9007199254740993,"wire":{"payload":` + text + `}}`
		for media, list := range map[string]string{"application/json": "", "application/x-ndjson": "\n"} {
			if got := h.post("/v1/verify", media, []byte(envelope+list)); got.status != 200 || !strings.Contains(string(got.body), `"code":"`+want+`"`) || strings.Contains(string(got.body), "number_precision") {
				t.Errorf("%s, %s: %d %.600s", media, want, got.status, got.body)
			}
		}
	}
}

// TestLongestLine verifies that a line with the largest possible receipt is processed.
func TestLongestLine(t *testing.T) {
	h := start(t, options(t))
	line := `{"schema":"receipt-2026-04-25","a":"` + strings.Repeat("x", receipt.MaxBytes-40) + `"}`
	got := h.post("/v1/verify", "application/x-ndjson", []byte(line+strings.Repeat(" ", receipt.MaxBytes-len(line))+"\n"))
	list, sum := verdicts(t, got)
	if sum == nil || strings.Join(list, ";") != "1 refuted schema_invalid" {
		t.Errorf("%d %q", got.status, list)
	}
}
