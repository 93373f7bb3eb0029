package main

import (
	"errors"
	"os"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// known is what a hash, a receipt or an earlier report says of streams.
type known struct {
	hash    canon.Digest
	stream  *chain.Stream
	summary *stream.Summary
}

// readKnown reads HASH|FILE|REPORT.
func readKnown(e *env, arg string) (known, error) {
	if d, err := canon.ParseDigest([]byte(arg)); err == nil {
		if d.IsZero() {
			return known{}, zeroHash(arg)
		}
		return known{hash: d}, nil
	}
	if _, err := os.Stat(arg); err != nil && strings.HasPrefix(arg, "sha256:") {
		return known{}, usage("a hash is sha256: and 64 hexadecimal digits in lower case", "%q is no hash", arg)
	}
	data, err := readBounded(e, arg, maxReportBytes+1)
	if err != nil {
		return known{}, err
	}
	report, err := readReport(data)
	if err != nil && !errors.Is(err, errNotReport) {
		return known{}, usage("", "%q: %w", arg, err)
	}
	if err == nil {
		return known{summary: report.Summary}, nil
	}
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		return known{}, usage("give a hash (sha256:…), a receipt, or a report that verify wrote", "%q: %w", arg, err)
	}
	s := sealed.Stream()
	return known{hash: sealed.Hash(), stream: &s}, nil
}

// zeroHash is the error for the hash that no receipt has. In options it would mean
// that nothing was demanded.
func zeroHash(arg string) error {
	return usage("leave the flag out when there is no such receipt", "%q is the hash of no receipt", arg)
}

func noHeads(path string) error {
	return usage("", "%q: the report names no head of a stream", path)
}
