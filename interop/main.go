// Command interop compares the verifiers in js and python with the library, on mutants of receipts:
//
//	go run -C interop . -n 100000 -seed 1
//
// With -cases, it compares JavaScript with the command "receipt". The inputs are mutants of
// attestations and of corpus cases. The program prints how often each verdict occurred, and the
// first differences. If there are any differences, the exit code is 1.
//
// The verdicts must be equal. The codes may differ, because a receipt can have several faults, and
// a verifier reports only one of them.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	n := flag.Int("n", 100000, "number of mutants")
	seed := flag.Uint64("seed", 1, "seed of the mutants")
	show := flag.Int("show", 10, "number of differences to print")
	cases := flag.Bool("cases", false, "compare mutants of cases, by running the command receipt")
	codes := flag.Bool("codes", false, "also compare codes")
	flag.Parse()

	run := func() (map[string]int, []difference, error) { return compare(*n, *seed, *codes) }
	if *cases {
		run = func() (map[string]int, []difference, error) { return compareCases(*n, *seed) }
	}
	counts, differences, err := run()
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%8d %s\n", counts[result], result)
	}
	for _, d := range differences[:min(*show, len(differences))] {
		fmt.Printf("\n%s\n", d)
	}
	fmt.Printf("\n%d mutants, %d differences\n", *n, len(differences))
	if len(differences) > 0 {
		os.Exit(1)
	}
}

// A difference is a mutant about which the verifiers disagree.
type difference struct {
	number  int
	results []string // results of the library, JavaScript, and, if it was run, Python
	mutant  []byte
}

func (d difference) String() string {
	return fmt.Sprintf("mutant %d: Go, JavaScript, and Python: %q\n%s", d.number, d.results, d.mutant)
}

// compare returns how often the library reached each result and the mutants about which the
// verifiers disagree.
func compare(n int, seed uint64, codes bool) (counts map[string]int, differences []difference, err error) {
	m, err := newMill(seed)
	if err != nil {
		return nil, nil, err
	}
	counts = map[string]int{}
	for done := 0; done < n; {
		mutants := make([][]byte, min(10000, n-done))
		for i := range mutants {
			mutants[i] = m.next()
		}
		var results [3][]string
		for i, verify := range []verifier{toolkit, javascript, python} {
			if results[i], err = verify(mutants); err != nil {
				return nil, nil, err
			}
		}

		for i, mutant := range mutants {
			counts[results[0][i]]++
			d := difference{number: done + i, mutant: mutant}
			for _, r := range results {
				d.results = append(d.results, r[i])
			}
			if !same(d.results, codes) {
				differences = append(differences, d)
			}
		}
		done += len(mutants)
	}
	return counts, differences, nil
}

// same reports whether the results have the same verdict and, if codes is set, the same code.
func same(results []string, codes bool) bool {
	for _, r := range results[1:] {
		if codes && r != results[0] || verdict(r) != verdict(results[0]) {
			return false
		}
	}
	return true
}

func verdict(result string) string {
	word, _, _ := strings.Cut(result, " ")
	return word
}
