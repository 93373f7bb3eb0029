package aggregate

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A part is the part that one receipt adds to the sums, so that it can be subtracted when a newer
// version of the receipt is read. It refers to rows of a tally, which stay.
type part struct {
	verified  bool
	completed time.Time
	timed     bool
	currency  string

	bytesSent                   *amount
	cost                        *amount // nil: unreported, or in a currency that is not kept
	egress, toolCalls, handoffs int
	approvals                   decisions

	untold                      untold
	noCurrency, over, estimated bool

	models []modelPart
	files  []*split // nil: a path that is not kept
	key    *split   // nil: a key that is not kept
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
