package main

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// canonicalize measures unchanged receipts from the corpus, which are compact and have their
// members in canonical order.
func (b *bench) canonicalize() []result.Line {
	all := rivals()
	for _, slice := range b.sample.slices {
		check(sameBytes(slice, all))
	}
	var turns []race.Turn
	for _, r := range all {
		turns = append(turns, race.Once(func(round int) error { return r.all(b.sample.slice(round)) }))
	}
	times := must(race.Rounds(b.ctx, b.rounds, turns...))
	return []result.Line{
		atLeast(10, "canonicalize/jcs", "canonicalize, × jcs.Transform", times.Ratio(jcsRival, 0)),
		atLeast(1.8, "canonicalize/jsontext", "canonicalize, × jsontext.Value.Canonicalize", times.Ratio(jsontextRival, 0)),
		exactly("canonicalize/allocations", "canonicalize, allocations", all[0].allocations(b.sample.first)),
	}
}

// canonicalTable returns the detailed table, by size and spelling. Its receipts are in the form
// that producers write. The first row is the heading.
func (b *bench) canonicalTable() [][]string {
	all := rivals()
	heading := []string{"receipts", all[0].name + " MB/s"}
	for _, r := range all[1:] {
		heading = append(heading, "× "+r.name, "least")
	}
	rows := [][]string{append(heading, "")}
	for _, c := range corpora() {
		if err := sameBytes(c.receipts, all); err != nil {
			check(fmt.Errorf("%s: %w", c.name, err))
		}
		var turns []race.Turn
		for _, r := range all {
			turns = append(turns, race.Repeated(b.slice, func(int) error { return r.all(c.receipts) }))
		}
		times, err := race.Rounds(b.ctx, b.rounds, turns...)
		if err != nil {
			check(fmt.Errorf("%s: %w", c.name, err))
		}
		row := []string{c.name, fmt.Sprintf("%.0f", float64(size(c.receipts))/1e6/times.Median(0))}
		for k := range all[1:] {
			r := times.Ratio(k+1, 0)
			row = append(row, fmt.Sprintf("%.1f", r.Median), fmt.Sprintf("%.1f", r.Least))
		}
		rows = append(rows, append(row, ""))
	}
	return rows
}

// all canonicalizes all receipts.
func (r rival) all(receipts [][]byte) error {
	var dst []byte
	for _, src := range receipts {
		var err error
		if dst, err = r.canonicalize(dst, src); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// allocations returns the number of allocations per receipt after all receipts were canonicalized
// once.
func (r rival) allocations(receipts [][]byte) float64 {
	var dst []byte
	i := 0
	next := func() {
		dst, _ = r.canonicalize(dst, receipts[i%len(receipts)])
		i++
	}
	for range receipts {
		next() // grows the buffers to the size of the largest receipt
	}
	return testing.AllocsPerRun(len(receipts), next)
}

// sameBytes returns an error unless all rivals write the same bytes, so that the comparison is
// fair.
func sameBytes(receipts [][]byte, all []rival) error {
	for i, src := range receipts {
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
