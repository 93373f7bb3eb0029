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
	"github.com/receiptkit/receiptkit/harness/feed"
)

// A Journal is an open file of commits. It is safe for concurrent use.
type Journal struct {
	file  *os.File
	apply func(*Commit) error
	bell  feed.Bell
	head  *headFile

	writing sync.Mutex   // makes sure that commits are written one at a time
	size    int64        // of the file
	sum     canon.Digest // checksum of the last line
	broken  error        // a write error after which the content of the file is unknown
	refused int          // length of a line for which there was no space, or 0 if the last line was written

	mu    sync.RWMutex
	index *index
}

// Open opens or creates a journal and applies all of its commits in order. If a crash truncated the
// last line, Open removes that line. If lines are missing at the end according to PATH-head, the
// journal is damaged. The function apply is also called for each later commit, after the commit has
// been synced and before its events become visible. If apply returns an error, the journal cannot
// be used any longer. The function must not call the journal, which is locked during the call.
//
// The error is [ErrInUse], a *[DamageError], an error from apply, or a file error.
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

// Close closes the file. Later calls to Append fail.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken == nil {
		j.broken = os.ErrClosed
	}
	return j.close()
}

// read applies all commits in the file, except for a last line that was cut off.
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
			return nil // a truncated line was not acknowledged
		}
		if err != nil {
			return err
		}

		c, err := parseLine(doc, bytes.TrimSuffix(text, []byte("\n")))
		if err != nil {
			if _, last := in.Peek(1); last == io.EOF && met && lostSector(text, j.size) {
				return nil // equivalent to truncation
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

// take checks the IDs and sequence numbers in a commit that was read, and applies the commit.
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

// fold applies a commit whose line is the next one in the file, and indexes its events.
func (j *Journal) fold(c *Commit, doc *canon.Document) error {
	defer c.locate(doc, j.size)()
	if err := j.apply(c); err != nil {
		return err
	}
	j.index.add(c, doc, j.size)
	return nil
}

// cut removes everything after the last complete commit.
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

// Append makes a commit durable. When it returns, the commit is on disk and has been applied, and
// its events have IDs. If the file cannot grow, for example because the disk is full, Append
// changes nothing and returns a *[protocol.Error] with the status 503, which wraps [ErrNotWritten].
// The journal remains usable. If the line would be longer than [MaxLine], Append changes nothing
// and returns a 413, [ErrTooLong]. After any other file error, it is unknown whether the commit is
// on disk. The commit is not applied, and nothing can be appended until the journal is opened
// again.
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
	if _, err := parseLine(doc, text[:len(text)-1]); err != nil { // verify that the written line can be read back
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
	_ = j.head.write(j.reached()) // an older head would also be correct
	j.bell.Ring()
	return nil
}

// reached returns the current head.
func (j *Journal) reached() head {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return head{j.size, len(j.index.places), j.sum}
}

// probe is the maximum number of bytes for which [Journal.Ready] checks that there is space.
const probe = 64 << 10

// Ready returns an error if nothing can be appended, either because of a file error or because
// there is no space for a commit, for example on a full disk. If there was no space for the last
// commit, Ready checks whether there is space now.
func (j *Journal) Ready() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.broken != nil || j.refused == 0 {
		return j.broken
	}

	// If a crash leaves these zeros in the file, the next Open removes them, as if nothing had been
	// written.
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

// publish applies a commit that is on disk and makes its events visible. If a reader learns about
// the commit from the applied state and then requests its events, the reader waits until they are
// visible.
func (j *Journal) publish(c *Commit, doc *canon.Document) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fold(c, doc)
}

// number sets the positions of the events in a commit.
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

// Log returns the events in a view as a log for ranges and streams.
func (j *Journal) Log(v View) feed.Log { return &view{journal: j, View: v} }

// Appended returns a channel that the next commit closes.
func (j *Journal) Appended() <-chan struct{} { return j.bell.Rung() }

// Len returns the number of events in the task, the session, or the workspace of a view. It counts
// the events of the narrowest of these that the view specifies, or all events if the view specifies
// none.
func (j *Journal) Len(v View) int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	numbers, all := j.index.among(v)
	if all {
		return len(j.index.places)
	}
	return len(numbers)
}

// pageBytes limits how much a log returns at a time. It returns either a single event, or several
// events whose total length does not exceed this limit.
const pageBytes = 1 << 20

// find returns the positions of up to limit events in the view that follow id. The result end
// reports whether these events are the last ones. passed points to the number of the last event
// that was checked without finding an event after this ID. find continues after that number, and
// updates it.
func (j *Journal) find(v View, id string, limit int, passed *int) (found []numbered, end bool, err error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	number := 0
	if id != "" {
		n, ok := numberOf(id)
		if !ok || n > len(j.index.places) || !j.index.places[n-1].fits(v) {
			return nil, false, feed.ErrGone
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

// Event returns the text of an event in a view. The error is [feed.ErrGone] if the view contains no
// event with this ID.
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
		return nil, feed.ErrGone
	}

	text := make([]byte, p.size)
	_, err := j.file.ReadAt(text, p.at)
	return text, err
}

// Part returns a value exactly as it is stored in the file.
func (j *Journal) Part(p Part) ([]byte, error) {
	text := make([]byte, p.size)
	if _, err := j.file.ReadAt(text, p.at); err != nil {
		return nil, fmt.Errorf("journal: a value of an event cannot be read: %w", err)
	}
	return text, nil
}
