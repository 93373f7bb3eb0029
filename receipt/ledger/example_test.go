package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// A harness issues the receipts for two tasks. The second receipt names the first receipt as its
// predecessor.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)

	store, err := sqlite.Create(ctx, filepath.Join(folder, "receipts.db"))
	if err != nil {
		panic(err)
	}
	defer store.Close()

	private, err := fixtures.Read("keys/key_2026_04.private.json") // a key that is publicly known; use a secret key instead
	if err != nil {
		panic(err)
	}
	key, err := keys.ParsePrivate(private)
	if err != nil {
		panic(err)
	}

	issuer := &ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now), Now: time.Now}
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC))
	for _, task := range []string{"1", "2"} {
		_, err := issuer.Issue(ctx, &receipt.Draft{
			ReceiptID: "receipt_" + task, Subject: receipt.ResourceRef{Object: "task", ID: "task_" + task},
			Issuer:      receipt.Issuer{ID: "harness_example_cloud", Kind: "harness"},
			Identifiers: receipt.Identifiers{WorkspaceRef: "garden", TaskID: "task_" + task, SessionID: "session_1"},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
			Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
			ReplayInput: receipt.ReplayInput{Determinism: "unavailable", UnavailableReason: "nothing was kept"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "no model was called"},
			Cost:        receipt.Cost{Currency: "USD"},
		})
		if err != nil {
			panic(err) // an *ledger.IssueError states what was stored and whether to issue the same draft again
		}
	}

	// Get returns a single receipt by ID, and a query returns all receipts.
	first, err := ledger.Get(ctx, store, "receipt_1")
	if err != nil {
		panic(err)
	}
	page, next, err := ledger.List(ctx, store, ledger.Query{Session: "session_1"}, "", 10)
	if err != nil {
		panic(err)
	}
	for _, entry := range page {
		fmt.Println(entry.Position, entry.ID, entry.Hash == first.Hash())
	}

	head, err := store.Head(ctx, first.Stream())
	if err != nil {
		panic(err)
	}
	fmt.Println(head.Count, head.Hash == page[1].Hash, next == "")
	// Output:
	// 1 receipt_1 true
	// 2 receipt_2 false
	// 2 true true
}
