package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// exampleChain returns n linked and signed receipts, one per line, in the format in which a harness
// appends them to its log.
func exampleChain(n int) (lines [][]byte) {
	head := chain.Head{}
	for i := range n {
		at := receipt.At(time.Date(2026, 4, 25, 19, i, 0, 0, time.UTC))
		sealed, err := receipt.Seal(&receipt.Draft{
			ReceiptID:   fmt.Sprintf("receipt_%d", i+1),
			Subject:     receipt.ResourceRef{Object: "task", ID: "task_1"},
			Issuer:      receipt.Issuer{ID: "harness_example", Kind: "harness"},
			IssuedAt:    at,
			Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "task_1"},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
			Trust:       receipt.TrustTiers{StartTier: "suggest", EndTier: "suggest"},
			ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none needed"},
			Cost:        receipt.Cost{Currency: "USD", Total: 5 * float64(i)},
		}, head)
		if err != nil {
			log.Fatal(err)
		}
		head = sealed.Head()
		if sealed, err = sealed.Sign(context.Background(), signs("key_1")); err != nil {
			log.Fatal(err)
		}
		lines = append(lines, append(sealed.JSON(), '\n'))
	}
	return lines
}

// exampleVerifier requires no signatures. To verify signatures, pass the trust that
// keys.ParseSet returns to NewVerifier.
func exampleVerifier() *receipt.Verifier {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func exampleFile(lines ...[]byte) io.Reader { return bytes.NewReader(bytes.Join(lines, nil)) }

// The input contains one receipt per line, as in a log (NDJSON). Each receipt has a report, and the
// entire input has one verdict. If a line is missing, the next line is refuted.
func ExampleFrom() {
	lines := exampleChain(4)
	file := exampleFile(lines[0], lines[1], lines[3])

	run := stream.VerifyFiles(context.Background(), exampleVerifier(), []stream.Source{stream.From("receipts.ndjson", file)}, stream.Options{})
	for rep := range run.Reports() {
		if rep.Verdict != receipt.Verified {
			fmt.Println(rep.Address(), rep.Verdict, rep.Finding().Code)
		}
	}
	sum, err := run.Summary()
	if err != nil {
		log.Fatal(err) // not all of the input was read
	}
	fmt.Println(sum.Verdict(), sum.Verified, "of", sum.Receipts)
	// Output:
	// receipts.ndjson:3 refuted chain_break
	// refuted 2 of 3
}

// costLimit is a rule that the caller defines: the cost of a task must not exceed a limit.
type costLimit float64

func (costLimit) Name() string { return "cost_limit_1" }

func (l costLimit) Judge(doc *canon.Document) []receipt.Check {
	total := doc.Root().Member("cost").Member("total")
	if total.Float() <= float64(l) {
		return nil
	}
	return []receipt.Check{{Status: receipt.StatusFailed, Pointer: total.Pointer(), Stated: total.String(), Detail: "the task is too expensive"}}
}

// keyDatabase is a source of trusted keys that is unavailable.
type keyDatabase struct{}

func (keyDatabase) Trust(context.Context) (receipt.Trust, string, error) {
	return nil, "", errors.New("connection refused")
}

// The receipts are rows in a database, and each report is returned with the key of its row. The
// caller's rule is applied to each receipt. The database of trusted keys is unavailable, so
// receipts that meet the rule are undecided. The other receipts are refuted.
func ExampleVerifySeq() {
	rows := exampleChain(2)
	items := func(yield func(stream.Item, error) bool) {
		for i, row := range rows {
			if !yield(stream.Item{Source: "receipts", Index: i + 1, JSON: row, Tag: fmt.Sprint("row ", 100+i)}, nil) {
				return
			}
		}
	}

	ctx := context.Background()
	v, err := receipt.NewSnapshot(ctx, keyDatabase{}, receipt.Policy{Rules: []receipt.Rule{costLimit(1)}})
	if err != nil {
		log.Fatal(err) // the policy is invalid
	}

	run := stream.VerifySeq(ctx, v, items, stream.Options{})
	for rep := range run.Reports() {
		fmt.Println(run.Tag(), rep.Verdict, rep.Finding().Code)
	}
	sum, err := run.Summary()
	fmt.Println(sum.Verdict(), sum.Codes, err)
	_, unavailable := v.Snapshot()
	fmt.Println("keys:", unavailable)
	// Output:
	// row 100 undecided trust_unavailable
	// row 101 refuted rule_cost_limit_1
	// refuted map[rule_cost_limit_1:1 trust_unavailable:1] <nil>
	// keys: connection refused
}

// A later part of a stream continues where the previous run ended. The beginning of the stream is
// therefore checked, although it is not in the input.
func ExampleVerify_after() {
	lines := exampleChain(5)
	v := exampleVerifier()
	last, err := stream.Verify(context.Background(), v, exampleFile(lines[:3]...), stream.Options{}).Summary()
	if err != nil {
		log.Fatal(err)
	}

	for _, part := range [][][]byte{lines[3:], lines[4:]} {
		run := stream.Verify(context.Background(), v, exampleFile(part...), stream.Options{Continuity: stream.Continuity{After: last.Heads()}})
		sum, err := run.Summary()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sum.Verdict(), sum.Codes)
	}
	// Output:
	// verified map[]
	// refuted map[chain_break:1]
}

// Parts that were verified separately can be merged into one verdict, regardless of their order.
func ExampleSummary_Merge() {
	lines := exampleChain(4)
	var parts []*stream.Summary
	for _, part := range [][][]byte{lines[2:], lines[:2]} {
		sum, err := stream.Verify(context.Background(), exampleVerifier(), exampleFile(part...), stream.Options{}).Summary()
		if err != nil {
			log.Fatal(err)
		}
		parts = append(parts, sum)
	}

	whole, err := parts[0].Merge(parts[1])
	if err != nil {
		log.Fatal(err) // the parts were verified with different keys or requirements
	}
	fmt.Println(whole.Verdict(), whole.Receipts, "receipts in", len(whole.Streams), "stream")
	// Output:
	// verified 4 receipts in 1 stream
}

// To find only the first refuted receipt, break out of the loop. A report is valid until the next
// iteration; use Clone to keep it. Receipts that were not read are not verified.
func ExampleRun_Reports() {
	lines := exampleChain(4)
	lines[1] = bytes.Replace(lines[1], []byte("SUCCEEDED"), []byte("FAILED"), 1)

	run := stream.Verify(context.Background(), exampleVerifier(), exampleFile(lines...), stream.Options{})
	var first *receipt.Report
	for rep := range run.Reports() {
		if rep.Verdict == receipt.Refuted {
			first = rep.Clone()
			break
		}
	}
	sum, err := run.Summary()
	fmt.Println(first.Address(), first.Finding().Code)
	fmt.Println(sum.Verdict(), sum.Complete, err)
	// Output:
	// input:2 hash_mismatch
	// refuted false stream: input was not read completely
}
