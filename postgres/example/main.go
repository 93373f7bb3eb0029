// Command example keeps a ledger in PostgreSQL. It issues the drafts on stdin, one per line, lists
// and checks the receipts, and signs a checkpoint:
//
//	go run ./example postgres://USER@HOST/DATABASE KEY.private.json ISSUER <drafts.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"time"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

func main() {
	run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Stdin, os.Stdout)
}

// run issues the drafts into the ledger at an address, and creates the ledger if there is none.
func run(ctx context.Context, address, keyPath, issuerID string, drafts io.Reader, out io.Writer) {
	key := must(keys.ParsePrivate(must(os.ReadFile(keyPath))))
	db, err := postgres.Create(ctx, address)
	if errors.Is(err, fs.ErrExist) {
		db, err = postgres.Open(ctx, address)
	}
	defer must(db, err).Close()

	issuer := &ledger.Issuer{Store: db, Signer: keys.NewSigner(key, time.Now)}
	lines := bufio.NewScanner(drafts)
	for lines.Scan() {
		must(issuer.Issue(ctx, json.RawMessage(lines.Bytes())))
	}
	must(drafts, errors.Join(lines.Err(), issuer.Close(ctx)))

	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := ledger.List(ctx, db, ledger.Query{}, cursor, 100)
		for _, e := range must(page, err) {
			fmt.Fprintln(out, e.Position, e.ID, e.Hash)
		}
		cursor = next
	}

	v := must(receipt.NewVerifier(must(keys.NewSet(key.Public())), receipt.Policy{Issuer: issuerID}))
	checked := must(ledger.Check(ctx, db, v, func(f ledger.Fault) { fmt.Fprintln(out, f.Code, f.ID, f.Detail) }, nil))
	fmt.Fprintln(out, checked.Verified, "receipts:", checked.Verdict())

	tree := must(ledger.Tree(ctx, db, ledger.Query{}))
	note := must(keys.NewSigner(key, nil).SignCheckpoint(ctx, &tlog.Checkpoint{Origin: "example.net/receipts", Size: tree.Size(), Root: tree.Root()}))
	fmt.Fprintf(out, "%s", note)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
