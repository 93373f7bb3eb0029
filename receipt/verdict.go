package receipt

import (
	"fmt"
	"slices"
)

// A Verdict is the answer about one receipt. The zero value is Undecided, so
// that nothing forgotten can look like success.
type Verdict uint8

const (
	Undecided Verdict = iota // evidence is missing
	Verified                 // everything asked for was positively shown
	Refuted                  // something is false or malformed
)

// A Scope is how much was asked for.
type Scope uint8

const (
	ScopeFull      Scope = iota // content and signatures
	ScopeIntegrity              // content only: a receipt is then "intact", and anyone may have written it
)

// A Step is one of the seven checks of a receipt, in their order.
type Step uint8

const (
	StepParse Step = iota
	StepSchema
	StepHash
	StepLink
	StepBatch
	StepSignatures
	StepRedactions
	stepCount
)

// A Status is the outcome of one step. The zero value is NotChecked.
type Status uint8

const (
	StatusNotChecked Status = iota
	StatusPassed
	StatusFailed
	StatusNotApplicable
)

func verdictNames() []string { return []string{"undecided", "verified", "refuted"} }
func scopeNames() []string   { return []string{"full", "integrity"} }
func statusNames() []string  { return []string{"not_checked", "passed", "failed", "not_applicable"} }
func stepNames() []string {
	return []string{"parse", "schema", "hash", "link", "batch", "signatures", "redactions"}
}

// String returns the name as reports spell it, such as "refuted".
func (v Verdict) String() string { return name(verdictNames(), uint8(v)) }

// String returns the name as reports spell it: "full" or "integrity".
func (s Scope) String() string { return name(scopeNames(), uint8(s)) }

// String returns the name as reports spell it, such as "hash".
func (s Step) String() string { return name(stepNames(), uint8(s)) }

// String returns the name as reports spell it, such as "not_checked".
func (s Status) String() string { return name(statusNames(), uint8(s)) }

// MarshalText returns the name as reports spell it.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts the names that MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error { return unname((*uint8)(v), verdictNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
func (s *Scope) UnmarshalText(text []byte) error { return unname((*uint8)(s), scopeNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
func (s *Step) UnmarshalText(text []byte) error { return unname((*uint8)(s), stepNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
func (s *Status) UnmarshalText(text []byte) error { return unname((*uint8)(s), statusNames(), text) }

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func unname(i *uint8, names []string, text []byte) error {
	found := slices.Index(names, string(text))
	if found < 0 {
		return fmt.Errorf("receipt: expected one of %q, found %.40q", names, text)
	}
	*i = uint8(found)
	return nil
}
