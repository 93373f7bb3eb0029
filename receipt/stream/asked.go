package stream

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// An asked value records the requirements that the receipts of a summary had to meet, apart from
// the trusted keys. Summaries with different requirements cannot be merged.
type asked struct {
	Issuer     string          `json:"issuer"` // "": any
	At         *receipt.Time   `json:"at"`     // null: each receipt at its own time
	Strict     bool            `json:"strict"`
	Witnesses  askedQuorum     `json:"witnesses"`
	Checkpoint askedCheckpoint `json:"checkpoint"`
	Subjects   []string        `json:"subjects,omitzero"` // sorted; absent: none
	Rules      []string        `json:"rules,omitzero"`    // of the caller, sorted; absent: none
	Trust      string          `json:"trust,omitzero"`    // version of the trusted keys, from a source of keys
}

// An askedQuorum specifies how many witnesses are required, and which keys they may use. If Keys is
// empty, they may use any key.
type askedQuorum struct {
	Threshold int           `json:"threshold"`
	Keys      []string      `json:"keys"`
	Groups    []askedQuorum `json:"groups,omitzero"` // quorums that count like a witness; absent: none
}

// An askedCheckpoint states whether receipts must be in a checkpoint, and which cosigners the
// checkpoint requires.
type askedCheckpoint struct {
	Required  bool        `json:"required"`
	Logs      []string    `json:"logs,omitzero"` // IDs of the keys that count, sorted; absent: every trusted log
	Cosigners askedQuorum `json:"cosigners"`
}

// An IncomparableError indicates that the verdicts of two summaries have different meanings.
type IncomparableError struct {
	// What identifies the difference: scope (only one of the summaries is limited to integrity),
	// keys (the files of trusted keys differ), or a requirement: issuer, at, strict, witnesses,
	// checkpoint, subjects, rules, or trust (the versions of the trusted keys differ).
	What string
}

// Error describes the difference.
func (e *IncomparableError) Error() string {
	switch e.What {
	case "scope":
		return "stream: one summary is about integrity only, the other is not"
	case "keys":
		return "stream: the summaries were made with other files of trusted keys"
	}
	return fmt.Sprintf("stream: the summaries were asked for differently: %s", e.What)
}

func askedOf(v *receipt.Verifier, subjects []string) *asked {
	p := v.Policy()
	subjects = slices.Clone(subjects)
	slices.Sort(subjects)
	var rules []string
	for _, r := range p.Rules {
		rules = append(rules, r.Name())
	}
	slices.Sort(rules)
	version, _ := v.Snapshot()
	a := &asked{Issuer: p.Issuer, Strict: p.Strict, Witnesses: quorumOf(p.Witnesses), Subjects: slices.Compact(subjects), Rules: rules, Trust: version,
		Checkpoint: askedCheckpoint{p.Checkpoint.Required, slices.Sorted(slices.Values(p.Checkpoint.Logs)), quorumOf(p.Checkpoint.Cosigners)}}
	if !p.At.IsZero() {
		at := receipt.At(p.At)
		a.At = &at
	}
	return a
}

func quorumOf(q receipt.Quorum) askedQuorum {
	keys := slices.Clone(q.Keys)
	slices.Sort(keys)
	a := askedQuorum{Threshold: q.Threshold, Keys: orEmpty(slices.Compact(keys))}
	for _, g := range q.Groups {
		a.Groups = append(a.Groups, quorumOf(g))
	}
	return a
}

// differs returns an error if the requirements of two summaries differ. Unknown requirements are
// compatible with all others. However, they are assumed to include no rules, because the versions
// that did not record requirements did not support rules.
func (a *asked) differs(b *asked) error {
	if a == nil || b == nil {
		if a != nil && len(a.Rules) > 0 || b != nil && len(b.Rules) > 0 {
			return &IncomparableError{"rules"}
		}
		return nil
	}
	switch {
	case a.Issuer != b.Issuer:
		return &IncomparableError{"issuer"}
	case (a.At == nil) != (b.At == nil) || a.At != nil && !a.At.Equal(b.At.Time):
		return &IncomparableError{"at"}
	case a.Strict != b.Strict:
		return &IncomparableError{"strict"}
	case !a.Witnesses.equal(&b.Witnesses):
		return &IncomparableError{"witnesses"}
	case !a.Checkpoint.equal(&b.Checkpoint):
		return &IncomparableError{"checkpoint"}
	case !slices.Equal(a.Subjects, b.Subjects):
		return &IncomparableError{"subjects"}
	case !slices.Equal(a.Rules, b.Rules):
		return &IncomparableError{"rules"}
	case a.Trust != b.Trust:
		return &IncomparableError{"trust"}
	}

	return nil
}

func (c *askedCheckpoint) equal(o *askedCheckpoint) bool {
	return c.Required == o.Required && slices.Equal(c.Logs, o.Logs) && c.Cosigners.equal(&o.Cosigners)
}

// equal reports whether two quorums are equal, with their groups in the same order.
func (q *askedQuorum) equal(o *askedQuorum) bool {
	return q.Threshold == o.Threshold && slices.Equal(q.Keys, o.Keys) &&
		slices.EqualFunc(q.Groups, o.Groups, func(a, b askedQuorum) bool { return a.equal(&b) })
}
