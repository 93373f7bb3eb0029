package stream_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestMergeable verifies that, if requested, parts are merged exactly even if they have more
// receipts than a report may list, regardless of which receipts they share. Otherwise, the merge
// must be undecided. In CI, the parts have more than 65,536 receipts.
func TestMergeable(t *testing.T) {
	n, limit, shared := 400, 300, 40
	if testsize.Full() {
		n, limit = 65_600, 0
	}
	list := newWriter(t, "a").many(n)
	one, two := list[:n-10], list[n-10-shared:]

	of := func(o stream.Options) *stream.Summary {
		a, b := part(t, o, one...), part(t, o, two...)
		if o.Summing.Mergeable {
			a = reread(t, "part", a)
		}
		return merged(t, a, b)
	}
	if m := of(stream.Options{}.Rostered(limit)); m.Verdict() != receipt.Undecided {
		t.Errorf("%s", gist(m))
	}
	m := reread(t, "merged", of(stream.Options{Summing: stream.Summing{Mergeable: true}}))
	if m.Verdict() != receipt.Verified || m.Receipts != n || m.Copies != shared || len(m.Streams) != 1 || m.Streams[0].Count != uint64(n) {
		t.Errorf("%s", gist(m))
	}

	// A merged summary can be merged again, and still lists all of its receipts.
	again := newWriter(t, "a")
	again.n = n
	fork := again.seal(headOf(t, list[7]))
	if m = merged(t, m, part(t, stream.Options{}, fork)); m.Verdict() != receipt.Refuted || len(m.Findings) != 1 || m.Findings[0].Code != receipt.CodeChainFork {
		t.Errorf("%s", gist(m))
	}
}
