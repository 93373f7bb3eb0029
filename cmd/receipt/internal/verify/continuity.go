package verify

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// continuityFlags specify what the input continues and what it must end in.
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
	// A report contains the head of each stream, a receipt names its own stream, and a hash
	// names none.
	if f.previous != "" {
		k, err := input.ReadKnown(e, f.previous)
		if err != nil {
			return err
		}
		switch {
		case k.Summary != nil:
			if o.Continuity.After = k.Summary.Heads(); len(o.Continuity.After) == 0 {
				return input.NoHeads(f.previous)
			}
		case k.Stream != nil:
			o.Continuity.After, o.Continuity.Follows = map[chain.Stream]chain.Head{*k.Stream: {Hash: k.Hash}}, true
		default:
			o.Continuity.Previous = k.Hash
		}
	}

	return f.expectFlags.apply(e, o)
}

// expectFlags specify what the input must end in.
type expectFlags struct {
	head  string
	count *pflag.Flag
}

func (f *expectFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.head, "expect-head", "", "hash in which the stream must end, or report whose heads must be present (`HASH|REPORT`)")
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

	if f.head != "" {
		// A receipt is expected by its hash, as if the hash were given.
		k, err := input.ReadKnown(e, f.head)
		if err != nil {
			return err
		}
		switch {
		case k.Summary != nil:
			if o.Continuity.Expect = k.Summary.Heads(); len(o.Continuity.Expect) == 0 {
				return input.NoHeads(f.head)
			}
		default:
			o.Continuity.Head = k.Hash
		}
	}

	return nil
}
