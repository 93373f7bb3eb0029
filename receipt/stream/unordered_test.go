package stream_test

import (
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestUnordered verifies that receipts in no particular order are complete if the caller states
// that they are unordered. This must hold in a run, after a merge, and after a report has been
// written and read. Missing receipts must still be detected.
func TestUnordered(t *testing.T) {
	list := newWriter(t, "a").many(9)
	slices.Reverse(list[1:4])
	slices.Reverse(list[4:])
	o := stream.Options{Unordered: true}
	if s := part(t, stream.Options{}, list...); s.Verdict() != receipt.Refuted {
		t.Errorf("in order: %s", gist(s))
	}
	if s := part(t, o, list...); s.Verdict() != receipt.Verified {
		t.Errorf("unordered: %s", gist(s))
	}
	if s := part(t, o, slices.Delete(slices.Clone(list), 5, 6)...); s.Verdict() != receipt.Refuted || s.Codes[receipt.CodeChainBreak] != 1 {
		t.Errorf("one is missing: %s", gist(s))
	}

	var parts []*stream.Summary
	for _, docs := range [][][]byte{list[:3], list[2:6], list[6:]} {
		parts = append(parts, reread(t, "part", part(t, o, docs...)))
	}
	if m := anyOrder(t, "overlapping parts", receipt.Verified, parts...); m.Receipts != 9 || m.Copies != 1 {
		t.Errorf("merged: %s", gist(m))
	}
	parts[1] = part(t, stream.Options{}, list[2:6]...)
	anyOrder(t, "one part is in order, and is not", receipt.Refuted, parts...)
}
