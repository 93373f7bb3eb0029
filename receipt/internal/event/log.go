package event

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Log selects the events of one task and passes them on. It checks that they are in sequence
// order without gaps. It passes on each event only once, and rejects two events with the same ID
// but different contents. A Log is not safe for concurrent use.
type Log struct {
	scope  Scope
	budget *Budget
	doc    *canon.Document

	index     int
	err       error                         // the first error, after which nothing more is read
	task      string                        // "" until an event names a task
	session   string                        // "" until an event names a session
	seen      map[canon.Digest]canon.Digest // digests of event contents, keyed by the digests of the IDs
	sequences map[canon.Digest]int64        // the last sequence number, keyed by the digest of the resource
	sum       hash.Hash                     // hash of the canonical form of each event, followed by a line feed
	line      []byte                        // the canonical form of the latest event
	waiting   []sessionEvent                // events that name a session but no task, while the session is unknown
	replays   bool                          // the task is a replay of another task
	counts    Counts
}

// A Scope selects the events that a Log passes on, and receives them.
type Scope struct {
	Task    string // "" selects the first task that an event names; naming another task is then an error
	Session string // "" selects the first session that an event names; naming another session is then an error

	// Apply is called for each event of the task, except for receipt.* events, which are created
	// when a receipt is issued. It reports whether the digest of the log covers the event; an event
	// after the end is not covered. If Apply returns an error, nothing more is read.
	Apply func(*Event) (covered bool, err *Error)

	// Ended reports whether the terminal event of the task has been applied.
	Ended func() bool

	// Keep, if not nil, is called with the canonical form (RFC 8785) of each event that the digest
	// covers, followed by a line feed. The bytes are valid only until Keep returns. If Keep returns
	// an error, nothing more is read.
	Keep func(line []byte) error
}

// Counts contains numbers of events that were read without an error.
type Counts struct {
	Events     int // events of the task that the digest covers
	Repeated   int // deliveries of events that had been delivered before
	OtherTasks int // events of other tasks or of no task
	Receipts   int // receipt.* events, which are created when a receipt is issued, so no receipt covers them
	Gaps       int // gaps in the sequence numbers of other resources; the missing events may belong to other tasks
}

// A sessionEvent is an event that names a session but no task.
type sessionEvent struct {
	index   int
	session string
	text    []byte
}

// NewLog returns a Log for the events that s selects. The budget b counts the memory that the Log
// uses.
func NewLog(s Scope, b *Budget) *Log {
	return &Log{
		scope: s, budget: b, doc: new(canon.Document), task: s.Task, sum: sha256.New(),
		seen: map[canon.Digest]canon.Digest{}, sequences: map[canon.Digest]int64{},
	}
}

// Add adds an event, which must be a JSON object. The error is an *[Error], or the error that Keep
// returned. After an error, every later call returns the same error.
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

// AddDocument is like Add, but its argument is a parsed event. The caller may reuse the document
// after the call.
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

// Index returns the number of the latest event, from 1.
func (l *Log) Index() int { return l.index }

// Err returns the error that ended reading, or nil.
func (l *Log) Err() error { return l.err }

// TaskID returns the task of the log, or "" if it is not known yet.
func (l *Log) TaskID() string { return l.task }

// SessionID returns the session that an event has named, or "" if no event has named one.
func (l *Log) SessionID() string { return l.session }

// Empty reports whether the log contains no event of the task.
func (l *Log) Empty() bool { return len(l.seen) == 0 }

// Counts returns the current counts.
func (l *Log) Counts() Counts { return l.counts }

// Digest returns the SHA-256 of all covered events, each in canonical form and followed by a line
// feed. A receipt contains this value as the digest of its log.
func (l *Log) Digest() canon.Digest { return canon.Digest(l.sum.Sum(nil)) }

// take passes on an event if it belongs to the task and its sequence number is valid.
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

	// A redelivered event is counted once, and must have the same content.
	l.line = doc.AppendCanonical(l.line[:0])
	id, content := canon.Sum([]byte(e.ID)), e.identity(doc, l.line)
	if before, ok := l.seen[id]; ok {
		if before != content {
			return e.Fail(CodeConflict, e.Root.Member("id"), "an earlier event has the same id but different content")
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

	// Events about receipts are created when a receipt is issued, so no receipt covers them.
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

// cover adds the event to the digest of the log.
func (l *Log) cover(e *Event) {
	l.counts.Events++
	l.replays = l.replays || e.Kind == "replay.started"
	l.line = append(l.line, '\n')
	l.sum.Write(l.line)
	if l.scope.Keep != nil {
		l.err = l.scope.Keep(l.line)
	}
}

// ofTask reports whether an event belongs to the task. If the scope selects no task, the first task
// that an event names is used.
func (l *Log) ofTask(e *Event) (bool, *Error) {
	// A task in the scope takes precedence over the first task that an event names.
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

// scoped reports whether an event is about a session or a branch and names no task.
func scoped(e *Event) bool {
	return e.Task == "" && (e.Kind == "session.compacted" || strings.HasPrefix(e.Kind, "branch."))
}

// known returns the session of the task, or "" if it is unknown.
func (l *Log) known() string { return cmp.Or(l.scope.Session, l.session) }

// ofSession reports whether an event that names no task belongs to the task's session. While the
// session is unknown, the event is held.
func (l *Log) ofSession(e *Event, doc *canon.Document) bool {
	of := e.Session()
	if e.Resource.Object == "session" {
		of = cmp.Or(of, e.Resource.ID)
	}
	switch {
	case of == "" || l.scope.Ended(): // a session may continue after the task
		return false
	case l.known() == "":
		l.waiting = append(l.waiting, sessionEvent{e.Index, of, l.budget.Keep(e, doc.AppendCanonical(nil))})
		return false
	}
	return of == l.known()
}

// settle applies the held events once the session is known.
func (l *Log) settle(e *Event) *Error {
	told := e.Text(e.Root, "session_id")
	if l.waiting == nil || told == "" {
		return nil
	}

	all := l.waiting
	l.waiting = nil
	l.session = cmp.Or(l.session, told)
	doc := new(canon.Document)

	// The held events precede the event that names the session, and are processed like any other
	// event.
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

// follow checks the sequence number of an event. The sequence numbers of the task start at 0 or 1
// and have no gaps. Gaps are allowed for other resources, such as a session, which may also have
// events of other tasks.
func (l *Log) follow(e *Event) *Error {
	at := e.Root.Member("sequence")
	of := e.Resource.digest()
	last, ok := l.sequences[of]
	own := e.Resource == Resource{"task", l.task}
	switch {
	case ok && e.Sequence <= last:
		return e.Fail(CodeOrder, at, "expected more than %d, found %d: events must be in the order of their sequence", last, e.Sequence)
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

// Enter records the session named by an event of the task. If the scope selects no session, all
// events that name a session must name the same session.
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

// Retold reports whether an event repeats an event of another task. Redeliveries of the task's own
// events are also marked as replayed. In a replay, there is no other way to distinguish
// redeliveries from events of the source, so an event that may belong to the source is not
// attributed to the replay.
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
