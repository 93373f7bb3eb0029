package aggregate

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestVersions verifies that a receipt and its successor are added once, in either order,
// and that neither another issuer nor an unconfirmed receipt takes anything from the sums.
func TestVersions(t *testing.T) {
	of := func(issuer, supersedes string, verdict receipt.Verdict) seen {
		src := fmt.Appendf(nil, `{"issuer":{"id":%q},"lifecycle":{"completed_at":"2026-04-25T19:17:33Z"},"cost":{"currency":"USD","total":2.5},"metadata":{"supersedes":%q}}`, issuer, supersedes)
		doc, err := canon.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		s := entry(t, verdict, "2026-04-25T19:17:33Z", "USD", "2.5")
		s.rep.ReceiptHash, s.root = canon.Sum(src), doc.Root()
		return s
	}
	old := of("a", "", receipt.Verified)
	hash := old.rep.ReceiptHash.String()
	successor, stranger, forged := of("a", hash, receipt.Verified), of("b", hash, receipt.Verified), of("a", hash, receipt.Undecided)

	wants(t, aggregated(t, old, successor), `"verified":{"receipts":1,`, `"cost":{"USD":"2.5"}`, `"newer":1`)
	wants(t, aggregated(t, successor, old), `"verified":{"receipts":1,`, `"cost":{"USD":"2.5"}`, `"older":1`)
	for _, list := range [][]seen{{old, stranger}, {stranger, old}} {
		wants(t, aggregated(t, list...), `"verified":{"receipts":2,`, `"cost":{"USD":"5"}`)
	}
	for _, list := range [][]seen{{old, forged}, {forged, old}} {
		wants(t, aggregated(t, list...), `"verified":{"receipts":1,`, `"other":{"receipts":1,`)
	}
}
