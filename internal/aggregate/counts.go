package aggregate

import "github.com/receiptkit/receiptkit/canon"

// counts contains the sums for a set of receipts.
type counts struct {
	Receipts  int       `json:"receipts"`
	Files     int       `json:"files"`      // entries of side_effects.fs_writes
	BytesSent *amount   `json:"bytes_sent"` // sum for side_effects.network_egress, where stated
	Egress    int       `json:"egress"`     // entries of side_effects.network_egress
	ToolCalls int       `json:"tool_calls"`
	Handoffs  int       `json:"handoffs"`
	Approvals decisions `json:"approvals"`
	Cost      costs     `json:"cost"` // the totals
}

func newCounts() *counts { return &counts{BytesSent: new(amount), Cost: costs{}} }

// apply adds a part n times.
func (c *counts) apply(p *part, n int) {
	c.Receipts += n
	c.Files += n * len(p.files)
	c.Egress += n * p.egress
	c.ToolCalls += n * p.toolCalls
	c.Handoffs += n * p.handoffs
	c.Approvals.plus(&p.approvals, n)
	c.BytesSent.plus(p.bytesSent, n)
	c.Cost.plus(p.currency, p.cost, n)
}

func (c *counts) plus(d *counts) {
	c.Receipts += d.Receipts
	c.Files += d.Files
	c.Egress += d.Egress
	c.ToolCalls += d.ToolCalls
	c.Handoffs += d.Handoffs
	c.Approvals.plus(&d.Approvals, 1)
	c.BytesSent.plus(d.BytesSent, 1)
	for currency, sum := range d.Cost {
		c.Cost.of(currency).join(sum)
	}
}

// costs contains sums, keyed by currency.
type costs map[string]*cost

// A cost is a sum with the number of its terms. If there are no terms, there is no sum.
type cost struct {
	amount
	terms int
}

func (c *cost) join(d *cost) {
	c.amount.plus(&d.amount, 1)
	c.terms += d.terms
}

func (c costs) of(currency string) *cost {
	if c[currency] == nil {
		c[currency] = new(cost)
	}
	return c[currency]
}

// plus adds a term n times, unless term is nil.
func (c costs) plus(currency string, term *amount, n int) {
	if term == nil {
		return
	}

	// A sum without terms is removed, because it must not be reported as 0.
	sum := c.of(currency)
	sum.amount.plus(term, n)
	if sum.terms += n; sum.terms == 0 {
		delete(c, currency)
	}
}

func addNumber(a *amount, n canon.Node) {
	if n.Kind() == canon.KindNumber {
		a.add(n.AppendCanonical(nil))
	}
}

// A pair contains separate sums for receipts whose signer is confirmed and for all other receipts.
type pair struct {
	Verified *counts `json:"verified"`
	Other    *counts `json:"other"`
}

func newPair() pair { return pair{newCounts(), newCounts()} }

func (p pair) empty() pair { return newPair() }

func (p pair) plus(q pair) {
	p.Verified.plus(q.Verified)
	p.Other.plus(q.Other)
}

func (p pair) of(verified bool) *counts {
	if verified {
		return p.Verified
	}
	return p.Other
}

// decisions counts approvals by decision. A request that was denied, or that nobody answered, does
// not count as approved. An approval with an unreported decision is not counted.
type decisions struct {
	Approved int `json:"approved"`
	Denied   int `json:"denied"`
	Canceled int `json:"canceled"`
	Timeout  int `json:"timeout"`
}

func (d *decisions) add(s statement) {
	for i, n := range s.Member("approvals").Elements() {
		if s.silent("/approvals", i, "/decision") {
			continue
		}

		// A decision that the format does not define is not counted.
		switch n.Member("decision").String() {
		case "approved":
			d.Approved++
		case "denied":
			d.Denied++
		case "canceled":
			d.Canceled++
		case "timeout":
			d.Timeout++
		}
	}
}

// plus adds e, multiplied by n, to the counts.
func (d *decisions) plus(e *decisions, n int) {
	d.Approved += n * e.Approved
	d.Denied += n * e.Denied
	d.Canceled += n * e.Canceled
	d.Timeout += n * e.Timeout
}
