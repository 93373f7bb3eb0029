package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func index(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../index.html")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFill verifies that every part is inserted in its place, and that the policy contains the
// hashes of all inline styles and scripts.
func TestFill(t *testing.T) {
	p := parts{style: []byte("a{}"), app: []byte("f()"), worker: []byte("g()"), core: []byte("AAAA")}
	page, err := p.fill(index(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct{ before, text string }{{"<style>", "a{}"}, {"<script>", "f()"}} {
		_, rest, _ := strings.Cut(string(page), part.before)
		text, _, _ := strings.Cut(rest, "</")
		sum := sha256.Sum256([]byte(text))
		if text != part.text || !strings.Contains(string(page), "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("%s holds %q, or the policy does not name it", part.before, text)
		}
	}
	if bytes.Contains(page, []byte("<!-- ")) || bytes.Count(page, []byte("<script")) != 3 {
		t.Errorf("%s", page)
	}
	policy := p.policy()
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	for _, never := range []string{"unsafe-inline", "'unsafe-eval'", "http", "*"} {
		if strings.Contains(policy, never) {
			t.Errorf("the policy allows %s: %s", never, policy)
		}
	}
}

// TestFillRefuses verifies that fill rejects parts that would end a script early. It must also
// reject pages in which a placeholder is missing or duplicated.
func TestFillRefuses(t *testing.T) {
	for _, text := range []string{"'</script>'", "'</STYLE'", "'<!--'"} {
		p := parts{app: []byte(text)}
		if page, err := p.fill(index(t)); err == nil || page != nil {
			t.Errorf("%s is put into the page", text)
		}
	}
	p := parts{}
	if _, err := p.fill([]byte("<!-- policy -->")); err == nil {
		t.Error("a page without places is filled")
	}
	if _, err := p.fill(append(index(t), "<!-- app -->"...)); err == nil {
		t.Error("a page with two places for a script is filled")
	}
}

// TestScripts verifies that the bundles are reproducible and contain no paths from the build
// machine.
func TestScripts(t *testing.T) {
	t.Chdir("..")
	exec, err := wasmExec()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for entry, alias := range map[string]map[string]string{"app.js": nil, "view/report.js": nil, "../../../cmd/receipt/internal/browse/site/app.js": nil, "worker.js": {"wasm_exec": exec}} {
		first, err := script(entry, alias)
		if err != nil {
			t.Fatal(err)
		}
		again, err := script(entry, alias)
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: two bundles differ, %v", entry, err)
		}
		if len(first) < 1000 || bytes.Contains(first, []byte(dir)) || bytes.Contains(first, []byte(filepath.Dir(exec))) {
			t.Errorf("%s: %.300s", entry, first)
		}
		for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			if bytes.Contains(first, []byte(never)) {
				t.Errorf("%s uses %s", entry, never)
			}
		}
	}
	if _, err := script("absent.js", nil); err == nil {
		t.Error("a module that does not exist is bundled")
	}
}

func TestCompress(t *testing.T) {
	text := []byte(strings.Repeat("page ", 1000))
	packed, err := compress(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := compress(text)
	if err != nil || !bytes.Equal(packed, again) || len(packed) > len(text)/10 {
		t.Errorf("%d bytes, then %d, %v", len(packed), len(again), err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(r); err != nil || !bytes.Equal(plain, text) {
		t.Error("decompressed data differs from the original")
	}
}
