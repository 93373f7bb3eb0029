package record

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

// A Recorder records the events of a task in order, and creates the draft of its receipt. It is not
// safe for concurrent use.
type Recorder struct {
	options Options
	kinds   map[string]eventKind // shared by all recorders, read-only
	forms   map[string]form      // also shared
	log     *event.Log
	run     *run
	counts  Counts

	subjectTold bool // the event that is the subject was recorded
}

// Counts contains the numbers of events and frames that were added without an error.
type Counts struct {
	event.Counts
	Late           int      // events after the terminal event that do not affect the receipt
	Retold         int      // events that a replay repeats from its source, included in Events
	Foreign        int      // answers that were ignored because they are from a different session than the question
	Unknown        int      // number of events of unknown kinds, included in Events
	UnknownKinds   []string // the first 20 unknown kinds, in order of appearance
	UnknownMembers int      // unknown members of payloads
	Frames         bridge.Counts
}

const maxUnknownKinds = 20

// New returns a Recorder. The error is an *[OptionError] if the options contain an invalid value or
// do not specify an issuer.
func New(o Options) (*Recorder, error) {
	o, err := o.normal()
	if err != nil {
		return nil, err
	}
	return newRecorder(o, kindsByName()), nil
}

// Ended reports whether the terminal event has been recorded.
func (r *Recorder) Ended() bool { return r.run.final != "" }

func newRecorder(o Options, kinds map[string]eventKind) *Recorder {
	b := event.NewBudget()
	r := &Recorder{options: o, run: newRun(o, b), kinds: kinds, forms: forms()}
	r.log = event.NewLog(event.Scope{Task: o.TaskID, Session: o.SessionID, Apply: r.apply, Ended: r.Ended, Keep: o.Keep}, b)
	return r
}

// Add records one event, a JSON object. The error is an *[Error], or the error that Options.Keep
// returned. It is permanent: every later call and [Recorder.Draft] return it, so that no receipt
// omits a rejected event.
func (r *Recorder) Add(event []byte) error { return r.log.Add(event) }

// AddDocument is like Add, but for a parsed event. The caller may reuse the document afterward.
func (r *Recorder) AddDocument(doc *canon.Document) error { return r.log.AddDocument(doc) }

// Counts returns the current event counts.
func (r *Recorder) Counts() Counts {
	c := r.counts
	c.Counts = r.log.Counts()
	c.UnknownKinds, c.Foreign = slices.Clone(c.UnknownKinds), r.run.approvals.foreign
	return c
}

// apply applies a task event to the run.
func (r *Recorder) apply(e *event.Event) (covered bool, err *event.Error) {
	// An event after the end must not change the receipt.
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

	// A substitution can create events of any kind. The announcement of a substitution is applied
	// below, according to its kind.
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

	// The digest also covers events of unknown kinds, because they are evidence.
	if r.run.Charge(e, e.Root, 0); e.Err != nil {
		return false, e.Err
	}
	r.subjectTold = r.subjectTold || r.options.Subject == receipt.ResourceRef{Object: objectEvent, ID: e.ID}
	return true, nil
}

// fit rejects an event with a member of the wrong type, even if the member is not used, so that the
// validity of a line does not depend on other lines. The functions that apply events rely on this
// check.
func (r *Recorder) fit(e *event.Event) {
	members := r.forms[e.Kind]
	for name, value := range e.Payload.Members() {
		if want := members[string(name.Text())]; want != nil {
			want(e, value)
		}
	}
}

// count counts the unknown parts of an event.
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

// Draft returns the draft of the receipt. The error is [ErrNotEnded], the *[Error] that ended the
// recording, a *[MissingError], an *[OptionError], or a *[receipt.InvalidError] if the draft cannot
// be sealed. Draft does not change the recorder and can be called again.
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

	// Repeated events are valid only if an event starts a replay.
	if told := r.run.replay.told; told != nil && !r.run.replay.is {
		return nil, told
	}
	d := draftOf(r.run)
	var err error
	if d.Subject, err = subjectOf(r.run, d, r.subjectTold); err != nil {
		return nil, err
	}

	if n := textOf(reflect.ValueOf(d)); n > receipt.MaxBytes { // this must be checked before the draft is marshaled
		return nil, event.OverLimit(r.log.Index(), "receipt.MaxBytes", int64(n))
	}

	// Without the log of its source, a replay cannot be exact, byte for byte.
	log, told := r.logMaterial()
	d.ReplayInput.Materials = slices.Concat([]receipt.Material{log}, r.run.sourced.logs, d.ReplayInput.Materials)
	if !told && d.ReplayInput.Determinism == "byte_deterministic" {
		d.ReplayInput.Determinism = "best_effort"
	}
	if err := missing(d); err != nil {
		return nil, err
	}

	// Receipts are created only for tasks that have ended.
	if d.IssuedAt.Before(d.Lifecycle.CompletedAt.Time) {
		return nil, &OptionError{"IssuedAt", fmt.Sprintf("is %s, before the end of the task, %s", d.IssuedAt, d.Lifecycle.CompletedAt)}
	}

	if _, err := receipt.Seal(d, chain.Head{}); err != nil { // this ensures that the returned draft can be sealed
		return nil, err
	}
	return clone(d)
}

// logMaterial returns the material for the log. Its digest covers the canonical form of each event,
// followed by a line feed. For a replay, the log is the source's log. The result told is false if
// the digest of that log was not recorded.
func (r *Recorder) logMaterial() (m receipt.Material, told bool) {
	if r.run.replay.is {
		return r.run.replay.sourceLog()
	}
	return receipt.Material{
		Kind: "event_log", ID: "event_log:" + r.run.task, URI: r.options.LogURI, ContentType: logType,
		SHA256: r.log.Digest(), Metadata: receipt.Object{"events": r.log.Counts().Events},
	}, true
}

