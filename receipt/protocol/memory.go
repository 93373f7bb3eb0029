package serve

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// Bounds of what is remembered of Idempotency-Key headers. Verifying again answers as
// before, so that of a request nothing is kept but what it asked. What is done once has
// its answer kept, too.
const (
	idempotencyTime = 24 * time.Hour
	idempotencyKeys = 1024 // of a client; beyond that the oldest is forgotten
)

// idempotency remembers which keys a client has used for which requests. A use takes
// about 150 bytes, and its answer.
type idempotency struct {
	mu      sync.Mutex
	clients map[[32]byte]*keyUses // by the digest of the API key; zero for all without one
}

// keyUses are the uses of one client.
type keyUses struct {
	byKey map[canon.Digest]*keyUse
	order []*keyUse // the oldest first
}

// A keyUse is a key and the body that it came with. The key is a digest of the method,
// the target and the header.
type keyUse struct {
	key, body canon.Digest
	at        time.Time
	done      bool // a request with it was answered

	// Of what is done once:
	answer []byte        // that all requests get
	busy   chan struct{} // closed when the request that does it has ended; nil: none does
}

// begin remembers a use. It is nil when the key came with another body before.
func (m *idempotency) begin(client [32]byte, key, body canon.Digest, now time.Time) *keyUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.use(client, key, body, now)
}

func (m *idempotency) use(client [32]byte, key, body canon.Digest, now time.Time) *keyUse {
	if m.clients == nil {
		m.clients = map[[32]byte]*keyUses{}
	}

	uses := m.clients[client]
	if uses == nil {
		uses = &keyUses{byKey: map[canon.Digest]*keyUse{}}
		m.clients[client] = uses
	}

	// A key that is too old is forgotten before it is looked for, and may be used again.
	uses.forget(now)
	use := uses.byKey[key]
	switch {
	case use == nil:
		use = &keyUse{key: key, body: body, at: now}
		uses.byKey[key], uses.order = use, append(uses.order, use)
	case use.body != body:
		return nil
	}

	return use
}

// forget drops what is too old, or too much for one more. What is being done is kept.
func (u *keyUses) forget(now time.Time) {
	kept := u.order[:0]
	for i, use := range u.order {
		many := len(kept)+len(u.order)-i >= idempotencyKeys
		if use.busy != nil || !many && now.Sub(use.at) <= idempotencyTime {
			kept = append(kept, use)
			continue
		}
		if u.byKey[use.key] == use {
			delete(u.byKey, use.key)
		}
	}
	clear(u.order[len(kept):])
	u.order = kept
}

// end says whether a request was answered. A key that only came with requests that were
// not may come with another body.
func (m *idempotency) end(client [32]byte, use *keyUse, answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended(client, use, answered)
}

func (m *idempotency) ended(client [32]byte, use *keyUse, answered bool) {
	use.done = use.done || answered
	if uses := m.clients[client]; !use.done && uses.byKey[use.key] == use {
		delete(uses.byKey, use.key) // its place in the order is forgotten with time
	}
}

// claim takes what is to be done once: the caller does it, unless there is an answer, or
// somebody to wait for. It reports false when the key came with another body before.
func (m *idempotency) claim(client [32]byte, key, body canon.Digest, now time.Time) (use *keyUse, answer []byte, wait <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use = m.use(client, key, body, now)
	switch {
	case use == nil:
		return nil, nil, nil, false
	case use.done:
		return use, use.answer, nil, true
	case use.busy != nil:
		return use, nil, use.busy, true
	}

	use.busy = make(chan struct{})
	return use, nil, nil, true
}

// settle ends what was claimed. Without an answer it was not done, and the next request
// may do it. Nobody sees a use that is neither being done nor done: it would be done twice.
func (m *idempotency) settle(client [32]byte, use *keyUse, answer []byte, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(use.busy)
	use.answer, use.busy, use.at = answer, nil, now // it is kept for a day from here
	m.ended(client, use, answer != nil)
}

// idempotencyKey is what a request's Idempotency-Key is remembered by; zero when it has
// none. A key is of one method and one target: for another it may be used again.
func idempotencyKey(c *call) (key canon.Digest, err error) {
	list := c.r.Header.Values(idempotencyKeyName)
	if len(list) == 0 {
		return key, nil
	}
	if len(list) > 1 || list[0] == "" || len(list[0]) > maxIdempotencyKey {
		return key, invalid(idempotencyKeyName, "expected one %s of 1 to %d characters", idempotencyKeyName, maxIdempotencyKey)
	}

	// Of the target what it names, however that is escaped.
	target := c.route.method + "\x00" + c.route.pattern + "\x00" + strings.Join(c.vars, "\x00")
	return canon.Sum([]byte(target + "\x00" + list[0])), nil
}

// keyHolder is whose keys are remembered together: the digest of an API key, zero for all
// without one.
func keyHolder(c *call) (client [32]byte) {
	if c.key != nil {
		client = c.key.SHA256
	}
	return client
}

func keyReused() *fault {
	return &fault{status: http.StatusConflict, code: codeKeyReused, param: idempotencyKeyName,
		message: "this key came with another body before; use a new one for another request"}
}

// idempotently answers a request that may have an Idempotency-Key, unless the key came
// with another body before. body is the digest of what was asked for.
func idempotently(c *call, body canon.Digest, serve func() error) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	if key.IsZero() {
		return serve()
	}

	use := c.s.idempotency.begin(keyHolder(c), key, body, c.s.options.Now())
	if use == nil {
		return keyReused()
	}

	answered := false
	defer func() { c.s.idempotency.end(keyHolder(c), use, answered) }() // also when it panics
	err = serve()
	answered = err == nil
	return err
}

// once does for all requests with one Idempotency-Key what may be done once, and gives
// each of them its answer. A request that comes meanwhile waits. do gets what is the same
// for these requests and for no other; zero for a request without a key.
func once(c *call, body canon.Digest, do func(key canon.Digest) ([]byte, error)) ([]byte, error) {
	key, err := idempotencyKey(c)
	if err != nil {
		return nil, err
	}
	if key.IsZero() {
		return do(key)
	}

	for {
		use, answer, wait, ok := c.s.once.claim(keyHolder(c), key, body, c.s.options.Now())
		switch {
		case !ok:
			return nil, keyReused()
		case answer != nil:
			return answer, nil
		case wait == nil:
			return doOnce(c, use, do)
		}

		// If that request fails, this one tries.
		select {
		case <-wait:
		case <-c.r.Context().Done():
			return nil, gone(c.r.Context().Err())
		}
	}
}

// doOnce does what was claimed.
func doOnce(c *call, use *keyUse, do func(key canon.Digest) ([]byte, error)) (answer []byte, err error) {
	client := keyHolder(c)
	defer func() { c.s.once.settle(client, use, answer, c.s.options.Now()) }() // also when it panics
	return do(canon.Sum(append(client[:], use.key[:]...)))
}
