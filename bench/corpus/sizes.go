package main

import "fmt"

// sizes are those of the canonical forms, in bytes.
type sizes struct{ count, sum, least, most int }

func (s *sizes) add(size int) {
	if s.count == 0 || size < s.least {
		s.least = size
	}
	s.most = max(s.most, size)
	s.sum += size
	s.count++
}

func (s *sizes) String() string {
	return fmt.Sprintf("%d receipts, %d to %d bytes, mean %d", s.count, s.least, s.most, s.sum/max(s.count, 1))
}