// Dependencies returns the answers that the task has received so far, in the order of their events.
// The times of a replay are its own, not the times of its source.
func (r *Recorder) Dependencies() []Dependency {
	list := slices.Clone(r.run.life.clock)
	for _, x := range r.run.materials.order {
		m, returned := x.entry(r.run)
		if !returned {
			continue
		}

		// The answer of a call is its output.
		told, call := x.told, ""
		if x.call != nil {
			told, call = x.call.output.told, x.call.id
		}
		list = append(list, Dependency{m.ID, m.Kind, told.event, told.index, told.pointer, m.SHA256, m.URI, call})
	}

	slices.SortStableFunc(list, func(a, b Dependency) int { return a.Index - b.Index })
	return list
}

// TaskID returns the ID of the recorded task, or "" if neither the options nor an event has
// specified it.
func (r *Recorder) TaskID() string { return r.log.TaskID() }

// Digest returns the SHA-256 of the events of the task. Unless the task is a replay, it is the
// digest of the event_log in the draft.
func (r *Recorder) Digest() canon.Digest { return r.log.Digest() }

// IsReplay reports whether the task replays another task.
func (r *Recorder) IsReplay() bool { return r.run.replay.is }

// A run is the state of a task after the events so far.
type run struct {
	options Options
	task    string
	ids     names
	life

	calls     calls
	approvals approvals
	effects   effects
	costs     costs
	models    models
	spans     spans
	materials *materials
	handoffs  handoffs
	artifacts artifacts
	sourced   sourced
	unread    unread
	replay    replay
	source    *run // the source of a replay, according to the repeated events

	*event.Budget
}

func newRun(o Options, b *event.Budget) *run {
	r := &run{
		options: o, task: o.TaskID, life: life{tier: o.Tier, startTier: o.Tier}, approvals: approvals{of: map[string]string{}}, effects: newEffects(o.WorkspaceRoot),
		models: models{calls: map[string]int{}}, spans: newSpans(), materials: &materials{recorded: map[[5]string]int{}}, Budget: b,
	}
	r.calls.effects = &r.effects
	return r
}

// newSource returns the run to which repeated events are applied. It shares the materials and the
// numbers of model calls.
func (r *run) newSource() *run {
	s := newRun(r.options, r.Budget)
	s.again, s.task = true, r.replay.source
	s.materials, s.models.calls = r.materials, r.models.calls
	return s
}

// tellAgain applies an event that the replay repeats from its source, because the receipt contains
// the materials and times of such events.
func (r *run) tellAgain(e *event.Event, kind eventKind) {
	if r.source == nil {
		r.source = r.newSource()
	}
	r.replay.foundBefore(e)
	if kind.apply != nil {
		kind.apply(r.source, e)
	}
}

// times returns the times of the task. A time that an override sets takes precedence over the time
// of the source, which takes precedence over the task's own time.
func (r *run) times() (created, started, ended time.Time) {
	created, started, ended = r.created, r.started, r.ended
	if s := r.source; s != nil {
		last(&created, s.created)
		last(&started, s.started)
		last(&ended, s.ended)
	}
	last(&created, r.replay.pinned["created_at"])
	last(&started, r.replay.pinned["started_at"])
	last(&ended, r.replay.pinned["completed_at"])
	return created, started, ended
}

// unrecorded reports whether the task received, or may have received, an answer that is not a
// material.
func (r *run) unrecorded() bool {
	return r.spans.open.of(spanModel) || r.models.twice || r.calls.unrecorded()
}

// names contains the identifiers in the draft, as recorded in the events.
type names struct {
	receipt.Identifiers
	policy  string
	trigger receipt.Object  // connector that submitted the task
	twice   map[string]bool // locations in the draft for which two different names were recorded
}

// identify records an identifier of the draft. The first value is kept, and a different value is
// listed as a contradiction.
func (n *names) identify(at string, have *string, name string) {
	if named(have, name) {
		if n.twice == nil {
			n.twice = map[string]bool{}
		}
		n.twice[at] = true
	}
}

// envelope records the identifiers in an event's envelope.
func (n *names) envelope(e *event.Event) {
	n.identify("/identifiers/workspace_ref", &n.WorkspaceRef, e.Text(e.Root, "workspace_id"))
	first(&n.TraceID, e.Text(e.Root, "trace_id"))
}
func branchCreated(r *run, e *event.Event) {
	first(&r.ids.BranchID, e.Text(e.Payload, "branch_id"))
	if e.Resource.Object == "branch" {
		first(&r.ids.BranchID, e.Resource.ID)
	}
}

// triggered records the connector that submitted the task.
func triggered(r *run, e *event.Event) {
	connector, delivery := e.Text(e.Payload, "connector_id"), e.Text(e.Payload, "delivery_id")
	if r.ids.trigger != nil || connector == "" {
		return
	}
	r.ids.trigger = receipt.Object{"connector_id": connector}
	if delivery != "" {
		r.ids.trigger["delivery_id"] = delivery
	}
}

// first sets a value that has not been set yet.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// named sets a name that has not been set yet, and reports whether the given name differs from the
// name that was set first.
func named(have *string, name string) bool {
	first(have, name)
	return name != "" && name != *have
}

// last sets a value unless the new value is zero.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
