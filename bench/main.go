// Command bench measures this module against its peers, side by side in one
// process, and prints ratios. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/stat"
)

func main() {
	rounds := flag.Int("rounds", 7, "interleaved `rounds`, of which the median counts; at least 5")
	slice := flag.Duration("time", 60*time.Millisecond, "how long one rival runs in one round")
	flag.Parse()
	if flag.NArg() > 0 || *rounds < 5 || *slice <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	fmt.Printf("canonicalize, one core, %s, median of %d rounds\n\n", runtime.Version(), *rounds)
	if err := table(os.Stdout, *rounds, *slice); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// table writes a line for each corpus: the speed of the first rival, then how
// many times slower each of the others is.
func table(w io.Writer, rounds int, slice time.Duration) error {
	all := rivals()
	fmt.Fprintf(w, "%-14s %12s", "receipts", all[0].name+" MB/s")
	for _, r := range all[1:] {
		fmt.Fprintf(w, " %13s %6s", "× "+r.name, "least")
	}
	fmt.Fprintln(w)
	for _, c := range corpora() {
		results, err := compare(c, all, rounds, slice)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(w, "%-14s %12.0f", c.name, results[0].speed)
		for _, r := range results[1:] {
			fmt.Fprintf(w, " %13.1f %6.1f", r.ratio, r.least)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// A result tells how the first rival compares with this one.
type result struct {
	speed float64 // MB/s of input, median
	ratio float64 // median over rounds of how many times slower than the first
	least float64 // the smallest of these ratios
}

// compare lets all rivals run in turn, round after round, so that whatever else
// the machine does meets them alike. A ratio is taken within a round.
func compare(c inputs, all []rival, rounds int, slice time.Duration) ([]result, error) {
	if err := agree(c, all); err != nil {
		return nil, err
	}
	times := make([][]float64, len(all)) // seconds per pass over the corpus
	for round := range rounds {
		for i := range all {
			k := (i + round) % len(all) // nobody always comes first
			seconds, err := measure(c, all[k], slice)
			if err != nil {
				return nil, err
			}
			times[k] = append(times[k], seconds)
		}
	}
	results := make([]result, len(all))
	for k := range all {
		ratios := make([]float64, rounds)
		for round := range rounds {
			ratios[round] = times[k][round] / times[0][round]
		}
		results[k] = result{float64(c.bytes) / 1e6 / stat.Median(times[k]), stat.Median(ratios), slices.Min(ratios)}
	}
	return results, nil
}

// agree fails unless all rivals write the same bytes: nobody is fast at
// something else.
func agree(c inputs, all []rival) error {
	for i, src := range c.receipts {
		want, err := all[0].canonicalize(nil, src)
		if err != nil {
			return err
		}
		for _, r := range all[1:] {
			got, err := r.canonicalize(nil, src)
			if err != nil {
				return fmt.Errorf("receipt %d: %s: %w", i, r.name, err)
			}
			if string(got) != string(want) {
				return fmt.Errorf("receipt %d: %s and %s differ", i, r.name, all[0].name)
			}
		}
	}
	return nil
}

// measure returns the mean time of a pass over the corpus. The garbage of the
// rival before is collected first; the rival's own is its own cost.
func measure(c inputs, r rival, slice time.Duration) (float64, error) {
	runtime.GC()
	var dst []byte
	passes, start := 0, clock()
	for passes == 0 || clock()-start < slice {
		for _, src := range c.receipts {
			var err error
			if dst, err = r.canonicalize(dst, src); err != nil {
				return 0, err
			}
		}
		passes++
	}
	return (clock() - start).Seconds() / float64(passes), nil
}
