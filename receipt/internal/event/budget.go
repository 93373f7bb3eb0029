package event

import "github.com/receiptkit/receiptkit/canon"

// What is kept besides the bytes of texts, about: places in maps and lists, and what
// they hold of fixed size.
const (
	TextCost     = 64  // a text
	eventCost    = 96  // the digests of an event
	sequenceCost = 80  // the last sequence of a resource
	entryCost    = 768 // an entry of the draft
	PartCost     = 192 // a part of an entry
)

// A Budget counts what a recording keeps until its draft is made, at most MaxKept
// bytes. Texts that are equal are kept, and counted, once.
type Budget struct {
	used    int
	entries int // of all lists of the draft
	texts   map[string]string
}

func NewBudget() *Budget { return &Budget{texts: map[string]string{}} }

// text keeps a text.
func (b *Budget) text(text []byte) string {
	if have, ok := b.texts[string(text)]; ok {
		return have
	}
	s := string(text)
	b.texts[s] = s
	b.used += len(s) + TextCost
	return s
}

// Charge counts bytes, and refuses the event for which there is no room.
func (b *Budget) Charge(e *Event, at canon.Node, n int) {
	if b.used += n; b.used > MaxKept {
		e.Exceed("MaxKept", at, b.used)
	}
}

// Keep counts bytes that are kept until the draft is made, or until they are freed.
func (b *Budget) Keep(e *Event, data []byte) []byte {
	if b.Charge(e, e.Payload, len(data)); e.Err != nil {
		return nil
	}
	return data
}

// Free gives back what was kept.
func (b *Budget) Free(n int) { b.used -= n }

// Room counts one more entry of the draft.
func (b *Budget) Room(e *Event) { b.List(e, entryCost) }

// Part counts one more entry of a list within an entry.
func (b *Budget) Part(e *Event) { b.List(e, PartCost) }

// List counts one more entry of a list, and what it costs.
func (b *Budget) List(e *Event, cost int) {
	if b.entries++; b.entries > MaxEntries {
		e.Exceed("MaxEntries", e.Root, b.entries)
	}
	b.Charge(e, e.Root, cost)
}

// Total returns how many bytes are kept.
func (b *Budget) Total() int { return b.used }
