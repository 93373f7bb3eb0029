package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// itemsOf returns the documents in sources as a sequence, numbered like the lines of a file.
func itemsOf(sources []string, docs map[string][][]byte) iter.Seq2[stream.Item, error] {
	return func(yield func(stream.Item, error) bool) {
		var buffer []byte // reused for each document, as a database driver may do
		for _, name := range sources {
			for i, doc := range docs[name] {
				index := i + 1
				if len(docs[name]) == 1 {
					index = 0
				}
				buffer = append(buffer[:0], doc...)
				if !yield(stream.Item{Source: name, Index: index, JSON: buffer, Tag: name + fmt.Sprint(i)}, nil) {
					return
				}
			}
		}
	}
}

// record returns the reports and the summary of a run as JSON.
func record(t *testing.T, run *stream.Run) string {
	t.Helper()
	var b strings.Builder
	for rep := range run.Reports() {
		text, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", rep.Address(), text)
	}
	sum, err := run.Summary()
	sum.Inputs.Bytes = 0 // unlike items, lines in files end with a line feed
	text, failed := json.Marshal(sum)
	if failed != nil {
		t.Fatal(failed)
	}
	fmt.Fprintf(&b, "%s %v", text, err)
	return b.String()
}

// TestVerifySeqAgrees verifies that a sequence yields the same reports and the same summary as
// files with the same documents, for one or several sources and any number of jobs.
func TestVerifySeqAgrees(t *testing.T) {
	c := newCast(t)
	r := rand.New(rand.NewPCG(29, 5))
	verdicts := map[receipt.Verdict]int{}
	for n := range 300 {
		list := c.draw(r)
		if len(list) == 0 {
			continue
		}
		var names []string
		var files []stream.Source
		docs := map[string][][]byte{}
		for k, parts := 0, 1+r.IntN(3); k < parts; k++ {
			part := list[k*len(list)/parts : (k+1)*len(list)/parts]
			if len(part) == 0 {
				continue
			}
			name := fmt.Sprint("part", k, ".jsonl")
			names, docs[name] = append(names, name), part
			files = append(files, held(name, part))
		}

		o := stream.Options{Jobs: 1 + n%3, Partial: n%5 == 0, Unordered: n%7 == 0}
		want := record(t, stream.VerifyFiles(context.Background(), integrity(t), files, o))
		o.Several = len(names) > 1
		run := stream.VerifySeq(context.Background(), integrity(t), itemsOf(names, docs), o)
		if got := record(t, run); got != want {
			t.Fatalf("case %d: the sequence gives\n%s\nthe files give\n%s", n, got, want)
		}
		sum, _ := run.Summary()
		verdicts[sum.Verdict()]++
	}
	if verdicts[receipt.Verified] < 20 || verdicts[receipt.Refuted] < 20 {
		t.Errorf("the cases are not varied: %v", verdicts)
	}
}

// TestVerifySeqTags verifies that each report is returned with the tag of its item, even if the
// iterator reuses its memory and several jobs verify.
func TestVerifySeqTags(t *testing.T) {
	docs := map[string][][]byte{"db": newWriter(t, "a").many(200)}
	run := stream.VerifySeq(context.Background(), integrity(t), itemsOf([]string{"db"}, docs), stream.Options{Jobs: 4})
	n := 0
	for rep := range run.Reports() {
		if run.Tag() != fmt.Sprint("db", n) || rep.Index != n+1 || !bytes.Equal(run.Text(), docs["db"][n]) {
			t.Fatalf("report %d has the tag %v and the index %d", n, run.Tag(), rep.Index)
		}
		n++
	}
	if sum, err := run.Summary(); err != nil || sum.Verdict() != receipt.Verified || sum.Receipts != 200 || run.Tag() != nil {
		t.Error(sum.Verdict(), sum.Receipts, err, run.Tag())
	}
}

// TestVerifySeqErrors verifies that an error from a sequence is reported, that the receipts before
// the error are verified, and that the summary is not verified.
func TestVerifySeqErrors(t *testing.T) {
	gone := errors.New("connection reset")
	docs := newWriter(t, "a").many(5)
	broken := func(yield func(stream.Item, error) bool) {
		for i, doc := range docs[:3] {
			if !yield(stream.Item{Source: "db", Index: i + 1, JSON: doc}, nil) {
				return
			}
		}
		yield(stream.Item{}, gone)
	}

	for name, c := range map[string]struct {
		items    iter.Seq2[stream.Item, error]
		options  stream.Options
		verified int
		text     string
	}{
		"error":          {broken, stream.Options{}, 3, "connection reset"},
		"error, joined":  {broken, stream.Options{Several: true}, 0, "connection reset"},
		"nothing":        {func(func(stream.Item, error) bool) {}, stream.Options{}, 0, "contains no receipt"},
		"second source":  {itemsOf([]string{"a", "b"}, map[string][][]byte{"a": docs[:2], "b": docs[2:]}), stream.Options{}, 2, "Options.Several"},
		"no numbers":     {numbered(docs, func(int) int { return 0 }), stream.Options{}, 1, "number them from 1"},
		"number after 0": {numbered(docs, func(i int) int { return i }), stream.Options{}, 1, "number them from 1"},
		"negative index": {numbered(docs, func(i int) int { return 1 - 2*i }), stream.Options{}, 1, "the index -1"},
	} {
		run := stream.VerifySeq(context.Background(), integrity(t), c.items, c.options)
		sum, err := run.Summary()
		var incomplete *stream.IncompleteError
		if !errors.As(err, &incomplete) || !strings.Contains(err.Error(), c.text) || errors.Is(err, gone) != (c.text == gone.Error()) {
			t.Errorf("%s: error %v", name, err)
		}
		if sum.Verdict() != receipt.Undecided || sum.Complete || sum.Verified != c.verified || len(sum.Inputs.Unreadable) != 1 {
			t.Errorf("%s: %v, %d verified, unreadable %v", name, sum.Verdict(), sum.Verified, sum.Inputs.Unreadable)
		}
	}
}

