package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// An origin is a set of sources that recorded a side effect. An effect is listed if any source
// recorded it, even if the call's own report omits it.
type origin uint8

const (
	fromSpan     origin = 1 << iota
	fromArtifact        // a file whose artifact is marked as applied
	fromRequest         // the intention of the agent
	fromResult          // the result that the agent received, according to the transcript
	fromTool            // the record of the runtime about the call

	reports = fromResult | fromTool // the call's own reports
)

// A write is one change to a file.
type write struct {
	path, operation string                 // operation is "" if it was not recorded
	before, after   receipt.OptionalDigest // null if the file did not exist
	short           [2]bool                // whether each digest (before, after) is abbreviated
	call            string
	by              origin
	event           int  // index of the last event that recorded it
	twice           bool // the second end event of a span recorded it
}

// An egress is a transmission of data to a host.
type egress struct {
	destination, purpose string
	announced            bool // announced, but not recorded as sent
	unclear              bool // URL parsers disagree about the host
	bytes                *int64
	call                 string
	by                   origin
	event                int
	twice                bool
}

// effects contains the recorded side effects. Records of the same effect from one call are
// combined.
type effects struct {
	writes    []*write
	egress    []*egress
	written   map[[2]string][]*write  // by call and path
	reached   map[[2]string][]*egress // by call and destination
	workspace *event.Workspace        // for relative paths
	observed  map[string]bool         // calls with a recorded effect, not only an announced one
	wrote     map[string]bool         // calls with a recorded write

	failed bool // a write failed, and it is unknown how much of the data was written
}

func newEffects(root string) effects {
	return effects{workspace: event.NewWorkspace(root), written: map[[2]string][]*write{}, reached: map[[2]string][]*egress{}, observed: map[string]bool{}, wrote: map[string]bool{}}
}

// maxCompared is the maximum number of earlier entries with which a new entry is compared.
const maxCompared = 64

// report reads the file changes and transmissions that a call reports.
func (s *effects) report(r *run, e *event.Event, c *call, byRuntime bool) {
	by := fromResult
	if byRuntime {
		by = fromTool
	}

	// An empty list states that there were no effects. An absent list states nothing.
	if !event.Absent(e.Payload.Member("fs_writes")) {
		c.wrote |= by
	}
	if !event.Absent(e.Payload.Member("network_egress")) {
		c.sent |= by
	}

	for _, n := range e.Elements(e.Payload, "fs_writes") {
		if s.write(r, e, n, c.id, by); e.Err != nil {
			return
		}
	}

	for _, n := range e.Elements(e.Payload, "network_egress") {
		if s.reach(r, e, n, "", c.id, by); e.Err != nil {
			return
		}
	}
}

// write parses one change to a file. A rename is recorded as a deletion and a creation, because an
// entry in a receipt has only one path.
func (s *effects) write(r *run, e *event.Event, n canon.Node, callID string, by origin) {
	w := write{
		path: e.Required(n, "path"), operation: e.Text(n, "operation"), call: callID, by: by, event: e.Index, twice: r.spans.ended.twice(e),
		before: e.OptionalDigest(n, "before_sha256"), after: e.OptionalDigest(n, "after_sha256"),
		short: [2]bool{event.Abbreviated(n.Member("before_sha256")), event.Abbreviated(n.Member("after_sha256"))},
	}

	switch w.operation {
	case "", "create", "modify", "delete":
	case "rename":
		old := w
		old.path, old.operation, old.after, old.short[1] = e.Required(n, "from"), "delete", receipt.OptionalDigest{}, false
		s.changed(r, e, old)
		w.operation, w.before, w.short[0] = "create", receipt.OptionalDigest{}, false
	default:
		e.Fail(event.CodePayload, n.Member("operation"), "expected create, modify, delete or rename")
	}
	s.changed(r, e, w)
}

