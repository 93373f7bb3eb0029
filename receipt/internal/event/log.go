package event

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Log selects the events of one task. It passes them on in sequence order and without gaps. It
// passes each event once, and accepts only one content for each ID. It is not safe for concurrent
// use.
type Log struct {
	scope  Scope
	budget *Budget
	doc    *canon.Document

	index     int
	err       error                         // the first error, which ended the reading
	task      string                        // "" until an event names a task
	session   string                        // "" until an event names a session
	seen      map[canon.Digest]canon.Digest // digests of contents, keyed by the digests of IDs
	sequences map[canon.Digest]int64        // the last sequence, keyed by the digests of resources
	sum       hash.Hash                     // hash of the canonical events, each followed by a line feed
	line      []byte                        // canonical form of the latest event
	waiting   []sessionEvent                // events of sessions, held while the session is unknown
	replays   bool                          // the task is a replay of another task
	counts    Counts
}

// A Scope selects the events of a Log, and receives them.
type Scope struct {
	Task    string // "": the task that the first event names; any other task is then an error
	Session string // "": the session that the first event names; any other session is then an error

	// Apply receives each event of the task, except receipt.* events, which result from issuing. It
	// reports whether the digest of the log covers the event; no receipt covers an event after the
	// end. An error ends the reading.
	Apply func(*Event) (covered bool, err *Error)

	// Ended reports whether the terminal event of the task was applied.
	Ended func() bool

	// Keep, if it is not nil, receives the canonical form (RFC 8785) of each event that the digest
	// covers, followed by a line feed. The bytes are valid only during the call. An error is final.
	Keep func(line []byte) error
}

// Counts contains the numbers of events that were read without an error.
type Counts struct {
	Events     int // events of the task that the digest of the log covers
	Repeated   int // repeated deliveries of events
	OtherTasks int // events of other tasks, or of no task
	Receipts   int // receipt.* events, which result from issuing, so no receipt covers them
	Gaps       int // gaps in the sequences of other resources; the missing events may belong to other tasks
}

// A sessionEvent names a session but no task.
type sessionEvent struct {
	index   int
	session string
	text    []byte
}

// NewLog returns a Log. The budget counts the memory that the Log uses.
func NewLog(s Scope, b *Budget) *Log {
	return &Log{
		scope: s, budget: b, doc: new(canon.Document), task: s.Task, sum: sha256.New(),
		seen: map[canon.Digest]canon.Digest{}, sequences: map[canon.Digest]int64{},
	}
}

// Add adds an event, a JSON object. The error is an *[Error], or the error from Keep. It is final:
// every later call returns it.
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

// AddDocument is like Add for a parsed event. The caller may reuse the document afterward.
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

// Err returns the error that ended the reading, if there was one.
func (l *Log) Err() error { return l.err }

// TaskID returns the selected task, or "" if it is unknown.
func (l *Log) TaskID() string { return l.task }

// SessionID returns the session that an event named, or "" if no event named a session.
func (l *Log) SessionID() string { return l.session }

// Empty reports whether the log has no event of the task.
func (l *Log) Empty() bool { return len(l.seen) == 0 }

// Counts returns the current counts.
func (l *Log) Counts() Counts { return l.counts }

// Digest returns the SHA-256 of the covered events, each in canonical form and followed by a line
// feed. A receipt states it as the digest of its log.
func (l *Log) Digest() canon.Digest { return canon.Digest(l.sum.Sum(nil)) }

// take passes an event on if it belongs to the task and is in a valid position.
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

	// A redelivered event counts once, and must have the same content.
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

	// Events about receipts result from issuing, so no receipt covers them.
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

// cover adds an event to the digest of the log.
func (l *Log) cover(e *Event) {
	l.counts.Events++
	l.replays = l.replays || e.Kind == "replay.started"
	l.line = append(l.line, '\n')
	l.sum.Write(l.line)
	if l.scope.Keep != nil {
		l.err = l.scope.Keep(l.line)
	}
}

// ofTask reports whether an event is of the task. If the scope has no task, the first event that
// names a task selects it.
func (l *Log) ofTask(e *Event) (bool, *Error) {
	// The scope takes precedence over the first event that names a task.
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

// scoped reports whether an event is about a session or a branch but names no task.
func scoped(e *Event) bool {
	return e.Task == "" && (e.Kind == "session.compacted" || strings.HasPrefix(e.Kind, "branch."))
}

// known returns the session, or "" if it is unknown.
func (l *Log) known() string { return cmp.Or(l.scope.Session, l.session) }

// ofSession reports whether an event without a task belongs to the session of the task. If the
// session is unknown, the event is held.
func (l *Log) ofSession(e *Event, doc *canon.Document) bool {
	of := e.Session()
	if e.Resource.Object == "session" {
		of = cmp.Or(of, e.Resource.ID)
	}
	switch {
	case of == "" || l.scope.Ended(): // a session may continue after a task
		return false
	case l.known() == "":
		l.waiting = append(l.waiting, sessionEvent{e.Index, of, l.budget.Keep(e, doc.AppendCanonical(nil))})
		return false
	}
	return of == l.known()
}

// settle applies the held events once an event names the session.
func (l *Log) settle(e *Event) *Error {
	told := e.Text(e.Root, "session_id")
	if l.waiting == nil || told == "" {
		return nil
	}

	all := l.waiting
	l.waiting = nil
	l.session = cmp.Or(l.session, told)
	doc := new(canon.Document)

	// The held events precede the event that names the session, and are handled like all others.
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

// follow checks the sequence. The sequence of the task starts at 0 or 1 and has no gaps. Other
// resources, such as a session, may have events of other tasks.
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

// Enter records the session that an event of the task names. If the scope selects no session, all
// events that name a session must name the same one.
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
// events are marked as replayed, too. In a replay, this mark is the only distinction, and an event
// that may belong to the source is not claimed.
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
