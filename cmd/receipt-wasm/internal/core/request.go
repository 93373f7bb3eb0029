package core

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Request is what somebody wants verified. Without key files only integrity is
// asked for, and the reports say so.
type Request struct {
	Sources []stream.Source
	Keys    []KeyFile
	Beside  []BesideFile
	Options Options
	Clock   func() time.Time
	Tool    string // what the summary calls this program
}

// Options are the choices of the page, as it writes them in JSON.
type Options struct {
	IntegrityOnly bool   `json:"integrity_only"` // whatever keys there are
	Issuer        string `json:"issuer"`         // issuer.id that receipts must have; "": any
	At            string `json:"at"`             // RFC 3339, when keys are judged; "": at issued_at
	Partial       bool   `json:"partial"`        // the input is a selection: absent predecessors are not breaks
	Unordered     bool   `json:"unordered"`      // inputs are not in the order of their chains
}

// policy makes the policy of the options.
func (r *Request) policy(now time.Time) (receipt.Policy, error) {
	p := receipt.Policy{Now: now, IntegrityOnly: r.integrityOnly()}
	if !p.IntegrityOnly {
		p.Issuer = r.Options.Issuer
	}
	if r.Options.At == "" {
		return p, nil
	}
	at, err := receipt.ParseTime(r.Options.At)
	if err != nil {
		return p, fmt.Errorf("the time at which keys are judged: %w", err)
	}
	p.At = at
	return p, nil
}

func (r *Request) integrityOnly() bool { return r.Options.IntegrityOnly || len(r.Keys) == 0 }
