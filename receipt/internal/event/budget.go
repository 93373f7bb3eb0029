package event

import "github.com/receiptkit/receiptkit/canon"

// Approximate memory, in bytes, in addition to the bytes of strings: entries of maps and lists, and
// values of fixed size.
const (
	TextCost     = 64  // a string
	eventCost    = 96  // the digests of an event
	sequenceCost = 80  // the last sequence of a resource
	entryCost    = 768 // an entry of the draft
	PartCost     = 192 // a part of an entry
)

// A Budget counts the memory that a recording keeps until its draft is created, which is at most
// MaxKept bytes. Equal strings are stored and counted once.
type Budget struct {
	used    int
	entries int // in all lists of the draft
	texts   map[string]string
}

// NewBudget returns an empty Budget.
func NewBudget() *Budget { return &Budget{texts: map[string]string{}} }

// text stores a string.
func (b *Budget) text(text []byte) string {
	if have, ok := b.texts[string(text)]; ok {
		return have
	}
	s := string(text)
	b.texts[s] = s
	b.used += len(s) + TextCost
	return s
}

// Charge adds bytes, and refuses the event if the budget is exceeded.
func (b *Budget) Charge(e *Event, at canon.Node, n int) {
	if b.used += n; b.used > MaxKept {
		e.Exceed("MaxKept", at, b.used)
	}
}

// Keep charges for bytes that are kept until the draft is created, or until they are freed.
func (b *Budget) Keep(e *Event, data []byte) []byte {
	if b.Charge(e, e.Payload, len(data)); e.Err != nil {
		return nil
	}
	return data
}

// Free subtracts bytes that are no longer kept.
func (b *Budget) Free(n int) { b.used -= n }

// Room charges for one more entry of the draft.
func (b *Budget) Room(e *Event) { b.List(e, entryCost) }

// Part charges for one more list element in an entry.
func (b *Budget) Part(e *Event) { b.List(e, PartCost) }

// List charges for one more list element, with a cost in bytes.
func (b *Budget) List(e *Event, cost int) {
	if b.entries++; b.entries > MaxEntries {
		e.Exceed("MaxEntries", e.Root, b.entries)
	}
	b.Charge(e, e.Root, cost)
}

// Total returns the number of bytes in use.
func (b *Budget) Total() int { return b.used }
