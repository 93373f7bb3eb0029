package main

import (
	"fmt"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
)

// inputs is a list of receipts of about one size, all different.
type inputs struct {
	name     string
	receipts [][]byte
	bytes    int
}

// Sizes of a receipt with few, some and many side effects.
const (
	small  = 3 << 10
	medium = 11 << 10
	large  = 33 << 10
)

// corpora returns the measured inputs: three sizes, each compact and printed as
// people and most tools print JSON. The same seed gives the same bytes.
func corpora() []inputs {
	var all []inputs
	for _, size := range []int{small, medium, large} {
		compact, pretty := generate(size, 48)
		all = append(all,
			newInputs(fmt.Sprintf("%d KB compact", size>>10), compact),
			newInputs(fmt.Sprintf("%d KB pretty", size>>10), pretty))
	}
	return all
}

func newInputs(name string, receipts [][]byte) inputs {
	c := inputs{name: name, receipts: receipts}
	for _, r := range receipts {
		c.bytes += len(r)
	}
	return c
}

// generate returns count receipts of about size bytes in their compact form,
// compact and pretty-printed. Members stand in the order in which the format
// lists them, numbers as producers write them: 2.0, 0.1842.
func generate(size, count int) (compact, pretty [][]byte) {
	c, err := corpus.New(corpus.Config{Receipts: count, Size: size, Seed: uint64(size)})
	if err != nil {
		panic(err) // the sizes are ours
	}
	for n := range count {
		r := c.Unlinked(n + 1)
		compact = append(compact, r)
		pretty = append(pretty, corpus.Pretty(nil, r))
	}
	return compact, pretty
}
