package stream

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Asked is what the receipts of a summary had to show, apart from the keys that were
// trusted: verdicts that were asked for differently do not merge.
type Asked struct {
	Issuer     string          `json:"issuer"` // "": any
	At         *receipt.Time   `json:"at"`     // null: each receipt at its own time
	Strict     bool            `json:"strict"`
	Witnesses  AskedQuorum     `json:"witnesses"`
	Checkpoint AskedCheckpoint `json:"checkpoint"`
}

// An AskedQuorum is a number of witnesses and who of them counts: all, when none
// is named.
type AskedQuorum struct {
	Threshold int      `json:"threshold"`
	Keys      []string `json:"keys"`
}

// An AskedCheckpoint is whether receipts have to be in a checkpoint, and who has
// to have cosigned it.
type AskedCheckpoint struct {
	Required  bool        `json:"required"`
	Cosigners AskedQuorum `json:"cosigners"`
}

// An AskedError says that two summaries were made with different demands.
type AskedError struct{ What string } // issuer, at, strict, witnesses or checkpoint

// Error names what differs.
func (e *AskedError) Error() string {
	return fmt.Sprintf("stream: the summaries were asked for differently: %s", e.What)
}

func askedOf(p receipt.Policy) *Asked {
	a := &Asked{Issuer: p.Issuer, Strict: p.Strict, Witnesses: askedQuorum(p.Witnesses),
		Checkpoint: AskedCheckpoint{p.Checkpoint.Required, askedQuorum(p.Checkpoint.Cosigners)}}
	if !p.At.IsZero() {
		at := receipt.At(p.At)
		a.At = &at
	}
	return a
}

func askedQuorum(q receipt.Quorum) AskedQuorum {
	keys := slices.Clone(q.Keys)
	slices.Sort(keys)
	return AskedQuorum{q.Threshold, orEmpty(slices.Compact(keys))}
}

// differs compares two demands; what is not known differs from nothing.
func (a *Asked) differs(b *Asked) error {
	if a == nil || b == nil {
		return nil
	}
	switch {
	case a.Issuer != b.Issuer:
		return &AskedError{"issuer"}
	case (a.At == nil) != (b.At == nil) || a.At != nil && !a.At.Equal(b.At.Time):
		return &AskedError{"at"}
	case a.Strict != b.Strict:
		return &AskedError{"strict"}
	case !a.Witnesses.equal(&b.Witnesses):
		return &AskedError{"witnesses"}
	case a.Checkpoint.Required != b.Checkpoint.Required || !a.Checkpoint.Cosigners.equal(&b.Checkpoint.Cosigners):
		return &AskedError{"checkpoint"}
	}

	return nil
}

func (q *AskedQuorum) equal(o *AskedQuorum) bool {
	return q.Threshold == o.Threshold && slices.Equal(q.Keys, o.Keys)
}
