package record

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Recorder consumes the events of one task, in order, and makes the draft of
// its receipt. It is not safe for concurrent use.
type Recorder struct {
	options Options
	kinds   map[string]eventKind // shared by all recorders, which do not write to it
	forms   map[string]form      // shared, too
	log     *event.Log
	run     *run
	counts  Counts

	subjectTold bool // the event that the receipt is about has come
}

// Counts say what became of the events that were added without an error.
type Counts struct {
	event.Counts
	Late           int      // events after the terminal one that say nothing for the receipt
	Retold         int      // events that a replay tells again from another task, among Events
	Foreign        int      // answers from another session than the question: they decided nothing
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
	return newRecorder(o, kindsByName()), nil
}

// Ended reports whether the terminal event has come.
func (r *Recorder) Ended() bool { return r.run.final != "" }

func newRecorder(o Options, kinds map[string]eventKind) *Recorder {
	b := event.NewBudget()
	r := &Recorder{options: o, run: newRun(o, b), kinds: kinds, forms: forms()}
	r.log = event.NewLog(event.Scope{Task: o.TaskID, Session: o.SessionID, Apply: r.apply, Ended: r.Ended, Keep: o.Keep}, b)
	return r
}

// Add consumes one event, a JSON object. The error is an *[Error], or what
// Options.Keep returned; it is final: every later call and [Recorder.Draft] return
// it, so that no receipt leaves out what was refused.
func (r *Recorder) Add(event []byte) error { return r.log.Add(event) }

// AddDocument is Add for an event that is parsed already. The document may be
// used for something else afterwards.
func (r *Recorder) AddDocument(doc *canon.Document) error { return r.log.AddDocument(doc) }

// Counts returns what became of the events so far.
func (r *Recorder) Counts() Counts {
	c := r.counts
	c.Counts = r.log.Counts()
	c.UnknownKinds, c.Foreign = slices.Clone(c.UnknownKinds), r.run.approvals.foreign
	return c
}

// apply lets an event of the task say what it says.
func (r *Recorder) apply(e *event.Event) (covered bool, err *event.Error) {
	// No event after the end changes the receipt.
	kind, known := r.kinds[e.Kind]
	switch {
	case r.Ended() && known && kind.says(e):
		return false, e.Fail(event.CodeAfterEnd, e.Root.Member("event"), "the task ended as %s before, and this event would change its receipt", r.run.final)
	case r.Ended():
		r.counts.Late++
		return false, nil
	}

	r.run.task, r.run.ids.SessionID = r.log.TaskID(), r.log.SessionID()
	again := r.log.Retold(e)
	if e.Kept = r.run.Budget; !again {
		r.run.ids.envelope(e)
		r.log.Enter(e)
		r.run.ids.SessionID = r.log.SessionID()
	}

	r.fit(e)

	// What announces a substitution is applied as a kind of its own.
	if e.Kind != "replay.event_replayed" {
		r.run.replay.substituted(r.run, e)
	}
	r.count(e, kind, known)
	switch {
	case again:
		r.counts.Retold++
		r.run.tellAgain(e, kind)
	case kind.apply != nil:
		r.run.replay.marked(e)
		kind.apply(r.run, e)
	}

	// Unknown kinds are covered, too: they are evidence.
	if r.run.Charge(e, e.Root, 0); e.Err != nil {
		return false, e.Err
	}
	r.subjectTold = r.subjectTold || r.options.Subject == receipt.ResourceRef{Object: objectEvent, ID: e.ID}
	return true, nil
}

// fit refuses an event with a member of another type than the member may have, also
// where nothing reads it: a line is right or wrong whatever stands around it.
func (r *Recorder) fit(e *event.Event) {
	members := r.forms[e.Kind]
	for name, value := range e.Payload.Members() {
		if want := members[string(name.Text())]; want != nil {
			want(e, value)
		}
	}
}

