package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Journal is a file of commits that is open. It is safe for concurrent use.
type Journal struct {
	file  *os.File
	apply func(*Commit) error
	bell  protocol.Bell

	writing sync.Mutex // one commit after the other
	size    int64      // of the file
	broken  error      // what went wrong in writing: what the file holds then, nobody knows

	mu    sync.RWMutex
	index *index
}

// ErrNotWritten says that there was no room for a commit, and that nothing of it is in the file: it
// may be appended again.
var ErrNotWritten = errors.New("journal: the commit was not written")

// ErrInUse says that another program has the journal open.
var ErrInUse = errors.New("journal: another program has it open")

// A DamageError says that a line of a journal is not as it was written, and that no crash while
// it was written explains that.
type DamageError struct {
	Path string
	Line int // from 1
	Err  error
}

// Error gives all of it.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal: %q, line %d: %v; restore the file from a copy", e.Path, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// Open opens a journal, or makes a new one, and applies all of its commits in their order.
// What a crash cut off at its end is removed. Apply is also called for each later commit, after
// it was synced and before anybody is told of its events; an error of it is final. It must not
// call the journal, which answers nobody meanwhile.
//
// The error is [ErrInUse], a *[DamageError], that of apply, or of the file.
func Open(path string, apply func(*Commit) error) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file, apply: apply, index: newIndex()}
	if err = lock(file); err == nil {
		err = j.read()
	}
	if err == nil {
		err = j.cut()
	}
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

// Close closes the file. What is appended later is refused.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken == nil {
		j.broken = os.ErrClosed
	}
	return j.file.Close()
}

// read applies what is there, but for a last line that was cut off.
func (j *Journal) read() error {
	in, doc := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, 1<<62), 1<<16), new(canon.Document)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			if len(text) > 0 && !cutOff(text, j.size) {
				return &DamageError{j.file.Name(), n, errSum}
			}
			return nil // nobody was told of a line that was cut off
		}
		if err != nil {
			return err
		}

		c, err := parseLine(doc, bytes.TrimSuffix(text, []byte("\n")))
		if err != nil {
			if _, last := in.Peek(1); last == io.EOF && lostSector(text, j.size) {
				return nil // as good as cut off
			}
			return &DamageError{j.file.Name(), n, err}
		}
		if err := j.take(c, doc); err != nil {
			return &DamageError{j.file.Name(), n, err}
		}
		j.size += int64(len(text))
	}
}

// take checks the places of what was read, and applies it.
func (j *Journal) take(c *Commit, doc *canon.Document) error {
	next := map[Pointer]int64{}
	for i := range c.Events {
		e := &c.Events[i]
		if _, met := next[e.Resource]; !met {
			next[e.Resource] = j.index.last[e.Resource].sequence
		}
		next[e.Resource]++
		if want := idOf(len(j.index.places) + i + 1); e.ID != want || e.Sequence != next[e.Resource] {
			return fmt.Errorf("expected the event %s with the sequence %d, found %.40q with %d", want, next[e.Resource], e.ID, e.Sequence)
		}
	}

	if err := j.apply(c); err != nil {
		return err
	}
	j.index.add(c, doc, j.size)
	return nil
}

// cut removes what is behind the last whole commit.
func (j *Journal) cut() error {
	info, err := j.file.Stat()
	if err != nil || info.Size() == j.size {
		return err
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	return j.file.Sync()
}

// Append makes a commit last: it is on the disk and applied when Append returns, and its
// events have their ids. When the file cannot grow, as on a full disk, nothing is done: the error
// is a *[protocol.Error], 503, that wraps [ErrNotWritten], and the journal goes on. With another
// error of the file nobody knows whether the commit is on the disk: it is not applied, and nothing
// can be appended until the journal is opened again.
func (j *Journal) Append(c *Commit) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken != nil {
		return fmt.Errorf("journal: nothing more can be written: %w", j.broken)
	}

	j.number(c)
	text, err := newLine(c)
	if err != nil {
		return err
	}
	doc := new(canon.Document)
	if _, err := parseLine(doc, text[:len(text)-1]); err != nil { // what is written can be read
		return fmt.Errorf("journal: the commit cannot be written: %w", err)
	}
	if _, err = j.file.WriteAt(text, j.size); err != nil && j.cut() == nil {
		return notWritten(err)
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		err = j.publish(c, doc)
	}
	if err != nil {
		j.broken = err
		return err
	}

	j.size += int64(len(text))
	j.bell.Ring()
	return nil
}

// publish applies a commit that is on the disk, and shows its events. Who learns of it by what is
// applied, and asks for its events then, waits until they are there.
func (j *Journal) publish(c *Commit, doc *canon.Document) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.apply(c); err != nil {
		return err
	}
	j.index.add(c, doc, j.size)
	return nil
}

// notWritten is the error of a commit of which the file holds nothing.
func notWritten(err error) error {
	e := protocol.Busy(1, "nothing was done: there is no room to write down what happens")
	e.Cause = fmt.Errorf("%w: %w", ErrNotWritten, err)
	return e
}

// number gives the events of a commit their places.
func (j *Journal) number(c *Commit) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	own := map[Pointer]last{}
	for i := range c.Events {
		e := &c.Events[i]
		before, met := own[e.Resource]
		if !met {
			before = j.index.last[e.Resource]
		}
		e.settle(idOf(len(j.index.places)+i+1), before, c.At)
		own[e.Resource] = last{e.ID, e.Sequence}
	}
}

// Log returns the events of a view, for ranges and streams.
func (j *Journal) Log(v View) protocol.Log { return view{j, v} }

// Appended returns a channel that the next commit closes.
func (j *Journal) Appended() <-chan struct{} { return j.bell.Rung() }

// Len returns how many events are of the task, session or workspace of a view, the narrowest
// that it names; of all when it names none.
func (j *Journal) Len(v View) int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	numbers, all := j.index.among(v)
	if all {
		return len(j.index.places)
	}
	return len(numbers)
}

// pageBytes bounds what a log gives at a time: one event, or several that are not longer
// together.
const pageBytes = 1 << 20

// find returns where the events of a view behind an id are, and whether they are the last.
func (j *Journal) find(v View, id string, limit int) (found []numbered, end bool, err error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	number := 0
	if id != "" {
		n, ok := numberOf(id)
		if !ok || n > len(j.index.places) || !j.index.places[n-1].fits(v) {
			return nil, false, protocol.ErrGone
		}
		number = n
	}

	numbers, end := j.index.after(v, number, limit)
	size := 0
	for i, n := range numbers {
		p := j.index.places[n-1]
		if size += p.size; i > 0 && size > pageBytes {
			return found, false, nil
		}
		found = append(found, numbered{n, p})
	}
	return found, end, nil
}

// Event returns the text of one event. The error is [protocol.ErrGone] when there is none of
// this id in the view.
func (j *Journal) Event(v View, id string) ([]byte, error) {
	j.mu.RLock()
	n, ok := numberOf(id)
	ok = ok && n <= len(j.index.places) && j.index.places[n-1].fits(v)
	var p place
	if ok {
		p = j.index.places[n-1]
	}
	j.mu.RUnlock()
	if !ok {
		return nil, protocol.ErrGone
	}

	text := make([]byte, p.size)
	_, err := j.file.ReadAt(text, p.at)
	return text, err
}
