package survey

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

// A sorter sorts fixed-width entries by their bytes. Entries that do not fit into memory are
// written to a directory in sorted pieces, which close removes. When a level has maxPieces pieces,
// they are merged into one piece of the next level. Each level is one file, so even a billion
// receipts require only a few open files.
type sorter struct {
	width  int
	most   int    // maximum number of entries in memory
	dir    string // "" means that everything stays in memory
	memory []byte
	levels []*level
	err    error
}

const maxPieces = 32

func newSorter(width, most int, dir string) *sorter {
	return &sorter{width: width, most: most, dir: dir}
}

// add adds a copy of an entry. sorted returns any errors.
func (s *sorter) add(entry []byte) {
	s.memory = append(s.memory, entry...)
	if s.dir != "" && len(s.memory) >= s.most*s.width && s.err == nil {
		s.err = s.spill()
	}
}

func (s *sorter) spill() error {
	lowest, err := s.level(0)
	if err != nil {
		return err
	}

	s.sortMemory()
	if _, err := lowest.Write(s.memory); err != nil {
		return err
	}
	lowest.endPiece()
	s.memory = s.memory[:0]

	// A full level is merged into the next one, which may then be full, too.
	for n := 0; n < len(s.levels) && len(s.levels[n].ends) >= maxPieces; n++ {
		if err := s.raise(n); err != nil {
			return err
		}
	}
	return nil
}

// raise merges the pieces of a level into one piece of the next level.
func (s *sorter) raise(n int) error {
	from := s.levels[n]
	to, err := s.level(n + 1)
	if err != nil {
		return err
	}

	out := bufio.NewWriterSize(to, 64<<10)
	mergeSorted(from.pieces(), s.width, func(entry []byte, failed error) bool {
		if err = failed; err == nil {
			_, err = out.Write(entry)
		}
		return err == nil
	})
	if err := cmp.Or(err, out.Flush()); err != nil {
		return err
	}
	to.endPiece()
	return from.empty()
}

// level returns a level. It creates the level above the existing levels.
func (s *sorter) level(n int) (*level, error) {
	if n < len(s.levels) {
		return s.levels[n], nil
	}

	f, err := os.CreateTemp(s.dir, "receipt-sort-*")
	if err != nil {
		return nil, err
	}
	s.levels = append(s.levels, &level{file: f})

	// No other process needs the name. Without a name, the file disappears with the process. If a
	// file cannot be removed while it is in use, close removes it.
	_ = os.Remove(f.Name())
	return s.levels[n], nil
}

func (s *sorter) sortMemory() {
	entries := make([][]byte, 0, len(s.memory)/s.width)
	for e := range slices.Chunk(s.memory, s.width) {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, bytes.Compare)
	s.memory = slices.Concat(entries...)
}

// sorted returns the entries in order. It may be called repeatedly, but not concurrently. Each
// entry is valid until the next entry.
func (s *sorter) sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.sortMemory()
		if s.err != nil {
			yield(nil, s.err)
			return
		}

		pieces := []sortedPiece{{bytes.NewReader(s.memory), int64(len(s.memory))}}
		for _, l := range s.levels {
			pieces = append(pieces, l.pieces()...)
		}
		mergeSorted(pieces, s.width, yield)
	}
}

// A sortedPiece is a reader at the beginning of a piece, with the size of the piece.
type sortedPiece struct {
	io.Reader
	size int64
}

// A cursor is a position in a sorted piece, with the entry there.
type cursor struct {
	sortedPiece
	entry []byte
}

// mergeSorted yields the entries of sorted pieces in order. There are few pieces, so it compares
// the current entries of all pieces.
func mergeSorted(pieces []sortedPiece, width int, yield func([]byte, error) bool) {
	var open []*cursor
	for _, p := range pieces {
		c := &cursor{p, make([]byte, width)}
		if more, err := c.next(); err != nil {
			yield(nil, err)
			return
		} else if more {
			open = append(open, c)
		}
	}

	// A piece is dropped at its end.
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

// next reads the next entry. A file that ends before its piece does is an error.
func (c *cursor) next() (bool, error) {
	if c.size <= 0 {
		return false, nil
	}

	n, err := io.ReadFull(c, c.entry)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	c.size -= int64(n)
	return err == nil, err
}

// close releases memory and files.
func (s *sorter) close() error {
	var all []error
	for _, l := range s.levels {
		all = append(all, l.close())
	}
	s.memory, s.levels = nil, nil
	return errors.Join(all...)
}

// A level is a file of consecutive sorted pieces.
type level struct {
	file *os.File
	size int64   // total size of the pieces
	ends []int64 // offset at which each piece ends
}

// Write appends to the current piece, which endPiece ends.
func (l *level) Write(p []byte) (int, error) {
	n, err := l.file.WriteAt(p, l.size)
	l.size += int64(n)
	return n, err
}

func (l *level) endPiece() { l.ends = append(l.ends, l.size) }

func (l *level) pieces() (list []sortedPiece) {
	var began int64
	for _, end := range l.ends {
		part := io.NewSectionReader(l.file, began, end-began)
		list = append(list, sortedPiece{bufio.NewReaderSize(part, int(min(end-began, 64<<10))), end - began})
		began = end
	}
	return list
}

func (l *level) empty() error {
	l.size, l.ends = 0, nil
	return l.file.Truncate(0)
}

func (l *level) close() error {
	err := l.file.Close()
	if removed := os.Remove(l.file.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = cmp.Or(err, removed)
	}
	return err
}
