package serve

import (
	"context"
	"slices"
	"sync"
)

// turns divide an amount among clients that wait for it: processors, or memory. Those
// who wait are served one client after the other, however many requests each has, and
// each client's in their order. What a turn takes is given back by the work that it is
// for, never by a client, so that every turn comes.
type turns struct {
	mu      sync.Mutex
	all     int64
	left    int64
	waiting []*clientQueue // clients, the next one first
}

// A clientQueue is the requests of one client that wait.
type clientQueue struct {
	client string
	turns  []*turn
}

type turn struct {
	size  int64
	begun chan struct{}
}

// newTurns returns turns that divide n.
func newTurns(n int64) *turns { return &turns{all: n, left: n} }

// take waits until it is a client's turn. The largest turn takes all that there is. What
// it returns ends the turn.
func (t *turns) take(ctx context.Context, client string, size int64) (done func(), err error) {
	one := &turn{size: min(size, t.all), begun: make(chan struct{})}

	t.mu.Lock()
	at := slices.IndexFunc(t.waiting, func(q *clientQueue) bool { return q.client == client })
	if at < 0 {
		at = len(t.waiting)
		t.waiting = append(t.waiting, &clientQueue{client: client})
	}

	t.waiting[at].turns = append(t.waiting[at].turns, one)
	t.begin()
	t.mu.Unlock()

	select {
	case <-one.begun:
		return func() { t.give(one.size) }, nil
	case <-ctx.Done():
	}

	// A turn that began just before the client left is given back.
	if !t.forget(client, one) { // it began meanwhile
		t.give(one.size)
	}
	return nil, ctx.Err()
}

// begin begins the turns that there is enough for. A large one is not overtaken: small
// ones could do so for ever.
func (t *turns) begin() {
	for len(t.waiting) > 0 && t.waiting[0].turns[0].size <= t.left {
		q := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.left -= q.turns[0].size
		close(q.turns[0].begun)
		if q.turns = q.turns[1:]; len(q.turns) > 0 {
			t.waiting = append(t.waiting, q)
		}
	}
}

func (t *turns) give(size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left += size
	t.begin()
}

// forget takes a turn that has not begun out of its queue.
func (t *turns) forget(client string, one *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, q := range t.waiting {
		if q.client != client {
			continue
		}

		// A turn that is no longer in the queue has begun.
		at := slices.Index(q.turns, one)
		if at < 0 {
			return false
		}

		if q.turns = slices.Delete(q.turns, at, at+1); len(q.turns) == 0 {
			t.waiting = slices.Delete(t.waiting, i, i+1)
		}
		t.begin() // it may have been the one that the others waited for
		return true
	}

	return false
}
