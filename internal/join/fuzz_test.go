package join_test

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// contentBytes is the number of seed bytes that determine the content of a receipt. recordBytes is
// the number that determine one copy.
const contentBytes, contents, recordBytes = 3, 8, 2

// recordsOf derives records from arbitrary bytes. The statements that a receipt makes depend only
// on its content.
func recordsOf(data []byte) (list []join.Record) {
	if len(data) < contents*contentBytes {
		return nil
	}
	table, data := data[:contents*contentBytes], data[contents*contentBytes:]
	hash := func(n byte) canon.Digest { return canon.Sum([]byte{n % contents}) }
	for i := 0; i+recordBytes <= len(data) && len(list) < 64; i += recordBytes {
		n := data[i] % contents
		c := table[int(n)*contentBytes:]
		r := join.Record{
			Stream: chain.Stream{Issuer: "i", Workspace: string('a' + rune(c[0]%2))}, ID: join.ID{c[0] >> 1 % 4}, Stated: hash(n), Computed: hash(n),
			First: c[1]%4 == 0, Issued: int64(c[2] % 4), Place: join.Place{Source: i % 3, Index: i},
		}
		if !r.First {
			r.Previous = hash(c[1] >> 2)
		}
		if data[i]>>7 == 1 { // the content differs from the stated hash
			r.Stated = hash(data[i] >> 3)
		}
		switch data[i+1] % 4 {
		case 0:
			r.Verdict, r.Reason, r.Before = receipt.Refuted, "signature_invalid", data[i+1]&4 == 0
		case 1:
			r.Verdict, r.Reason = receipt.Undecided, "unknown_key"
		default:
			r.Verdict = receipt.Verified
		}
		r.Begin()
		list = append(list, r)
	}
	return list
}

// FuzzJoin verifies that the result of joining depends only on the records, not on the order in
// which they are grouped, and that each record is returned once.
func FuzzJoin(f *testing.F) {
	dice := rand.New(rand.NewPCG(27, 1))
	for n := range 24 {
		seed := make([]byte, contents*contentBytes+n*recordBytes)
		for i := range seed {
			seed[i] = byte(dice.Uint32())
		}
		f.Add(seed, uint64(n), byte(n%3))
	}
	f.Fuzz(func(t *testing.T, data []byte, order uint64, gaps byte) {
		records := recordsOf(data)
		joined := func(order uint64) ([]join.Record, *join.Result) {
			e := &engine{t: t, dice: rand.New(rand.NewPCG(order, 2)), strands: map[chain.Stream]*join.Strand{}}
			e.counts.Gaps = int64(gaps % 3)
			list := slices.Clone(records)
			e.dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			result := e.run(list)
			slices.SortFunc(e.done, func(a, b join.Record) int { return cmp.Compare(a.Place.Index, b.Place.Index) })
			slices.SortFunc(result.Strands, func(a, b join.Strand) int { return cmp.Compare(a.Stream.Workspace, b.Stream.Workspace) })
			return e.done, result
		}

		done, result := joined(order)
		again, same := joined(order + 1)
		if !reflect.DeepEqual(done, again) || !reflect.DeepEqual(result, same) {
			t.Fatalf("in two orders:\n%+v\n%+v\n%+v\n%+v", done, again, result, same)
		}
		if len(done) != len(records) {
			t.Fatalf("%d of %d records are done", len(done), len(records))
		}
		for i, r := range done {
			if r.Place != records[i].Place {
				t.Fatalf("the record at %v is not done", records[i].Place)
			}
		}
	})
}
