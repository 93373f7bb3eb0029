package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// A bench performs measurements with one sample from a corpus.
type bench struct {
	ctx     context.Context
	rounds  int
	slice   time.Duration // minimum time for which a short turn is repeated
	sample  *sample
	dir     string // directory for files; removed at the end
	million bool   // measures growth up to 10^6 receipts instead of 10^5
}

// A section measures some of the lines in the table.
type section struct {
	name    string
	measure func(*bench) []result.Line
	short   bool // whether the section is part of the short form
}

func sections() []section {
	return []section{
		{"canonical", (*bench).canonicalize, true},
		{"integrity", (*bench).integrity, true},
		{"sha256", (*bench).hashing, false},
		{"full", (*bench).full, true},
		{"checkpoint", (*bench).checkpoint, true},
		{"ed25519", (*bench).signatures, true},
		{"merkle", (*bench).merkleRoot, true},
		{"hostile", (*bench).hostileInput, true},
		{"stream", (*bench).steadyStream, true},
		{"forms", (*bench).outputForms, false},
		{"memory", (*bench).command, false},
		{"node", (*bench).againstNode, false},
	}
}

// lines runs all sections except the skipped ones on one core, and reports its progress.
func (b *bench) lines(messages io.Writer, skip []string, short bool) []result.Line {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var lines []result.Line
	for _, s := range sections() {
		if slices.Contains(skip, s.name) || short && !s.short {
			continue
		}
		began := time.Now()
		var more []result.Line
		if err := caught(func() { more = s.measure(b) }); err != nil {
			check(fmt.Errorf("%s: %w", s.name, err))
		}
		for i := range more {
			l := &more[i]
			l.Seen, l.Worst = result.Round(l.Seen), result.Round(l.Worst)
		}
		lines = append(lines, more...)
		fmt.Fprintf(messages, "bench: %s took %.0f s\n", s.name, time.Since(began).Seconds())
	}
	return lines
}

// small returns receipts of 3 KB that are signed with the same keys as the corpus.
func (b *bench) small() *sample {
	count := b.rounds * smallCount
	return must(take(b.ctx, corpus.Config{Size: small, Receipts: count, Seed: seed}, b.rounds, count, nil))
}

// smallCount is the number of small receipts in a round. It equals the number of corpus receipts in
// a round, so that the cache contains the tables of the keys to the same degree.
const smallCount = 1000

func sectionNames() string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// atLeast returns a line for a ratio that has a lower bound.
func atLeast(must float64, id, measure string, r race.Ratio) result.Line {
	return result.Line{ID: id, Measure: measure, Bound: result.Least, Must: must, Seen: r.Median, Worst: r.Least, Unit: "×"}
}

// atMost returns a line for a ratio that has an upper bound.
func atMost(must float64, id, measure string, r race.Ratio) result.Line {
	return result.Line{ID: id, Measure: measure, Bound: result.Most, Must: must, Seen: r.Median, Worst: r.Most, Unit: "×"}
}

// exactly returns a line for a value that must be 0.
func exactly(id, measure string, seen float64) result.Line {
	return result.Line{ID: id, Measure: measure, Bound: result.Most, Seen: seen, Worst: seen}
}
