package record

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Recorder consumes the events of one task, in order, and makes the draft of
// its receipt. It is not safe for concurrent use.
type Recorder struct {
	options Options
	kinds   map[string]eventKind
	doc     *canon.Document
	run     *run

	index     int
	err       error                         // the first refusal: it ends the recording
	seen      map[canon.Digest]canon.Digest // of the digest of an id, that of the content
	sequences map[canon.Digest]int64        // of the digest of a resource, the last
	log       hash.Hash                     // of the canonical events, a line each
	line      []byte                        // the canonical form of the latest
	counts    Counts
	waiting   []sessionEvent // events of sessions, until a session is known

	subjectTold bool // the event that the receipt is about has come
}

// A sessionEvent names a session and no task.
type sessionEvent struct {
	index   int
	session string
	text    []byte
}

// Counts say what became of the events that were added without an error.
type Counts struct {
	Events         int      // of the task, that the draft and the digest of the log cover
	Repeated       int      // deliveries of an event that had come before
	OtherTasks     int      // events of other tasks, or of none
	Receipts       int      // receipt.* events: issuing makes them, so no receipt covers them
	Late           int      // events after the terminal one that say nothing for the receipt
	Retold         int      // events that a replay tells again from another task, among Events
	Foreign        int      // answers from another session than the question: they decided nothing
	Gaps           int      // sequences that a resource other than the task leaves out; other tasks may have them
	Unknown        int      // events of kinds that this version does not know, among Events
	UnknownKinds   []string // the first 20 of those kinds, in the order in which they came
	UnknownMembers int      // members of payloads that this version does not know
}

const maxUnknownKinds = 20

// New returns a Recorder. The error is an *[OptionError]: options that name no
// issuer, or an unknown tier.
func New(o Options) (*Recorder, error) {
	o, err := o.normal()
	if err != nil {
		return nil, err
	}
	return newRecorder(o, eventKinds()), nil
}

func newRecorder(o Options, table []eventKind) *Recorder {
	r := &Recorder{
		options: o, doc: new(canon.Document), run: newRun(o), log: sha256.New(),
		kinds: make(map[string]eventKind, len(table)), seen: map[canon.Digest]canon.Digest{}, sequences: map[canon.Digest]int64{},
	}
	for _, k := range table {
		r.kinds[k.Event] = k
	}
	return r
}

// Add consumes one event, a JSON object. The error is an *[Error], or what
// Options.Keep returned; it is final: every later call and [Recorder.Draft] return
// it, so that no receipt leaves out what was refused.
func (r *Recorder) Add(event []byte) error {
	if r.err == nil {
		if err := parse(r.doc, event); err != nil {
			r.index++
			r.err = unparsed(r.index, "", err)
			return r.err
		}
	}
	return r.AddDocument(r.doc)
}

// AddDocument is Add for an event that is parsed already. The document may be
// used for something else afterwards.
func (r *Recorder) AddDocument(doc *canon.Document) error {
	if r.err != nil {
		return r.err
	}
	r.index++
	e, refused := readEvent(r.index, doc)
	if refused == nil {
		refused = r.take(e, doc)
	}
	if refused != nil {
		r.err = refused
	}
	return r.err
}

// Ended reports whether the terminal event has come.
func (r *Recorder) Ended() bool { return r.run.final != "" }

// Counts returns what became of the events so far.
func (r *Recorder) Counts() Counts {
	c := r.counts
	c.UnknownKinds, c.Foreign = slices.Clone(c.UnknownKinds), r.run.foreign
	return c
}

// take decides whether an event belongs to the recording.
func (r *Recorder) take(e *event, doc *canon.Document) *Error {
	mine, err := r.ofTask(e)
	if err != nil {
		return err
	}
	if !mine && e.scoped() {
		mine = r.ofSession(e, doc)
	}
	if !mine {
		r.counts.OtherTasks++
		return e.err
	}

	if err := r.settle(e); err != nil {
		return err
	}

	// An event that is delivered again counts once, and has the same content.
	r.line = doc.AppendCanonical(r.line[:0])
	id, content := canon.Sum([]byte(e.id)), e.identity(doc, r.line)
	if before, ok := r.seen[id]; ok {
		if before != content {
			return e.fail(CodeConflict, e.root.Member("id"), "an event of this id came before, with another content")
		}
		r.counts.Repeated++
		return nil
	}

	if len(r.seen) >= MaxEvents {
		return e.exceed("MaxEvents", e.root, len(r.seen)+1)
	}
	if err := r.follow(e); err != nil {
		return err
	}

	r.seen[id] = content
	r.run.charge(e, e.root, eventCost)

	// No event after the end changes the receipt.
	kind, known := r.kinds[e.kind]
	switch {
	case strings.HasPrefix(e.kind, "receipt."):
		r.counts.Receipts++
		return nil
	case r.Ended() && known && kind.says(e):
		return e.fail(CodeAfterEnd, e.root.Member("event"), "the task ended as %s before, and this event would change its receipt", r.run.final)
	case r.Ended():
		r.counts.Late++
		return nil
	}

	r.consume(e, kind, known)
	return e.err
}

