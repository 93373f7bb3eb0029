package story

import (
	"cmp"
	"time"
)

// A Place is one in the order of what happened. The zero Place is before all others.
type Place struct {
	at    time.Time
	order int
}

// Before orders by the instant, then as the logs did.
func (m Place) Before(n Place) bool { return byTime(m, n) < 0 }

// byTime compares as Before does.
func byTime(m, n Place) int {
	return cmp.Or(m.at.Compare(n.at), m.order-n.order)
}

// IsZero reports the place of nothing.
func (m Place) IsZero() bool { return m == Place{} }

// Compare orders as the lines of the logs do, whatever their times.
func (m Place) Compare(n Place) int { return m.order - n.order }
