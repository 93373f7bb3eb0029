package stream

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
)

// A sorter sorts entries of one width by their bytes. What does not fit into
// memory is written to a folder in sorted pieces, which close removes.
type sorter struct {
	width  int
	most   int    // entries in memory
	dir    string // "": everything stays in memory
	memory []byte
	pieces []*os.File
	err    error
}

func newSorter(width, most int, dir string) *sorter {
	return &sorter{width: width, most: most, dir: dir}
}

// add copies an entry. Errors are kept for sorted.
func (s *sorter) add(entry []byte) {
	s.memory = append(s.memory, entry...)
	if s.dir != "" && len(s.memory) >= s.most*s.width && s.err == nil {
		s.err = s.spill()
	}
}

func (s *sorter) spill() error {
	f, err := os.CreateTemp(s.dir, "receipt-sort-*")
	if err != nil {
		return err
	}
	s.pieces = append(s.pieces, f)

	// Nobody else needs the name; without it nothing is left behind, whatever
	// happens. Where a file in use cannot be unlinked, close removes it.
	_ = os.Remove(f.Name())

	s.sortMemory()
	if _, err := f.Write(s.memory); err != nil {
		return err
	}
	s.memory = s.memory[:0]
	return nil
}

func (s *sorter) sortMemory() {
	entries := make([][]byte, 0, len(s.memory)/s.width)
	for e := range slices.Chunk(s.memory, s.width) {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, bytes.Compare)
	s.memory = slices.Concat(entries...)
}

// sorted returns the entries in order, as often as it is called, one call after
// the other. Each is valid until the next.
func (s *sorter) sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.sortMemory()
		if s.err != nil {
			yield(nil, s.err)
			return
		}

		readers := []io.Reader{bytes.NewReader(s.memory)}
		for _, f := range s.pieces {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				yield(nil, err)
				return
			}
			readers = append(readers, bufio.NewReaderSize(f, 64<<10))
		}
		mergeSorted(readers, s.width, yield)
	}
}

// A cursor is the next entry of a sorted piece.
type cursor struct {
	r     io.Reader
	entry []byte
}

// mergeSorted yields the entries of sorted pieces in order. There are few pieces, so
// the smallest is found by looking at all.
func mergeSorted(readers []io.Reader, width int, yield func([]byte, error) bool) {
	var open []*cursor
	for _, r := range readers {
		c := &cursor{r, make([]byte, width)}
		if more, err := c.next(); err != nil {
			yield(nil, err)
			return
		} else if more {
			open = append(open, c)
		}
	}

	// A piece that has come to its end is out.
	for len(open) > 0 {
		c := slices.MinFunc(open, func(a, b *cursor) int { return bytes.Compare(a.entry, b.entry) })
		if !yield(c.entry, nil) {
			return
		}
		more, err := c.next()
		if err != nil {
			yield(nil, err)
			return
		}
		if !more {
			open = slices.DeleteFunc(open, func(o *cursor) bool { return o == c })
		}
	}
}

func (c *cursor) next() (bool, error) {
	_, err := io.ReadFull(c.r, c.entry)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

func (s *sorter) close() error {
	var all []error
	for _, f := range s.pieces {
		err := f.Close()
		if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
			err = cmp.Or(err, removed)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
