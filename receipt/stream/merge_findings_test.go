package stream_test

import (
	"encoding/json"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestMergeFindingsInOneOrder: what parts found of one stream is listed in one order,
// whichever part comes first.
func TestMergeFindingsInOneOrder(t *testing.T) {
	of := chain.Stream{Issuer: "i", Workspace: "w"}
	part := func(stated string) *stream.Summary {
		return &stream.Summary{Complete: true, Codes: map[receipt.Code]int{}, Findings: []stream.Finding{
			{Code: receipt.CodeHeadMismatch, Stream: &of, Stated: stated}, {Code: receipt.CodeMerkleRootMismatch, Stated: stated}}}
	}
	merged := func(a, b *stream.Summary) string {
		sum, err := a.Merge(b)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if one, other := merged(part("a"), part("b")), merged(part("b"), part("a")); one != other {
		t.Errorf("%s\n%s", one, other)
	}
}
