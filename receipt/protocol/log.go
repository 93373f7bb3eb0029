package protocol

import (
	"context"
	"errors"
	"sync"
)

// ErrGone is returned by a Log that has no event of the id that it was asked for, or has it no
// longer.
var ErrGone = errors.New("protocol: no such event, or it is no longer kept")

// A Log is events in an order to which others are only added: those of a task, of a session,
// or all that a client may see. Its methods must be safe for concurrent use. Ids come from
// strangers: a Log looks them up, it opens nothing by that name.
//
// A stream reads a Log as far as its client reads the stream, a page at a time. So who appends
// waits for nobody, and a client that is slow is behind, and holds nothing: what it misses is
// in the log.
type Log interface {
	// After returns up to limit events that follow the one of an id, in their order; "" is
	// the beginning. None: there are no more yet. The error is or wraps [ErrGone]; or is
	// io.EOF: nothing follows these events, ever, and a stream ends behind them; or says
	// what went wrong in reading, which only the log gets to know.
	After(ctx context.Context, id string, limit int) ([]Event, error)

	// Appended returns a channel that is closed when something is appended after the call.
	// It may be closed for nothing.
	Appended() <-chan struct{}
}

// A Bell tells who waits that something was appended. The zero value is ready; it is safe for
// concurrent use.
type Bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

// Ring wakes who waits. It waits for nobody.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

// Rung returns a channel that the next Ring closes.
func (b *Bell) Rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}
