package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A replay is the state of a task that replays another task.
type replay struct {
	is           bool
	source, mode string
	sourceHash   canon.Digest
	unavailable  string // explains why the source could not be replayed

	log    receipt.Material // of the source
	events *int64           // number of events in that log; nil if it was not recorded
	deltas event.List[delta]
	ids    map[string]string // override keys by the IDs of their deltas
	unused []string          // keys of overrides that replaced nothing

	checkpoint, checkpointEvent string               // position at which the replay starts; "" for the beginning of the task
	pinned                      map[string]time.Time // times that overrides set
	early                       string               // ID of the first event marked as replayed before the start
	told                        *event.Error         // error for the first repeated event; used unless the task is a replay
}

// A delta is one substitution, combined from all events that contain its key.
type delta struct {
	receipt.Delta
	announced bool // by a replay.event_replayed
	secret    bool
}

func replayStarted(r *run, e *event.Event) {
	p, meta := e.Payload, e.Root.Member("replay")
	source := cmp.Or(e.Text(p, "source_task_id"), e.Text(meta, "source_task_id"))
	mode := cmp.Or(e.Text(p, "mode"), e.Text(meta, "mode"))
	receiptHash, logHash, logURI := e.Digest(p, "source_receipt_hash"), e.Digest(p, "source_log_sha256"), e.Text(p, "source_log_uri")
	checkpoint, checkpointEvent := e.Text(p, "checkpoint_id"), e.Text(p, "checkpoint_event_id")

	// A repeated event must describe the same replay.
	s := &r.replay
	if !fits(s.source, source) || !fits(s.mode, mode) || !fits(s.sourceHash, receiptHash) || !fits(s.log.SHA256, logHash) || !fits(s.log.URI, logURI) || !fits(s.checkpoint, checkpoint) || !fits(s.checkpointEvent, checkpointEvent) {
		e.Fail(event.CodeReplay, e.Root, "expected one replay in a task, found another")
	}

	// Until a replay starts, events that are marked as replayed are treated as the task's own
	// events, so a replay cannot start after such an event.
	if s.early != "" {
		e.Fail(event.CodeReplay, e.Root, "expected it before the first event that is marked as replayed: the event %s may be the source's, and was taken for the task's own", event.Quote(s.early))
	}

	s.is = true
	first(&s.source, source)
	first(&s.mode, mode)
	first(&s.sourceHash, receiptHash)
	first(&s.log.SHA256, logHash)
	first(&s.log.URI, logURI)
	first(&s.checkpoint, checkpoint)
	first(&s.checkpointEvent, checkpointEvent)
	if s.events == nil {
		s.events = e.OptionalCount(p, "source_log_events")
	}
	s.leftOut(r, e)
}

// leftOut reads the keys of overrides that replaced nothing.
func (s *replay) leftOut(r *run, e *event.Event) {
	if s.unused != nil {
		return
	}
	for _, n := range e.Payload.Member("overrides_unused").Elements() {
		if n.Kind() == canon.KindString {
			r.Room(e)
			s.unused = append(s.unused, e.Once(n.Text()))
		}
	}
}

// marked records the first event that has the replayed mark before a replay starts. Events about
// the state of the task always belong to the task itself.
func (s *replay) marked(e *event.Event) {
	if s.early == "" && !s.is && !strings.HasPrefix(e.Kind, "task.") && !strings.HasPrefix(e.Kind, "replay.") && e.Flag(e.Root, "replayed") {
		s.early = e.ID
	}
}

// foundBefore records an error for the first event that can occur only in a replay, unless a replay
// has started.
func (s *replay) foundBefore(e *event.Event) {
	if s.told == nil && !s.is {
		s.told = &event.Error{Index: e.Index, ID: e.ID, Kind: e.Kind, Pointer: "/event", Code: event.CodeReplay, Detail: "expected an earlier replay.started, because this event was replayed from another task"}
	}
}

// substituted creates a delta for an event of any kind that was created by a substitution.
func (s *replay) substituted(r *run, e *event.Event) {
	p, meta := e.Payload, e.Root.Member("replay")
	announced := e.Kind == "replay.event_replayed"
	key := e.Text(meta, "override_key")
	if announced {
		last(&key, e.Text(p, "override_key"))
		s.foundBefore(e)
	}
	if key == "" {
		return
	}

	d, fresh := s.deltas.Entry(key)
	if fresh {
		r.Room(e)
		d.OverrideKey = key
	}

	// The draft omits the digests of a secret, because the secret could be guessed from them.
	d.secret = d.secret || strings.HasPrefix(key, "secret:")
	told := receipt.Delta{DeltaID: e.Text(meta, "receipt_delta_id"), EventID: e.Text(meta, "original_event_id")}
	if announced {
		last(&told.DeltaID, e.Text(p, "delta_id"))
		last(&told.EventID, e.Text(p, "event_id"))
		told.Operation, told.Path, told.ArtifactID, told.Reason = e.Text(p, "operation"), e.Text(p, "path"), e.Text(p, "artifact_id"), e.Words(p, "reason")
		told.BeforeSHA256, told.AfterSHA256 = e.OptionalDigest(p, "before_sha256"), e.OptionalDigest(p, "after_sha256")
		d.secret = d.secret || e.Text(p, "kind") == "secret_value"
		s.pin(e, key)
	}

	if told.Operation != "" && !slices.Contains([]string{"add", "replace", "remove"}, told.Operation) {
		e.Fail(event.CodePayload, p.Member("operation"), "expected add, replace or remove")
	}

	// All events with the same key must describe the same substitution.
	if announced && d.announced && !same(d.Delta, told) || d.DeltaID != "" && told.DeltaID != "" && d.DeltaID != told.DeltaID {
		e.Fail(event.CodeReplay, e.Root, "expected one substitution of %s, found another", event.Quote(key))
	}
	d.join(told, announced)
	s.identify(e, d)
}

