package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/parquet"
)

// errorName is the name of the file that a run without a verdict writes. The file contains the
// reason. Another attempt would also fail.
const errorName = "error"

// conclude creates the summary for all receipts, and concatenates the reports from the shares.
type conclude struct {
	worker
}

// A whole contains the results from all workers.
type whole struct {
	result  join.Result
	inputs  []first
	shares  []share
	changed string
}

// ProcessElement receives the results for all inputs, streams, receipts, and shares.
func (c *conclude) ProcessElement(ctx context.Context, _ int, readings, counts, strands, shares func(*[]byte) bool) error {
	w, err := gather(readings, counts, strands, shares)
	if err != nil {
		return err
	}
	if w.changed != "" {
		return c.refuse(ctx, w.changed+" was replaced or deleted while it was being read, so there is no verdict: run again, over inputs that nobody writes to")
	}
	s, err := c.summary(ctx, w)
	if errors.Is(err, stream.ErrStreams) {
		return c.refuse(ctx, err.Error())
	}
	if err != nil {
		return err
	}
	text, err := receipt.AppendJSON(nil, s)
	if err != nil {
		return err
	}
	return errors.Join(
		c.write(ctx, rowsName(c.run.Shares, c.run.Shares+1), func(to io.Writer) error {
			table := parquet.NewWriter(to)
			for _, r := range rows.About(s) {
				if err := table.Write(r); err != nil {
					return err
				}
			}
			return table.Close()
		}),
		c.write(ctx, reportsName, func(to io.Writer) error {
			if err := c.copyReports(ctx, to, w.shares); err != nil {
				return err
			}
			_, err := fmt.Fprintf(to, "{\"summary\":%s}\n", text)
			return err
		}),
		c.write(ctx, summaryName, func(to io.Writer) error {
			_, err := fmt.Fprintf(to, "{\n\"reports\":[\n],\n\"summary\":%s}\n", text)
			return err
		}),
	)
}

// refuse writes a reason instead of a verdict.
func (c *conclude) refuse(ctx context.Context, why string) error {
	return c.write(ctx, errorName, func(to io.Writer) error {
		_, err := io.WriteString(to, why)
		return err
	})
}

func gather(readings, counts, strands, shares func(*[]byte) bool) (*whole, error) {
	w := &whole{}
	var err error
	if w.inputs, err = parsed(readings, fromJSON[first]); err != nil {
		return nil, err
	}
	tallies, err := parsed(counts, fromJSON[join.Counts])
	if err != nil {
		return nil, err
	}
	if w.shares, err = parsed(shares, fromJSON[share]); err != nil {
		return nil, err
	}
	ends, err := parsed(strands, join.ParseStrand)
	if err != nil {
		return nil, err
	}

	for i := range w.inputs {
		f := &w.inputs[i]
		w.result.Counts.Add(&f.Counts)
		if f.Changed != "" {
			w.change(f.Input.name())
		}
	}
	for i := range tallies {
		w.result.Counts.Add(&tallies[i])
	}
	for _, s := range w.shares {
		if s.Changed != "" {
			w.change(s.Changed)
		}
	}

	// A failure that was forgiven is in a separate strand that contains nothing else.
	at := map[chain.Stream]int{}
	var forgiven []join.Strand
	for _, s := range ends {
		if s.Failures < 0 && s.Count == 0 && s.Head.IsZero() {
			forgiven = append(forgiven, s)
			continue
		}
		at[s.Stream] = len(w.result.Strands)
		w.result.Strands = append(w.result.Strands, s)
	}
	for i := range forgiven {
		w.result.Strands[at[forgiven[i].Stream]].Add(&forgiven[i])
	}

	slices.SortFunc(w.inputs, func(a, b first) int { return cmp.Compare(a.Input.Number, b.Input.Number) })
	slices.SortFunc(w.shares, func(a, b share) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(w.result.Strands, func(a, b join.Strand) int { return a.Stream.Compare(b.Stream) })
	return w, nil
}

// change records the name of an input that has changed. If several inputs have changed, the result
// does not depend on their order.
func (w *whole) change(name string) {
	if w.changed == "" || name < w.changed {
		w.changed = name
	}
}

// summary returns the summary that "receipt verify" would report for all receipts.
func (c *conclude) summary(ctx context.Context, w *whole) (*stream.Summary, error) {
	verifier, keys, err := c.run.Asked.Verifier()
	if err != nil {
		return nil, err
	}
	s, err := stream.Conclude(verifier, &w.result, c.run.options(), w.inputs[0].Input.Tree)
	if err != nil {
		return nil, err
	}

	s.Skipped, s.SkippedCount = c.run.Skipped, c.run.Others
	for i := range w.inputs {
		in := &w.inputs[i]
		s.Inputs.Files += in.Inputs.Files
		s.Inputs.Bytes += in.Inputs.Bytes
		s.Inputs.Unreadable = append(s.Inputs.Unreadable, in.Inputs.Unreadable...)
		s.SkippedCount += in.Others
		s.Skipped = append(s.Skipped, in.Skipped[:min(len(in.Skipped), stream.MaxNotices-len(s.Skipped))]...)
	}
	s.Complete = len(s.Inputs.Unreadable) == 0
	s.Keys, s.Tool = keys, "receipt-beam"
	s.Started, s.Finished = receipt.At(time.UnixMilli(c.run.Started)), receipt.At(time.Now())
	return s, nil
}

// copyReports copies the reports from the shares in the order of the inputs.
func (c *conclude) copyReports(ctx context.Context, to io.Writer, shares []share) error {
	for _, s := range shares {
		if s.Reports == 0 {
			continue
		}
		from, err := c.run.Outlet.open(ctx, &c.reader.buckets, stagedReports(s.Number))
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	return nil
}

// write writes one of the files of the run.
func (c *conclude) write(ctx context.Context, name string, content func(io.Writer) error) error {
	d, err := c.run.Outlet.create(ctx, &c.reader.buckets, name)
	if err != nil {
		return err
	}
	defer d.abandon()
	w := bufio.NewWriter(d)
	if err := errors.Join(content(w), w.Flush()); err != nil {
		return err
	}
	return d.keep()
}
