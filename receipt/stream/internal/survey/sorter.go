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
// written to files in sorted pieces. The method close removes these files. When a level has
// maxPieces pieces, they are merged into one piece on the next level. Each level is a single file,
// so only a few open files are needed even for a billion receipts.
type sorter struct {
	width  int
	most   int    // maximum number of entries that are kept in memory
	dir    string // directory for files; "" keeps all entries in memory
	memory []byte
	levels []*level
	err    error
}

const maxPieces = 32

func newSorter(width, most int, dir string) *sorter {
	return &sorter{width: width, most: most, dir: dir}
}

// add adds a copy of an entry; any error is returned by sorted.
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

	// Merging a full level may make the next level full, too.
	for n := 0; len(s.levels[n].ends) >= maxPieces; n++ {
		if err := s.raise(n); err != nil {
			return err
		}
	}
	return nil
}

// raise merges the pieces of a level into one piece on the next level.
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

// level returns the level with the given number. If there is no such level yet, it creates the
// level.
func (s *sorter) level(n int) (*level, error) {
	if n < len(s.levels) {
		return s.levels[n], nil
	}

	f, err := os.CreateTemp(s.dir, "receipt-sort-*")
	if err != nil {
		return nil, err
	}
	s.levels = append(s.levels, &level{file: f})

	// No other process needs to open the file by name. A file without a name is deleted when the
	// process ends. On systems that do not allow the removal of an open file, close removes it
	// later.
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

// sorted returns all entries in sorted order. It may be called several times, but not concurrently.
// Each entry is valid until the next entry is yielded.
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

// A sortedPiece consists of a reader at the beginning of a piece, and the size of the piece.
type sortedPiece struct {
	io.Reader
	size int64
}

// A cursor is a position in a sorted piece, with the entry at that position.
type cursor struct {
	sortedPiece
	entry []byte
}

// mergeSorted yields the entries of several sorted pieces in sorted order. Each step compares the
// current entries of all pieces, because there are only a few pieces.
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

	// A piece is dropped when all of its entries have been yielded.
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

// next reads the next entry. It returns an error if the file ends before the piece does.
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

// close releases the memory and the files of the sorter.
func (s *sorter) close() error {
	var all []error
	for _, l := range s.levels {
		all = append(all, l.close())
	}
	s.memory, s.levels = nil, nil
	return errors.Join(all...)
}

// A level is a file that contains sorted pieces one after another.
type level struct {
	file *os.File
	size int64   // total size of the pieces
	ends []int64 // offset at which each piece ends
}

// Write appends data to the current piece, which endPiece ends.
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
