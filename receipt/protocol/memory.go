package protocol

import (
	"container/list"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// keptFor is how long it is remembered what was answered to a request with an
// Idempotency-Key, from the answer on.
const keptFor = 24 * time.Hour

// What a use takes beside its answer, about, and what a stored answer takes.
const (
	useBytes    = 512
	storedBytes = 1536
)

// A Use is an Idempotency-Key with the body that it came with.
type Use struct {
	Actor [32]byte     // whose it is, whom the limits are of: the digest of the API key, zero for all without one
	Key   canon.Digest // [onceOf], or whatever else is the same for requests of which one may be done
	Body  canon.Digest // of the canonical body (RFC 8785)
}

// An Answer is what was answered. It must not be changed.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	// Stored returns the body from where it is kept, such as a log, so that no memory holds it.
	// Nil: Body has it.
	Stored func() ([]byte, error)
}

// MemoryLimits bound a Memory. The zero value of a field means its default.
type MemoryLimits struct {
	// Keys is how many uses of an actor are remembered. Default: 16,384.
	Keys int

	// Bytes is how much all uses and answers together take, about. An actor that has some of it
	// gets at most as much as is then left: one actor alone gets half, two get a third each, and a
	// new one always finds room. Answers that are being made come on top. Default: 64 MiB.
	Bytes int64

	// Forget says what happens with one more use: the oldest of the actor is forgotten
	// before its time, and may be done again. Without it the new one is refused, 429 for
	// the actor's own limits and 503 for those of all, so that nothing is ever done twice.
	Forget bool
}

// A Memory remembers which Idempotency-Key was used for what, and what was answered, for
// [keptFor]. It is safe for concurrent use, and nobody waits in it for anybody: one who
// finds that another does the same is told when that has ended.
//
// It is in memory. A server that is to know after a restart what it did before writes the
// Use into its own log with what it does, and tells the Memory at its start: Remember.
type Memory struct {
	limits MemoryLimits

	mu     sync.Mutex
	actors map[[32]byte]*actorUses
	order  list.List // *use, what was answered, the oldest first
	bytes  int64
}

// actorUses are the uses of one actor.
type actorUses struct {
	byKey map[canon.Digest]*use
	order list.List // as that of the Memory
	bytes int64
}

// A use is a Use that is being done, or was.
type use struct {
	Use
	busy   chan struct{} // closed when what is being done has ended; nil: it was done
	logged *Answer       // of what is being done: what the log has of it already
	answer Answer
	at     time.Time        // of the answer
	places [2]*list.Element // in the orders of the Memory and of the actor
}

// NewMemory returns an empty Memory.
func NewMemory(l MemoryLimits) *Memory {
	const keys, bytes = 16 << 10, 64 << 20
	if l.Keys <= 0 {
		l.Keys = keys
	}
	if l.Bytes <= 0 {
		l.Bytes = bytes
	}
	return &Memory{limits: l, actors: map[[32]byte]*actorUses{}}
}

// A Claim is what a Memory says of a use: it was answered, it is being done, or neither. Then
// it is the caller's to do, who has to call End when that has ended, however it has.
type Claim struct {
	Answer   *Answer         // what was answered; nil: nothing yet
	InFlight <-chan struct{} // closed when who does it has ended; nil: nobody does, or the caller

	memory *Memory
	use    *use
}

// Claim takes what is to be done once. The error is an *[Error]: the key came with another
// body, or there is no place for it.
func (m *Memory) Claim(u Use, now time.Time) (*Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOld(now)

	if found := m.find(u); found != nil {
		switch {
		case found.Body != u.Body:
			return nil, keyReused()
		case found.busy != nil:
			return &Claim{InFlight: found.busy}, nil
		}
		return &Claim{Answer: &found.answer}, nil
	}

	if err := m.makeRoom(u.Actor, now); err != nil {
		return nil, err
	}
	mine := &use{Use: u, busy: make(chan struct{})}
	m.add(mine)
	return &Claim{memory: m, use: mine}, nil
}

// keyReused is for an Idempotency-Key that came with another body before.
func keyReused() *Error {
	return &Error{Code: CodeKeyReused, Param: IdempotencyHeader, Message: "this key came with another body before; use a new one for another request"}
}

// logged reports whether the log has the answer of what was claimed already ([Memory.Remember]).
func (c *Claim) logged() bool {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	return c.use.logged != nil
}

// End ends what was claimed. Without an answer nothing was done, and the next request may do
// it, with another body too. What was told to Remember meanwhile was done, and is the answer.
// Only the first End counts.
func (c *Claim) End(answer *Answer, now time.Time) {
	if c.use == nil {
		return
	}
	m, mine := c.memory, c.use
	c.use = nil

	// Nobody sees a use that is neither being done nor done: it would be done twice.
	m.mu.Lock()
	defer m.mu.Unlock()
	close(mine.busy)
	mine.busy = nil
	if mine.logged != nil {
		answer = mine.logged
		mine.logged = nil
	}
	if answer == nil {
		m.remove(mine)
		return
	}
	m.settle(mine, *answer, now)
}

