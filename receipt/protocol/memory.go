package protocol

import (
	"container/list"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// keptFor is how long the response to a request with an Idempotency-Key is remembered.
const keptFor = 24 * time.Hour

// These are the approximate sizes, in bytes, of a use without its response, and of a response that
// is stored elsewhere.
const (
	useBytes    = 512
	storedBytes = 1536
)

// A Use identifies a request with an Idempotency-Key and the body of that request.
type Use struct {
	// Actor is the client whose limits apply: the digest of the API key, or zero for all clients
	// without a key.
	Actor [32]byte

	// Key is the same for all requests of which only one may be processed. It is zero if the
	// request may be processed more than once.
	Key canon.Digest

	// Body is the digest of the canonical body (RFC 8785).
	Body canon.Digest
}

// An answer is the recorded response to a request. It must not be modified.
type answer struct {
	status int
	header http.Header
	body   []byte

	// stored reads the body from another location, such as a log, so that the body does not occupy
	// memory. If stored is nil, the body is in the field body.
	stored func() ([]byte, error)
}

// A Memory remembers uses of Idempotency-Keys, and the responses, for 24 hours. It is safe for
// concurrent use. No method waits for a request in progress; a [Mux] responds with 202 if such a
// request is repeated.
//
// The content of a Memory is lost when the program ends. If a server must remember completed work
// after a restart, it records the Use in its own log together with that work, and passes the Use to
// Remember at startup.
//
// If a field is zero, its default applies. Fields must not change after the first use.
type Memory struct {
	// Keys is the maximum number of uses that are remembered per actor. The default is 16,384.
	Keys int

	// Bytes is the approximate maximum size of all uses and responses together. An actor may hold
	// at most as much of this memory as is left free. A single actor can therefore hold half, and
	// two actors can hold a third each, so there is always room for a new actor. Responses that are
	// not yet complete are not counted. The default is 64 MiB.
	Bytes int64

	// Forget specifies what happens if a limit is reached. If Forget is true, the oldest use is
	// forgotten early, so its request may be processed again. If an actor has reached its limits,
	// the actor's oldest use is forgotten. If Forget is false, the new use is refused, with 429 for
	// the limits of the actor and with 503 for the shared limits, so that no request is processed
	// twice.
	Forget bool

	mu     sync.Mutex
	actors map[[32]byte]*actorUses
	order  list.List // of *use values with a response, oldest first
	bytes  int64
}

// actorUses contains the uses of one actor.
type actorUses struct {
	byKey map[canon.Digest]*use
	order list.List // like Memory.order
	bytes int64
}

// A use is the state of a Use that is being processed or already has a response.
type use struct {
	Use
	busy   chan struct{} // closed when the work ends; nil if there is a response
	logged *answer       // the response that is already in the log while the work continues
	answer answer
	at     time.Time        // time at which the response was recorded
	places [2]*list.Element // elements of the lists in Memory and actorUses that contain this use
}

// most returns the limits on uses per actor and on bytes.
func (m *Memory) most() (keys int, bytes int64) {
	const mostKeys, mostBytes = 16 << 10, 64 << 20
	return orElse(m.Keys, mostKeys), orElse(m.Bytes, int64(mostBytes))
}

// A claim is the state of a use: the use has a response, another caller is processing it, or
// neither. If neither applies, the caller processes the request, and must call end afterward, even
// after a failure.
type claim struct {
	answer   *answer         // nil: none yet
	inFlight <-chan struct{} // closed when the work of another caller ends; nil if there is no other caller

	memory *Memory
	use    *use
}

// claim reserves a use of an Idempotency-Key. The error is an *[Error] if the key was used with a
// different body or if there is no room.
func (m *Memory) claim(u Use, now time.Time) (*claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOld(now)

	// Expired uses have been removed, so their keys are treated as new.
	if found := m.find(u); found != nil {
		switch {
		case found.Body != u.Body:
			return nil, keyReused()
		case found.busy != nil:
			return &claim{inFlight: found.busy}, nil
		}
		return &claim{answer: &found.answer}, nil
	}

	if err := m.makeRoom(u.Actor, now); err != nil {
		return nil, err
	}
	mine := &use{Use: u, busy: make(chan struct{})}
	m.add(mine)
	return &claim{memory: m, use: mine}, nil
}

// keyReused returns a 409 error for an Idempotency-Key that was used with another body.
func keyReused() *Error {
	return &Error{Code: CodeKeyReused, Param: IdempotencyHeader, Message: "this key was used with another body; use a new key for each request"}
}

// logged reports whether the log already contains the response to the claimed use (see
// [Memory.Remember]).
func (c *claim) logged() bool {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	return c.use.logged != nil
}

// end ends a claim. A nil answer means that nothing was done, so the next request may do the work,
// even with a different body. If a response was passed to Remember in the meantime, that response
// is used instead. Further calls to end have no effect.
func (c *claim) end(answer *answer, now time.Time) {
	if c.use == nil {
		return
	}
	m, mine := c.memory, c.use
	c.use = nil

	// Every use must be in progress or have a response whenever a caller can see it. Otherwise, the
	// request would be processed twice.
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

// Remember adds a use from the server's own log, at startup or when the server appends to the log.
// The response is the same as if [WriteJSON] had written the value. read returns the value from the
// log whenever it is needed, so that the value does not occupy memory.
//
// If the use is in progress, the response takes effect when the work ends. Remember returns false
// and changes nothing if the key already has a response or was used with a different body, or if
// the response is too old. It does not return an error, because a response must never prevent a log
// from being read.
func (m *Memory) Remember(u Use, status int, read func() any, at, now time.Time) bool {
	return m.remember(u, answer{status: status, header: http.Header{"Content-Type": {MediaJSON}}, stored: func() ([]byte, error) {
		text, err := receipt.AppendJSON(nil, read())
		return append(text, '\n'), err
	}}, at, now)
}

func (m *Memory) remember(u Use, answer answer, at, now time.Time) bool {
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

	// The log may contain more uses than the limits allow for new requests. All of these uses are
	// kept.
	known := &use{Use: u}
	m.add(known)
	m.settle(known, answer, at)
	return true
}

func (m *Memory) find(u Use) *use {
	if a := m.actors[u.Actor]; a != nil {
		return a.byKey[u.Key]
	}
	return nil
}

func (m *Memory) add(u *use) {
	a := m.actors[u.Actor]
	if m.actors == nil {
		m.actors = map[[32]byte]*actorUses{}
	}
	if a == nil {
		a = &actorUses{byKey: map[canon.Digest]*use{}}
		m.actors[u.Actor] = a
	}
	a.byKey[u.Key] = u
	m.count(a, useBytes)
}

// settle records the response for a use.
func (m *Memory) settle(u *use, answer answer, at time.Time) {
	a := m.actors[u.Actor]
	u.answer, u.at = answer, at
	u.places = [2]*list.Element{inOrder(&m.order, u), inOrder(&a.order, u)}
	m.count(a, answer.size())
}

// inOrder inserts a use after all uses that are at least as old. This is nearly always at the end
// of the list.
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

	// A use that is in progress is in neither list.
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

// text returns the body of the response.
func (a *answer) text() ([]byte, error) {
	if a.stored == nil {
		return a.body, nil
	}
	return a.stored()
}

// size returns the approximate size of the response, in bytes.
func (a *answer) size() int64 {
	n := len(a.body)
	if a.stored != nil {
		n += storedBytes
	}

	for name, values := range a.header {
		n += len(name)
		for _, value := range values {
			n += len(value)
		}
	}
	return int64(n)
}

// forgetOld removes expired uses, so that their keys can be used again.
func (m *Memory) forgetOld(now time.Time) {
	for front := m.order.Front(); front != nil; front = m.order.Front() {
		oldest := front.Value.(*use)
		if now.Sub(oldest.at) <= keptFor {
			return
		}
		m.remove(oldest)
	}
}

// makeRoom makes room for another use by an actor, or returns an error if that use is refused.
func (m *Memory) makeRoom(actor [32]byte, now time.Time) error {
	keys, bytes := m.most()

	// Old uses are removed until another use fits; without Forget, the new use is refused instead.
	for {
		a := m.actors[actor]
		left := bytes - m.bytes - useBytes
		own := a != nil && (len(a.byKey) >= keys || a.bytes+useBytes > left)
		if !own && left >= 0 {
			return nil
		}

		// If an actor exceeds its limits, the actor's oldest use is removed, and never a use by
		// another actor.
		oldest := m.order.Front()
		if own {
			oldest = a.order.Front()
		}

		switch {
		case m.Forget && oldest == nil: // all uses are in progress; another limit applies to requests
			return nil
		case m.Forget:
			m.remove(oldest.Value.(*use))
			continue
		}
		return noRoom(own, oldest, now)
	}
}

// noRoom returns an error that states when room is expected to be available again.
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
	e := &Error{Code: CodeRate, Message: first + "this client has used its share"}
	return e.with("Retry-After", strconv.Itoa(seconds))
}
