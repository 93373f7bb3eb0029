package serve

import (
	"context"
	"slices"
	"sync"
)

// turns divides a resource, such as processors or memory, among the clients that wait for it. The
// waiting clients are served in rotation, regardless of how many requests each client has, and each
// client's requests are served in order. Turns are released by processing, never by a client, so
// every waiting request eventually gets its turn.
type turns struct {
	mu      sync.Mutex
	all     int64
	left    int64
	waiting []*clientQueue // clients, in the order in which they are served
}

// A clientQueue contains the waiting requests of one client.
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

// take waits until it is a client's turn. The largest turn takes the entire resource. The returned
// function ends the turn.
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

	// A turn that began just before the client disconnected is released.
	if !t.forget(client, one) { // it began meanwhile
		t.give(one.size)
	}
	return nil, ctx.Err()
}

// begin begins the turns for which enough of the resource is available. Small turns do not overtake
// a large turn, because otherwise the large turn might never begin.
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

// forget removes a turn that has not begun from its queue.
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
		t.begin() // the other turns may have been waiting for it
		return true
	}

	return false
}
