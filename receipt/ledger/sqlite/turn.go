package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/chain"
)

// Lane 0 of the queue is for writers of the file, the others are for streams.
const (
	lanes     = 64
	writeLane = 0
)

// How long a turn is waited for, and how long nobody waits after that: a process that stops during
// its turn delays the others once in a while, not each time.
const (
	turnPatience = 2 * time.Second
	turnPause    = 30 * time.Second
)

// queues are the queues of a ledger as one process sees them.
type queues struct {
	mu    sync.Mutex
	stuck [lanes]time.Time // until when nobody waits in a lane
}

// draw takes a place in a lane.
func (q *queues) draw(path string, lane int) *ticket {
	q.mu.Lock()
	skip := time.Now().Before(q.stuck[lane])
	q.mu.Unlock()
	if skip {
		return nil
	}
	return drawTicket(path, lane)
}

// wait waits for the turn of a place.
func (q *queues) wait(t *ticket, lane int) {
	if t.wait(turnPatience) {
		return
	}
	q.mu.Lock()
	q.stuck[lane] = time.Now().Add(turnPause)
	q.mu.Unlock()
}

// A turn is the right to link to the head of a stream. It ends when the linked receipts are in the
// queue of writers. The next process then links to the last of them, and seals and signs while they
// are written.
type turn struct {
	ledger *database
	stream chain.Stream
	lane   int
	again  bool // announced heads are ignored

	mu     sync.Mutex
	ticket *ticket
	place  *ticket // in the queue of writers, if there is one already
	over   bool
	told   []byte // the announcement
}

type turnKey struct{}

// turnOf returns the turn of a ledger for a stream in a context, or nil.
func turnOf(ctx context.Context, l *database, s chain.Stream) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	if t == nil || t.ledger != l || t.stream != s {
		return nil
	}
	return t
}

func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over = true
		t.ticket.end()
		t.place.end()
	}
}

// clear waits until all earlier writers are done, so that the current head stays the head.
func (t *turn) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.place != nil {
		return
	}

	q, path := &t.ledger.queues, t.ledger.files.path
	t.place = q.draw(path, writeLane)
	q.wait(t.place, writeLane)
}

// line ends the turn with a place in the queue of writers. t may be nil.
func (t *turn) line(l *database) *ticket {
	if t == nil {
		return l.queues.draw(l.files.path, writeLane)
	}

	t.mu.Lock()
	place := t.place
	t.place = nil
	t.mu.Unlock()

	if place == nil {
		place = l.queues.draw(l.files.path, writeLane)
	}

	t.end()
	return place
}

// nameOf returns a digest of a stream's name.
func nameOf(s chain.Stream) [sha256.Size]byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and a bool
	}
	return sha256.Sum256(text)
}

// The announcement of the previous process is in FILE-head after the numbers of the lanes: the
// digest of the stream's name, the hash and the count of its head, and the beginning of the digest
// of these. It is not trusted: a receipt that is linked to a head that was never stored is not
// stored, and is linked again to the actual head.
const (
	announceBegin = 2048
	announceBytes = sha256.Size + sha256.Size + 8 + 8
)

func announcement(s chain.Stream, h chain.Head) []byte {
	name := nameOf(s)
	text := binary.BigEndian.AppendUint64(append(name[:], h.Hash[:]...), h.Count)
	sum := sha256.Sum256(text)
	return append(text, sum[:8]...)
}

// announce publishes the head that the next process should link to.
func (t *turn) announce(h chain.Head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.ticket == nil {
		return
	}

	f, err := openHead(t.ledger.files.path)
	if err != nil {
		return
	}
	defer f.Close()

	t.told = announcement(t.stream, h)
	f.WriteAt(t.told, t.at())
}

// withdraw removes the announcement of a head that was not stored.
func (t *turn) withdraw() {
	if t == nil || t.told == nil {
		return
	}

	f, err := openHead(t.ledger.files.path)
	if err != nil {
		return
	}
	defer f.Close()

	text := make([]byte, announceBytes)
	if _, err := f.ReadAt(text, t.at()); err == nil && bytes.Equal(text, t.told) {
		f.WriteAt(make([]byte, announceBytes), t.at())
	}
}

func (t *turn) at() int64 { return announceBegin + int64(t.lane)*announceBytes }

// announced returns the head that the previous process announced.
func (t *turn) announced() (h chain.Head, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.again || t.ticket == nil {
		return h, false
	}

	f, err := os.Open(t.ledger.files.path + headSuffix)
	if err != nil {
		return h, false
	}
	defer f.Close()

	text := make([]byte, announceBytes)
	if _, err := f.ReadAt(text, t.at()); err != nil {
		return h, false
	}

	// It may belong to another stream, or be half written; its name and its digest show that.
	copy(h.Hash[:], text[sha256.Size:])
	h.Count = binary.BigEndian.Uint64(text[2*sha256.Size:])
	return h, bytes.Equal(text, announcement(t.stream, h))
}
