package story

import "time"

// A Place is one in the order of what happened. The zero Place is before all others.
type Place struct {
	at    time.Time
	order int
}

// Before orders by the instant, then as the logs did.
func (m Place) Before(n Place) bool {
	if !m.at.Equal(n.at) {
		return m.at.Before(n.at)
	}
	return m.order < n.order
}

// IsZero reports the place of nothing.
func (m Place) IsZero() bool { return m == Place{} }

// Compare orders as the lines of the logs do, whatever their times.
func (m Place) Compare(n Place) int { return m.order - n.order }
