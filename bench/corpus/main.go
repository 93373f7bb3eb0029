// Command corpus writes generated receipts, signed and linked, for measurements and tests. See
// ../README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
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

// write generates the corpus once and writes it in each requested form, with its trust file. It
// prints the results to w.
func write(ctx context.Context, o *options, w io.Writer) (err error) {
	c, err := corpus.New(o.config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	keys, err := c.Keys()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.dir, "keys.json"), keys, 0o666); err != nil {
		return err
	}
	var sinks []sink
	defer func() {
		for _, s := range sinks {
			s.discard() // if it was not kept
		}
	}()
	for _, form := range o.forms {
		s, err := newSink(form, o.dir)
		if err != nil {
			return err
		}
		sinks = append(sinks, s)
	}
	if err := fill(ctx, c, o.text, sinks, w); err != nil {
		return err
	}
	for _, s := range sinks {
		told, err := s.keep()
		if err != nil {
			return err
		}
		fmt.Fprintln(w, told)
	}
	return nil
}

// fill passes every receipt to every sink, and prints the sizes of the canonical forms to w.
func fill(ctx context.Context, c *corpus.Corpus, text textForm, sinks []sink, w io.Writer) error {
	count, sum, least, most := 0, 0, math.MaxInt, 0
	var spelled []byte
	for number, receipt := range c.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		count++
		sum += len(receipt)
		least, most = min(least, len(receipt)), max(most, len(receipt))
		spelled = text.append(spelled[:0], receipt)
		for _, s := range sinks {
			if err := s.put(number, spelled); err != nil {
				return err
			}
		}
	}
	if count == 0 {
		least = 0
	}
	_, err := fmt.Fprintf(w, "%d receipts, %d to %d bytes, mean %d\n", count, least, most, sum/max(count, 1))
	return err
}
