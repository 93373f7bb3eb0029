package main

import (
	"context"
	"slices"
	"sync"
)

// A store keeps histories. An unknown session has none yet.
type store interface {
	load(ctx context.Context, session string) ([]message, error)
	save(ctx context.Context, session string, history []message) error
}

// memory is a store that forgets when the program ends.
type memory struct {
	mu        sync.Mutex
	histories map[string][]message
}

func (m *memory) load(_ context.Context, session string) ([]message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.histories[session]), nil
}

func (m *memory) save(_ context.Context, session string, history []message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.histories == nil {
		m.histories = map[string][]message{}
	}
	m.histories[session] = slices.Clone(history)
	return nil
}

// Turns lets one turn of a session run at a time, in the order in which they came, and
// those of different sessions beside each other.
type turns struct {
	mu   sync.Mutex
	last map[string]chan struct{} // of each session, closed when its last turn is over
}

// enter waits for the turns before. Who gives up waiting leaves no gap.
func (l *turns) enter(ctx context.Context, session string) (func(), error) {
	l.mu.Lock()
	if l.last == nil {
		l.last = map[string]chan struct{}{}
	}
	before, over := l.last[session], make(chan struct{})
	l.last[session] = over
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		if l.last[session] == over {
			delete(l.last, session)
		}
		l.mu.Unlock()
		close(over)
	}
	if before == nil {
		return leave, nil
	}
	select {
	case <-before:
		return leave, nil
	case <-ctx.Done():
		go func() { <-before; leave() }()
		return nil, ctx.Err()
	}
}

// Listeners get what resumed turns came to, each once.
type listeners struct {
	mu      sync.Mutex
	of      map[string]*func(outcome)
	waiting map[string][]outcome // of sessions that nobody listens to
}

// most bounds what waits for the first listener of a session; the oldest goes first.
const most = 100

// add sets the listener of a session, in the place of the one before, and gives it what came
// meanwhile. It is removed only while it is there.
func (l *listeners) add(session string, tell func(outcome)) (remove func()) {
	l.mu.Lock()
	if l.of == nil {
		l.of, l.waiting = map[string]*func(outcome){}, map[string][]outcome{}
	}
	l.of[session] = &tell
	waiting := l.waiting[session]
	delete(l.waiting, session)
	l.mu.Unlock()

	for _, o := range waiting {
		tell(o)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.of[session] == &tell {
			delete(l.of, session)
		}
	}
}

func (l *listeners) deliver(session string, o outcome) {
	l.mu.Lock()
	tell := l.of[session]
	if tell == nil {
		if l.waiting == nil {
			l.of, l.waiting = map[string]*func(outcome){}, map[string][]outcome{}
		}
		list := append(l.waiting[session], o)
		l.waiting[session] = list[max(0, len(list)-most):]
	}
	l.mu.Unlock()
	if tell != nil {
		(*tell)(o)
	}
}
