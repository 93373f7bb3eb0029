package record

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A run is what the events of a task have said so far.
type run struct {
	options Options
	task    string
	ids     receipt.Identifiers
	again   bool // it is the source of a replay, told again: see newSource

	state                   string // of the task, as the protocol spells it
	created, started, ended time.Time
	final                   string // state of the receipt, "" until the task has ended
	failure                 receipt.Object
	failureWithheld         []string // pointers into the failure as it came
	canceledBy, cancelWhy   string

	startTier, tier, policy string
	limit                   *receipt.Amounts

	calls     list[call]
	approvals approvals
	effects   effects
	costs     costs
	models    models
	spans     openSpans
	endings   endedSpans
	materials *materials
	handoffs  list[handed]
	artifacts list[artifact]
	replay    replay
	source    *run // the task that is replayed, as far as it is told again

	reasoningWithheld string // the reason, "" when nothing was
	trigger           receipt.Object
	memoryWrites      int
	twoNames          map[string]bool // places of the draft of which two names were told
	foreign           int             // answers from other sessions

	*event.Budget
}

func newRun(o Options, b *event.Budget) *run {
	return &run{
		options: o, task: o.TaskID, tier: o.Tier, startTier: o.Tier, approvals: approvals{of: map[string]string{}}, effects: newEffects(),
		models: models{calls: map[string]int{}}, spans: openSpans{ids: map[[2]string]int{}, kinds: map[string]int{}}, endings: endedSpans{byID: map[canon.Digest]*endedSpan{}},
		materials: &materials{recorded: map[[4]string]int{}}, Budget: b,
	}
}

// newSource returns what the events that are told again are applied to. Materials
// and the numbers of model calls go on from one to the other.
func (r *run) newSource() *run {
	s := newRun(r.options, r.Budget)
	s.again, s.task = true, r.replay.source
	s.materials, s.models.calls = r.materials, r.models.calls
	return s
}

// A list keeps entries in the order in which their ids first came.
type list[T any] struct {
	byID  map[string]*T
	order []*T
}

// entry returns the entry of an id, and whether it is new.
func (l *list[T]) entry(id string) (*T, bool) {
	if have, ok := l.byID[id]; ok {
		return have, false
	}
	if l.byID == nil {
		l.byID = map[string]*T{}
	}
	t := new(T)
	l.byID[id] = t
	l.order = append(l.order, t)
	return t, true
}

// identify notes a name of the draft. Of two, the first is kept, and the other listed.
func (r *run) identify(at string, have *string, name string) {
	if named(have, name) {
		if r.twoNames == nil {
			r.twoNames = map[string]bool{}
		}
		r.twoNames[at] = true
	}
}

// first sets what is not set yet.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// named sets a name that is not set yet, and reports whether it has another.
func named(have *string, name string) bool {
	first(have, name)
	return name != "" && name != *have
}

// last sets what is said anew.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
