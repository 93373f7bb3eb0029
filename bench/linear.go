package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// linear measures how the cost per receipt grows with the number of receipts, and how the cost per
// byte grows with the size of a receipt. Signatures are omitted, because their constant cost would
// hide growth.
func (b *bench) linear() []result.Growth {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	counts := []int{1_000, 100_000}
	if b.million {
		counts = append(counts, 1_000_000)
	}
	return append(b.byNumber(counts), b.bySize()...)
}

// byNumber verifies streams of minimal receipts.
func (b *bench) byNumber(counts []int) []result.Growth {
	file, ends := b.minimal(counts)
	defer file.Close()
	var turns []race.Turn
	var names []string
	for i, count := range counts {
		turns = append(turns, race.Repeated(b.slice, func(int) error {
			return verifyStream(b.ctx, nil, io.NewSectionReader(file, 0, ends[i]), count)
		}))
		names = append(names, fmt.Sprintf("10^%d", len(fmt.Sprint(count))-1))
	}
	return b.growth("a receipt in a stream of this many", names, counts, turns)
}

// minimal writes minimal receipts to a file. For each count, it returns the offset at which that
// number of receipts ends. The counts must be in increasing order.
func (b *bench) minimal(counts []int) (file *os.File, ends []int64) {
	runtime.GOMAXPROCS(runtime.NumCPU())
	defer runtime.GOMAXPROCS(1)
	c := must(corpus.New(corpus.Config{Kind: corpus.Minimal, Receipts: counts[len(counts)-1], Seed: seed}))
	file = must(os.Create(filepath.Join(b.dir, "minimal.jsonl")))
	at, buffer := int64(0), new(bytes.Buffer)
	for number, text := range c.All() {
		buffer.Write(text)
		buffer.WriteByte('\n')
		at += int64(len(text)) + 1
		if last := number == counts[len(ends)]; last || buffer.Len() > 1<<20 {
			must(buffer.WriteTo(file))
			if last {
				ends = append(ends, at)
			}
		}
		check(b.ctx.Err())
	}
	return file, ends
}

// bySize verifies receipts of several sizes.
func (b *bench) bySize() []result.Growth {
	var turns []race.Turn
	var names []string
	var sizes []int
	for _, want := range []int{2_000, 20_000, 200_000} {
		s := must(take(b.ctx, corpus.Config{Size: want, Receipts: 20, Seed: seed}, 1, 20, nil))
		us := ours(nil)
		check(us.all(s.slices[0]))
		turns = append(turns, race.Repeated(b.slice, func(int) error { return us.all(s.slices[0]) }))
		names = append(names, fmt.Sprintf("%d KB", want/1000))
		sizes = append(sizes, size(s.slices[0])/1000)
	}
	return b.growth("1,000 bytes of a receipt of this size", names, sizes, turns)
}

// growth returns the cost per unit in each turn. The argument units contains the numbers of units.
func (b *bench) growth(of string, names []string, units []int, turns []race.Turn) []result.Growth {
	times := must(race.Rounds(b.ctx, b.rounds, turns...))
	var list []result.Growth
	for i := range turns {
		r, each := times.Ratio(i, 0), float64(units[0])/float64(units[i])
		cost := 1e6 * times.Median(i) / float64(units[i])
		list = append(list, result.Growth{Of: of, Size: names[i], Cost: result.Round(cost),
			Ratio: result.Round(r.Median * each), Worst: result.Round(r.Most * each)})
	}
	return list
}
