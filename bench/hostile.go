package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// mostGrowth is the maximum factor by which the time may grow if the size of an input doubles.
// Sorting 300 thousand names takes 2.1 times as long, and a quadratic algorithm would take 4 times
// as long.
const mostGrowth = 2.6

// A hostile input is designed to be expensive. It must not cost more than other inputs of the same
// size.
type hostile struct {
	id, name string
	size     int // size in the unit that the name specifies
	make     func(size int) []byte
	code     receipt.Code // the expected finding
}

// hostiles returns the hostile inputs. The JSON inputs are inserted into the metadata of a receipt.
// Its hash is not updated, so a valid input is processed by every step up to the comparison of the
// hash, which fails.
func hostiles(text []byte) []hostile {
	inside := func(metadata string) []byte {
		return bytes.Replace(text, []byte(`"metadata":{`), []byte(`"metadata":{`+metadata+`,`), 1)
	}
	members := func(n int, name func(i int) string) []byte {
		list := make([]string, n)
		for i := range list {
			list[i] = `"` + name(i) + `":0`
		}
		return inside(strings.Join(list, ","))
	}
	prefix := strings.Repeat("same", 8)
	return []hostile{
		{"brackets", "10 million [", 10_000_000, func(n int) []byte { return bytes.Repeat([]byte("["), n) }, receipt.Code(canon.CodeDepthLimit)},
		{"members", "300 thousand members", 300_000, func(n int) []byte {
			return members(n, func(i int) string { return fmt.Sprintf("%06d", i) })
		}, receipt.CodeHashMismatch},
		{"reversed", "300 thousand members, last first", 300_000, func(n int) []byte {
			return members(n, func(i int) string { return fmt.Sprintf("%06d", n-i) })
		}, receipt.CodeHashMismatch},
		{"prefixed", "300 thousand members that begin alike", 300_000, func(n int) []byte {
			return members(n, func(i int) string { return fmt.Sprintf("%s%06d", prefix, i*7919%n) })
		}, receipt.CodeHashMismatch},
		{"integer", "a number of 1 million digits", 1_000_000, func(n int) []byte {
			return inside(`"n":` + strings.Repeat("7", n))
		}, "number_range"},
		{"fraction", "a fraction of 1 million digits", 1_000_000, func(n int) []byte {
			return inside(`"n":0.` + strings.Repeat("7", n))
		}, receipt.CodeHashMismatch},
	}
}

// hostileInput measures how much longer the full size takes than half the size.
func (b *bench) hostileInput() []result.Line {
	v := verifier(b.sample.set)
	doc, rep := new(canon.Document), new(receipt.Report)
	var lines []result.Line
	for _, h := range hostiles(b.sample.slices[0][0]) {
		judge := func(size int) race.Turn {
			text := h.make(size)
			return race.Repeated(b.slice, func(int) error {
				v.VerifyBytes(text, doc, rep)
				if rep.Verdict != receipt.Refuted || rep.Finding().Code != h.code {
					return fmt.Errorf("%s: %v, %s, expected %s", h.name, rep.Verdict, rep.Finding().Code, h.code)
				}
				return nil
			})
		}
		times := must(race.Rounds(b.ctx, b.rounds, judge(h.size/2), judge(h.size)))
		line := atMost(mostGrowth, "hostile/"+h.id, h.name+", × half of it", times.Ratio(1, 0))
		line.Note = fmt.Sprintf("%s ms, %s", result.Number(1000*times.Median(1)), h.code)
		lines = append(lines, line)
	}
	return lines
}
