package batch_test

import (
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// The issuer creates a batch and stores the heads of its streams. A recipient checks one receipt
// against the manifest.
func Example() {
	var drafts []*canon.Document
	for _, id := range []string{"receipt_1", "receipt_2", "receipt_3"} {
		draft, err := canon.Parse([]byte(content(id, "w")))
		if err != nil {
			fmt.Println(err)
			return
		}
		drafts = append(drafts, draft)
	}
	heads := map[chain.Stream]chain.Head{}
	b, err := batch.Seal(context.Background(), drafts, heads, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range b.Receipts {
		heads[r.Stream()] = r.Head()
	}

	m, err := batch.ParseManifest(b.Manifest.Marshal())
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := canon.Parse(b.Receipts[1].JSON())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listed:", m.Check(doc) == nil)
	// Output:
	// listed: true
}
