// Command scale measures how the cost of verifying receipts grows with their number. It measures a
// single machine and an engine, in which workers verify parts, write records to files by key, and
// join each file separately. See ../README.md and docs/scale.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	most := flag.Int("most", 1_000_000, "the largest number of receipts, `N`; each tenth of it from 10,000 is measured, too")
	parts := flag.Int("parts", 100, "deal the receipts out to `N` files, of which every third repeats a tenth of another")
	shards := flag.Int("shards", 16, "write records to `N` files a grouping")
	price := flag.Float64("price", 0.05, "dollars for an hour of a core, of which the table of costs is made")
	must := flag.Bool("must", false, "exit 1 when a receipt of the largest number takes twice as long as one of the smallest, or an engine twice as long as one machine")
	flag.Parse()
	if flag.NArg() > 0 || *most < 10_000 || *parts < 3 || *shards < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *most, *parts, *shards, *price, *must); err != nil {
		fmt.Fprintf(os.Stderr, "scale: %v\n", err)
		os.Exit(1)
	}
}

func run(w io.Writer, most, parts, shards int, price float64, must bool) error {
	fmt.Fprintln(w, "| receipts | µs a receipt, one machine | µs, engine | of these verify | group and join | bytes shuffled a receipt | MB/s read |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	var list []measured
	for n := 10_000; n <= most; n *= 10 {
		m, err := measure(n, parts, shards)
		if err != nil {
			return err
		}
		list = append(list, m)
		fmt.Fprintf(w, "| %d | %.1f | %.1f | %.1f | %.1f | %.0f | %.0f |\n", m.documents, m.each(m.machine), m.each(m.verify+m.group), m.each(m.verify), m.each(m.group),
			float64(m.shuffled)/float64(m.documents), float64(m.bytes)/1e6/m.read.Seconds())
	}
	first, last := list[0], list[len(list)-1]
	costs(w, last, price)

	// Other load on the machine can only increase a ratio.
	if must && (last.each(last.machine) > 2*first.each(first.machine) || last.each(last.verify+last.group) > 2*first.each(first.verify+first.group)) {
		return fmt.Errorf("a receipt of %d takes more than twice as long as one of %d", last.documents, first.documents)
	}
	if must && last.verify+last.group > 2*last.machine {
		return fmt.Errorf("an engine takes more than twice as long as one machine")
	}
	return nil
}

// A measured value contains the processor times for a given number of receipts.
type measured struct {
	documents     int   // receipts, including copies
	bytes         int64 // size of all files
	read          time.Duration
	machine       time.Duration
	verify, group time.Duration // processor times of an engine
	shuffled      int64         // bytes
}

// each returns the time per receipt in microseconds.
func (m *measured) each(d time.Duration) float64 {
	return d.Seconds() * 1e6 / float64(m.documents)
}

// costs prints the costs for larger numbers of receipts, which are extrapolated from the measured
// rates.
func costs(w io.Writer, m measured, price float64) {
	size := float64(m.bytes) / float64(m.documents)
	seconds := (m.verify + m.group).Seconds() / float64(m.documents)
	shuffled := float64(m.shuffled) / float64(m.documents)
	fmt.Fprintf(w, "\n| receipts of %.1f KB | stored, as they are | hours of a core, engine | dollars at %.2f an hour of a core | shuffled | on 100 cores |\n|---|---|---|---|---|---|\n", size/1e3, price)
	for _, n := range []float64{1e6, 1e9, 1e12} {
		hours := n * seconds / 3600
		fmt.Fprintf(w, "| %.0e | %s | %s | %s | %s | %s |\n", n, bytesText(n*size), number(hours), number(hours*price), bytesText(n*shuffled), spell(hours/100))
	}
}

func bytesText(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	i := 0
	for n >= 1000 && i+1 < len(units) {
		n, i = n/1000, i+1
	}
	return number(n) + " " + units[i]
}

// number formats a number with two significant digits, which is the precision of the measurement.
func number(n float64) string {
	switch {
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 1:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// spell formats a duration in hours.
func spell(hours float64) string {
	switch {
	case hours >= 48:
		return number(hours/24) + " days"
	case hours >= 1:
		return number(hours) + " hours"
	case hours*60 >= 1:
		return number(hours*60) + " minutes"
	}
	return number(hours*3600) + " seconds"
}
