package protocol

import (
	"sync"
	"time"
)

// Limits bound what clients may use of a Mux. The zero value of a field means its default.
// Of Requests, of Memory, and of the streams of events, each client gets half at the most, and
// less when others have some: as much as it would leave to one more. A client is an API key, or
// where there are none an address.
type Limits struct {
	// Body is the largest body, in bytes, of a route without a Limit of its own. Default: 1 MiB.
	// Beyond it: 413. A route with BodyStream has no limit of length.
	Body int64

	// Memory is how many bytes of bodies, of answers, and of pages of streams are held at the
	// same time, of answers and pages until clients have read them. Default: 128 MiB. A body
	// that does not fit is answered 503, and so is an answer to GET before it begins; a stream
	// waits.
	Memory int64

	// Arrive is how long a body may take to arrive. Default: 60 s. Beyond it: 504.
	Arrive time.Duration

	// Requests is how many requests are answered at the same time, but for those of open
	// and free routes, and streams. Default: 256. The next one is answered 503.
	Requests int

	// Idle is how long a read of a body or a write of an answer may make no progress: a
	// client that does not read a stream loses it then. Default: 30 s.
	Idle time.Duration
}

const (
	// mostStreams is how many streams of events are open at the same time. The next one is
	// answered 503. Each holds one page of the log, and a goroutine.
	mostStreams = 1024

	// beat is how often a stream that has nothing to send says so, by a comment, so that neither
	// side takes the other for gone.
	beat = 15 * time.Second
)

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	const mebi = 1 << 20
	l.Body = orElse(l.Body, mebi)
	l.Memory = orElse(l.Memory, 128*mebi)
	l.Arrive = orElse(l.Arrive, time.Minute)
	l.Requests = orElse(l.Requests, 256)
	l.Idle = orElse(l.Idle, 30*time.Second)
	return l
}

func orElse[T int | int64 | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}

// Shares are an amount that clients divide among themselves: places, or bytes of memory.
// A client that holds some gets no more than leaves as much as it then holds. So one
// alone gets half of it, two get a third each, and whoever comes next finds as much as
// any of them has (the dynamic thresholds of Choudhury and Hahne, 1998). Only a client
// that holds nothing may take all that is left.
type Shares struct {
	mu   sync.Mutex
	left int64
	held map[string]int64 // by client; no entry is 0
}

// NewShares returns shares of n.
func NewShares(n int64) *Shares { return &Shares{left: n, held: map[string]int64{}} }

// Take takes n for a client if there is that much for it.
func (s *Shares) Take(client string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.held[client]
	if n > s.left || own > 0 && own+n > s.left-n {
		return false
	}
	s.left -= n
	s.held[client] = own + n
	return true
}

// Give returns n of what a client holds.
func (s *Shares) Give(client string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
	if s.held[client] -= n; s.held[client] == 0 {
		delete(s.held, client)
	}
}

// any reports whether a client that holds nothing would get some.
func (s *Shares) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left > 0
}
