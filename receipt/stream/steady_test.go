package stream_test

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// chained returns the first receipts of a chain that is sealed only once for all tests.
func chained(t testing.TB, n int) [][]byte {
	t.Helper()
	longest.Lock()
	defer longest.Unlock()
	if longest.writer == nil {
		longest.writer = newWriter(t, "a")
	}
	longest.writer.t = t
	if more := n - len(longest.list); more > 0 {
		longest.list = append(longest.list, longest.writer.many(more)...)
	}
	return longest.list[:n:n]
}

var longest struct {
	sync.Mutex
	writer *writer
	list   [][]byte
}

// A chainReader seals receipts while it is read.
type chainReader struct {
	w    *writer
	left int
	line []byte
}

func (r *chainReader) Read(p []byte) (int, error) {
	if len(r.line) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.line = append(r.w.next(), '\n')
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestAllocations verifies that an additional receipt in an ordered input needs almost no
// allocations except its entry in the index.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	list := chained(t, 4000)
	v := integrity(t)
	run := func(n int) uint64 {
		in := jsonl(list[:n]...)
		return mallocs(func() {
			s, err := stream.Verify(t.Context(), v, bytes.NewReader(in), stream.Options{Jobs: 2}.Indexed(1)).Summary()
			if err != nil || s.Verdict() != receipt.Verified || s.Receipts != n {
				t.Fatalf("%v, %+v", err, s)
			}
		})
	}
	alone := mallocs(func() {
		doc, rep := new(canon.Document), new(receipt.Report)
		for _, line := range list[2000:] {
			v.VerifyBytes(line, doc, rep)
		}
	})
	run(100)
	few, many := run(2000), run(4000)
	perReceipt := (float64(many) - float64(few) - float64(alone)) / 2000
	t.Logf("%d for 2,000, %d for 4,000; the verifier alone %d", few, many, alone)
	if perReceipt > 0.1 {
		t.Errorf("%.2f allocations a receipt", perReceipt)
	}
}

// TestMemory verifies that memory use does not grow with the length of the input.
func TestMemory(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("long")
	}
	v := integrity(t)
	run := func(n int) uint64 {
		in := &chainReader{w: newWriter(t, "a"), left: n}
		return watch(20, func() { // keeps the amount of garbage on the heap small
			s, err := stream.Verify(t.Context(), v, in, stream.Options{Jobs: 2}.Indexed(100)).Summary()
			if err != nil || s.Verdict() != receipt.Verified || s.Receipts != n || len(s.Streams) != 1 || s.Streams[0].Count != uint64(n) {
				t.Fatalf("%v, %+v", err, s)
			}
		})
	}
	few, many := run(2000), run(12000)
	for range 2 { // on a busy machine, a collection may be late; memory that is still in use would be counted in each attempt
		if many > few+(8<<20) {
			few, many = run(2000), run(12000)
		}
	}
	t.Logf("%d KiB for 2,000 receipts, %d KiB for 12,000", few>>10, many>>10)
	if many > few+(8<<20) {
		t.Errorf("%d KiB for 2,000 receipts, %d KiB for 12,000", few>>10, many>>10)
	}
}
