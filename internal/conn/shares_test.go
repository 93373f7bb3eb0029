package conn

import (
	"fmt"
	"testing"
)

// TestShares verifies that a client that uses nothing can get as much as any other client uses.
func TestShares(t *testing.T) {
	for _, all := range []int64{1, 2, 3, 8, 256} {
		for clients := 1; clients <= 12; clients++ {
			s := NewShares(all)
			most := int64(0)
			for more := true; more; {
				more = false
				for i := range clients {
					more = s.Take(fmt.Sprint(i), 1) || more
				}
			}
			for _, n := range s.held {
				most = max(most, n)
			}
			if clients < int(all) && s.left < min(most, 1) || most > 1 && s.left < most-1 {
				t.Errorf("%d among %d: %v, %d left", all, clients, s.held, s.left)
			}
			for client, n := range s.held {
				s.Give(client, n)
			}
			if s.left != all || len(s.held) != 0 {
				t.Errorf("not all was given back: %d of %d, %v", s.left, all, s.held)
			}
		}
	}
	s := NewShares(100)
	if !s.Take("a", 100) || s.Take("b", 1) || s.Any() {
		t.Error("the first client must be able to take the entire capacity, and a second client none")
	}
}
