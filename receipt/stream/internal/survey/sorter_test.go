package survey

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func filesIn(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestSorter verifies that entries are returned in order, whether or not they were written
// to files.
func TestSorter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ entries, most int }{{0, 1}, {1, 1}, {2, 1}, {7, 1}, {7, 3}, {9, 3}, {1000, 10}, {1000, 999}, {1000, 1000}, {1000, 1001}, {2500, 1}, {2500, 2}} {
		for _, spill := range []bool{false, true} {
			dir := t.TempDir()
			s := newSorter(8, c.most, "")
			if spill {
				s = newSorter(8, c.most, dir)
			}
			var want [][]byte
			for range c.entries {
				e := make([]byte, 8)
				for i := range e {
					e[i] = byte(rng.IntN(3)) // some are equal
				}
				want = append(want, bytes.Clone(e))
				s.add(e)
				clear(e) // it was copied
			}
			pieces := 0
			for _, l := range s.levels {
				pieces += len(l.ends)
			}
			if spill != (pieces > 0) && c.entries >= c.most || pieces >= 3*maxPieces {
				t.Errorf("%d entries of at most %d: %d pieces", c.entries, c.most, pieces)
			}
			slices.SortFunc(want, bytes.Compare)
			var got [][]byte
			for e, err := range s.sorted() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, bytes.Clone(e))
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%d entries of at most %d: not sorted", c.entries, c.most)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if n := filesIn(t, dir); n != 0 {
				t.Errorf("%d files left", n)
			}
		}
	}
}

// TestSorterFails verifies that sorted returns errors from file operations.
func TestSorterFails(t *testing.T) {
	s := newSorter(8, 2, filepath.Join(t.TempDir(), "missing"))
	for range 5 {
		s.add(make([]byte, 8))
	}
	if err := drain(s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	cut := newSorter(8, 2, t.TempDir())
	for range 5 {
		cut.add(make([]byte, 8))
	}
	for _, size := range []int64{28, 24, 16, 0} { // cuts inside an entry, and between two entries
		if err := cut.levels[0].file.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if err := drain(cut); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("pieces that were cut to %d bytes: %v", size, err)
		}
	}
	cut.levels[0].file.Close()
	if err := drain(cut); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a piece that was closed: %v", err)
	}
	_ = cut.close()
}

// TestSorterRaiseFails verifies that an error during the merge of pieces into the next level is not
// lost.
func TestSorterRaiseFails(t *testing.T) {
	s := newSorter(8, 1, t.TempDir())
	for range maxPieces - 1 {
		s.add(make([]byte, 8))
	}
	s.levels[0].ends[3]++ // makes the length of the next run differ from a whole number of entries
	for range 5 {
		s.add(make([]byte, 8))
	}
	if err := drain(s); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(s.err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, %v", err, s.err)
	}
	_ = s.close()
}

// TestSorterWriteFails verifies that an error during the first write to a file is not lost.
func TestSorterWriteFails(t *testing.T) {
	s := newSorter(8, 2, t.TempDir())
	if _, err := s.level(0); err != nil {
		t.Fatal(err)
	}
	s.levels[0].file.Close()
	for range 2 {
		s.add(make([]byte, 8))
	}
	if !errors.Is(s.err, fs.ErrClosed) {
		t.Errorf("%v", s.err)
	}
}

func drain(s *sorter) error {
	for _, err := range s.sorted() {
		if err != nil {
			return err
		}
	}
	return nil
}
