package serve

import (
	"net/http"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// Bounds of what is remembered of Idempotency-Key headers. Verifying again answers as
// before, so that of a request nothing is kept but what it asked.
const (
	idempotencyTime = 24 * time.Hour
	idempotencyKeys = 1024 // of a client; beyond that the oldest is forgotten
)

// idempotency remembers which keys a client has used for which requests. A use takes
// about 150 bytes.
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
}

// begin remembers a use. It is nil when the key came with another body before.
func (m *idempotency) begin(client [32]byte, key, body canon.Digest, now time.Time) *keyUse {
	m.mu.Lock()
	defer m.mu.Unlock()
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

// forget drops what is too old, or too much for one more.
func (u *keyUses) forget(now time.Time) {
	n := 0
	for n < len(u.order) && (len(u.order)-n >= idempotencyKeys || now.Sub(u.order[n].at) > idempotencyTime) {
		if u.byKey[u.order[n].key] == u.order[n] {
			delete(u.byKey, u.order[n].key)
		}
		n++
	}
	u.order = append(u.order[:0], u.order[n:]...)
}

// end says whether a request was answered. A key that only came with requests that were
// not may come with another body.
func (m *idempotency) end(client [32]byte, use *keyUse, answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use.done = use.done || answered
	if uses := m.clients[client]; !use.done && uses.byKey[use.key] == use {
		delete(uses.byKey, use.key) // its place in the order is forgotten with time
	}
}

// idempotently answers a request that may have an Idempotency-Key, unless the key came
// with another body before. body is the digest of what was asked for.
func idempotently(c *call, body canon.Digest, serve func() error) error {
	list := c.r.Header.Values(idempotencyKeyName)
	if len(list) == 0 {
		return serve()
	}
	if len(list) > 1 || list[0] == "" || len(list[0]) > maxIdempotencyKey {
		return invalid(idempotencyKeyName, "expected one %s of 1 to %d characters", idempotencyKeyName, maxIdempotencyKey)
	}

	var client [32]byte
	if c.key != nil {
		client = c.key.SHA256
	}

	// A key is of one method and one target: for another it may be used again.
	key := canon.Sum([]byte(c.r.Method + "\x00" + c.r.URL.EscapedPath() + "\x00" + list[0]))
	use := c.s.idempotency.begin(client, key, body, c.s.options.Now())
	if use == nil {
		return &fault{status: http.StatusConflict, code: codeKeyReused, param: idempotencyKeyName,
			message: "this key came with another body before; use a new one for another request"}
	}

	answered := false
	defer func() { c.s.idempotency.end(client, use, answered) }() // also when it panics
	err := serve()
	answered = err == nil
	return err
}
