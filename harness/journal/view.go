package journal

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/receiptkit/receiptkit/harness/feed"
)

// A View selects events from a journal.
type View struct {
	Workspace, Session, Task string // restricts the events if it is not empty

	// Sees reports whether the reader may see the events in a workspace; "" stands for events
	// without a workspace. Nil: all.
	Sees func(workspace string) bool

	// Ended reports whether the view will contain no further events. If it is nil, further events
	// are always possible.
	Ended func() bool
}

type view struct {
	journal *Journal
	View

	mu     sync.Mutex
	last   string // ID after which no event was found
	passed int    // number of the last event that was checked at that time
}

// Appended implements [feed.Log].
func (v *view) Appended() <-chan struct{} { return v.journal.Appended() }

// After implements [feed.Log].
func (v *view) After(_ context.Context, id string, limit int) ([]feed.Event, error) {
	// v.Ended is called before the events are read, so that an event that is added in between is
	// not missed.
	ended := v.Ended != nil && v.Ended()
	passed := v.behind(id)
	places, end, err := v.journal.find(v.View, id, limit, &passed)
	v.note(id, passed)
	if err != nil {
		return nil, err
	}

	events := make([]feed.Event, len(places))
	for i, p := range places {
		text := make([]byte, p.size)
		if _, err := v.journal.file.ReadAt(text, p.at); err != nil {
			return nil, fmt.Errorf("journal: an event cannot be read: %w", err)
		}
		events[i] = feed.Event{ID: idOf(p.number), Kind: p.kind.Value(), JSON: text}
	}
	if ended && end {
		return events, io.EOF
	}
	return events, nil
}

// behind returns the number of the last event that was checked if no event was found after an ID,
// and otherwise 0. A waiting reader therefore checks each unrelated event only once.
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

// A numbered place is a place with the number of its event.
type numbered struct {
	number int
	place
}
