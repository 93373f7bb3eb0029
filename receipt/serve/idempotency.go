package serve

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// idempotencyKeys is how many Idempotency-Key headers of a client are remembered; beyond
// that the oldest is forgotten. Verifying again answers as before, so that of a request
// nothing is kept but what it asked. What is done once has its answer kept, too.
const (
	idempotencyKeys  = 1024
	idempotencyBytes = 1 << 30 // so much that no client makes another one's be forgotten
)

func newMemory() *protocol.Memory {
	return protocol.NewMemory(protocol.MemoryLimits{Keys: idempotencyKeys, Bytes: idempotencyBytes, Forget: true})
}

// useOf is what a request's Idempotency-Key is remembered by; its key is zero when it has
// none. A key is of one method and one target: for another it may be used again. body is the
// digest of what was asked for.
func useOf(c *call, body canon.Digest) (use protocol.Use, err error) {
	key, err := protocol.IdempotencyKey(c.r.Header)
	if err != nil || key == "" {
		return use, err
	}
	if err := c.r.Client.Repeats(); err != nil {
		return use, err
	}

	// Of the target what it names, however that is escaped.
	target := c.r.Method + "\x00" + c.r.Route + "\x00" + c.id()
	use = protocol.Use{Actor: c.r.Client.Actor, Key: canon.Sum([]byte(target + "\x00" + key)), Body: body}
	return use, nil
}

// idempotently answers a request that may have an Idempotency-Key, unless the key came
// with another body before.
func idempotently(c *call, body canon.Digest, serve func() error) error {
	use, err := useOf(c, body)
	if err != nil {
		return err
	}
	if use.Key.IsZero() {
		return serve()
	}

	claim, err := c.s.idempotency.Claim(use, c.s.options.Now())
	if err != nil {
		return err
	}

	// Whoever asks the same at the same time is answered at the same time.
	var answered *protocol.Answer
	defer func() { claim.End(answered, c.s.options.Now()) }() // also when it panics
	if err = serve(); err == nil {
		answered = new(protocol.Answer)
	}
	return err
}

// once does for all requests with one Idempotency-Key what may be done once, and gives
// each of them its answer. A request that comes meanwhile waits. do gets what is the same
// for these requests and for no other; zero for a request without a key.
func once(c *call, body canon.Digest, do func(key canon.Digest) ([]byte, error)) ([]byte, error) {
	use, err := useOf(c, body)
	if err != nil {
		return nil, err
	}
	if use.Key.IsZero() {
		return do(use.Key)
	}

	for {
		claim, err := c.s.once.Claim(use, c.s.options.Now())
		switch {
		case err != nil:
			return nil, err
		case claim.Answer != nil:
			return claim.Answer.Body, nil
		case claim.InFlight == nil:
			return doOnce(c, claim, use, do)
		}

		// If that request fails, this one tries.
		select {
		case <-claim.InFlight:
		case <-c.r.Context().Done():
			return nil, protocol.ClientClosed(c.r.Context().Err())
		}
	}
}

// doOnce does what was claimed.
func doOnce(c *call, claim *protocol.Claim, use protocol.Use, do func(key canon.Digest) ([]byte, error)) ([]byte, error) {
	var answer *protocol.Answer
	defer func() { claim.End(answer, c.s.options.Now()) }() // also when it panics
	text, err := do(canon.Sum(append(use.Actor[:], use.Key[:]...)))
	if err == nil {
		answer = &protocol.Answer{Body: text}
	}
	return text, err
}
