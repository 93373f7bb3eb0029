package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// What tests from outside see.
const (
	MaxGap      = input.MaxGap
	MaxWrapping = input.MaxWrapping

	LargeDocument = largeDocument
)

// ErrOnce is errOnce.
var ErrOnce = errOnce

// Indexed returns o with another limit than survey.MaxIndexed.
func (o Options) Indexed(n int) Options {
	o.Bounds.indexed = n
	return o
}

// Rostered returns o with another limit than survey.MaxRoster.
func (o Options) Rostered(n int) Options {
	o.Bounds.rostered = n
	return o
}

type (
	// Asked is asked.
	Asked = asked
	// AskedQuorum is askedQuorum.
	AskedQuorum = askedQuorum
)

// Asked returns what the summary was asked.
func (s *Summary) Asked() *Asked { return s.asked }

// RosterOfBefore returns s as the version before wrote it under a strict policy: a receipt
// whose link was open said no more than that.
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
