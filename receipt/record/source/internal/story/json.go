package story

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Stamp reads an RFC 3339 date-time; zero where there is none.
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

// Count reads an integer that is not negative; nil where there is none.
func Count(n canon.Node) *int64 {
	f := n.Float()
	if n.Kind() != canon.KindNumber || f < 0 || f > event.MaxTokens || f != float64(int64(f)) {
		return nil
	}
	i := int64(f)
	return &i
}
