package corpus

import "fmt"

// A Kind specifies how much a receipt contains.
type Kind string

// The kinds of receipts.
const (
	Full    Kind = "full"
	Minimal Kind = "minimal"
)

// Bounds of a full receipt in canonical form, and its approximate mean, in bytes.
const (
	LeastBytes = 2_700
	MeanBytes  = 11_000
	MostBytes  = 33_000
)

// A Config describes a corpus.
type Config struct {
	Kind     Kind     // empty: Full
	Receipts int      // 0: 100,000 full or 1,000,000 minimal receipts
	Streams  int      // 0: one
	Size     int      // target size of a full receipt in bytes; 0: from LeastBytes to MostBytes
	Seed     uint64   // any value, including 0
	Damage   []Damage // nil: no damage
}

// filled returns c with the defaults for zero values.
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
