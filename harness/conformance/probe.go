package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// A Suite is a set of categories.
type Suite string

// The suites.
const (
	Upstream Suite = "upstream" // the probes of the protocol's own runner
	Ours     Suite = "ours"     // additional probes, which do not rely on the server's own statements
)

// A Rule is a sentence of the protocol, rephrased, with its source.
type Rule struct {
	Text  string `json:"text"`
	Where string `json:"where"`
}

// A Probe checks one requirement.
type Probe struct {
	Suite    Suite
	Category string
	Name     string
	Rule     Rule

	run func(context.Context, *suite)
}

// Probes returns all probes, in the order in which they are run.
func Probes() []Probe {
	return slices.Concat(
		coreProbes(), streamingProbes(), lifecycleProbes(), idempotencyProbes(), authProbes(),
		rangeProbes(), receiptProbes(), vaultProbes(), outcomeProbes(), webhookProbes(),
		levelCore(), levelReceipts(), levelReplay(), seenProbes(),
	)
}

// Categories returns the names of the categories of the given suites, or of all suites if there
// are none.
func Categories(of ...Suite) (names []string) {
	for _, p := range Probes() {
		if (len(of) == 0 || slices.Contains(of, p.Suite)) && !slices.Contains(names, p.Category) {
			names = append(names, p.Category)
		}
	}
	return names
}

// group sets the suite and the category of the given probes.
func group(of Suite, category string, list ...Probe) []Probe {
	for i := range list {
		list[i].Suite, list[i].Category = of, category
	}
	return list
}

// probe returns a probe without a suite or a category.
func probe(name string, run func(context.Context, *suite), text, where string) Probe {
	return Probe{Name: name, Rule: Rule{text, where}, run: run}
}

// stopped is the panic value that ends a probe early. No request is sent after the first failure.
type stopped struct{ error }

// must ends the running probe with err if err is not nil.
func must(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// expect returns the answer if it is as expected, and otherwise ends the running probe with a
// failure.
func expect(a *wire.Answer) *wire.Answer {
	must(a.Err)
	return a
}

// fail ends the running probe as failed.
func fail(format string, args ...any) { must(fmt.Errorf(format, args...)) }

// A skipError states why a probe ended early without a failure.
type skipError struct{ reason string }

func (s *skipError) Error() string { return s.reason }

// skip ends the running probe as skipped.
func skip(format string, args ...any) { must(&skipError{fmt.Sprintf(format, args...)}) }

// isSkip reports whether err is a skipError, and returns its reason.
func isSkip(err error) (reason string, ok bool) {
	s, ok := errors.AsType[*skipError](err)
	if ok {
		reason = s.reason
	}
	return reason, ok
}

// caught runs a part of a probe and returns the error that ended it, or nil.
func caught(part func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case stopped:
			err = end.error
		default:
			panic(end)
		}
	}()
	part()
	return nil
}
