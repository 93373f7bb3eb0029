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

// profileTime is how long the loop runs that is profiled: some thousand samples.
const profileTime = 20 * time.Second

var errNotMet = errors.New("a line is not met")

// run does what the options ask for. The error is errNotMet when everything was
// measured and something is too slow.
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
	switch {
	case o.speed:
		return b.guard(out, messages)
	case o.profile:
		return b.tellProfile(o.receipts, out)
	case o.forms:
		return b.tellForms(o.must, out)
	}
	return b.whole(o, out, messages)
}

// whole measures the table and what stands below it.
func (b *bench) whole(o *options, out, messages io.Writer) error {
	fmt.Fprintf(out, "%v\nmedian of %d rounds, %d of %d receipts\n\n", machine(), b.rounds, o.receipts, wholeCorpus)
	if err := b.prepare(o.receipts, slices.Contains(o.skip, "memory")); err != nil {
		return err
	}
	r := &result.Recorded{Machine: machine(), Rounds: b.rounds, Receipts: o.receipts}
	var err error
	if r.Lines, err = b.lines(messages, o.skip, false); err != nil {
		return err
	}
	fmt.Fprint(out, result.Table(result.Rows(r.Lines)))
	if r.Canonical, err = b.canonicalTable(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", result.Table(r.Canonical))
	if r.Linear, err = b.linear(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", result.Table(result.GrowthRows(r.Linear)))
	if o.record {
		if r.Short, err = b.shortForm(messages, b.rounds); err != nil {
			return err
		}
		if r.Profile, err = b.profile(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s", r.Profile.Text())
		if err := record(r); err != nil {
			return err
		}
	}
	return verdict(r.Lines, o.must)
}

func verdict(lines []result.Line, must bool) error {
	if must && len(result.Missed(lines)) > 0 {
		return errNotMet
	}
	return nil
}

// prepare makes the corpus and takes the sample. Unless that is not wanted, it
// writes the corpus to a file.
func (b *bench) prepare(count int, sampleOnly bool) (err error) {
	config := corpus.Config{Receipts: wholeCorpus, Seed: seed}
	if sampleOnly {
		b.sample, err = take(b.ctx, config, b.rounds, count, nil)
		return err
	}
	file, err := os.Create(filepath.Join(b.dir, corpusFile))
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	if b.sample, err = take(b.ctx, config, b.rounds, count, w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, keysFile), b.sample.keyFile, 0o666)
}

// tellForms is -forms.
func (b *bench) tellForms(must bool, out io.Writer) error {
	lines, err := b.outputForms()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%v\nmedian of %d rounds\n\n%s", machine(), b.rounds, result.Table(result.Rows(lines))); err != nil {
		return err
	}
	return verdict(lines, must)
}

// tellProfile is -profile.
func (b *bench) tellProfile(count int, out io.Writer) error {
	if err := b.prepare(count, true); err != nil {
		return err
	}
	p, err := b.profile()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%v\n\n%s", machine(), p.Text())
	return err
}

func (b *bench) profile() (p result.Profile, err error) {
	if p.Floor, p.Whole, err = b.floor(); err != nil {
		return p, err
	}
	p.Steps, err = b.breakdown(profileTime)
	return p, err
}

func machine() result.Machine {
	return result.Machine{CPU: processor(), Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
}
