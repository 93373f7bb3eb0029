// Command verify verifies the receipts in FILE with the trusted keys in KEYS:
//
//	go run ./examples/verify KEYS FILE
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func main() {
	os.Exit(verify(os.Args[1], os.Args[2], os.Stdout))
}

// verify prints the verdict, the code, and the pointer of each receipt, and returns the exit code.
func verify(trusted, path string, out io.Writer) int {
	jwks, err := os.ReadFile(trusted)
	if err != nil {
		return failed(err)
	}
	trust, err := keys.ParseSet(jwks)
	if err != nil {
		return failed(err)
	}
	v, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		return failed(err)
	}
	file, err := os.Open(path)
	if err != nil {
		return failed(err)
	}
	defer file.Close()

	run := stream.Verify(context.Background(), v, file, stream.Options{})
	for rep := range run.Reports() {
		f := rep.Finding()
		fmt.Fprintf(out, "%s: %s %s %q\n", rep.Address(), rep.Verdict, f.Code, f.Pointer)
	}

	sum, err := run.Summary()
	switch {
	case sum.Verdict() == receipt.Refuted:
		return 1
	case err != nil: // not read to its end
		return failed(err)
	case sum.Verdict() == receipt.Verified:
		return 0
	}
	return 3
}

func failed(err error) int {
	log.Print(err)
	return 2
}
