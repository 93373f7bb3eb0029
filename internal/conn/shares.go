package conn

import "sync"

// Shares is an amount that clients divide among themselves, such as slots or bytes of memory. A
// client that already holds a share can take more only if the remaining amount is then at least as
// large as the client's share. A single client therefore gets at most half of the amount, and two
// clients get a third each. The remainder is always enough to give a new client the same amount
// (the dynamic thresholds of Choudhury and Hahne, 1998). Only a client that holds nothing may take
// the entire remainder.
type Shares struct {
	mu   sync.Mutex
	left int64
	held map[string]int64 // shares by client; every value is positive
}

// NewShares returns shares of the amount n.
func NewShares(n int64) *Shares { return &Shares{left: n, held: map[string]int64{}} }

// Take takes n for a client. It reports whether enough was available.
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

// Give gives back n that a client holds.
func (s *Shares) Give(client string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
	if s.held[client] -= n; s.held[client] == 0 {
		delete(s.held, client)
	}
}

// Any reports whether a client that holds nothing could take a share.
func (s *Shares) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left > 0
}
