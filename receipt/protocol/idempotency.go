package protocol

import (
	"encoding/binary"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
)

// IdempotencyHeader is the header by which a client says that requests are the same one.
const IdempotencyHeader = "Idempotency-Key"

// maxIdempotencyKey is how many characters a key has at most.
const maxIdempotencyKey = 255

// idempotencyKey returns the Idempotency-Key of a request, "" when it has none. The error is
// an *[Error]: there are several, or it is empty or longer than 255 characters.
func idempotencyKey(h http.Header) (string, error) {
	list := h.Values(IdempotencyHeader)
	if len(list) == 0 {
		return "", nil
	}
	if len(list) > 1 || list[0] == "" || len(list[0]) > maxIdempotencyKey {
		return "", Invalid(IdempotencyHeader, "expected one %s of 1 to %d characters", IdempotencyHeader, maxIdempotencyKey)
	}
	return list[0], nil
}

// An idempotencyScope is where an Idempotency-Key means one request: elsewhere it is another
// key.
type idempotencyScope struct {
	Actor     [32]byte // who asks: the digest of the API key, zero without one
	Workspace string   // workspace_id
	Method    string
	Target    string // the path, and the query in one order
	Key       string
}

// onceOf returns what names a scope: the SHA-256 of "idempotency-v1\n", the 32 bytes of the
// actor, and the other members in their order, each after its length in bytes as eight bytes,
// big-endian. It stays as it is, so that a log may hold it.
func onceOf(s idempotencyScope) canon.Digest {
	b := append([]byte("idempotency-v1\n"), s.Actor[:]...)
	for _, part := range []string{s.Workspace, s.Method, s.Target, s.Key} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return canon.Sum(b)
}
