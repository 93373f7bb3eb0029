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
	head  *headFile

	writing sync.Mutex   // one commit after the other
	size    int64        // of the file
	sum     canon.Digest // of the last line
	broken  error        // what went wrong in writing: what the file holds then, nobody knows
	refused int          // the length of a line for which there was no room; 0: the last was written

	mu    sync.RWMutex
	index *index
}

// Open opens a journal, or makes a new one, and applies all of its commits in their order.
// What a crash cut off at its end is removed. A journal that lacks lines at its end that it had
// before, as PATH-head says, is damaged. Apply is also called for each later commit, after
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
		j.head, err = openHead(path)
	}
	if err == nil {
		err = j.read()
	}
	if err == nil {
		err = j.cut()
	}
	if err == nil && j.size > 0 {
		err = j.head.write(j.reached())
	}
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

func (j *Journal) close() error {
	err := j.file.Close()
	if j.head != nil {
		err = errors.Join(err, j.head.file.Close())
	}
	return err
}

// Close closes the file. What is appended later is refused.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken == nil {
		j.broken = os.ErrClosed
	}
	return j.close()
}

// read applies what is there, but for a last line that was cut off.
func (j *Journal) read() error {
	in, doc := bufio.NewReaderSize(io.NewSectionReader(j.file, 0, 1<<62), 1<<16), new(canon.Document)
	met := j.head.was.size == 0
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			switch {
			case len(text) > 0 && !cutOff(text, j.size):
				return &DamageError{j.file.Name(), n, errSum}
			case !met:
				return &DamageError{j.file.Name(), n, j.head.was.lost()}
			}
			return nil // nobody was told of a line that was cut off
		}
		if err != nil {
			return err
		}

		c, err := parseLine(doc, bytes.TrimSuffix(text, []byte("\n")))
		if err != nil {
			if _, last := in.Peek(1); last == io.EOF && met && lostSector(text, j.size) {
				return nil // as good as cut off
			}
			return &DamageError{j.file.Name(), n, err}
		}
		if err := j.take(c, doc); err != nil {
			return &DamageError{j.file.Name(), n, err}
		}
		j.size, j.sum = j.size+int64(len(text)), sumOf(text)
		met = met || j.head.was == j.reached()
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

	return j.fold(c, doc)
}

// fold applies a commit, whose line is the next of the file, and notes where its events are.
func (j *Journal) fold(c *Commit, doc *canon.Document) error {
	defer c.locate(doc, j.size)()
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
// is a *[protocol.Error], 503, that wraps [ErrNotWritten], and the journal goes on. Nor is anything
// done when the line would be longer than [MaxLine]: 413, [ErrTooLong]. With another
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
		j.refused = len(text)
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

	j.size, j.sum, j.refused = j.size+int64(len(text)), sumOf(text), 0
	_ = j.head.write(j.reached()) // an older head is as true
	j.bell.Ring()
	return nil
}

// reached is the head of the journal as it is.
func (j *Journal) reached() head {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return head{j.size, len(j.index.places), j.sum}
}

// probe is how much room [Journal.Ready] looks for at most.
const probe = 64 << 10

// Ready returns why nothing can be appended: an error of the file, or no room for a commit, as on
// a full disk. After a commit for which there was no room, Ready looks whether there is room now.
func (j *Journal) Ready() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken != nil || j.refused == 0 {
		return j.broken
	}

	// Zeros that a crash leaves here are removed as a line that was never written.
	_, err := j.file.WriteAt(make([]byte, min(j.refused, probe)), j.size)
	if uncut := j.cut(); uncut != nil {
		j.broken = uncut
		return uncut
	}
	if err != nil {
		return notWritten(err)
	}
	j.refused = 0
	return nil
}

// publish applies a commit that is on the disk, and shows its events. Who learns of it by what is
// applied, and asks for its events then, waits until they are there.
func (j *Journal) publish(c *Commit, doc *canon.Document) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fold(c, doc)
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
func (j *Journal) Log(v View) protocol.Log { return &view{journal: j, View: v} }

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

// find returns where the events of a view behind an id are, and whether they are the last. passed is
// how far somebody looked before who found nothing behind this id, and then how far this one has
// looked, of whom the same is so.
func (j *Journal) find(v View, id string, limit int, passed *int) (found []numbered, end bool, err error) {
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

	numbers, end := j.index.after(v, max(number, *passed), limit)
	if end && len(numbers) == 0 {
		*passed = len(j.index.places)
	}
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

// Part returns a value as the file has it.
func (j *Journal) Part(p Part) ([]byte, error) {
	text := make([]byte, p.size)
	if _, err := j.file.ReadAt(text, p.at); err != nil {
		return nil, fmt.Errorf("journal: a value of an event cannot be read: %w", err)
	}
	return text, nil
}
