package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/chain"
)

// Lane 0 of the queue is for writers of the file, and the other lanes are for streams.
const (
	lanes     = 64
	writeLane = 0
)

// turnPatience is the maximum time to wait for a turn. After a timeout, the process does not wait
// for turns until turnPause has elapsed, so a process that hangs during its turn delays others only
// occasionally.
const (
	turnPatience = 2 * time.Second
	turnPause    = 30 * time.Second
)

// Queues represents the queues of a ledger in one process.
type Queues struct {
	path string // of the ledger

	mu    sync.Mutex
	stuck [lanes]time.Time // for each lane, the time until which callers do not wait
}

// NewQueues returns the queues of the ledger at path.
func NewQueues(path string) *Queues { return &Queues{path: path} }

// draw takes the last place in a lane.
func (q *Queues) draw(lane int) *ticket {
	q.mu.Lock()
	skip := time.Now().Before(q.stuck[lane])
	q.mu.Unlock()
	if skip {
		return nil
	}
	return drawTicket(q.path, lane)
}

// wait waits for the turn of a ticket.
func (q *Queues) wait(t *ticket, lane int) {
	if t.wait(turnPatience) {
		return
	}
	q.mu.Lock()
	q.stuck[lane] = time.Now().Add(turnPause)
	q.mu.Unlock()
}

// Write waits until it is the caller's turn to write to the file. If t is not nil, t ends as soon
// as the receipts of its stream have a place in this queue. The caller calls done to allow the next
// writer to proceed.
func (q *Queues) Write(t *Turn) (done func()) {
	place := t.line(q)
	q.wait(place, writeLane)
	return place.end
}

// A Turn is the right to link receipts to the head of a stream. It ends as soon as these receipts
// have a place in the queue of writers. The next process then links to the last of these receipts,
// and seals and signs its own receipts while they are being written.
type Turn struct {
	queues *Queues
	stream chain.Stream
	lane   int
	again  bool // announced heads are ignored

	mu     sync.Mutex
	ticket *ticket
	place  *ticket // place in the queue of writers; nil if the turn has no place yet
	over   bool
	told   []byte // the announcement
}

// Turn waits for the caller's turn to append to a stream. If again is set, announced heads are
// ignored.
func (q *Queues) Turn(s chain.Stream, again bool) *Turn {
	sum := nameOf(s)
	t := &Turn{queues: q, stream: s, lane: 1 + int(sum[0])%(lanes-1), again: again}
	t.ticket = q.draw(t.lane)
	q.wait(t.ticket, t.lane)
	return t
}

// Of reports whether the turn is for the given stream in these queues. The turn may be nil.
func (t *Turn) Of(q *Queues, s chain.Stream) bool { return t != nil && t.queues == q && t.stream == s }

// End ends the turn. It may be called more than once.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over = true
		t.ticket.end()
		t.place.end()
	}
}

// Clear waits until all earlier writers have finished, so that the current head no longer changes.
func (t *Turn) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.place != nil {
		return
	}

	t.place = t.queues.draw(writeLane)
	t.queues.wait(t.place, writeLane)
}

// line ends the turn and returns a place in the queue of writers. t may be nil.
func (t *Turn) line(q *Queues) *ticket {
	if t == nil {
		return q.draw(writeLane)
	}

	t.mu.Lock()
	place := t.place
	t.place = nil
	t.mu.Unlock()

	if place == nil {
		place = q.draw(writeLane)
	}

	t.End()
	return place
}

// nameOf returns a digest of the name of a stream.
func nameOf(s chain.Stream) [sha256.Size]byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen, because the value consists of strings and a bool
	}
	return sha256.Sum256(text)
}

// In FILE-head, the numbers of the lanes are followed by the announcement of the previous process.
// The announcement contains a digest of the name of the stream, the hash and the count of the head,
// and the beginning of a digest of these values. The announcement does not have to be trusted. If a
// receipt is linked to a head that was never stored, the receipt is not stored, but is linked again
// to the actual head.
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

// Announce publishes the head to which the next process should link.
func (t *Turn) Announce(h chain.Head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.ticket == nil {
		return
	}

	f, err := openHead(t.queues.path)
	if err != nil {
		return
	}
	defer f.Close()

	t.told = announcement(t.stream, h)
	f.WriteAt(t.told, t.at())
}

// Withdraw removes the announcement of a head that was not stored. t may be nil.
func (t *Turn) Withdraw() {
	if t == nil || t.told == nil {
		return
	}

	f, err := openHead(t.queues.path)
	if err != nil {
		return
	}
	defer f.Close()

	text := make([]byte, announceBytes)
	if _, err := f.ReadAt(text, t.at()); err == nil && bytes.Equal(text, t.told) {
		f.WriteAt(make([]byte, announceBytes), t.at())
	}
}

func (t *Turn) at() int64 { return announceBegin + int64(t.lane)*announceBytes }

// Announced returns the head that the previous process has announced.
func (t *Turn) Announced() (h chain.Head, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.again || t.ticket == nil {
		return h, false
	}

	f, err := os.Open(t.queues.path + HeadSuffix)
	if err != nil {
		return h, false
	}
	defer f.Close()

	text := make([]byte, announceBytes)
	if _, err := f.ReadAt(text, t.at()); err != nil {
		return h, false
	}

	// The announcement may be incomplete or for another stream, which the digest or the name in it
	// reveals.
	copy(h.Hash[:], text[sha256.Size:])
	h.Count = binary.BigEndian.Uint64(text[2*sha256.Size:])
	return h, bytes.Equal(text, announcement(t.stream, h))
}
