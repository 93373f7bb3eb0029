package record

import "github.com/receiptkit/receiptkit/canon"

// What is kept besides the bytes of texts, about: places in maps and lists, and what
// they hold of fixed size.
const (
	textCost     = 64  // a text
	eventCost    = 96  // the digests of an event
	sequenceCost = 80  // the last sequence of a resource
	entryCost    = 768 // an entry of the draft
	spanCost     = 160 // the end of a span
	partCost     = 192 // a part of an entry
	requestCost  = 512 // a request that waits for its response
)

// A budget counts what a recording keeps until its draft is made, at most MaxKept
// bytes. Texts that are equal are kept, and counted, once.
type budget struct {
	used    int
	entries int // of all lists of the draft
	texts   map[string]string
}

func newBudget() *budget { return &budget{texts: map[string]string{}} }

// text keeps a text.
func (b *budget) text(text []byte) string {
	if have, ok := b.texts[string(text)]; ok {
		return have
	}
	s := string(text)
	b.texts[s] = s
	b.used += len(s) + textCost
	return s
}

// charge counts bytes, and refuses the event for which there is no room.
func (b *budget) charge(e *event, at canon.Node, n int) {
	if b.used += n; b.used > MaxKept {
		e.exceed("MaxKept", at, b.used)
	}
}

// keep counts bytes that are kept until the draft is made, or until they are freed.
func (b *budget) keep(e *event, data []byte) []byte {
	if b.charge(e, e.payload, len(data)); e.err != nil {
		return nil
	}
	return data
}

// free gives back what was kept.
func (b *budget) free(n int) { b.used -= n }
