package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// profileTime is how long the profiled loop runs, which yields several thousand samples.
const profileTime = 20 * time.Second

var errNotMet = errors.New("a line is not met")

// run performs the action that the options specify. If everything was measured but a bound is not
// met, the error is errNotMet.
func run(ctx context.Context, o *options, out, messages io.Writer) error {
	if o.document {
		return document()
	}
	dir, err := os.MkdirTemp("", "receipt-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, rounds: o.rounds, slice: o.slice, dir: dir, million: o.linear || o.record}
	return caught(func() {
		switch {
		case o.speed:
			check(b.guard(out, messages))
		case o.profile:
			check(b.tellProfile(o.receipts, out))
		case o.forms:
			check(b.tellForms(o.must, out))
		default:
			check(b.whole(o, out, messages))
		}
	})
}

// whole measures the table and the sections that follow it.
func (b *bench) whole(o *options, out, messages io.Writer) error {
	fmt.Fprintf(out, "%v\nmedian of %d rounds, %d of %d receipts\n\n", machine(), b.rounds, o.receipts, wholeCorpus)
	b.prepare(o.receipts, slices.Contains(o.skip, "memory"))
	r := &result.Recorded{Machine: machine(), Rounds: b.rounds, Receipts: o.receipts}
	r.Lines = b.lines(messages, o.skip, false)
	fmt.Fprint(out, result.Table(result.Rows(r.Lines)))
	if o.only {
		return verdict(r.Lines, o.must)
	}
	r.Canonical = b.canonicalTable()
	fmt.Fprintf(out, "\n%s", result.Table(r.Canonical))
	r.Linear = b.linear()
	fmt.Fprintf(out, "\n%s", result.Table(result.GrowthRows(r.Linear)))

	if o.record {
		r.Short = b.shortForm(messages, b.rounds)
		r.Profile = b.profile()
		fmt.Fprintf(out, "\n%s", r.Profile.Text())
		check(record(r))
	}
	return verdict(r.Lines, o.must)
}

func verdict(lines []result.Line, strict bool) error {
	if strict && len(result.Missed(lines)) > 0 {
		return errNotMet
	}
	return nil
}

// prepare generates the corpus and takes the sample. Unless sampleOnly is set, it also writes the
// corpus to a file.
func (b *bench) prepare(count int, sampleOnly bool) {
	config := corpus.Config{Receipts: wholeCorpus, Seed: seed}
	if sampleOnly {
		b.sample = must(take(b.ctx, config, b.rounds, count, nil))
		return
	}
	b.sample = b.write(corpusFile, keysFile, config, b.rounds, count)
}

// write writes a corpus and its keys to files, and takes a sample from the corpus.
func (b *bench) write(name, keys string, config corpus.Config, rounds, count int) *sample {
	file := must(os.Create(filepath.Join(b.dir, name)))
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	s := must(take(b.ctx, config, rounds, count, w))
	check(w.Flush())
	check(file.Close())
	check(os.WriteFile(filepath.Join(b.dir, keys), s.keyFile, 0o666))
	return s
}

// tellForms implements -forms.
func (b *bench) tellForms(strict bool, out io.Writer) error {
	lines := b.outputForms()
	fmt.Fprintf(out, "%v\nmedian of %d rounds\n\n%s", machine(), b.rounds, result.Table(result.Rows(lines)))
	return verdict(lines, strict)
}

// tellProfile implements -profile.
func (b *bench) tellProfile(count int, out io.Writer) error {
	b.prepare(count, true)
	p := b.profile()
	_, err := fmt.Fprintf(out, "%v\n\n%s", machine(), p.Text())
	return err
}

func (b *bench) profile() (p result.Profile) {
	p.Floor, p.Whole = b.floor()
	p.Steps = b.breakdown(profileTime)
	return p
}

func machine() result.Machine {
	return result.Machine{CPU: processor(), Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
}
