package record

import (
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// A run is what the events of a task have said so far.
type run struct {
	options Options
	task    string
	ids     receipt.Identifiers

	state                   string // of the task, as the protocol spells it
	created, started, ended time.Time
	final                   string // state of the receipt, "" until the task has ended
	failure                 receipt.Object
	failureWithheld         []string // pointers into the failure as it came
	canceledBy, cancelWhy   string

	startTier, tier, policy string
	limit                   *receipt.Amounts

	calls      list[call]
	approvals  list[approval]
	approvalOf map[string]string // of a call, the last one
	handoffs   list[receipt.Handoff]
	artifacts  list[artifact]
	costs      list[cost]
	deltas     list[receipt.Delta]
	materials  []material
	recorded   map[[4]string]int // materials: contents that were told, and how many each id has had
	writes     []write
	egress     []egress
	told       map[any]bool   // of writes and egress, what events of calls told
	models     map[string]int // calls of each agent label

	total             money
	currency          string
	priced            bool
	input, output     int64
	counted           bool // tokens were
	model             *receipt.Model
	alternatives      []receipt.Model
	routeReason       string
	reasoningWithheld string // the reason, "" when nothing was
	replay            replay
	trigger           receipt.Object
	memoryWrites      int
	notDispatched     int

	entries int
	*budget
}

func newRun(o Options) *run {
	return &run{budget: newBudget(), options: o, task: o.TaskID, tier: o.Tier, startTier: o.Tier, approvalOf: map[string]string{}, told: map[any]bool{}, models: map[string]int{}, recorded: map[[4]string]int{}}
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

// room counts one more entry of the draft.
func (r *run) room(e *event) { r.list(e, entryCost) }

// part counts one more entry of a list within an entry.
func (r *run) part(e *event) { r.list(e, partCost) }

func (r *run) list(e *event, cost int) {
	if r.entries++; r.entries > MaxEntries {
		e.exceed("MaxEntries", e.root, r.entries)
	}
	r.charge(e, e.root, cost)
}

// envelope takes the identifiers of the first event that has them.
func (r *run) envelope(e *event) {
	first(&r.ids.WorkspaceRef, e.text(e.root, "workspace_id"))
	first(&r.ids.SessionID, e.text(e.root, "session_id"))
	first(&r.ids.TraceID, e.text(e.root, "trace_id"))
	e.kept = r.budget
}

// first sets what is not set yet.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// last sets what is said anew.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
