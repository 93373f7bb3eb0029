package main

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

func readDisclosures(e *env, path string) (*redact.Disclosures, error) {
	data, err := readBounded(e, path, maxDisclosureBytes+1)
	if err != nil {
		return nil, err
	}
	d, err := redact.ParseDisclosures(data)
	if err != nil {
		return nil, usage("receipt redact --disclosures and receipt disclose write such a file", "%q: %w", path, err)
	}
	return d, nil
}

// maxDisclosureBytes bounds a file of disclosures: what a receipt can hold, and
// salts.
const maxDisclosureBytes = 2 * receipt.MaxBytes