// reach parses one transmission.
func (s *effects) reach(r *run, e *event.Event, n canon.Node, purpose, callID string, by origin) {
	at := e.Text(n, "url")
	if at == "" {
		at = e.Text(n, "host")
	}
	if at == "" {
		at = e.Text(n, "destination")
	}

	last(&purpose, e.Words(n, "purpose"))
	if at == "" {
		e.Fail(event.CodePayload, n, "expected a host or a URL")
	}

	host, clear := event.HostOf(at)
	s.sent(r, e, egress{destination: e.Once([]byte(host)), unclear: !clear, purpose: purpose, announced: e.Flag(n, "announced"), bytes: e.OptionalCount(n, "bytes_sent"), call: callID, by: by, event: e.Index, twice: r.spans.ended.twice(e)})
}

// changed adds a write, or completes a write that another source already recorded.
func (s *effects) changed(r *run, e *event.Event, w write) {
	if w.call != "" {
		s.observed[w.call], s.wrote[w.call] = true, true
	}
	name, ok := s.workspace.Place(w.path)
	if !ok {
		name = w.path
	}

	// If no call is named, two events cannot be attributed to the same write.
	key := [2]string{w.call, name}
	if w.call != "" {
		for _, have := range bounded(s.written[key]) {
			if again(have.by, w.by, have.event, w.event) && fits(have.operation, w.operation) && fits(have.before, w.before) && fits(have.after, w.after) {
				first(&have.operation, w.operation)
				first(&have.before, w.before)
				first(&have.after, w.after)
				have.by, have.event, have.twice = have.by|w.by, w.event, have.twice || w.twice
				have.short = [2]bool{have.short[0] || w.short[0], have.short[1] || w.short[1]}
				return
			}
		}
	}

	// Conflicting records count as two writes.
	s.writes = append(s.writes, &w)
	s.written[key] = append(s.written[key], &w)
	r.Room(e)
}

// sent adds an egress, or completes an egress that another source already recorded.
func (s *effects) sent(r *run, e *event.Event, x egress) {
	if x.call != "" && x.by != fromRequest && !x.announced {
		s.observed[x.call] = true
	}
	key := [2]string{x.call, x.destination}

	// If no call is named or the host is unclear, each egress is separate.
	if x.call != "" && !x.unclear {
		for _, have := range bounded(s.reached[key]) {
			if again(have.by, x.by, have.event, x.event) && (have.bytes == nil || x.bytes == nil || *have.bytes == *x.bytes) {
				first(&have.purpose, x.purpose)
				first(&have.bytes, x.bytes)
				have.by, have.event, have.twice = have.by|x.by, x.event, have.twice || x.twice
				have.announced = have.announced && x.announced
				return
			}
		}
	}

	s.egress = append(s.egress, &x)
	s.reached[key] = append(s.reached[key], &x)
	r.Room(e)
}

func bounded[T any](all []T) []T { return all[:min(len(all), maxCompared)] }

