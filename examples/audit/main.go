// Command audit verifies the receipts of a queue. Each message on stdin is a JSON object with the
// members order and receipt:
//
//	go run ./examples/audit KEYS <messages.jsonl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"os"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func main() {
	if err := audit(context.Background(), keyFile(os.Args[1]), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// audit prints the orders whose receipts are refuted, undecided, or not checked completely.
func audit(ctx context.Context, trust keyFile, queue io.Reader, out io.Writer) error {
	var policy receipt.Policy
	policy.Rules = append(policy.Rules, costLimit(0.25))
	v, err := receipt.NewSnapshot(ctx, trust, policy)
	if err != nil {
		return err
	}

	run := stream.VerifySeq(ctx, v, messages(queue), stream.Options{})
	for rep := range run.Reports() {
		if f := rep.Finding(); rep.Verdict != receipt.Verified {
			fmt.Fprintln(out, run.Tag(), rep.Verdict, f.Code, f.Pointer)
		}
		for _, note := range rep.NotChecked {
			fmt.Fprintln(out, run.Tag(), "not checked:", note.Code)
		}
	}

	sum, err := run.Summary()
	_, unavailable := v.Snapshot()
	if err = errors.Join(err, unavailable); err == nil && sum.Verdict() != receipt.Verified {
		err = fmt.Errorf("the queue is %v", sum.Verdict())
	}
	return err
}

// messages yields the receipts of a queue, each with its order as the tag. Rows of a database are
// read in the same way.
func messages(queue io.Reader) iter.Seq2[stream.Item, error] {
	return func(yield func(stream.Item, error) bool) {
		for n, d := 1, json.NewDecoder(queue); ; n++ {
			var m struct{ Order, Receipt json.RawMessage }
			err := d.Decode(&m)
			if err == io.EOF || !yield(stream.Item{Source: "queue", Index: n, JSON: m.Receipt, Tag: string(m.Order)}, err) || err != nil {
				return
			}
		}
	}
}

// A keyFile is a [receipt.TrustSource], whose keys may be unavailable.
type keyFile string

func (f keyFile) Trust(context.Context) (trust receipt.Trust, version string, err error) {
	jwks, err := os.ReadFile(string(f))
	if err == nil {
		trust, err = keys.ParseSet(jwks)
	}
	return trust, canon.Sum(jwks).String(), err
}

// A costLimit is a [receipt.Rule] that limits the cost of a task.
type costLimit float64

func (costLimit) Name() string { return "cost_limit" }

func (most costLimit) Judge(doc *canon.Document) []receipt.Check {
	if cost := doc.Root().Member("cost").Member("total"); cost.Float() > float64(most) {
		return []receipt.Check{{Status: receipt.StatusFailed, Pointer: cost.Pointer(), Detail: "the task cost too much"}}
	}
	return nil
}
