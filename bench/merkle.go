package main

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
)

// leafCount is not a power of two, so the tree is incomplete.
const leafCount = 50_000

// merkleRoot compares the computation of a root over the digests of receipts with sumdb/tlog. The
// comparison uses sumdb/tlog as documented: it stores the hashes and then hashes the tree.
func (b *bench) merkleRoot() []result.Line {
	leaves := make([]canon.Digest, leafCount)
	for i := range leaves {
		leaves[i] = canon.Sum(fmt.Append(nil, i))
	}
	want := must(tlogRoot(leaves, make([]tlog.Hash, 0, 2*leafCount)))
	if got := ourRoot(leaves); [32]byte(got) != [32]byte(want) {
		check(errors.New("merkle and tlog differ about the root"))
	}
	stored := make([]tlog.Hash, 0, 2*leafCount)
	times := must(race.Rounds(b.ctx, b.rounds,
		race.Repeated(b.slice, func(int) error { ourRoot(leaves); return nil }),
		race.Repeated(b.slice, func(int) error { _, err := tlogRoot(leaves, stored); return err })))
	return []result.Line{
		atLeast(1.5, "merkle/tlog", "Merkle root, × sumdb/tlog", times.Ratio(1, 0)),
		exactly("merkle/allocations", "Merkle root, allocations", testing.AllocsPerRun(3, func() { ourRoot(leaves) })),
	}
}

func ourRoot(leaves []canon.Digest) merkle.Hash {
	var t merkle.Tree
	for i := range leaves {
		t.Append(merkle.LeafHash(leaves[i][:]))
	}
	return t.Root()
}

// tlogRoot reuses the memory of stored.
func tlogRoot(leaves []canon.Digest, stored []tlog.Hash) (tlog.Hash, error) {
	stored = stored[:0]
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		list := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			list[i] = stored[at]
		}
		return list, nil
	})
	for n := range leaves {
		hashes, err := tlog.StoredHashes(int64(n), leaves[n][:], reader)
		if err != nil {
			return tlog.Hash{}, err
		}
		stored = append(stored, hashes...)
	}
	return tlog.TreeHash(int64(len(leaves)), reader)
}
