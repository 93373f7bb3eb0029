package protocol

import (
	"encoding/binary"
	"maps"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// maxAnswer is the maximum length, in bytes, of a remembered response to a request with an
// Idempotency-Key, unless a log keeps the response (see [Memory.Remember]).
const maxAnswer = 2 << 20

// retryInFlight is the number of seconds after which a client should repeat a request if it is
// already in progress.
const retryInFlight = "1"

// once calls the handler only once for all requests with the same Idempotency-Key. A request that
// arrives while the handler is running immediately gets a 202 response.
func once(x *exchange, serve Handler) error {
	r := x.r
	key, err := idempotencyKey(r.Header)
	switch {
	case err != nil:
		return err
	case key == "":
		return serve(counted{x.w, x}, r)
	}

	// If the client cannot be identified, the response could be repeated to a different client.
	if err := r.Client.repeats(); err != nil {
		return err
	}

	r.Use.Key = onceOf(idempotencyScope{Actor: r.Client.Actor, Workspace: r.workspace(), Method: r.Method, Target: r.Target(), Key: key})

	claim, err := x.mux.memory.claim(r.Use, x.mux.options.Now())
	switch {
	case err != nil:
		return err
	case claim.answer != nil:
		return give(x, claim.answer)
	case claim.inFlight != nil:
		x.w.Header().Set("Retry-After", retryInFlight)
		return WriteJSON(x.w, http.StatusAccepted, inFlight{"request.in_flight"})
	}

	// The response is remembered before it is sent, so that a client that reads slowly does not
	// delay other requests.
	answer, err := perform(x, claim, serve)
	if err != nil {
		return err
	}
	return give(x, answer)
}

// inFlight is the response to a request if another request with the same Idempotency-Key is still
// in progress.
type inFlight struct {
	Object string `json:"object"`
}

// perform calls the handler for a claim, and completes the work even if the client disconnects. An
// error, or a response with a status of 400 or above, means that nothing was done, so the key may
// be used again. After a 500 response, a panic, or a response that is too long, the outcome is
// unknown. The response in these cases is therefore remembered like any other, so that nothing is
// done twice.
func perform(x *exchange, claim *claim, serve Handler) (sent *answer, err error) {
	// The claim always ends, even after a panic.
	rec := &recorder{header: http.Header{}, logged: claim.logged}
	ended, kept := false, (*answer)(nil)
	defer func() {
		if p := recover(); !ended {
			x.logPanic(p)
			sent, err = rec.refuse(mistake(), x.r.ID), nil
			kept = sent
		}
		claim.end(kept, x.mux.options.Now())
	}()

	// The request's context is not canceled when the client disconnects.
	err = serve(rec, x.r.detached())
	ended = true
	if err == nil && rec.tooLong {
		err = Internal(errTooLong, "the answer is longer than what is remembered")
	}
	if err == nil {
		sent = rec.answer()
		if sent.status < http.StatusBadRequest || sent.status == http.StatusInternalServerError {
			kept = sent
		}
		return sent, nil
	}

	// After any other error, the key may be used again.
	if e := errorOf(err); e.status() == http.StatusInternalServerError {
		x.logMistake(e)
		sent, err = rec.refuse(e, x.r.ID), nil
		kept = sent
	}
	return sent, err
}

// give sends a remembered response to the client.
func give(x *exchange, a *answer) error {
	// This client may be allowed to see less than the client that received the response first.
	body, err := a.text()
	if err != nil {
		return Internal(err, "what was answered before cannot be read")
	}
	if a.header.Get("Content-Type") == MediaJSON {
		if body, err = x.r.Client.Visible(body); err != nil {
			return err
		}
	}

	// A remembered body is already in memory, but a stored body needs additional memory.
	if a.stored != nil {
		if err := x.hold(int64(len(body))); err != nil {
			return err
		}
	}

	maps.Copy(x.w.Header(), a.header)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(a.status)
	_, _ = x.w.Write(body) // a client that does not read the response is treated as disconnected
	return nil
}

// IdempotencyHeader is the header that identifies repetitions of the same request.
const IdempotencyHeader = "Idempotency-Key"

// maxIdempotencyKey is the maximum length of a key in characters.
const maxIdempotencyKey = 255

// idempotencyKey returns the Idempotency-Key of a request, or "" if there is none. The error is an
// *[Error] if the header occurs several times or if the key is empty or longer than 255 characters.
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

// An idempotencyScope is the scope in which an Idempotency-Key identifies one request. The same key
// in another scope is a different key.
type idempotencyScope struct {
	Actor     [32]byte // the client: the digest of its API key, or zero if there is no key
	Workspace string   // workspace_id
	Method    string
	Target    string // the path and the query, with the parameters in a fixed order
	Key       string
}

// onceOf returns the digest of a scope. It is the SHA-256 of "idempotency-v1\n", the 32 bytes of
// the actor, and the other members in order, each preceded by its length in bytes as an eight-byte
// big-endian number. This computation never changes, so a log may contain the digest.
func onceOf(s idempotencyScope) canon.Digest {
	b := append([]byte("idempotency-v1\n"), s.Actor[:]...)
	for _, part := range []string{s.Workspace, s.Method, s.Target, s.Key} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return canon.Sum(b)
}