func numbered(docs [][]byte, index func(int) int) iter.Seq2[stream.Item, error] {
	return func(yield func(stream.Item, error) bool) {
		for i, doc := range docs {
			if !yield(stream.Item{Source: "db", Index: index(i), JSON: doc}, nil) {
				return
			}
		}
	}
}

// TestVerifySeqChanges verifies that a run fails if its sequence must be iterated twice but yields
// its items only once.
func TestVerifySeqChanges(t *testing.T) {
	docs := newWriter(t, "a").many(4)
	reads := 0
	once := func(yield func(stream.Item, error) bool) {
		if reads++; reads == 1 {
			numbered(docs, func(i int) int { return i + 1 })(yield)
		}
	}
	sum, err := stream.VerifySeq(context.Background(), integrity(t), once, stream.Options{Unordered: true}).Summary()
	if err == nil || sum.Verdict() == receipt.Verified {
		t.Error(sum.Verdict(), err)
	}
}

// TestVerifySeqAwaitsReport verifies that a sequence can wait for the report on its last item. The
// sequence must have ended when the caller leaves the loop.
func TestVerifySeqAwaitsReport(t *testing.T) {
	docs := newWriter(t, "a").many(20)
	reported, ended := make(chan struct{}), false
	run := stream.VerifySeq(context.Background(), integrity(t), func(yield func(stream.Item, error) bool) {
		defer func() { ended = true }()
		for i, doc := range docs {
			if !yield(stream.Item{Source: "queue", Index: i + 1, JSON: doc}, nil) {
				return
			}
			<-reported
		}
	}, stream.Options{Jobs: 2})
	n := 0
	for range run.Reports() {
		if n++; n == 10 {
			close(reported)
			break
		}
		reported <- struct{}{}
	}
	if !ended {
		t.Error("the sequence still runs")
	}
	if _, err := run.Summary(); !errors.Is(err, stream.ErrStopped) {
		t.Error(err)
	}
}

// TestVerifySeqMemory verifies that memory use does not grow with the number of items.
func TestVerifySeqMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	docs := newWriter(t, "a").many(2)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := heap(), uint64(0)
	long := func(yield func(stream.Item, error) bool) {
		for i := range 20_000 {
			if i%1000 == 0 {
				most = max(most, heap())
			}
			if !yield(stream.Item{Source: "db", Index: i + 1, JSON: docs[i%2]}, nil) {
				return
			}
		}
	}
	if _, err := stream.VerifySeq(context.Background(), integrity(t), long, stream.Options{Jobs: 2}).Summary(); err != nil {
		t.Fatal(err)
	}
	if most > before+24<<20 {
		t.Errorf("the heap grew from %d to %d MB", before>>20, most>>20)
	}
}

// TestVerifySeqEnds verifies that the sequence has ended when Reports returns: after the last item,
// after an error, and if the caller leaves the loop early.
func TestVerifySeqEnds(t *testing.T) {
	docs := newWriter(t, "a").many(50)
	for name, c := range map[string]struct {
		items int
		err   error
		leave bool
	}{"all": {50, nil, false}, "an error": {1, errors.New("the queue is down"), false}, "left": {50, stream.ErrStopped, true}} {
		var ended atomic.Bool
		items := func(yield func(stream.Item, error) bool) {
			defer func() {
				time.Sleep(50 * time.Millisecond) // represents cleanup, such as closing a connection
				ended.Store(true)
			}()
			for i := range c.items {
				if !yield(stream.Item{Source: "queue", Index: i + 1, JSON: docs[i]}, nil) {
					return
				}
			}
			if c.err != nil && !c.leave {
				yield(stream.Item{}, c.err)
			}
		}

		run := stream.VerifySeq(t.Context(), integrity(t), items, stream.Options{})
		for range run.Reports() {
			if c.leave {
				break
			}
		}
		if !ended.Load() {
			t.Errorf("%s: the sequence still runs after Reports has returned", name)
		}
		if _, err := run.Summary(); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, expected %v", name, err, c.err)
		}
	}
}
