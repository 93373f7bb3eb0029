package served_test

import (
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/sourcetest"
)

func TestSource(t *testing.T) {
	testSource(t, func(t *testing.T) ledger.Reader {
		l, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	})
}

// TestReader verifies that a Reader can be served even if it implements no other interface.
func TestReader(t *testing.T) {
	testSource(t, func(*testing.T) ledger.Reader { return struct{ ledger.Reader }{new(memory.Ledger)} })
}

func testSource(t *testing.T, create func(*testing.T) ledger.Reader) {
	sourcetest.Run(t, func(t *testing.T, receipts []*receipt.Sealed) serve.Source {
		l := create(t)
		heads := map[chain.Stream]chain.Head{}
		for _, r := range receipts {
			if err := l.Append(t.Context(), ledger.Run{Stream: r.Stream(), Previous: heads[r.Stream()], Receipts: []*receipt.Sealed{r}}); err != nil {
				t.Fatal(err)
			}
			heads[r.Stream()] = r.Head()
		}
		return served.New(l)
	})
}
