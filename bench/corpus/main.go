// Command corpus writes made-up receipts, signed and linked, to measure and to
// test with. See ../README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	start := time.Now()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = write(ctx, o, os.Stdout)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "corpus: error: %v\n", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "corpus: %.1f s\n", time.Since(start).Seconds())
}

// write writes the corpus in each form that is wanted, from one generation, and
// its trust file. It tells w what it wrote.
func write(ctx context.Context, o *options, w io.Writer) (err error) {
	c, err := corpus.New(o.config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	if err := writeKeys(filepath.Join(o.dir, "keys.json"), c); err != nil {
		return err
	}
	var sinks []sink
	defer func() {
		for _, s := range sinks {
			s.discard() // what was not kept
		}
	}()
	for _, form := range o.forms {
		s, err := newSink(form, o.dir)
		if err != nil {
			return err
		}
		sinks = append(sinks, s)
	}
	sizes, err := fill(ctx, c, o.text, sinks)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, sizes)
	for _, s := range sinks {
		told, err := s.keep()
		if err != nil {
			return err
		}
		fmt.Fprintln(w, told)
	}
	return nil
}

func writeKeys(path string, c *corpus.Corpus) error {
	set, err := c.Keys()
	if err != nil {
		return err
	}
	return os.WriteFile(path, set, 0o666)
}

// fill gives every receipt to every sink.
func fill(ctx context.Context, c *corpus.Corpus, text textForm, sinks []sink) (*sizes, error) {
	seen := new(sizes)
	var spelled []byte
	for number, receipt := range c.All() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen.add(len(receipt))
		spelled = text.append(spelled[:0], receipt)
		for _, s := range sinks {
			if err := s.put(number, spelled); err != nil {
				return nil, err
			}
		}
	}
	return seen, nil
}
