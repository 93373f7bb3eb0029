package main

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// continuityFlags say what the input continues and what it must end in.
type continuityFlags struct {
	previous, head string
	count          *pflag.Flag
	partial        bool
}

func (f *continuityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.previous, "previous", "", "what the input continues: the `HASH|FILE|REPORT` of the receipt before it")
	flags.StringVar(&f.head, "expect-head", "", "the `HASH` that it must end in, or a REPORT whose heads it must still hold")
	flags.Uint64("expect-count", 0, "the stream must have `N` receipts")
	f.count = flags.Lookup("expect-count")
	flags.BoolVar(&f.partial, "partial", false, "the input is a selection: absent predecessors are not checked")
}

// apply puts them into options.
func (f *continuityFlags) apply(e *env, o *stream.Options) error {
	o.Partial = f.partial
	if f.count.Changed {
		n, err := strconv.ParseUint(f.count.Value.String(), 10, 64)
		if err != nil {
			return usage("", "--expect-count: %w", err)
		}
		o.Only.Count = &n
	}
	if f.previous != "" {
		k, err := readKnown(e, f.previous)
		if err != nil {
			return err
		}
		switch {
		case k.summary != nil:
			if o.After = k.summary.Heads(); len(o.After) == 0 {
				return noHeads(f.previous)
			}
		case k.stream != nil:
			o.After, o.Follows = map[chain.Stream]chain.Head{*k.stream: {Hash: k.hash}}, true
		default:
			o.Only.Previous = k.hash
		}
	}
	if f.head != "" {
		k, err := readKnown(e, f.head)
		if err != nil {
			return err
		}
		switch {
		case k.summary != nil:
			if o.Expect = k.summary.Heads(); len(o.Expect) == 0 {
				return noHeads(f.head)
			}
		default:
			o.Only.Head = k.hash
		}
	}
	return nil
}

func noHeads(path string) error {
	return usage("", "%q: the report names no head of a stream", path)
}

// known is what a hash, a receipt or an earlier report says of streams.
type known struct {
	hash    canon.Digest
	stream  *chain.Stream
	summary *stream.Summary
}

// readKnown reads HASH|FILE|REPORT.
func readKnown(e *env, arg string) (known, error) {
	if d, err := canon.ParseDigest([]byte(arg)); err == nil {
		if d.IsZero() {
			return known{}, zeroHash(arg)
		}
		return known{hash: d}, nil
	}
	if _, err := os.Stat(arg); err != nil && strings.HasPrefix(arg, "sha256:") {
		return known{}, usage("a hash is sha256: and 64 hexadecimal digits in lower case", "%q is no hash", arg)
	}
	data, err := readBounded(e, arg, maxReportBytes+1)
	if err != nil {
		return known{}, err
	}
	report, err := readReport(data)
	if err != nil && !errors.Is(err, errNotReport) {
		return known{}, usage("", "%q: %w", arg, err)
	}
	if err == nil {
		return known{summary: report.Summary}, nil
	}
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		return known{}, usage("give a hash (sha256:…), a receipt, or a report that verify wrote", "%q: %w", arg, err)
	}
	s := sealed.Stream()
	return known{hash: sealed.Hash(), stream: &s}, nil
}

// zeroHash is the error for the hash that no receipt has. In options it would mean
// that nothing was demanded.
func zeroHash(arg string) error {
	return usage("leave the flag out when there is no such receipt", "%q is the hash of no receipt", arg)
}
