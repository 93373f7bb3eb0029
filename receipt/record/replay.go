package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A replay is what the events say when the task is the replay of another.
type replay struct {
	is           bool
	source, mode string
	sourceHash   canon.Digest
	unavailable  string // why it could not be replayed

	log    receipt.Material // the source's
	events *int64           // of that log
	deltas list[delta]
	clock  map[string]time.Time // that time: overrides pin
	early  string               // the id of the first event that was marked as replayed before the replay started
	told   *Error               // the first event that is told again, for a task that is not a replay
}

// A delta is one substitution, as all events that name its key describe it.
type delta struct {
	receipt.Delta
	announced bool // by a replay.event_replayed
	secret    bool
}

func replayStarted(r *run, e *event) {
	p, meta := e.payload, e.root.Member("replay")
	source := cmp.Or(e.text(p, "source_task_id"), e.text(meta, "source_task_id"))
	mode := cmp.Or(e.text(p, "mode"), e.text(meta, "mode"))
	receiptHash, logHash, logURI := e.digest(p, "source_receipt_hash"), e.digest(p, "source_log_sha256"), e.text(p, "source_log_uri")

	// Told twice, it is the same replay.
	s := &r.replay
	if !fits(s.source, source) || !fits(s.mode, mode) || !fits(s.sourceHash, receiptHash) || !fits(s.log.SHA256, logHash) || !fits(s.log.URI, logURI) {
		e.fail(CodeReplay, e.root, "expected one replay in a task, found another")
	}
	if s.early != "" {
		e.fail(CodeReplay, e.root, "expected it before the first event that is marked as replayed: the event %s may be the source's, and was taken for the task's own", quote(s.early))
	}

	s.is = true
	first(&s.source, source)
	first(&s.mode, mode)
	first(&s.sourceHash, receiptHash)
	first(&s.log.SHA256, logHash)
	first(&s.log.URI, logURI)
	if s.events == nil {
		s.events = e.optionalCount(p, "source_log_events")
	}
}

// toldAgain reports whether an event is told again from another task. Deliveries of
// the task's own events are marked as replayed, too; in a replay nothing but the
// mark tells them apart, and what may be the source's is not claimed.
func (r *run) toldAgain(e *event) bool {
	if strings.HasPrefix(e.kind, "replay.") {
		return false
	}
	meta := e.root.Member("replay")
	source := e.text(meta, "source_task_id")
	switch {
	case source != "":
		return source != r.task
	case !absent(meta.Member("original_event_id")):
		return true
	}
	return r.replay.is && e.flag(e.root, "replayed")
}

// tellAgain takes of an event of the source what a replay's receipt may have: the
// materials and the recorded clock.
func (r *run) tellAgain(e *event, kind eventKind) {
	if r.source == nil {
		r.source = r.newSource()
	}
	r.replay.foundBefore(e)
	if kind.apply != nil {
		kind.apply(r.source, e)
	}
}

// marked remembers the first event that only its mark tells from the task's own. What
// tells the state of the task is its own in any case.
func (s *replay) marked(e *event) {
	if s.early == "" && !s.is && !strings.HasPrefix(e.kind, "task.") && !strings.HasPrefix(e.kind, "replay.") && e.flag(e.root, "replayed") {
		s.early = e.id
	}
}

// foundBefore remembers the first event that only a replay can have.
func (s *replay) foundBefore(e *event) {
	if s.told == nil && !s.is {
		s.told = &Error{Index: e.index, ID: e.id, Kind: e.kind, Pointer: "/event", Code: CodeReplay, Detail: "expected a replay.started: this event is told again from another task"}
	}
}

