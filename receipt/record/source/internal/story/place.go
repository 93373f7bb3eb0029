package story

import (
	"cmp"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Place is a position in the order of events. The zero Place precedes all others.
type Place struct {
	at    time.Time
	order int
}

// Before orders places by time first, and then by the order of the lines.
func (p Place) Before(q Place) bool { return byTime(p, q) < 0 }

// byTime compares places in the same way as Before.
func byTime(p, q Place) int {
	return cmp.Or(p.at.Compare(q.at), p.order-q.order)
}

// IsZero reports whether p is the zero Place.
func (p Place) IsZero() bool { return p == Place{} }

// Compare orders places by the lines of the logs, regardless of their times.
func (p Place) Compare(q Place) int { return p.order - q.order }

// A clock contains the time of the current line, and limits the memory for all lines.
type clock struct {
	Partly bool // some lines have no valid time, so there may be earlier or later times

	now         time.Time // the current line's time
	first, last time.Time
	order       int

	kept int // bytes, approximately
	err  error
}

// At sets the time of the current line. The zero time means that the line has no time.
func (c *clock) At(at time.Time) {
	if at.IsZero() {
		return
	}
	c.now = at
	if c.first.IsZero() || at.Before(c.first) {
		c.first = at
	}
	if at.After(c.last) {
		c.last = at
	}
}

// Span returns the earliest and the latest time of any line, or zero times if no line has a time.
func (c *clock) Span() (first, last time.Time) { return c.first, c.last }

// Now returns the time of the current line or, if it has none, of the latest earlier line in the
// same log that has a time. It returns the zero time if there is no such line.
func (c *clock) Now() time.Time { return c.now }

// Here returns the next place in the order, with the time of the current line.
func (c *clock) Here() Place {
	c.order++
	return Place{c.now, c.order}
}

// Approximate sizes in memory, in bytes.
const (
	entryCost = 512
	partCost  = 192
)

// charge counts entries and bytes toward the limits of a recording.
func (c *clock) charge(entries, bytes int) {
	if c.kept += bytes; c.kept > event.MaxKept {
		c.Fail(event.OverLimit(c.order, "MaxKept", int64(c.kept)))
	}
	if entries > event.MaxEntries {
		c.Fail(event.OverLimit(c.order, "MaxEntries", int64(entries)))
	}
}

// Keep counts the bytes that a reader stores until the end toward the limits of a recording. The
// number of bytes may be approximate.
func (c *clock) Keep(bytes int) { c.charge(0, bytes) }

// A Set is a set of names from a log.
type Set map[string]bool

// Add adds a name, and counts its bytes as [clock.Keep] does.
func (x *Set) Add(s *Story, name string) {
	if (*x)[name] {
		return
	}
	if *x == nil {
		*x = Set{}
	}
	(*x)[name] = true
	s.Keep(len(name))
}

// Fail records that a limit was exceeded. Only the first error is kept.
func (c *clock) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Err returns the error for the limit that was exceeded, or nil.
func (c *clock) Err() error { return c.err }

// Stamp parses an RFC 3339 date-time, or returns the zero time if n is not a date-time.
func Stamp(n canon.Node) time.Time {
	if n.Kind() != canon.KindString {
		return time.Time{}
	}
	at, err := receipt.ParseTime(n.Text())
	if y := at.UTC().Year(); err != nil || y < 1 || y > 9998 {
		return time.Time{}
	}

	return at
}

// Millis parses a time in milliseconds since 1970, or returns the zero time if n is not such a
// time.
func Millis(n canon.Node) time.Time {
	ms := Count(n)
	if ms == nil {
		return time.Time{}
	}
	at := time.UnixMilli(*ms).UTC()
	if at.Year() > 9998 {
		return time.Time{}
	}
	return at
}

// Count parses a non-negative integer, or returns nil if n is not such an integer.
func Count(n canon.Node) *int64 {
	f := n.Float()
	if n.Kind() != canon.KindNumber || f < 0 || f > event.MaxTokens || f != float64(int64(f)) {
		return nil
	}
	i := int64(f)
	return &i
}
