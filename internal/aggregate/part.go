package aggregate

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A part is the contribution of one receipt to the sums. It is stored so that it can be subtracted
// when a newer version of the receipt is read. It refers to rows of a tally, which are never
// removed.
type part struct {
	verified  bool
	completed time.Time
	timed     bool
	currency  string

	bytesSent                   *amount
	cost                        *amount // nil if unreported, or if the currency is not stored
	egress, toolCalls, handoffs int
	approvals                   decisions

	untold                      untold
	noCurrency, over, estimated bool

	models []modelPart
	files  []*split // nil for a path without a row
	key    *split   // nil for a key without a row
}

// size returns the approximate size of a part in bytes.
func (p *part) size() int {
	const itself, model, file = 288, 40, 8
	n := itself + p.bytesSent.size() + p.cost.size() + file*len(p.files)
	for i := range p.models {
		e := &p.models[i]
		n += model + e.cost.size() + e.input.size() + e.output.size()
	}
	return n
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// number returns the amount of a node, or 0 if it is not a number.
func number(n canon.Node) *amount {
	a := new(amount)
	addNumber(a, n)
	return a
}