// count counts what this version does not know of an event.
func (r *Recorder) count(e *event.Event, kind eventKind, known bool) {
	switch {
	case !known:
		r.run.unread.note(r.run, e, e.Kind)
		r.counts.Unknown++
		if len(r.counts.UnknownKinds) < maxUnknownKinds && !slices.Contains(r.counts.UnknownKinds, e.Kind) {
			r.counts.UnknownKinds = append(r.counts.UnknownKinds, e.Kind)
		}
	case kind.apply != nil:
		members := r.forms[e.Kind]
		for name := range e.Payload.Members() {
			if _, read := members[string(name.Text())]; !read {
				r.counts.UnknownMembers++
			}
		}
	}
}

// Draft returns the draft of the receipt. Errors are [ErrNotEnded], the *[Error]
// that ended the recording, a *[MissingError], an *[OptionError], and a *[receipt.InvalidError] for
// what cannot be sealed. It can be called again and changes nothing.
func (r *Recorder) Draft() (*receipt.Draft, error) {
	if err := r.log.Err(); err != nil {
		return nil, err
	}
	switch {
	case !r.Ended() && r.options.TaskID != "" && r.log.Counts().OtherTasks > 0 && r.log.Empty():
		return nil, fmt.Errorf("%w; none of the events is of the task %s", ErrNotEnded, event.Quote(r.options.TaskID))
	case !r.Ended():
		return nil, ErrNotEnded
	}

	// What is told again needs a replay that tells it.
	if told := r.run.replay.told; told != nil && !r.run.replay.is {
		return nil, told
	}
	d := draftOf(r.run)
	var err error
	if d.Subject, err = subjectOf(r.run, d, r.subjectTold); err != nil {
		return nil, err
	}

	if n := textOf(reflect.ValueOf(d)); n > receipt.MaxBytes { // before it is written out
		return nil, event.OverLimit(r.log.Index(), "receipt.MaxBytes", int64(n))
	}

	// A replay that does not tell the log of its source cannot be byte for byte.
	log, told := r.logMaterial()
	d.ReplayInput.Materials = slices.Concat([]receipt.Material{log}, r.run.sourced.logs, d.ReplayInput.Materials)
	if !told && d.ReplayInput.Determinism == "byte_deterministic" {
		d.ReplayInput.Determinism = "best_effort"
	}
	if err := missing(d); err != nil {
		return nil, err
	}

	// Only a task that has ended gets a receipt.
	if d.IssuedAt.Before(d.Lifecycle.CompletedAt.Time) {
		return nil, &OptionError{"IssuedAt", fmt.Sprintf("is %s, before the end of the task, %s", d.IssuedAt, d.Lifecycle.CompletedAt)}
	}

	if _, err := receipt.Seal(d, chain.Head{}); err != nil { // what is yielded can be sealed
		return nil, err
	}
	return clone(d)
}

// logMaterial is the digest of the events that the draft was made of, each in
// canonical form and ended with a line feed. A replay has the log of its source in
// this place.
func (r *Recorder) logMaterial() (m receipt.Material, told bool) {
	if r.run.replay.is {
		return r.run.replay.sourceLog()
	}
	return receipt.Material{
		Kind: "event_log", ID: "event_log:" + r.run.task, URI: r.options.LogURI, ContentType: logType,
		SHA256: r.log.Digest(), Metadata: receipt.Object{"events": r.log.Counts().Events},
	}, true
}

// Dependencies returns what answered the task so far, in the order of the events that
// told the answers. Where a task is a replay, those on the clock are its own and not its source's.
func (r *Recorder) Dependencies() []Dependency {
	list := slices.Clone(r.run.life.clock)
	for _, x := range r.run.materials.order {
		m, returned := x.entry(r.run)
		if !returned {
			continue
		}

		told, call := x.told, ""
		if x.call != nil {
			told, call = x.call.output.told, x.call.id
		}
		list = append(list, Dependency{m.ID, m.Kind, told.event, told.index, told.pointer, m.SHA256, m.URI, call})
	}

	slices.SortStableFunc(list, func(a, b Dependency) int { return a.Index - b.Index })
	return list
}

// TaskID is the task whose events are read, "" as long as none named it.
func (r *Recorder) TaskID() string { return r.log.TaskID() }

// Digest is the SHA-256 of the events of the task: the event_log of its draft.
func (r *Recorder) Digest() canon.Digest { return r.log.Digest() }

// IsReplay reports whether the task is the replay of another.
func (r *Recorder) IsReplay() bool { return r.run.replay.is }
