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

// Listeners get what resumed turns came to, each once, in the order in which they ended.
type listeners struct {
	mu sync.Mutex
	of map[string]*listener
}

// A listener is that of a session, and what it was not told yet.
type listener struct {
	tell    *func(outcome) // nil: nobody listens
	telling bool           // it is told of one at a time
	waiting []outcome
}

// most bounds what waits for the first listener of a session; the oldest goes first.
const most = 100

// add sets the listener of a session, in the place of the one before, and gives it what came
// meanwhile. It is removed only while it is there; what it was not told by then waits for
// the next one.
func (l *listeners) add(session string, tell func(outcome)) (remove func()) {
	l.mu.Lock()
	l.session(session).tell = &tell
	l.mu.Unlock()

	l.tell(session)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s := l.session(session); s.tell == &tell {
			s.tell = nil
		}
		l.tidy(session)
	}
}

// session returns the listener of a session. l.mu is held.
func (l *listeners) session(session string) *listener {
	if l.of == nil {
		l.of = map[string]*listener{}
	}
	if l.of[session] == nil {
		l.of[session] = new(listener)
	}
	return l.of[session]
}

// tidy forgets a session of which nothing is left. l.mu is held.
func (l *listeners) tidy(session string) {
	if s := l.of[session]; s != nil && s.tell == nil && !s.telling && len(s.waiting) == 0 {
		delete(l.of, session)
	}
}

// put keeps what a turn came to until the listener of its session is told.
func (l *listeners) put(session string, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session(session)
	if s.waiting = append(s.waiting, o); s.tell == nil {
		s.waiting = s.waiting[max(0, len(s.waiting)-most):]
	}
}

// tell tells the listener of a session what waits. While it is being told, whoever tells it
// goes on with what comes, and nobody else waits for it.
func (l *listeners) tell(session string) {
	for l.tellOne(session) {
	}
}

func (l *listeners) tellOne(session string) bool {
	l.mu.Lock()
	s := l.of[session]
	if s == nil || s.tell == nil || s.telling || len(s.waiting) == 0 {
		l.mu.Unlock()
		return false
	}
	tell, o := *s.tell, s.waiting[0]
	s.waiting, s.telling = s.waiting[1:], true
	l.mu.Unlock()

	defer func() { // also of one that panics
		l.mu.Lock()
		defer l.mu.Unlock()
		s.telling = false
		l.tidy(session)
	}()
	tell(o)
	return true
}
