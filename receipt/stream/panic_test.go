package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestPanics verifies that a panic in code of the caller reaches the caller, even if the code runs
// in another goroutine, and that the run is then incomplete.
func TestPanics(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	items := func(yield func(stream.Item, error) bool) {
		for i := range 300 {
			if !yield(stream.Item{Index: i + 1, JSON: []byte("{}")}, nil) {
				return
			}
		}
	}
	failing := iter.Seq2[stream.Item, error](func(yield func(stream.Item, error) bool) {
		items(yield)
		panic("cursor is closed")
	})
	extract := stream.Options{Extract: func(*canon.Document, *receipt.Report, []byte) []byte { panic("cursor is closed") }}

	for name, run := range map[string]*stream.Run{
		"a sequence":                 stream.VerifySeq(t.Context(), v, failing, stream.Options{}),
		"the sequence, first pass":   stream.VerifySeq(t.Context(), v, failing, stream.Options{Unordered: true}),
		"Extract":                    stream.VerifySeq(t.Context(), v, items, extract),
		"a reader":                   stream.Verify(t.Context(), v, panicReader{}, stream.Options{}),
		"the caller's own loop body": stream.VerifySeq(t.Context(), v, items, stream.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			caught := func() (value any) {
				defer func() { value = recover() }()
				for range run.Reports() {
					if strings.Contains(name, "loop body") {
						panic("cursor is closed")
					}
				}
				return nil
			}()
			if caught != "cursor is closed" {
				t.Errorf("the panic is %v", caught)
			}
			if sum, err := run.Summary(); !errors.Is(err, stream.ErrStopped) || sum.Complete || sum.Verdict() == receipt.Verified {
				t.Errorf("the summary after the panic: %v, %v, expected ErrStopped", sum.Verdict(), err)
			}
		})
	}
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("cursor is closed") }

// TestNoSources verifies that a run without sources is not reported as stopped by the caller.
func TestNoSources(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]*stream.Run{
		"files": stream.VerifyFiles(t.Context(), v, nil, stream.Options{}), "a nil sequence": stream.VerifySeq(t.Context(), v, nil, stream.Options{}),
	} {
		sum, err := run.Summary()
		if !errors.Is(err, stream.ErrNoSources) || sum.Verdict() != receipt.Undecided {
			t.Errorf("%s: %v, %v, expected undecided and ErrNoSources", name, sum.Verdict(), err)
		}
	}
}

// TestSummaryValue verifies that a summary that is not a pointer has the same JSON form.
func TestSummaryValue(t *testing.T) {
	sum := new(stream.Summary)
	want, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(*sum); err != nil || string(text) != string(want) {
		t.Errorf("%s, %v; expected %s", text, err, want)
	}
}

// TestFromMiddle verifies that both passes over a source begin at the position that the reader has
// when it is read first.
func TestFromMiddle(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	receipts, err := os.ReadFile("../../fixtures/valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	text := "# receipts of April\n" + string(receipts)
	results := map[string]bool{}
	for _, unordered := range []bool{false, true} {
		r := strings.NewReader(text)
		if _, err := io.CopyN(io.Discard, r, int64(strings.Index(text, "\n")+1)); err != nil {
			t.Fatal(err)
		}
		sum, err := stream.Verify(context.Background(), v, r, stream.Options{Unordered: unordered}).Summary()
		results[fmt.Sprint(sum.Receipts, sum.Verdict(), err)] = true
	}
	if len(results) != 1 || !results["1 verified <nil>"] {
		t.Errorf("one pass and two passes over the rest of a reader: %v", results)
	}
}
