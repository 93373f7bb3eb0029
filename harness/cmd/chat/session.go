package main

import (
	"context"
	"slices"
	"sync"
)

// A store stores the histories of sessions. An unknown session has an empty history.
type store interface {
	load(ctx context.Context, session string) ([]message, error)
	save(ctx context.Context, session string, history []message) error
}

// A memory is a store whose content is lost when the program ends.
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

// turns runs the turns in each session one at a time, in the order of their arrival. Turns of
// different sessions run concurrently.
type turns struct {
	mu   sync.Mutex
	last map[string]chan struct{} // channels by session, each closed when the last turn in the session has ended
}

// enter waits until the previous turns in a session have ended. If a waiter is canceled, the next
// one is not delayed.
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

// listeners delivers the outcomes of resumed turns. Each outcome is delivered once, in the order in
// which the turns ended.
type listeners struct {
	mu sync.Mutex
	of map[string]*listener
}

// A listener contains a session's listener function and the outcomes that have not been delivered
// yet.
type listener struct {
	tell    *func(outcome) // nil if there is no listener function
	telling bool           // whether an outcome is being delivered; only one is delivered at a time
	waiting []outcome
}

// most limits the number of outcomes that wait for the first listener of a session. The oldest
// outcome is dropped first.
const most = 100

// add sets the listener of a session, replacing the previous one, and delivers the outcomes that
// arrived in the meantime. The returned function remove has no effect after the listener has been
// replaced. Outcomes that were not delivered before the removal wait for the next listener.
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

// session returns the listener of a session. The caller must hold l.mu.
func (l *listeners) session(session string) *listener {
	if l.of == nil {
		l.of = map[string]*listener{}
	}
	if l.of[session] == nil {
		l.of[session] = new(listener)
	}
	return l.of[session]
}

// tidy removes a session that has neither a listener nor waiting outcomes. The caller must hold
// l.mu.
func (l *listeners) tidy(session string) {
	if s := l.of[session]; s != nil && s.tell == nil && !s.telling && len(s.waiting) == 0 {
		delete(l.of, session)
	}
}

// put stores the outcome of a turn until it is delivered to the listener of the turn's session.
func (l *listeners) put(session string, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session(session)
	if s.waiting = append(s.waiting, o); s.tell == nil {
		s.waiting = s.waiting[max(0, len(s.waiting)-most):]
	}
}

// tell delivers the waiting outcomes to the listener of a session. Outcomes that arrive during the
// delivery are also delivered, and other callers do not wait.
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

	defer func() { // runs even if the listener panics
		l.mu.Lock()
		defer l.mu.Unlock()
		s.telling = false
		l.tidy(session)
	}()
	tell(o)
	return true
}
