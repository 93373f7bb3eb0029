package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// These names are exported for tests outside this package.
const (
	MaxGap      = input.MaxGap
	MaxWrapping = input.MaxWrapping

	LargeDocument = largeDocument
)

// ErrOnce exports errOnce.
var ErrOnce = errOnce

// Indexed returns o with n as the limit instead of survey.MaxIndexed.
func (o Options) Indexed(n int) Options {
	o.Bounds.indexed = n
	return o
}

// Rostered returns o with n as the limit instead of survey.MaxRoster.
func (o Options) Rostered(n int) Options {
	o.Bounds.rostered = n
	return o
}

type (
	// Asked exports asked.
	Asked = asked
	// AskedQuorum exports askedQuorum.
	AskedQuorum = askedQuorum
)

// Asked returns the requirements under which the summary was created.
func (s *Summary) Asked() *Asked { return s.asked }

// RosterOfBefore returns s in the form in which the previous version wrote it under a strict
// policy. That form contains only the code of an unchecked link.
func (s *Summary) RosterOfBefore() *Summary {
	c, err := survey.CrowdOf(s.roster)
	if err != nil {
		panic(err)
	}
	_ = c.Each(func(_ *survey.Item, a *survey.Attendee) error {
		if f := a.Fault; f != nil && f.Open() {
			a.Fault, a.Before, a.Outcome = nil, false, survey.Outcome{Own: receipt.Undecided, Reason: f.Code}
		}
		return nil
	})
	before := *s
	before.roster = c.Pack()
	return &before
}
