package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// workerVariable is an environment variable with the value "address prefix goroutines drafts". If
// it is set, the test binary is a program that issues the given number of drafts in each goroutine.
const workerVariable = "POSTGRES_WORKER"

func TestMain(m *testing.M) {
	if task := os.Getenv(workerVariable); task != "" {
		if err := work(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work issues drafts until each has a receipt, and prints the ID and the hash of each acknowledged
// receipt.
func work(task string) error {
	f := strings.Split(task, "\t")
	address, prefix := f[0], f[1]
	goroutines, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	drafts, err := strconv.Atoi(f[3])
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute) // a busy machine takes minutes
	defer cancel()
	l, err := postgres.Open(ctx, address)
	for ; err != nil && ctx.Err() == nil; l, err = postgres.Open(ctx, address) {
		time.Sleep(20 * time.Millisecond) // at this time, the server is down
	}
	if err != nil {
		return err
	}

	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := range drafts {
				id := fmt.Sprintf("%s_%d_%d", prefix, g, i)
				sealed, err := issuer.Issue(ctx, storetest.Draft(id, fmt.Sprint("w", i%2)))
				for ; err != nil && ctx.Err() == nil; sealed, err = issuer.Issue(ctx, storetest.Draft(id, fmt.Sprint("w", i%2))) {
					time.Sleep(50 * time.Millisecond)
				}
				if err == nil {
					fmt.Println(id, sealed.Hash()) // writes each line with one call
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
