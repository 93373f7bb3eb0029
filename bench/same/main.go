// Same verifies one corpus in several forms, as lines, compressed, as a CBOR
// sequence, and fails unless the summaries say the same of each:
//
//	go run ./same DIR/keys.json DIR/corpus.jsonl DIR/corpus.jsonl.zst DIR/corpus.cborseq
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func main() {
	if err := same(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "same: error: %v\n", err)
		os.Exit(1)
	}
}

func same(w io.Writer, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: same KEYS FILE FILE [FILE...]")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		return err
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		return err
	}
	var first []byte
	for _, path := range args[1:] {
		text, err := summarize(w, v, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if first == nil {
			first = text
		}
		if !bytes.Equal(first, text) {
			return fmt.Errorf("%s says otherwise:\n%s\n%s", path, first, text)
		}
	}
	fmt.Fprintf(w, "%s\n", first)
	return nil
}

// summarize returns what a summary says of the receipts, without what it says of
// the file.
func summarize(w io.Writer, v *receipt.Verifier, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := time.Now()
	run := stream.VerifyFiles(context.Background(), v, []stream.Source{stream.From(filepath.Base(path), f)}, stream.Options{})
	sum, err := run.Summary()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%-20s %v, %d receipts, %.1f s\n", filepath.Base(path), sum.Verdict(), sum.Receipts, time.Since(start).Seconds())
	sum.Inputs = stream.Inputs{}
	return json.Marshal(sum)
}
