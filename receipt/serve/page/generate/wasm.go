package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const wasmPackage = "github.com/receiptkit/receiptkit/cmd/receipt-wasm"

// buildWASM builds the WebAssembly part of the page, in the module of the library. The result
// depends neither on this machine nor on the state of the repository.
func buildWASM() ([]byte, error) {
	dir, err := os.MkdirTemp("", "receipt-page-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "receipt.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}, inlining()...)
	cmd := exec.Command("go", append(args, "-o", file, wasmPackage)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build %s: %w", wasmPackage, err)
	}
	return os.ReadFile(file)
}

// inlining returns compiler flags that disable inlining except in the packages that verify
// receipts. This makes the page a tenth smaller.
func inlining() []string {
	flags := []string{"-gcflags=all=-l"}
	for _, hot := range []string{
		"github.com/receiptkit/receiptkit/canon", "github.com/receiptkit/receiptkit/chain", "github.com/receiptkit/receiptkit/schemas", "github.com/receiptkit/receiptkit/receipt/...",
		"runtime/...", "internal/runtime/...", "internal/bytealg", "internal/abi", "crypto/internal/fips140/...", "filippo.io/...", "strconv", "bytes", "slices", "strings", "math/bits", "encoding/binary",
	} {
		flags = append(flags, "-gcflags="+hot+"=")
	}
	for _, cold := range []string{"", "/archive", "/batch", "/keys", "/stream", "/stream/internal/survey"} { // these packages do not loop over the bytes of JSON receipts
		flags = append(flags, "-gcflags=github.com/receiptkit/receiptkit/receipt"+cold+"=-l")
	}
	return flags
}

// wasmExec returns the JavaScript file from the Go toolchain that runs WebAssembly.
func wasmExec() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"), nil
}

// compress returns data in gzip format (RFC 1952), without a name or a time.
func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