// identify refuses two substitutions with the same ID, because a reader could not distinguish their
// deltas.
func (s *replay) identify(e *event.Event, d *delta) {
	if s.ids == nil {
		s.ids = map[string]string{}
	}
	id := cmp.Or(d.DeltaID, event.DeltaID(d.OverrideKey))
	if key := s.ids[id]; key != "" && key != d.OverrideKey {
		e.Fail(event.CodeReplay, e.Root, "delta_id %s is already used by the override %s", event.Quote(id), event.Quote(key))
	}
	s.ids[id] = d.OverrideKey
}

// overrideOf returns the override key of the substitution that created an event, or "" for other
// events.
func overrideOf(e *event.Event) string { return e.Text(e.Root.Member("replay"), "override_key") }

// same reports whether two deltas can describe the same substitution.
func same(a, b receipt.Delta) bool {
	return fits(a.EventID, b.EventID) && fits(a.Operation, b.Operation) && fits(a.Path, b.Path) && fits(a.ArtifactID, b.ArtifactID) &&
		fits(a.BeforeSHA256, b.BeforeSHA256) && fits(a.AfterSHA256, b.AfterSHA256)
}

// join adds the missing parts of a delta. The event ID in the announcement takes precedence,
// because it is the ID of the replaced event; the events that the substitution created are only its
// consequences.
func (d *delta) join(told receipt.Delta, announced bool) {
	if announced && !d.announced {
		last(&d.EventID, told.EventID)
		d.announced = true
	}
	first(&d.DeltaID, told.DeltaID)
	first(&d.EventID, told.EventID)
	first(&d.Operation, told.Operation)
	first(&d.Path, told.Path)
	first(&d.ArtifactID, told.ArtifactID)
	first(&d.Reason, told.Reason)
	first(&d.BeforeSHA256, told.BeforeSHA256)
	first(&d.AfterSHA256, told.AfterSHA256)
}

// pin records the value that an override sets for a time in the lifecycle.
func (s *replay) pin(e *event.Event, key string) {
	if !strings.HasPrefix(event.DeltaPath(key), "/lifecycle/") || event.Absent(e.Payload.Member("value")) {
		return
	}
	if s.pinned == nil {
		s.pinned = map[string]time.Time{}
	}
	s.pinned[strings.TrimPrefix(key, "time:")] = e.Time(e.Payload, "value")
}

// entry returns a delta for the receipt. A digest in the delta is null if no content existed. It is
// omitted if it was not recorded, or if the value is a secret, which could be guessed from its
// digest.
func (d *delta) entry() receipt.Delta {
	out := d.Delta
	first(&out.DeltaID, event.DeltaID(d.OverrideKey))
	first(&out.Operation, "replace")
	first(&out.Path, event.DeltaPath(d.OverrideKey))

	// An added value did not exist before the substitution, and a removed value does not exist
	// after it.
	nothing := receipt.OptionalDigest{Null: true}
	switch {
	case d.secret:
		out.BeforeSHA256, out.AfterSHA256 = receipt.OptionalDigest{}, receipt.OptionalDigest{}
	case out.Operation == "add":
		first(&out.BeforeSHA256, nothing)
	case out.Operation == "remove":
		first(&out.AfterSHA256, nothing)
	}
	return out
}

// keyOf returns the key of the override that replaces a material.
func (s *replay) keyOf(id string) (key string, swapped bool) {
	if _, swapped = s.deltas.ByID[id]; swapped {
		return id, true
	}

	// The key of an override that replaces an event is not the ID of the material, so the override
	// is found by the path in its delta.
	path := event.DeltaPath(id)
	for _, d := range s.deltas.Order {
		if d.Path == path {
			return d.OverrideKey, true
		}
	}
	return "", false
}

func replayFailed(r *run, e *event.Event) {
	missing := e.Payload.Member("first_unavailable")
	why := e.Words(e.Payload, "message")
	if object, id := e.Text(missing, "object"), e.Text(missing, "id"); object != "" || id != "" {
		first(&why, "first unavailable: "+object+" "+id)
	}
	first(&why, "the replay failed")
	first(&r.replay.unavailable, why)
}

// deltaList returns the deltas, sorted by override key so that the order does not depend on the
// order of the substitutions.
func (s *replay) deltaList() []receipt.Delta {
	list := []receipt.Delta{}
	for _, d := range s.deltas.Order {
		list = append(list, d.entry())
	}
	slices.SortStableFunc(list, func(a, b receipt.Delta) int { return strings.Compare(a.OverrideKey, b.OverrideKey) })
	return list
}

// sourceLog returns the log of the source, as described in the events of the replay. It returns
// false if the replay does not record the digest of that log.
func (s *replay) sourceLog() (receipt.Material, bool) {
	m := s.log
	m.Kind, m.ID, m.ContentType, m.Metadata = "event_log", "event_log:"+s.source, logType, receipt.Object{}
	if s.source == "" {
		m.ID = "event_log"
	}
	if s.events != nil {
		m.Metadata["events"] = *s.events
	}
	if m.SHA256.IsZero() {
		m.Metadata["unavailable"] = true
	}
	return m, !m.SHA256.IsZero()
}
