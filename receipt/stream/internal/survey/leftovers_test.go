package survey

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/join"
)

// loose returns a survey of receipts from a single stream that have no predecessors. It keeps at most
// indexed receipts in memory.
func loose(t *testing.T, n, indexed int, link func(i int, hash canon.Digest) chain.Link) *Survey {
	t.Helper()
	s := New(Terms{TempDir: t.TempDir(), Indexed: indexed})
	s.EndSource("", false)
	t.Cleanup(s.Close)
	key := streamKey(nil).appendStream(chain.Stream{Issuer: "a", Workspace: "w"})
	for i := range n {
		it := &Item{}
		it.Index = i + 1
		hash := canon.Sum(binary.BigEndian.AppendUint64(nil, uint64(i)))
		it.Facts = Facts{Placed: true, holds: true, Link: link(i, hash), Computed: hash, ID: fingerprintOf(hash[:]), Key: key, Issued: time.UnixMilli(int64(i))}
		if err := s.Record(it); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestLooseReceipts verifies that any number of receipts without a predecessor are processed one by
// one and need little memory.
func TestLooseReceipts(t *testing.T) {
	n := maxDamaged + 4_000 // more receipts than fit into the list of others
	if testsize.Full() {
		n = 100_000
	}
	for name, c := range map[string]struct {
		link func(int, canon.Digest) chain.Link
		want join.Mark // mark of all receipts except the first one in the stream
	}{
		"first":   {func(_ int, hash canon.Digest) chain.Link { return chain.Link{First: true, Hash: hash} }, join.MarkSecond},
		"missing": {func(_ int, hash canon.Digest) chain.Link { return chain.Link{Hash: hash, Previous: canon.Sum(hash[:])} }, join.MarkMissing},
	} {
		s := loose(t, n, 1<<12, c.link)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := s.Join(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 1000 {
			t.Errorf("%s: joining takes %d bytes a receipt", name, each)
		}

		// The receipt with the earliest time of issue may be the first of the stream.
		for i, m := range s.Marks[1:] {
			if m != c.want {
				t.Fatalf("%s: receipt %d has the mark %d, expected %d", name, i+2, m, c.want)
			}
		}
		if g := s.ends[0]; g.Count != uint64(n) || g.Failures != uint64(n-1) || len(s.others) != maxDamaged {
			t.Errorf("%s: %+v, %d others", name, g, len(s.others))
		}
	}
}

// TestTails verifies that the receipt that was issued last is among the tails, in any order and even
// if there are too many of them, unless it is damaged.
func TestTails(t *testing.T) {
	node := func(issued int64) join.Node {
		return join.Node{Hash: canon.Sum(binary.BigEndian.AppendUint64(nil, uint64(issued))), Issued: issued}
	}
	for name, last := range map[string]func(int64) int64{"ascending": func(i int64) int64 { return i }, "descending": func(i int64) int64 { return maxDamaged - i }} {
		l := leftovers{rank: make([]int, 2), heads: make([]join.Node, 2)}
		for i := range int64(maxDamaged) + 1 {
			l.tail(node(last(i)))
		}
		l.tail(node(0))
		l.tail(join.Node{Hash: canon.Sum(nil), Issued: 2 * maxDamaged, Damaged: true})
		l.sort()
		if n := len(l.tails); n != maxDamaged+1 || l.tails[n-1] != node(maxDamaged) {
			t.Errorf("%s: %d tails, the last is issued at %d", name, n, l.tails[n-1].Issued)
		}
	}
}

// TestOrphanRecords verifies that orphan records are sorted in the order in which their stream is
// processed, and are parsed without a change.
func TestOrphanRecords(t *testing.T) {
	list := []orphanRecord{
		{stream: 0, rank: 2, issued: 9, hash: canon.Sum(nil), number: 7, address: address{1, 2}, first: true},
		{stream: 1, rank: 0, issued: 5, number: 3, address: address{0, 3}, previous: canon.Sum(nil)},
		{stream: 1, rank: 1, issued: -4, number: 1 << 40, first: true},
		{stream: 1, rank: 1, issued: 4, number: 1},
		{stream: 1, rank: 1, issued: 4, number: 2, address: address{0, 1}},
	}
	before := ""
	for _, r := range list {
		b := r.append(nil)
		if len(b) != orphanRecordWidth || parseOrphanRecord(b) != r || string(b) <= before {
			t.Errorf("%+v is %x, %+v", r, b, parseOrphanRecord(b))
		}
		before = string(b)
	}
}
