package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// options contains the options from the command line.
type options struct {
	terms.Flags
	inputs        []string
	output        string
	shards        int
	long, verbose bool
}

// maxShards is the maximum number of row files, unless more are requested.
const maxShards = 1000

func (o *options) flags(usage io.Writer) *pflag.FlagSet {
	f := pflag.NewFlagSet("receipt-beam", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringArrayVarP(&o.inputs, "input", "i", nil, "`GLOB` of files, a folder, or an address: s3://BUCKET/KEY, gs://, azblob://, file://; may be repeated")
	f.StringVarP(&o.output, "output", "o", "", "`PREFIX` of the files to write: PREFIX.json, PREFIX.ndjson, PREFIX-*.parquet")
	o.Flags.Register(f)
	f.BoolVar(&o.long, "long", false, fmt.Sprintf("allow zstd windows up to %d MiB", unpack.MaxLongWindow>>20))
	f.IntVar(&o.shards, "shards", 0, fmt.Sprintf("verify the inputs in `N` shares, each with a file of rows; 0: one per input, at most %d", maxShards))
	f.BoolVar(&o.verbose, "verbose", false, "show the messages of Beam and its runner")

	own := f.FlagUsages()
	f.AddGoFlagSet(runnerFlags())
	f.Usage = func() { // nobody would read this error
		_, _ = fmt.Fprintf(usage, "receipt-beam --input GLOB --keys FILE --output PREFIX [--runner NAME and its flags]\n\n%s\nFlags of Beam's runners are passed on. The default --runner is prism.\n", own)
	}
	return f
}

// job validates the options and returns the job that they specify.
func (o *options) job(ctx context.Context, s *surroundings) (*job, error) {
	switch {
	case len(o.inputs) == 0:
		return nil, errors.New("no inputs: specify --input")
	case o.output == "":
		return nil, errors.New("--output is missing: specify the PREFIX of the files to write")
	case o.shards < 0:
		return nil, fmt.Errorf("invalid --shards %d: expected 0 or more", o.shards)
	}
	asked, err := o.Flags.Read(s.getenv, s.now())
	if err != nil {
		return nil, err
	}
	if _, _, err := asked.Verifier(); err != nil {
		return nil, err
	}
	known, err := o.Continuity()
	if err != nil {
		return nil, err
	}
	out, err := openOutlet(o.output)
	if err != nil {
		return nil, err
	}
	list, err := listInputs(ctx, o.inputs)
	if err != nil {
		return nil, err
	}

	share := shareOf(len(list.list), o.shards)
	c := known.Continuity
	return &job{inputs: list, setting: setting{
		Asked: asked, Long: o.long, Partial: known.Partial, After: listHeads(c.After), Expect: listHeads(c.Expect), Only: only{c.Previous, c.Head, c.Count}, Log: known.Checkpoint,
		Outlet: out, Share: share, Shares: (len(list.list) + share - 1) / share,
		Skipped: list.skipped[:min(len(list.skipped), stream.MaxNotices)], Others: len(list.skipped), Started: s.now().UnixMilli(),
	}}, nil
}

// shareOf returns the number of inputs per share. A share consists of consecutive inputs, because
// it becomes a single row file in the order of the inputs.
func shareOf(inputs, shards int) int {
	if shards == 0 {
		shards = maxShards
	}
	return (inputs + shards - 1) / shards
}
