package event

import "github.com/receiptkit/receiptkit/canon"

// These are approximate amounts of memory, in bytes, for map and list entries and for values of
// fixed size. The bytes of strings are counted separately.
const (
	TextCost     = 64  // a string
	eventCost    = 96  // the digests of an event
	sequenceCost = 80  // the last sequence number of a resource
	entryCost    = 768 // an entry in a list of the draft
	PartCost     = 192 // a list element within an entry
)

// A Budget counts the memory that a recording keeps until its draft is created, up to MaxKept
// bytes. Equal strings are stored and counted once.
type Budget struct {
	used    int
	entries int // number of entries in all lists of the draft
	texts   map[string]string
}

// NewBudget returns an empty Budget.
func NewBudget() *Budget { return &Budget{texts: map[string]string{}} }

// text returns a stored copy of a string.
func (b *Budget) text(text []byte) string {
	if have, ok := b.texts[string(text)]; ok {
		return have
	}
	s := string(text)
	b.texts[s] = s
	b.used += len(s) + TextCost
	return s
}

// Charge adds n bytes to the memory in use, and refuses the event if the budget is exceeded.
func (b *Budget) Charge(e *Event, at canon.Node, n int) {
	if b.used += n; b.used > MaxKept {
		e.Exceed("MaxKept", at, b.used)
	}
}

// Keep charges for bytes that are kept until the draft is created or until Free is called.
func (b *Budget) Keep(e *Event, data []byte) []byte {
	if b.Charge(e, e.Payload, len(data)); e.Err != nil {
		return nil
	}
	return data
}

// Free subtracts bytes that are no longer kept.
func (b *Budget) Free(n int) { b.used -= n }

// Room charges for another entry in a list of the draft.
func (b *Budget) Room(e *Event) { b.List(e, entryCost) }

// Part charges for another list element within an entry.
func (b *Budget) Part(e *Event) { b.List(e, PartCost) }

// List charges cost bytes for another element of a list.
func (b *Budget) List(e *Event, cost int) {
	if b.entries++; b.entries > MaxEntries {
		e.Exceed("MaxEntries", e.Root, b.entries)
	}
	b.Charge(e, e.Root, cost)
}

// Total returns the number of bytes in use.
func (b *Budget) Total() int { return b.used }
