package serve

import (
	"context"
	"slices"
	"sync"
)

// turns divides a resource, such as processors or memory, among the clients that wait for it.
// Waiting clients are served in rotation, regardless of how many requests each client has; the
// requests of one client are served in order. A turn ends when processing ends. No client can delay
// this, so every waiting request eventually gets its turn.
type turns struct {
	mu      sync.Mutex
	all     int64
	left    int64
	waiting []*clientQueue // queues of clients, in the order in which they are served next
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

// newTurns returns turns that divide n units of a resource.
func newTurns(n int64) *turns { return &turns{all: n, left: n} }

// take waits for the turn of a client. A turn uses at most the entire resource, even if size is
// larger. The caller ends the turn by calling done.
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

	// If the turn began just before ctx was canceled, it is released.
	if !t.forget(client, one) { // it began meanwhile
		t.give(one.size)
	}
	return nil, ctx.Err()
}

// begin begins all turns for which enough of the resource is free. A small turn never overtakes a
// large turn, because the large turn might otherwise never begin.
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

// forget removes a turn from its queue, and reports whether the turn had not begun yet.
func (t *turns) forget(client string, one *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, q := range t.waiting {
		if q.client != client {
			continue
		}

		// If the turn is not in the queue, it has already begun.
		at := slices.Index(q.turns, one)
		if at < 0 {
			return false
		}

		if q.turns = slices.Delete(q.turns, at, at+1); len(q.turns) == 0 {
			t.waiting = slices.Delete(t.waiting, i, i+1)
		}
		t.begin() // other turns may have been waiting for this one
		return true
	}

	return false
}
