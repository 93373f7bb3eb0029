package verify

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// continuityFlags specifies how the input must begin and end.
type continuityFlags struct {
	expectFlags
	previous  string
	partial   bool
	unordered bool
	mergeable bool
}

func (f *continuityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.previous, "previous", "", "predecessor of the first receipt (`HASH|FILE|REPORT`)")
	f.expectFlags.register(flags)
	flags.BoolVar(&f.partial, "partial", false, "do not check absent predecessors")
	flags.BoolVar(&f.unordered, "unordered", false, "ignore the order within files")
	flags.BoolVar(&f.mergeable, "mergeable", false, "list all receipts in the report for receipt merge (default: up to 65,536)")
}

// apply sets the options.
func (f *continuityFlags) apply(e *cli.Env, o *stream.Options) error {
	o.Partial, o.Unordered, o.Summing.Mergeable = f.partial, f.unordered, f.mergeable
	if f.previous != "" {
		k, err := input.ReadKnown(e, f.previous)
		if err != nil {
			return err
		}

		// A report contains the head of each stream. A receipt identifies its own stream, but a
		// hash does not identify a stream.
		if k.Stream != nil {
			o.Continuity.After, o.Continuity.Follows = map[chain.Stream]chain.Head{*k.Stream: {Hash: k.Hash}}, true
		} else if o.Continuity.After, err = headsOf(f.previous, k); err != nil {
			return err
		} else {
			o.Continuity.Previous = k.Hash
		}
	}
	return f.expectFlags.apply(e, o)
}

// headsOf returns the heads in a report, which must contain at least one head. It returns nil if k
// is from a receipt or a hash.
func headsOf(path string, k input.Known) (map[chain.Stream]chain.Head, error) {
	if k.Summary == nil {
		return nil, nil
	}
	heads := k.Summary.Heads()
	if len(heads) == 0 {
		return nil, cli.Usage("", "%q: the report contains no head of a stream", path)
	}
	return heads, nil
}

// expectFlags specifies how the input must end.
type expectFlags struct {
	head  string
	count *pflag.Flag
}

func (f *expectFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.head, "expect-head", "", "hash in which the stream must end, or report with heads (`HASH|REPORT`)")
	flags.Uint64("expect-count", 0, "required number of receipts (`N`)")
	f.count = flags.Lookup("expect-count")
}

// given reports whether a flag is set.
func (f *expectFlags) given() bool { return f.head != "" || f.count.Changed }

// apply sets the options.
func (f *expectFlags) apply(e *cli.Env, o *stream.Options) error {
	if f.count.Changed {
		n, err := strconv.ParseUint(f.count.Value.String(), 10, 64)
		if err != nil {
			return cli.Usage("", "--expect-count: %w", err)
		}
		o.Continuity.Count = &n
	}

	if f.head == "" {
		return nil
	}
	k, err := input.ReadKnown(e, f.head)
	if err == nil {
		o.Continuity.Head = k.Hash // a receipt is identified by its hash
		o.Continuity.Expect, err = headsOf(f.head, k)
	}
	return err
}
