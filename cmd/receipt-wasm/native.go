//go:build !(js && wasm)

package main

import (
	"fmt"
	"os"
)

// main reports an error, because the program runs only in a browser or in node. On other systems,
// this package is built only for tests.
func main() {
	fmt.Fprintln(os.Stderr, "receipt-wasm runs in a browser or in node: GOOS=js GOARCH=wasm go build ./cmd/receipt-wasm")
	os.Exit(2)
}
