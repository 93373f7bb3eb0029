package event

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// An Log takes the events of one task out of those that it is given: in the order of
// their sequence, none left out, each once, with one content for each id. It is not
// safe for concurrent use.
type Log struct {
	scope  Scope
	budget *Budget
	doc    *canon.Document

	index     int
	err       error                         // the first refusal: it ends the reading
	task      string                        // "" until an event names one
	session   string                        // the same
	seen      map[canon.Digest]canon.Digest // of the digest of an id, that of the content
	sequences map[canon.Digest]int64        // of the digest of a resource, the last
	sum       hash.Hash                     // of the canonical events, a line each
	line      []byte                        // the canonical form of the latest
	waiting   []sessionEvent                // events of sessions, until a session is known
	replays   bool                          // the task is a replay of another
	counts    Counts
}

// A Scope says which events an eventLog takes, and who gets them.
type Scope struct {
	Task    string // "": that of the first event that names one; a second one is an error
	Session string // "": that of the first event that names one, the same

	// Apply is given each event of the task, but for receipt.* ones: issuing makes
	// them. It reports whether the digest of the log covers the event; an event after
	// the end is in no receipt. An error ends the reading.
	Apply func(*Event) (covered bool, err *Error)

	// Ended reports whether the terminal event of the task was applied.
	Ended func() bool

	// Keep, when it is not nil, gets each event that the digest covers: its canonical
	// form (RFC 8785) and a line feed. The bytes are only valid during the call. An
	// error is final.
	Keep func(line []byte) error
}

// Counts say what became of the events that were read without an error.
type Counts struct {
	Events     int // of the task, that the digest of the log covers
	Repeated   int // deliveries of an event that had come before
	OtherTasks int // events of other tasks, or of none
	Receipts   int // receipt.* events: issuing makes them, so no receipt covers them
	Gaps       int // sequences that a resource other than the task leaves out; other tasks may have them
}

// A sessionEvent names a session and no task.
type sessionEvent struct {
	index   int
	session string
	text    []byte
}

// NewLog returns an eventLog. What it keeps is counted in a budget.
func NewLog(s Scope, b *Budget) *Log {
	return &Log{
		scope: s, budget: b, doc: new(canon.Document), task: s.Task, sum: sha256.New(),
		seen: map[canon.Digest]canon.Digest{}, sequences: map[canon.Digest]int64{},
	}
}

// Add takes one event, a JSON object. The error is an *[Error], or what Keep returned;
// it is final: every later call returns it.
func (l *Log) Add(event []byte) error {
	if l.err == nil {
		if err := Parse(l.doc, event); err != nil {
			l.index++
			l.err = Unparsed(l.index, "", err)
			return l.err
		}
	}
	return l.AddDocument(l.doc)
}

// AddDocument is add for an event that is parsed already. The document may be used for
// something else afterwards.
func (l *Log) AddDocument(doc *canon.Document) error {
	if l.err != nil {
		return l.err
	}
	l.index++
	e, refused := read(l.index, doc)
	if refused == nil {
		refused = l.take(e, doc)
	}
	if refused != nil {
		l.err = refused
	}
	return l.err
}

// LastIndex is the number of the latest event, from 1.
func (l *Log) Index() int { return l.index }

// Failed returns the error that ended the reading, if one did.
func (l *Log) Err() error { return l.err }

// TaskID is the task whose events are taken, "" as long as nothing tells.
func (l *Log) TaskID() string { return l.task }

// SessionID is the session that an event named, "" as long as none did.
func (l *Log) SessionID() string { return l.session }

// Empty reports whether no event of the task has come.
func (l *Log) Empty() bool { return len(l.seen) == 0 }

// ReadSoFar returns what became of the events so far.
func (l *Log) Counts() Counts { return l.counts }

// Digest is the SHA-256 of the events that were covered, each in its canonical form and
// ended with a line feed: what a receipt names as the digest of its log.
func (l *Log) Digest() canon.Digest { return canon.Digest(l.sum.Sum(nil)) }

// take decides whether an event belongs to the task, and in which place.
func (l *Log) take(e *Event, doc *canon.Document) *Error {
	mine, err := l.ofTask(e)
	if err != nil {
		return err
	}
	if !mine && scoped(e) {
		mine = l.ofSession(e, doc)
	}
	if !mine {
		l.counts.OtherTasks++
		return e.Err
	}

	if err := l.settle(e); err != nil {
		return err
	}

	// An event that is delivered again counts once, and has the same content.
	l.line = doc.AppendCanonical(l.line[:0])
	id, content := canon.Sum([]byte(e.ID)), e.identity(doc, l.line)
	if before, ok := l.seen[id]; ok {
		if before != content {
			return e.Fail(CodeConflict, e.Root.Member("id"), "an event of this id came before, with another content")
		}
		l.counts.Repeated++
		return nil
	}

	if len(l.seen) >= MaxEvents {
		return e.Exceed("MaxEvents", e.Root, len(l.seen)+1)
	}
	if err := l.follow(e); err != nil {
		return err
	}

	l.seen[id] = content
	l.budget.Charge(e, e.Root, eventCost)

	// Issuing makes the events of receipts, so that no receipt covers them.
	if strings.HasPrefix(e.Kind, "receipt.") {
		l.counts.Receipts++
		return nil
	}
	covered, err := l.scope.Apply(e)
	if err != nil || !covered {
		return err
	}
	l.cover(e)
	return nil
}

