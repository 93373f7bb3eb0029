package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// auditor reads a ledger in every supported way, and prints the number of receipts and all errors.
// It runs without write permission.
func auditor(path string) error {
	ctx := context.Background()
	l, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	n := 0
	for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			return err
		}
		if s, err := served.New(l).Get(ctx, e.ID, protocol.Everything()); err != nil || string(s.JSON) != string(e.JSON) {
			return fmt.Errorf("%s: %v", e.ID, err)
		}
		n++
	}
	if _, err := ledger.Heads(ctx, l); err != nil {
		return err
	}
	tree, err := ledger.Tree(ctx, l, ledger.Query{})
	if err != nil || int(tree.Size()) != n {
		return fmt.Errorf("a tree of %d, %v", tree.Size(), err)
	}
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		return err
	}
	c, err := ledger.Check(ctx, l, v, func(f ledger.Fault) { fmt.Println(f.Code, f.ID, f.Detail) }, nil)
	if err != nil {
		return err
	}
	fmt.Println(n, "receipts,", c.Faults, "faults, marked", c.Marked)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); { // the ledger may change while it is open
		_, err := ledger.Get(ctx, l, in.Text())
		fmt.Println(err)
	}
	return l.Close()
}