// fits reports whether two values of a detail can describe the same object.
func fits[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// again reports whether an event may repeat a recorded effect, which is the case if the effect was
// recorded by a different source or in an earlier report of the call. Each span and each artifact
// is a separate effect.
func again(have, by origin, told, now int) bool {
	return have&by == 0 || by&reports != 0 && told != now
}

// A withheldPath is a path outside the workspace, together with the location of its label in the
// draft.
type withheldPath struct{ at, value string }

// placeOf returns a path in the form that the list of writes uses.
func placeOf(w *event.Workspace, path string) string {
	if name, ok := w.Place(path); ok {
		return name
	}
	return w.Label(path)
}

// fileWrites returns the file changes for the receipt and the withheld paths.
func (s *effects) fileWrites(r *run, t *telling) (list []receipt.FileWrite, withheld []withheldPath) {
	list = []receipt.FileWrite{}
	for _, w := range s.writes {
		at := indexed("/side_effects/fs_writes", len(list))
		name, ok := s.workspace.Place(w.path)
		if !ok {
			name = s.workspace.Label(w.path)
			withheld = append(withheld, withheldPath{at + "/path", w.path})
		}

		if c := r.calls.ByID[w.call]; c != nil && c.wrote&^w.by != 0 {
			t.contradicts(at, notInReport)
		}
		if w.twice {
			t.contradicts(at, spanEndedTwice)
		}

		// If no digest was recorded, the contents of the file are unreported.
		if (r.sourced.is || w.short[0]) && w.before.IsZero() {
			t.untold(at + "/before_sha256")
		}
		if (r.sourced.is || w.short[1]) && w.after.IsZero() {
			t.untold(at + "/after_sha256")
		}

		list = append(list, receipt.FileWrite{
			Path: name, Operation: t.name(at+"/operation", w.operation, "modify"),
			BeforeSHA256: w.before, AfterSHA256: w.after,
		})
	}

	// An empty list would state that no file was written.
	if r.calls.tellsPart(func(c *call) bool { return c.wrote != 0 || s.wrote[c.id] || c.writesNothing() }) || s.failed || r.spans.open.of(spanFiles) {
		t.partly("/side_effects/fs_writes", len(list))
	}
	return list, withheld
}

// networkEgress returns the transmissions for the receipt.
func (s *effects) networkEgress(r *run, t *telling) []receipt.NetworkEgress {
	list := []receipt.NetworkEgress{}
	sent := map[string]bool{}
	for _, x := range s.egress {
		sent[x.call] = true
		c := r.calls.ByID[x.call]
		if x.by == fromRequest && r.calls.unsent(c) { // announced, but never sent
			continue
		}

		at := indexed("/side_effects/network_egress", len(list))

		// If no purpose was recorded, the name of the tool is used.
		purpose := x.purpose
		if c != nil {
			first(&purpose, c.tool)
		}

		// An announcement alone does not show whether data was sent.
		if x.announced || x.by == fromRequest && !r.calls.closed(c) && !r.calls.ran(c) {
			t.untold(at)
		}

		if c != nil && c.sent&^x.by != 0 && x.by != fromRequest {
			t.contradicts(at, notInReport)
		}
		if x.twice {
			t.contradicts(at, spanEndedTwice)
		}
		if x.unclear {
			t.untold(at + "/destination")
		}

		list = append(list, receipt.NetworkEgress{Destination: x.destination, Purpose: t.name(at+"/purpose", purpose, "unknown"), BytesSent: x.bytes})
	}

	// An empty list would state that nothing was sent.
	if r.calls.tellsPart(func(c *call) bool { return c.sent != 0 || sent[c.id] || c.sendsNothing() }) || r.spans.open.of(spanHTTP) {
		t.partly("/side_effects/network_egress", len(list))
	}
	return list
}

// handed describes work that was passed to another agent, and the last recorded state of that work.
type handed struct {
	receipt.Handoff
	ended string // the recorded status, or ""
	label bool   // the source has no ID for the task, so a label is used instead
	names bool   // two different agents were recorded
}

// handoffs contains the handoffs of a task, keyed by the IDs of the tasks that were handed over.
type handoffs struct{ event.List[handed] }

// handoff records the most recent state of a handoff.
func handoff(r *run, e *event.Event) {
	p := e.Payload
	id := e.Required(p, "task_id")
	h, fresh := r.handoffs.Entry(id)
	if fresh {
		r.Room(e)
		h.TaskID = id
	}
	h.names = named(&h.TargetAgent, e.Text(p, "target_agent")) || h.names
	h.label = h.label || e.Flag(p, "unnamed")
	last(&h.ended, e.Text(p, "status"))
	last(&h.ReceiptID, e.Text(p, "receipt_id"))
}

// entries returns the handoffs for the receipt.
func (s *handoffs) entries(t *telling) []receipt.Handoff {
	list := []receipt.Handoff{}
	for i, h := range s.Order {
		at := indexed("/side_effects/a2a_handoffs", i)
		entry := h.Handoff
		entry.TargetAgent = t.name(at+"/target_agent", h.TargetAgent, "unknown")
		entry.Status = event.HandoffStatuses().Meaning(t.name(at+"/status", h.ended, ""), "accepted")
		if h.label {
			t.untold(at + "/task_id")
		}
		if h.names {
			t.contradicts(at, namesDiffer)
		}
		list = append(list, entry)
	}
	return list
}
