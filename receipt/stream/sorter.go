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
// memory is written to a folder in sorted pieces, which close removes. Pieces of a level
// are merged into one of the next when they are maxPieces, so that a billion receipts
// open no more files than a process may.
type sorter struct {
	width  int
	most   int    // entries in memory
	dir    string // "": everything stays in memory
	memory []byte
	levels [][]*os.File
	err    error
}

const maxPieces = 32

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
	f, err := s.piece(0)
	if err != nil {
		return err
	}
	s.sortMemory()
	if _, err := f.Write(s.memory); err != nil {
		return err
	}
	s.memory = s.memory[:0]

	for level := 0; level < len(s.levels) && len(s.levels[level]) >= maxPieces; level++ {
		if err := s.raise(level); err != nil {
			return err
		}
	}
	return nil
}

// piece makes an empty piece.
func (s *sorter) piece(level int) (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "receipt-sort-*")
	if err != nil {
		return nil, err
	}
	if level == len(s.levels) {
		s.levels = append(s.levels, nil)
	}
	s.levels[level] = append(s.levels[level], f)

	// Nobody else needs the name; without it nothing is left behind, whatever
	// happens. Where a file in use cannot be unlinked, close removes it.
	_ = os.Remove(f.Name())
	return f, nil
}

// raise merges the pieces of a level into one of the next.
func (s *sorter) raise(level int) error {
	pieces := s.levels[level]
	f, err := s.piece(level + 1)
	if err != nil {
		return err
	}
	readers, err := readersOf(pieces)
	if err != nil {
		return err
	}

	out := bufio.NewWriterSize(f, 64<<10)
	mergeSorted(readers, s.width, func(entry []byte, failed error) bool {
		if err = failed; err == nil {
			_, err = out.Write(entry)
		}
		return err == nil
	})
	if err := cmp.Or(err, out.Flush()); err != nil {
		return err
	}
	s.levels[level] = nil
	return closeAll(pieces)
}

func readersOf(pieces []*os.File) (readers []io.Reader, err error) {
	for _, f := range pieces {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		readers = append(readers, bufio.NewReaderSize(f, 64<<10))
	}
	return readers, nil
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

		readers, err := readersOf(slices.Concat(s.levels...))
		if err != nil {
			yield(nil, err)
			return
		}
		mergeSorted(append(readers, bytes.NewReader(s.memory)), s.width, yield)
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

// close gives back memory and files.
func (s *sorter) close() error {
	pieces := slices.Concat(s.levels...)
	s.memory, s.levels = nil, nil
	return closeAll(pieces)
}

func closeAll(pieces []*os.File) error {
	var all []error
	for _, f := range pieces {
		err := f.Close()
		if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
			err = cmp.Or(err, removed)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
