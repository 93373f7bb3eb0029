package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// A parts value contains the replacements for the placeholders in index.html, such as <!-- policy
// -->.
type parts struct {
	style, app, worker, core []byte
}

func makePage() ([]byte, error) {
	index, err := os.ReadFile("index.html")
	if err != nil {
		return nil, err
	}

	var p parts
	if p.style, err = style("shell.css"); err != nil {
		return nil, err
	}
	if p.app, err = script("app.js", nil); err != nil {
		return nil, err
	}

	exec, err := wasmExec()
	if err != nil {
		return nil, err
	}
	if p.worker, err = script("worker.js", map[string]string{"wasm_exec": exec}); err != nil {
		return nil, err
	}

	wasm, err := buildWASM()
	if err != nil {
		return nil, err
	}

	packed, err := compress(wasm) // browsers decompress the data themselves
	if err != nil {
		return nil, err
	}
	p.core = base64.StdEncoding.AppendEncode(nil, packed)
	return p.fill(index)
}

// fill replaces the placeholders in index.html. Scripts with a type other than JavaScript contain
// data for the script.
func (p *parts) fill(index []byte) ([]byte, error) {
	places := []struct{ mark, before, text, after string }{
		{"<!-- policy -->", `<meta http-equiv="Content-Security-Policy" content="`, p.policy(), `">`},
		{"<!-- style -->", "<style>", string(p.style), "</style>"},
		{"<!-- core -->", `<script type="text/plain" id="core">`, string(p.core), "</script>"},
		{"<!-- worker -->", `<script type="text/plain" id="worker">`, string(p.worker), "</script>"},
		{"<!-- app -->", "<script>", string(p.app), "</script>"},
	}

	for _, place := range places {
		if n := bytes.Count(index, []byte(place.mark)); n != 1 {
			return nil, fmt.Errorf("index.html: expected %s once, found it %d times", place.mark, n)
		}
		// A script or style must contain neither string: </s may end the element, and <!-- changes
		// where the element ends (HTML section 13.2.5.4).
		for _, sign := range []string{"</s", "<!--"} {
			if strings.Contains(strings.ToLower(place.text), sign) {
				return nil, fmt.Errorf("what replaces %s holds %s", place.mark, sign)
			}
		}
	}

	for _, place := range places {
		index = bytes.Replace(index, []byte(place.mark), []byte(place.before+place.text+place.after), 1)
	}
	return index, nil
}

// policy returns the Content Security Policy (CSP 3) of the page: nothing is loaded or sent, and
// only the scripts and styles in the file itself are used. wasm-unsafe-eval allows WebAssembly to
// be compiled, blob: allows the worker to be started, and data: allows the icon. Text cannot become
// markup or a script (Trusted Types), except through the policy "worker", which app.js uses once.
func (p *parts) policy() string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + hashOf(p.app) + " 'wasm-unsafe-eval'",
		"worker-src blob:",
		"style-src " + hashOf(p.style),
		"img-src data:",
		"connect-src 'none'",
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types worker",
	}, "; ")
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
