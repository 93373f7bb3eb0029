package aggregate

import (
	"github.com/receiptkit/receiptkit/canon"
)

// counts are what some receipts say together.
type counts struct {
	Receipts  int                `json:"receipts"`
	Files     int                `json:"files"`      // entries of side_effects.fs_writes
	BytesSent *amount            `json:"bytes_sent"` // of side_effects.network_egress, where stated
	Egress    int                `json:"egress"`     // entries of side_effects.network_egress
	ToolCalls int                `json:"tool_calls"`
	Handoffs  int                `json:"handoffs"`
	Approvals decisions          `json:"approvals"`
	Cost      map[string]*amount `json:"cost"` // by currency, the totals
}

func newCounts() *counts { return &counts{BytesSent: new(amount), Cost: map[string]*amount{}} }

// add adds what a receipt says. Its cost is added when it is of that currency, and told: of a
// currency in which nobody told a cost there is no sum, not even 0.
func (c *counts) add(s statement, currency string) {
	effects := s.Member("side_effects")
	c.Receipts++
	c.Files += effects.Member("fs_writes").Len()
	c.ToolCalls += effects.Member("tool_calls").Len()
	c.Handoffs += effects.Member("a2a_handoffs").Len()
	c.Approvals.add(s)
	for i, e := range effects.Member("network_egress").Elements() {
		if s.silent("/side_effects/network_egress", i, "") { // it is open whether that was sent
			continue
		}
		c.Egress++
		addNumber(c.BytesSent, e.Member("bytes_sent"))
	}
	if total := s.Member("cost").Member("total"); currency != "" && (total.Float() > 0 || !s.untold.Has("/cost/total")) {
		addNumber(c.of(currency), total)
	}
}

func addNumber(a *amount, n canon.Node) {
	if n.Kind() == canon.KindNumber {
		a.add(n.AppendCanonical(nil))
	}
}

func (c *counts) of(currency string) *amount {
	if c.Cost[currency] == nil {
		c.Cost[currency] = new(amount)
	}
	return c.Cost[currency]
}

func (c *counts) plus(d *counts) {
	c.Receipts += d.Receipts
	c.Files += d.Files
	c.Egress += d.Egress
	c.ToolCalls += d.ToolCalls
	c.Handoffs += d.Handoffs
	c.Approvals.plus(&d.Approvals)
	c.BytesSent.plus(d.BytesSent)
	for currency, sum := range d.Cost {
		c.of(currency).plus(sum)
	}
}

// A pair keeps receipts whose signer is confirmed apart from the others.
type pair struct {
	Verified *counts `json:"verified"`
	Other    *counts `json:"other"`
}

func newPair() pair { return pair{newCounts(), newCounts()} }

func (p pair) of(verified bool) *counts {
	if verified {
		return p.Verified
	}
	return p.Other
}
