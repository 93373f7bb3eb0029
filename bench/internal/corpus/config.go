package corpus

import "fmt"

// A Kind says how much a receipt holds.
type Kind string

// The kinds of receipts.
const (
	Full    Kind = "full"
	Minimal Kind = "minimal"
)

// Bounds of a full receipt in canonical form, and about what the mean is, in
// bytes.
const (
	LeastBytes = 2_700
	MeanBytes  = 11_000
	MostBytes  = 33_000
)

// A Config says which corpus is wanted.
type Config struct {
	Kind     Kind     // empty: Full
	Receipts int      // 0: 100,000 full ones, or 1,000,000 minimal ones
	Streams  int      // 0: one
	Size     int      // bytes that a full receipt should have; 0: from LeastBytes to MostBytes
	Seed     uint64   // every value is a seed, 0 as well
	Damage   []Damage // nil: all receipts are as their issuer made them
}

// filled returns c with what its zero values stand for.
func (c Config) filled() Config {
	if c.Kind == "" {
		c.Kind = Full
	}
	if c.Receipts == 0 {
		c.Receipts = 100_000
		if c.Kind == Minimal {
			c.Receipts = 1_000_000
		}
	}
	if c.Streams == 0 {
		c.Streams = 1
	}
	return c
}

func (c Config) check() error {
	switch {
	case c.Kind != Full && c.Kind != Minimal:
		return fmt.Errorf("corpus: the kind is %s or %s, found %q", Full, Minimal, c.Kind)
	case c.Receipts < 0:
		return fmt.Errorf("corpus: expected a number of receipts, found %d", c.Receipts)
	case c.Streams < 0 || c.Streams > c.Receipts:
		return fmt.Errorf("corpus: expected 1 to %d streams, found %d", c.Receipts, c.Streams)
	case c.Size < 0:
		return fmt.Errorf("corpus: expected a size, found %d", c.Size)
	}
	for i, d := range c.Damage {
		if d.Receipt < 1 || d.Receipt > c.Receipts {
			return fmt.Errorf("corpus: there is no receipt %d to damage, but 1 to %d", d.Receipt, c.Receipts)
		}
		for _, other := range c.Damage[:i] {
			if other.Receipt == d.Receipt {
				return fmt.Errorf("corpus: receipt %d is damaged twice", d.Receipt)
			}
		}
	}
	return nil
}