// Remember tells of a use that the server's own log has: what it reads there when it starts, and
// what it adds. A use that is being done is answered so when it ends: a log that has it keeps the
// body, too. Remember reports false, and changes nothing, when the key was answered or came with
// another body, or the answer is too old. It cannot fail: an answer is never a reason for a log not
// to be read.
func (m *Memory) Remember(u Use, answer Answer, at, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(u)
	switch {
	case now.Sub(at) > keptFor:
		return false
	case found != nil && found.busy != nil && found.Body == u.Body:
		found.logged = &answer
		return true
	case found != nil:
		return false
	}

	// Its own log may tell of more than new requests find room for: nothing of it is lost.
	known := &use{Use: u}
	m.add(known)
	m.settle(known, answer, at)
	return true
}

// Len returns how many uses are remembered.
func (m *Memory) Len() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.actors {
		n += len(a.byKey)
	}
	return n
}

func (m *Memory) find(u Use) *use {
	if a := m.actors[u.Actor]; a != nil {
		return a.byKey[u.Key]
	}
	return nil
}

func (m *Memory) add(u *use) {
	a := m.actors[u.Actor]
	if a == nil {
		a = &actorUses{byKey: map[canon.Digest]*use{}}
		m.actors[u.Actor] = a
	}
	a.byKey[u.Key] = u
	m.count(a, useBytes)
}

// settle makes a use one that was done.
func (m *Memory) settle(u *use, answer Answer, at time.Time) {
	a := m.actors[u.Actor]
	u.answer, u.at = answer, at
	u.places = [2]*list.Element{inOrder(&m.order, u), inOrder(&a.order, u)}
	m.count(a, answer.size())
}

// inOrder puts a use behind those that are not younger; nearly always that is the end.
func inOrder(l *list.List, u *use) *list.Element {
	at := l.Back()
	for at != nil && at.Value.(*use).at.After(u.at) {
		at = at.Prev()
	}
	if at == nil {
		return l.PushFront(u)
	}
	return l.InsertAfter(u, at)
}

func (m *Memory) remove(u *use) {
	a := m.actors[u.Actor]
	delete(a.byKey, u.Key)
	m.count(a, -useBytes-u.answer.size())
	for i, l := range []*list.List{&m.order, &a.order} {
		if u.places[i] != nil {
			l.Remove(u.places[i])
		}
	}
	if len(a.byKey) == 0 {
		delete(m.actors, u.Actor)
	}
}

func (m *Memory) count(a *actorUses, bytes int64) {
	a.bytes += bytes
	m.bytes += bytes
}

// body returns the body, wherever it is kept.
func (a *Answer) body() ([]byte, error) {
	if a.Stored == nil {
		return a.Body, nil
	}
	return a.Stored()
}

// size is about how many bytes an answer takes.
func (a *Answer) size() int64 {
	n := len(a.Body)
	if a.Stored != nil {
		n += storedBytes
	}
	for name, values := range a.Header {
		n += len(name)
		for _, value := range values {
			n += len(value)
		}
	}
	return int64(n)
}

// forgetOld forgets what need not be remembered any longer: the key may be used again.
func (m *Memory) forgetOld(now time.Time) {
	for front := m.order.Front(); front != nil; front = m.order.Front() {
		oldest := front.Value.(*use)
		if now.Sub(oldest.at) <= keptFor {
			return
		}
		m.remove(oldest)
	}
}

// makeRoom makes room for one more use of an actor, or refuses it.
func (m *Memory) makeRoom(actor [32]byte, now time.Time) error {
	for {
		a := m.actors[actor]
		left := m.limits.Bytes - m.bytes - useBytes
		own := a != nil && (len(a.byKey) >= m.limits.Keys || a.bytes+useBytes > left)
		if !own && left >= 0 {
			return nil
		}

		oldest := m.order.Front()
		if own {
			oldest = a.order.Front()
		}
		switch {
		case m.limits.Forget && oldest == nil: // all are being done: requests are bounded elsewhere
			return nil
		case m.limits.Forget:
			m.remove(oldest.Value.(*use))
			continue
		}
		return noRoom(own, oldest, now)
	}
}

// noRoom says when there will be room again.
func noRoom(own bool, oldest *list.Element, now time.Time) error {
	wait := time.Second
	if oldest != nil {
		wait = max(wait, keptFor-now.Sub(oldest.Value.(*use).at))
	}
	seconds := int(wait/time.Second) + 1

	const first = "each " + IdempotencyHeader + " is remembered for a day, and "
	if !own {
		return Busy(seconds, first+"this server has no room for more of them")
	}
	e := &Error{Code: CodeRate, Message: first + "this client has used as many as there is room for"}
	return e.With("Retry-After", strconv.Itoa(seconds))
}
