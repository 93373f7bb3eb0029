package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Suite is a set of categories.
type Suite string

// The suites.
const (
	Upstream Suite = "upstream" // the probes of the protocol's own runner
	Ours     Suite = "ours"     // those that believe nothing
)

// A Rule is a sentence of the protocol, in our own words, and where it stands.
type Rule struct {
	Text  string `json:"text"`
	Where string `json:"where"`
}

// A Probe is one thing that is asked of a server.
type Probe struct {
	Suite    Suite
	Category string
	Name     string
	Rule     Rule

	run func(context.Context, *suite) error
}

// Probes returns all probes, in the order in which they are run.
func Probes() []Probe {
	return slices.Concat(
		coreProbes(), streamingProbes(), lifecycleProbes(), idempotencyProbes(), authProbes(),
		rangeProbes(), receiptProbes(), vaultProbes(), outcomeProbes(), webhookProbes(),
		levelCore(), levelReceipts(), levelReplay(), seenProbes(),
	)
}

// Categories returns the names of the categories of some suites, all when none is named.
func Categories(of ...Suite) (names []string) {
	for _, p := range Probes() {
		if (len(of) == 0 || slices.Contains(of, p.Suite)) && !slices.Contains(names, p.Category) {
			names = append(names, p.Category)
		}
	}
	return names
}

// group gives probes their suite and category.
func group(of Suite, category string, list ...Probe) []Probe {
	for i := range list {
		list[i].Suite, list[i].Category = of, category
	}
	return list
}

// probe makes one.
func probe(name string, run func(context.Context, *suite) error, text, where string) Probe {
	return Probe{Name: name, Rule: Rule{text, where}, run: run}
}

// A skip is why a probe was not run to its end: nothing was found wrong.
type skip struct{ reason string }

func (s *skip) Error() string { return s.reason }

func skipped(format string, args ...any) error { return &skip{fmt.Sprintf(format, args...)} }

// isSkip returns the reason of a skip.
func isSkip(err error) (reason string, ok bool) {
	s, ok := errors.AsType[*skip](err)
	if ok {
		reason = s.reason
	}
	return reason, ok
}