// scoped reports whether an event is of a session or a branch and names no task.
func (e *event) scoped() bool {
	return e.task == "" && (e.kind == "session.compacted" || strings.HasPrefix(e.kind, "branch."))
}

// session is the one that is recorded, "" as long as nothing tells.
func (r *Recorder) session() string { return cmp.Or(r.options.SessionID, r.run.ids.SessionID) }

// ofSession reports whether an event that names no task is of the session of the
// task. It waits when that is not known yet.
func (r *Recorder) ofSession(e *event, doc *canon.Document) bool {
	of := e.session()
	if e.resource.object == "session" {
		first(&of, e.resource.id)
	}
	switch {
	case of == "" || r.Ended(): // a session goes on after a task
		return false
	case r.session() == "":
		r.waiting = append(r.waiting, sessionEvent{e.index, of, r.run.keep(e, doc.AppendCanonical(nil))})
		return false
	}
	return of == r.session()
}

// settle takes what waited for the session that an event tells.
func (r *Recorder) settle(e *event) *Error {
	told := e.text(e.root, "session_id")
	if r.waiting == nil || told == "" {
		return nil
	}

	all := r.waiting
	r.waiting = nil
	first(&r.run.ids.SessionID, told)
	doc := new(canon.Document)

	// What waited goes the way of any event, before the one that tells the session.
	for _, w := range all {
		if w.session != r.session() {
			continue
		}
		if err := doc.Parse(w.text, canon.Limits{}); err != nil {
			return unparsed(w.index, "", err)
		}

		event, refused := readEvent(w.index, doc)
		if refused == nil {
			r.counts.OtherTasks--
			refused = r.take(event, doc)
		}
		if refused != nil {
			return refused
		}
	}

	return nil
}

// ofTask reports whether an event is of the task that is recorded. The first
// event that is of a task decides which, when the options do not.
func (r *Recorder) ofTask(e *event) (bool, *Error) {
	// The options come before the first event that names a task.
	want := r.options.TaskID
	if want == "" {
		want = r.run.task
	}

	switch {
	case e.task == "":
		return false, nil
	case e.replays() != "" && (want == "" || e.replays() == want):
		r.run.task = e.replays()
		return true, nil
	case want == "" || e.task == want:
		r.run.task = e.task
		return true, nil
	case r.options.TaskID != "":
		return false, nil
	}

	return false, e.fail(CodeOtherTask, e.root.Member("task_id"), "expected an event of the task %s, found one of %s; name the task that is meant", quote(want), quote(e.task))
}

// follow checks the sequence. That of the task begins with 0 or 1 and leaves
// none out. Other resources, such as a session, have events of other tasks too.
func (r *Recorder) follow(e *event) *Error {
	at := e.root.Member("sequence")
	of := e.resource.digest()
	last, ok := r.sequences[of]
	own := e.resource == resource{"task", r.run.task}
	switch {
	case ok && e.sequence <= last:
		return e.fail(CodeOrder, at, "expected more than %d, found %d: events come in the order of their sequence", last, e.sequence)
	case own && ok && e.sequence != last+1:
		return e.fail(CodeGap, at, "expected %d, found %d: events are missing", last+1, e.sequence)
	case own && !ok && e.sequence > 1:
		return e.fail(CodeGap, at, "expected 0 or 1 for the first event, found %d: events are missing", e.sequence)
	case ok && e.sequence != last+1:
		r.counts.Gaps++
	}

	if !ok {
		r.run.charge(e, e.root, sequenceCost)
	}
	r.sequences[of] = e.sequence
	return e.err
}

// consume applies the event and writes it into the digest of the log.
func (r *Recorder) consume(e *event, kind eventKind, known bool) {
	again := r.run.toldAgain(e)
	if e.kept = r.run.budget; !again {
		r.run.envelope(e)
	}

	// What announces a substitution is applied as a kind of its own.
	if e.kind != "replay.event_replayed" {
		r.run.substituted(e)
	}

	switch {
	case !known:
		r.counts.Unknown++
		if len(r.counts.UnknownKinds) < maxUnknownKinds && !slices.Contains(r.counts.UnknownKinds, e.kind) {
			r.counts.UnknownKinds = append(r.counts.UnknownKinds, e.kind)
		}
	case kind.apply != nil:
		for name := range e.payload.Members() {
			if !slices.Contains(kind.Payload, name.String()) {
				r.counts.UnknownMembers++
			}
		}
		if again {
			break
		}
		r.run.replay.marked(e)
		kind.apply(r.run, e)
	}

	if again {
		r.counts.Retold++
		r.run.tellAgain(e, kind)
	}
	if r.run.charge(e, e.root, 0); e.err != nil {
		return
	}

	// Unknown kinds are in the digest, too: they are evidence.
	r.counts.Events++
	r.subjectTold = r.subjectTold || r.options.Subject == receipt.ResourceRef{Object: objectEvent, ID: e.id}
	r.line = append(r.line, '\n')
	r.log.Write(r.line)
	if r.options.Keep != nil {
		r.err = r.options.Keep(r.line)
	}
}
