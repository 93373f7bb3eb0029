package conn

import "sync"

// Shares are an amount that clients divide among themselves: slots, or bytes of memory. A client
// that already holds some can take more only if at least as much as it then holds remains. A single
// client therefore gets half of the amount, two clients get a third each, and another client finds
// as much as any of them has (the dynamic thresholds of Choudhury and Hahne, 1998). Only a client
// that holds nothing may take everything that remains.
type Shares struct {
	mu   sync.Mutex
	left int64
	held map[string]int64 // by client; no entry is 0
}

// NewShares returns shares of n.
func NewShares(n int64) *Shares { return &Shares{left: n, held: map[string]int64{}} }

// Take takes n for a client. It reports whether there was enough.
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

// Give returns n that a client holds.
func (s *Shares) Give(client string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
	if s.held[client] -= n; s.held[client] == 0 {
		delete(s.held, client)
	}
}

// Any reports whether a client that holds nothing could take some.
func (s *Shares) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left > 0
}