// cover writes an event into the digest of the log.
func (l *Log) cover(e *Event) {
	l.counts.Events++
	l.replays = l.replays || e.Kind == "replay.started"
	l.line = append(l.line, '\n')
	l.sum.Write(l.line)
	if l.scope.Keep != nil {
		l.err = l.scope.Keep(l.line)
	}
}

// ofTask reports whether an event is of the task. The first event that names one decides
// which, when the scope does not.
func (l *Log) ofTask(e *Event) (bool, *Error) {
	// The scope comes before the first event that names a task.
	want := cmp.Or(l.scope.Task, l.task)
	switch {
	case e.Task == "":
		return false, nil
	case e.replays() != "" && (want == "" || e.replays() == want):
		l.task = e.replays()
		return true, nil
	case want == "" || e.Task == want:
		l.task = e.Task
		return true, nil
	case l.scope.Task != "":
		return false, nil
	}

	return false, e.Fail(CodeOtherTask, e.Root.Member("task_id"), "expected an event of the task %s, found one of %s; name the task that is meant", Quote(want), Quote(e.Task))
}

// scoped reports whether an event is of a session or a branch and names no task.
func scoped(e *Event) bool {
	return e.Task == "" && (e.Kind == "session.compacted" || strings.HasPrefix(e.Kind, "branch."))
}

// known is the session that is read, "" as long as nothing tells.
func (l *Log) known() string { return cmp.Or(l.scope.Session, l.session) }

// ofSession reports whether an event that names no task is of the session of the
// task. It waits when that is not known yet.
func (l *Log) ofSession(e *Event, doc *canon.Document) bool {
	of := e.Session()
	if e.Resource.Object == "session" {
		of = cmp.Or(of, e.Resource.ID)
	}
	switch {
	case of == "" || l.scope.Ended(): // a session goes on after a task
		return false
	case l.known() == "":
		l.waiting = append(l.waiting, sessionEvent{e.Index, of, l.budget.Keep(e, doc.AppendCanonical(nil))})
		return false
	}
	return of == l.known()
}

// settle takes what waited for the session that an event tells.
func (l *Log) settle(e *Event) *Error {
	told := e.Text(e.Root, "session_id")
	if l.waiting == nil || told == "" {
		return nil
	}

	all := l.waiting
	l.waiting = nil
	l.session = cmp.Or(l.session, told)
	doc := new(canon.Document)

	// What waited goes the way of any event, before the one that tells the session.
	for _, w := range all {
		if w.session != l.known() {
			continue
		}
		if err := doc.Parse(w.text, canon.Limits{}); err != nil {
			return Unparsed(w.index, "", err)
		}

		event, refused := read(w.index, doc)
		if refused == nil {
			l.counts.OtherTasks--
			refused = l.take(event, doc)
		}
		if refused != nil {
			return refused
		}
	}

	return nil
}

// follow checks the sequence. That of the task begins with 0 or 1 and leaves
// none out. Other resources, such as a session, have events of other tasks too.
func (l *Log) follow(e *Event) *Error {
	at := e.Root.Member("sequence")
	of := e.Resource.digest()
	last, ok := l.sequences[of]
	own := e.Resource == Resource{"task", l.task}
	switch {
	case ok && e.Sequence <= last:
		return e.Fail(CodeOrder, at, "expected more than %d, found %d: events come in the order of their sequence", last, e.Sequence)
	case own && ok && e.Sequence != last+1:
		return e.Fail(CodeGap, at, "expected %d, found %d: events are missing", last+1, e.Sequence)
	case own && !ok && e.Sequence > 1:
		return e.Fail(CodeGap, at, "expected 0 or 1 for the first event, found %d: events are missing", e.Sequence)
	case ok && e.Sequence != last+1:
		l.counts.Gaps++
	}

	if !ok {
		l.budget.Charge(e, e.Root, sequenceCost)
	}
	l.sequences[of] = e.Sequence
	return e.Err
}

// Enter takes the session that an event of the task's own names. When the scope names
// none there is one.
func (l *Log) Enter(e *Event) {
	of, named := e.Text(e.Root, "session_id"), l.scope.Session
	switch {
	case of == "":
	case named == of:
		l.session = of
	case named == "" && l.session != "" && l.session != of:
		e.Fail(CodeSession, e.Root.Member("session_id"), "expected an event of the session %s, found one of %s; name the session that is meant", Quote(l.session), Quote(of))
	default:
		l.session = cmp.Or(l.session, of)
	}
}

// Retold reports whether an event is told again from another task. Deliveries of
// the task's own events are marked as replayed, too; in a replay nothing but the
// mark tells them apart, and what may be the source's is not claimed.
func (l *Log) Retold(e *Event) bool {
	if strings.HasPrefix(e.Kind, "replay.") {
		return false
	}
	meta := e.Root.Member("replay")
	source := e.Text(meta, "source_task_id")
	switch {
	case source != "":
		return source != l.task
	case !Absent(meta.Member("original_event_id")):
		return true
	}
	return l.replays && e.Flag(e.Root, "replayed")
}
