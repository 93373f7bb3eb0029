package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// What tests from outside see.
const (
	MaxGap      = input.MaxGap
	MaxWrapping = input.MaxWrapping

	LargeDocument = largeDocument
)

// ErrOnce is errOnce.
var ErrOnce = errOnce

// Indexed returns o with another limit than maxIndexed.
func (o Options) Indexed(n int) Options {
	o.indexed = n
	return o
}

// Rostered returns o with another limit than maxRoster.
func (o Options) Rostered(n int) Options {
	o.rostered = n
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
	c, err := crowdOf(s.roster)
	if err != nil {
		panic(err)
	}
	_ = c.each(func(_ *item, a *attendee) error {
		if f := a.fault; f != nil && f.open() {
			a.fault, a.before, a.outcome = nil, false, outcome{own: receipt.Undecided, reason: f.code}
		}
		return nil
	})
	before := *s
	before.roster = c.pack()
	return &before
}
