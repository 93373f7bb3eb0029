package main

import (
	"fmt"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
)

// An inputs is a list of different receipts of about the same size.
type inputs struct {
	name     string
	receipts [][]byte
}

// These are the sizes of receipts with few, some, and many side effects.
const (
	small  = 3 << 10
	medium = 11 << 10
	large  = 33 << 10
)

// corpora returns the inputs for the detailed table. There are three sizes, each in compact form
// and in the indented form that people and most tools use. In one additional input, every non-ASCII
// character is escaped. The same seed always leads to the same bytes.
func corpora() []inputs {
	var all []inputs
	for _, size := range []int{small, medium, large} {
		compact := generate(size, 48)
		all = append(all,
			inputs{fmt.Sprintf("%d KB compact", size>>10), compact},
			inputs{fmt.Sprintf("%d KB pretty", size>>10), spelled(compact, corpus.Pretty)})
		if size == medium {
			all = append(all, inputs{fmt.Sprintf("%d KB ascii", size>>10), spelled(compact, corpus.ASCII)})
		}
	}
	return all
}

// generate returns count receipts in compact form, each with about size bytes. Members are in the
// order of the format's tables, and numbers are written as producers write them, such as 2.0 or
// 0.1842.
func generate(size, count int) [][]byte {
	c, err := corpus.New(corpus.Config{Receipts: count, Size: size, Seed: uint64(size)})
	if err != nil {
		panic(err) // cannot fail, because the sizes are valid
	}
	var receipts [][]byte
	for n := range count {
		receipts = append(receipts, c.Unlinked(n+1))
	}
	return receipts
}

func spelled(receipts [][]byte, as func(dst, text []byte) []byte) [][]byte {
	var list [][]byte
	for _, r := range receipts {
		list = append(list, as(nil, r))
	}
	return list
}
