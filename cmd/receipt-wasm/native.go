//go:build !(js && wasm)

package main

import (
	"fmt"
	"os"
)

// main refuses to run outside of a browser and node. Everywhere else this package is built
// only for its tests.
func main() {
	fmt.Fprintln(os.Stderr, "receipt-wasm runs in a browser or in node: GOOS=js GOARCH=wasm go build ./cmd/receipt-wasm")
	os.Exit(2)
}
