package storetest

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// previousOf returns the hash of the predecessor that a receipt names, "" for the
// first of a stream.
func previousOf(t *testing.T, r *receipt.Sealed) string {
	t.Helper()
	doc, err := canon.Parse(r.JSON())
	if err != nil {
		t.Fatal(err)
	}
	link, ok := chain.LinkOf(doc)
	switch {
	case !ok:
		t.Fatalf("%s has no link", r.ID())
	case link.First:
		return ""
	}
	return link.Previous.String()
}
