package journal

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A View is a part of the events of a journal.
type View struct {
	Workspace, Session, Task string // of which the events are; "": any

	// Sees reports whether the reader may see events of a workspace; "" is of events without
	// one. Nil: all.
	Sees func(workspace string) bool

	// Ended reports whether no other event will follow in this view. Nil: there may always be
	// one.
	Ended func() bool
}

type view struct {
	journal *Journal
	View

	mu     sync.Mutex
	last   string // an id behind which nothing was found
	passed int    // the number of the last event that was looked at then
}

// Appended is described at [protocol.Log].
func (v *view) Appended() <-chan struct{} { return v.journal.Appended() }

// After is described at [protocol.Log].
func (v *view) After(_ context.Context, id string, limit int) ([]protocol.Event, error) {
	// Before the events are looked at: one that comes meanwhile is not missed.
	ended := v.Ended != nil && v.Ended()
	passed := v.behind(id)
	places, end, err := v.journal.find(v.View, id, limit, &passed)
	v.note(id, passed)
	if err != nil {
		return nil, err
	}

	events := make([]protocol.Event, len(places))
	for i, p := range places {
		text := make([]byte, p.size)
		if _, err := v.journal.file.ReadAt(text, p.at); err != nil {
			return nil, fmt.Errorf("journal: an event cannot be read: %w", err)
		}
		events[i] = protocol.Event{ID: idOf(p.number), Kind: p.kind.Value(), JSON: text}
	}
	if ended && end {
		return events, io.EOF
	}
	return events, nil
}

// behind returns how far was looked for events that follow an id, in vain: who waits for one looks at
// each event of others once.
func (v *view) behind(id string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id == v.last {
		return v.passed
	}
	return 0
}

func (v *view) note(id string, passed int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last, v.passed = id, passed
}

// A numbered place is that of the event of a number.
type numbered struct {
	number int
	place
}
