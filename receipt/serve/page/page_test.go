package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

const policy = "default-src 'none'; script-src 'sha256-x'"

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func get(h http.Handler, method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestHandler(t *testing.T) {
	text := `<meta http-equiv="Content-Security-Policy" content="` + policy + `">the page`
	h, err := NewHandler(packed(t, text))
	if err != nil {
		t.Fatal(err)
	}
	plain := get(h, "GET", "/")
	body, _ := io.ReadAll(plain.Body)
	if plain.StatusCode != 200 || string(body) != text || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("%d %v %q", plain.StatusCode, plain.Header, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache",
		"Vary": "Accept-Encoding", "Content-Security-Policy": policy + "; frame-ancestors 'none'",
	} {
		if got := plain.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	tag := plain.Header.Get("ETag")
	if again := get(h, "GET", "/", "If-None-Match", tag); again.StatusCode != 304 {
		t.Errorf("the same page again: %d", again.StatusCode)
	}
	if head := get(h, "HEAD", "/"); head.StatusCode != 200 || head.Header.Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	for _, accept := range []string{"gzip", "br, GZIP;q=0.5", "gzip;q=1.0, identity"} {
		small := get(h, "GET", "/", "Accept-Encoding", accept)
		body, _ := io.ReadAll(small.Body)
		if small.Header.Get("Content-Encoding") != "gzip" || !bytes.Equal(body, packed(t, text)) || small.Header.Get("ETag") == tag {
			t.Errorf("%s: %v %d bytes", accept, small.Header, len(body))
		}
	}
	for _, accept := range []string{"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip"} {
		if got := get(h, "GET", "/", "Accept-Encoding", accept).Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%q got %s", accept, got)
		}
	}
	if other := get(h, "GET", "/v2"); other.StatusCode != 404 {
		t.Errorf("another path: %d", other.StatusCode)
	}
	if post := get(h, "POST", "/"); post.StatusCode != 405 || post.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", post.StatusCode, post.Header)
	}
}

// TestDamaged verifies that an embedded page is rejected if it is not valid gzip data.
func TestDamaged(t *testing.T) {
	whole := packed(t, "page")
	for _, data := range [][]byte{nil, []byte("page"), whole[:len(whole)-3]} {
		if h, err := NewHandler(data); err == nil || h != nil {
			t.Errorf("%q is served", data)
		}
	}
}

// TestAbsent verifies that a command built without the page explains how to build it with the page.
func TestAbsent(t *testing.T) {
	r := get(newHandler(nil, absentPage()), "GET", "/", "Accept-Encoding", "gzip")
	body, _ := io.ReadAll(r.Body)
	if r.StatusCode != 200 || !bytes.Contains(body, []byte("go generate ./receipt/serve/page")) || !strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'none'; img-src data:") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, body)
	}
	if r := get(Handler(), "GET", "/"); r.StatusCode != 200 || !strings.Contains(r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

// TestBuilt verifies that Built reports whether the program contains the page, and that the handler
// serves either the page or build instructions.
func TestBuilt(t *testing.T) {
	body, err := io.ReadAll(get(Handler(), "GET", "/").Body)
	if absent := bytes.Contains(body, []byte("without the verification page")); err != nil || absent == Built() {
		t.Errorf("built: %v, and the page of one that was not: %v, %v", Built(), absent, err)
	}
}

// TestLinksNoGenerator verifies that no command contains the bundler for the page: each linked
// package must belong to a module in go.mod and go.sum.
func TestLinksNoGenerator(t *testing.T) {
	const generator = "github.com/evanw/esbuild"
	for file, want := range map[string]bool{"generate/go.mod": true, "../../../go.mod": false, "../../../go.sum": false} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(generator)) != want {
			t.Errorf("%s names %s: %t, want %t", file, generator, !want, want)
		}
	}
}