// substituted makes a delta of an event that a substitution created, of any kind.
func (r *run) substituted(e *event) {
	p, meta := e.payload, e.root.Member("replay")
	announced := e.kind == "replay.event_replayed"
	key := e.text(meta, "override_key")
	if announced {
		last(&key, e.text(p, "override_key"))
		r.replay.foundBefore(e)
	}
	if key == "" {
		return
	}

	d, fresh := r.replay.deltas.entry(key)
	if fresh {
		r.room(e)
		d.OverrideKey = key
	}

	// A digest of a secret would let it be guessed.
	d.secret = d.secret || strings.HasPrefix(key, "secret:")
	told := receipt.Delta{DeltaID: e.text(meta, "receipt_delta_id"), EventID: e.text(meta, "original_event_id")}
	if announced {
		last(&told.DeltaID, e.text(p, "delta_id"))
		last(&told.EventID, e.text(p, "event_id"))
		told.Operation, told.Path, told.ArtifactID, told.Reason = e.text(p, "operation"), e.text(p, "path"), e.text(p, "artifact_id"), e.words(p, "reason")
		told.BeforeSHA256, told.AfterSHA256 = e.optionalDigest(p, "before_sha256"), e.optionalDigest(p, "after_sha256")
		d.secret = d.secret || e.text(p, "kind") == "secret_value"
		r.pin(e, key)
	}

	if told.Operation != "" && !slices.Contains([]string{"add", "replace", "remove"}, told.Operation) {
		e.fail(CodePayload, p.Member("operation"), "expected add, replace or remove")
	}

	// All events that name a key tell of one substitution.
	if announced && d.announced && !same(d.Delta, told) || d.DeltaID != "" && told.DeltaID != "" && d.DeltaID != told.DeltaID {
		e.fail(CodeReplay, e.root, "expected one substitution of %s, found another", quote(key))
	}
	d.join(told, announced)
}

// same reports whether two tellings can be of one substitution.
func same(a, b receipt.Delta) bool {
	return fits(a.EventID, b.EventID) && fits(a.Operation, b.Operation) && fits(a.Path, b.Path) && fits(a.ArtifactID, b.ArtifactID) &&
		fits(a.BeforeSHA256, b.BeforeSHA256) && fits(a.AfterSHA256, b.AfterSHA256)
}

// join adds what was not told of a substitution. What announces it knows the event
// that was replaced; the events that it created are its consequences.
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

// pin keeps the time that an override of a lifecycle time gives.
func (r *run) pin(e *event, key string) {
	if !strings.HasPrefix(deltaPath(key), "/lifecycle/") || absent(e.payload.Member("value")) {
		return
	}
	if r.replay.clock == nil {
		r.replay.clock = map[string]time.Time{}
	}
	r.replay.clock[strings.TrimPrefix(key, "time:")] = e.time(e.payload, "value")
}

// entry is a delta as the receipt has it. There are three states of a digest: one
// that is told, null where there is nothing, and none where nobody tells. A digest
// of a secret lets it be guessed.
func (d *delta) entry() receipt.Delta {
	out := d.Delta
	first(&out.DeltaID, "delta_"+strings.Map(alphanumeric, d.OverrideKey))
	first(&out.Operation, "replace")
	first(&out.Path, deltaPath(d.OverrideKey))

	// What was added was not there before, and what was removed is not there after.
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

func alphanumeric(c rune) rune {
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return c
	}
	return '_'
}

// deltaPath is what an override stands for: a lifecycle time, a material by its id,
// or a label for what the draft has no place for.
func deltaPath(key string) string {
	under := "/replay_input/materials"
	switch {
	case key == "time:started_at" || key == "time:created_at" || key == "time:completed_at":
		return "/lifecycle/" + strings.TrimPrefix(key, "time:")
	case strings.HasPrefix(key, "time:"), strings.HasPrefix(key, "secret:"):
		under = "/replay_input/overrides"
	}
	return string(canon.AppendToken([]byte(under), key))
}

func replayFailed(r *run, e *event) {
	missing := e.payload.Member("first_unavailable")
	why := e.words(e.payload, "message")
	if object, id := e.text(missing, "object"), e.text(missing, "id"); object != "" || id != "" {
		first(&why, "first unavailable: "+object+" "+id)
	}
	first(&why, "the replay failed")
	first(&r.replay.unavailable, why)
}

// deltaList returns the deltas by their override keys: an order that does not
// depend on when substitutions were met.
func (r *run) deltaList() []receipt.Delta {
	list := []receipt.Delta{}
	for _, d := range r.replay.deltas.order {
		list = append(list, d.entry())
	}
	slices.SortStableFunc(list, func(a, b receipt.Delta) int { return strings.Compare(a.OverrideKey, b.OverrideKey) })
	return list
}

// sourceLog is the log of the task that was replayed, the one that its own receipt
// names. It reports false where the replay does not tell its digest.
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

// clock returns the times of the task: what an override pins, else what the source
// tells again, else the task's own.
func (r *run) clock() (created, started, ended time.Time) {
	created, started, ended = r.created, r.started, r.ended
	if s := r.source; s != nil {
		last(&created, s.created)
		last(&started, s.started)
		last(&ended, s.ended)
	}
	last(&created, r.replay.clock["created_at"])
	last(&started, r.replay.clock["started_at"])
	last(&ended, r.replay.clock["completed_at"])
	return created, started, ended
}
