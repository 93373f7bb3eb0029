package stream_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// links returns the causes of a run's links with the related receipts, and checks that each detail
// can be derived from them.
func links(t *testing.T, run *stream.Run) string {
	t.Helper()
	var list []string
	for rep := range run.Reports() {
		c := rep.Check(receipt.StepLink)
		if c.Cause == "" {
			continue
		}
		text := string(c.Cause)
		if (c.Related != receipt.Place{}) {
			text += " " + c.Related.String()
			if words := c.Detail + c.Hint; !strings.Contains(words, c.Related.String()) {
				t.Errorf("%s of %v is worded %q", c.Cause, c.Related, words)
			}
		}
		if c.Detail == "" || c.Status == receipt.StatusNotChecked && c.Detail != "link: "+c.Reason {
			t.Errorf("%s: %q for %q", c.Cause, c.Detail, c.Reason)
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// TestCauses verifies that, in each kind of run, reports contain machine-readable causes of faulty
// links.
func TestCauses(t *testing.T) {
	list := newWriter(t, "a").many(5)
	fork := newWriter(t, "a")
	fork.n = 100
	head, _ := receipt.ParseSealed(list[1])
	branch := fork.seal(head.Head())
	begin := newWriter(t, "a")
	begin.n = 200
	first := begin.many(1)[0]

	for _, c := range []struct {
		name         string
		in           [][]byte
		lines, files string
	}{
		{"missing", [][]byte{list[0], list[2]}, "predecessor_other line 1", "predecessor_missing f0"},
		{"fork", [][]byte{list[0], list[1], list[2], branch}, "predecessor_shared line 3", "predecessor_shared f2"},
		{"two first", [][]byte{list[0], first}, "second_first line 1", "second_first f0"},
		{"order", [][]byte{list[0], list[2], list[1]}, "predecessor_other line 1; comes_earlier line 2", ""},
		{"damaged", [][]byte{list[0], altered(list[1])}, "own_hash", "own_hash"},
		{"headless", list[1:3], "predecessor_absent", "predecessor_absent"},
		{"unreadable", [][]byte{list[0], []byte("{"), list[2]}, "unreadable line 2", "unreadable"},
	} {
		run := stream.Verify(context.Background(), integrity(t), bytes.NewReader(jsonl(c.in...)), stream.Options{})
		if got := links(t, run); got != c.lines {
			t.Errorf("%s, lines: got %q, want %q", c.name, got, c.lines)
		}
		run = stream.VerifyFiles(context.Background(), integrity(t), sources(c.in...), stream.Options{})
		if got := links(t, run); got != c.files {
			t.Errorf("%s, files: got %q, want %q", c.name, got, c.files)
		}
	}

	run := stream.Verify(context.Background(), integrity(t), bytes.NewReader(jsonl(list[2], list[0], list[1], list[3])), stream.Options{})
	if got := links(t, run); got != "predecessor_absent; comes_earlier line 1; named_earlier line 1; comes_earlier line 3" {
		t.Errorf("an order: %q", got)
	}
	run = stream.Verify(context.Background(), integrity(t), bytes.NewReader(jsonl(list[0], list[3])), stream.Options{Partial: true})
	if got := links(t, run); got != "selection" {
		t.Errorf("a selection: %q", got)
	}
}
