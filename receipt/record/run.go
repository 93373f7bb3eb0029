package record

import (
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A run is the state of a task according to the events so far.
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

// tellAgain applies an event of the source, for its materials and times.
func (r *run) tellAgain(e *event.Event, kind eventKind) {
	if r.source == nil {
		r.source = r.newSource()
	}
	r.replay.foundBefore(e)
	if kind.apply != nil {
		kind.apply(r.source, e)
	}
}

// times returns the times of the task: those set by overrides, else those of the source, else its
// own.
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

// unrecorded reports whether an answer that the task received, or may have received, is not a
// material.
func (r *run) unrecorded() bool {
	return r.spans.open.of(spanModel) || r.models.twice || r.calls.unrecorded()
}

// Names are the identifiers of the draft according to the events.
type names struct {
	receipt.Identifiers
	policy  string
	trigger receipt.Object  // the connector that submitted the task
	twice   map[string]bool // places in the draft with two different names
}

// identify records an identifier of the draft. The first one is kept, and another one is listed as
// a contradiction.
func (n *names) identify(at string, have *string, name string) {
	if named(have, name) {
		if n.twice == nil {
			n.twice = map[string]bool{}
		}
		n.twice[at] = true
	}
}

// envelope records the identifiers in the envelope of an event.
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

// first sets a value that is not set.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// named sets a name that is not set, and reports whether the name differs from the first.
func named(have *string, name string) bool {
	first(have, name)
	return name != "" && name != *have
}

// last sets a value unless the new one is zero.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
