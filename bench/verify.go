package main

import (
	"crypto/sha256"
	"testing"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// integrity compares this module with the naive composition, both without signatures.
func (b *bench) integrity() []result.Line {
	all := contestants(nil)
	check(agree(b.ctx, b.sample, all, false))
	times := must(race.Rounds(b.ctx, b.rounds, all[0].turn(b.sample), all[1].turn(b.sample)))
	return []result.Line{
		atLeast(15, "integrity/naive", "verify without signatures, × naive", times.Ratio(1, 0)),
		exactly("integrity/allocations", "verify without signatures, allocations", all[0].allocations(b.sample.first)),
	}
}

// hashing compares the time of verification without signatures with the time of computing only the
// SHA-256 digest of the same bytes. The short form omits this comparison, because other load on the
// machine distorts the ratio of the times.
func (b *bench) hashing() []result.Line {
	us := ours(nil)
	hash := race.Once(func(round int) error {
		for _, text := range b.sample.slice(round) {
			sha256.Sum256(text)
		}
		return nil
	})
	times := must(race.Rounds(b.ctx, b.rounds, us.turn(b.sample), hash))
	return []result.Line{atLeast(0.16, "integrity/sha256", "verify without signatures, of the SHA-256 speed", times.Ratio(1, 0))}
}

// full compares this module with the naive composition, both with signatures, for the corpus and
// for receipts of 3 KB.
func (b *bench) full() []result.Line {
	small := b.small()
	corpus, us := b.versusNaive(b.sample)
	few, _ := b.versusNaive(small)
	return []result.Line{
		atLeast(leastFull, "full/naive", "verify, × naive", corpus),
		atLeast(leastSmall, "full/naive-3k", "verify receipts of 3 KB, × naive", few),
		exactly("full/allocations", "verify, allocations", us.allocations(b.sample.first)),
	}
}

func (b *bench) versusNaive(s *sample) (race.Ratio, contestant) {
	s.warm()
	all := contestants(s.set)
	check(agree(b.ctx, s, all, true))
	times := must(race.Rounds(b.ctx, b.rounds, all[0].turn(s), all[1].turn(s)))
	return times.Ratio(1, 0), all[0]
}

// allocations returns the number of allocations per receipt after all receipts were verified once.
// The number is rounded down, because the runtime itself also allocates occasionally.
func (c contestant) allocations(receipts [][]byte) float64 {
	for _, text := range receipts {
		c.verify(text) // grows the buffers to the size of the largest receipt
	}
	i := 0
	return testing.AllocsPerRun(len(receipts), func() {
		c.verify(receipts[i%len(receipts)])
		i++
	})
}
