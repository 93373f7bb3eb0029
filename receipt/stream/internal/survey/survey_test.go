package survey

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
)

// TestJoinFails verifies that an error in a file with records is returned, wherever it occurs.
// Otherwise, receipts would be missing from the results.
func TestJoinFails(t *testing.T) {
	next := func(i int, hash canon.Digest) chain.Link { return chain.Link{Hash: hash, Previous: canon.Sum(hash[:])} }
	for name, sorter := range map[string]func(*Survey) *sorter{
		"IDs": func(s *Survey) *sorter { return s.ids }, "hashes": func(s *Survey) *sorter { return s.hashes }, "links": func(s *Survey) *sorter { return s.links },
	} {
		for _, size := range []int64{0, 600} {
			s := loose(t, 20, 16, next)
			if err := sorter(s).levels[0].file.Truncate(size); err != nil {
				t.Fatal(err)
			}
			if err := s.Join(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, cut to %d bytes: %v", name, size, err)
			}
		}
	}

	// The receipts without predecessors are written to another file.
	s := loose(t, 20, 16, next)
	s.TempDir = filepath.Join(s.TempDir, "missing")
	if err := s.Join(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
}

// TestPlaceChanged verifies that an item at which the first pass read another document is an error.
func TestPlaceChanged(t *testing.T) {
	for mark, placed := range map[join.Mark]bool{join.MarkUnplaced: true, join.MarkLinked: false} {
		s := &Survey{Marks: []join.Mark{mark}}
		if err := s.Place(&Item{Facts: Facts{Placed: placed}}); !errors.Is(err, ErrChanged) {
			t.Errorf("mark %d: %v", mark, err)
		}
	}
}

// TestFollowOnce verifies that a receipt whose link is already invalid gets no second finding for
// its position in the source.
func TestFollowOnce(t *testing.T) {
	link := func(_ int, hash canon.Digest) chain.Link { return chain.Link{First: true, Hash: hash} }
	s := loose(t, 2, 16, link)
	if err := s.Join(); err != nil {
		t.Fatal(err)
	}
	key := streamKey(nil).appendStream(chain.Stream{Issuer: "a", Workspace: "w"})
	for number := range 2 {
		it := &Item{Facts: Facts{Placed: true, holds: true, Link: chain.Link{First: true}, Key: key}}
		it.Index = number + 1
		s.follow(number, it)
	}
	if s.Marks[0] != join.MarkLinked || s.Marks[1] != join.MarkSecond || s.ends[0].Failures != 1 {
		t.Errorf("marks %v, %d failures", s.Marks, s.ends[0].Failures)
	}
}
