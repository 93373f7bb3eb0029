package replay

import (
	"bytes"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A Run describes the task of a replay for [Plan.Events].
type Run struct {
	TaskID      string       // required; must differ from the ID of the source
	Remap       bool         // assign the IDs and sequence numbers of the replay to the events; otherwise, the events keep their own
	LogURI      string       // location of the source's log; "" if unreported
	ReceiptHash canon.Digest // hash of the source's receipt; zero if unreported

	// Failure explains why the replay did not complete, and is nil if it did. The events of a
	// failed replay contain the substitutions and the failure, but no events of the source.
	Failure *Failure
}

// A Failure explains why a replay failed. A Failure contains no values, because it is visible to
// all readers of the events.
type Failure struct {
	Code, Message string
	Missing       *UnavailableError // the first missing item; nil if the replay failed for another reason
}

// payload returns the failure as the payload of replay.failed.
func (f *Failure) payload() object {
	o := object{"code": text(f.Code), "message": text(f.Message)}
	if f.Missing != nil {
		o["first_unavailable"] = f.Missing.named().json()
	}
	return o
}

// asTask returns the failure as the payload of task.failed.
func (f *Failure) asTask() object {
	details := object{}
	if f.Missing != nil {
		details["first_unavailable"] = f.Missing.named().json()
	}
	failure := object{"code": text(f.Code), "message": text(f.Message), "details": details.json()}
	return object{"failure": failure.json()}
}

// errStopped indicates that the caller does not want more events.
var errStopped = errors.New("replay: stopped")

// A teller writes the events of a replay.
type teller struct {
	plan  *Plan
	run   Run
	uses  func(*swap) bool // reports whether the replay uses an override
	yield func([]byte, error) bool
	doc   *canon.Document // the current event
	line  []byte          // the event that is being written

	number   int  // the number of events with a sequence number in the task of the replay
	cursor   int  // the number of source events so far
	restored bool // the checkpoint has been reached, or the request has none

	calls   map[string]*swap       // overrides, keyed by the call ID
	answers map[string]*swap       // overrides, keyed by the event ID
	words   map[canon.Digest]*swap // overrides, keyed by the digest of the event's kind and payload, for repeated events
	firsts  map[string]bool        // IDs of events that record an answer; such an event never repeats another answer
}

func newTeller(p *Plan, run Run, uses func(*swap) bool, yield func([]byte, error) bool) *teller {
	if run.Failure != nil { // no events of the source are repeated
		uses = func(s *swap) bool { return isTaskTime(s.Key) || p.wasTaken(s) }
	}
	t := &teller{plan: p, run: run, uses: uses, yield: yield, doc: new(canon.Document), restored: p.boundary == "", calls: map[string]*swap{}, answers: map[string]*swap{}, words: map[canon.Digest]*swap{}, firsts: map[string]bool{}}

	// Substitutions are found by the call ID or by the event that recorded the answer.
	for _, d := range p.Log.Dependencies {
		t.firsts[d.EventID] = true
	}
	for _, s := range p.swaps {
		switch {
		case s.of.Key == "" || s.of.Kind == record.KindTime:
		case s.of.CallID != "":
			t.calls[s.of.CallID] = s
		default:
			t.answers[s.of.EventID] = s
		}
	}
	return t
}

func (t *teller) tell() error {
	if t.run.TaskID == "" || t.run.TaskID == t.plan.Log.TaskID {
		return &RequestError{"task", "expected an id that the source does not have"}
	}
	life, err := t.plan.Log.life()
	if err != nil {
		return err
	}

	// The replay has the same lifecycle and times as the source task.
	first, last := life[0], life[len(life)-1]
	for _, line := range life[:len(life)-1] {
		if err := t.begin(line); err != nil {
			return err
		}
	}

	if err := t.announce(first); err != nil {
		return err
	}

	// A failed replay does not repeat the events of its source.
	if failure := t.run.Failure; failure != nil {
		if err := t.say("replay.failed", last, failure.payload()); err != nil {
			return err
		}
		return t.say("task.failed", last, failure.asTask())
	}

	if err := t.plan.Log.each(t.again); err != nil {
		return err
	}
	if err := t.say("replay.completed", last, object{}); err != nil {
		return err
	}
	return t.begin(last)
}

// begin writes a lifecycle event of the source as an event of the replay.
func (t *teller) begin(line []byte) error {
	if err := event.Parse(t.doc, line); err != nil {
		return err
	}
	t.number++
	return t.write(t.doc.Root(), t.envelope(object{"replayed": nil, "replay": nil, "previous_event_id": nil, "receipt_id": nil, "idempotency_key": nil}))
}

// envelope sets the ID, resource, and sequence of an event that belongs to the task of the replay.
func (t *teller) envelope(o object) object {
	o["id"], o["task_id"] = text(t.id()), text(t.run.TaskID)
	o["resource"] = object{"object": text("task"), "id": text(t.run.TaskID)}.json()
	o["sequence"] = number(t.number)
	return o
}

// say writes an event about the replay. The event has the times of a source event.
func (t *teller) say(kind string, at []byte, payload object) error {
	if err := event.Parse(t.doc, at); err != nil {
		return err
	}
	t.number++

	o := t.envelope(object{"object": text("event"), "event": text(kind), "payload": payload.json(), "metadata": object{}.json()})
	for _, name := range []string{"created_at", "updated_at", "session_id", "workspace_id"} {
		if n := t.doc.Root().Member(name); !n.IsZero() {
			o[name] = n.Raw()
		}
	}
	return t.write(canon.Node{}, o)
}

// announce writes the start event of the replay, and one event for each substitution.
func (t *teller) announce(at []byte) error {
	log := t.plan.Log
	started := object{
		"source_task_id": text(log.TaskID), "mode": text(string(t.plan.request.Mode)),
		"source_log_sha256": text(log.Digest.String()), "source_log_events": number(log.Events),
	}
	if t.run.LogURI != "" {
		started["source_log_uri"] = text(t.run.LogURI)
	}
	if !t.run.ReceiptHash.IsZero() {
		started["source_receipt_hash"] = text(t.run.ReceiptHash.String())
	}
	if t.plan.boundary != "" {
		started["checkpoint_event_id"] = text(t.plan.boundary)
		if id := t.plan.request.CheckpointID; id != "" {
			started["checkpoint_id"] = text(id)
		}
	}

	var used []*swap
	var unused [][]byte
	for _, s := range t.plan.swaps {
		if t.uses(s) {
			used = append(used, s)
		} else {
			unused = append(unused, text(s.Key))
		}
	}

	if unused != nil {
		started["overrides_unused"] = slices.Concat([]byte("["), bytes.Join(unused, []byte(",")), []byte("]"))
	}
	if err := t.say("replay.started", at, started); err != nil {
		return err
	}

	for _, s := range used {
		if err := t.say("replay.event_replayed", at, s.announcement()); err != nil {
			return err
		}
	}
	return nil
}

// again writes an event of the source as a replayed event.
func (t *teller) again(line []byte) error {
	if err := event.Parse(t.doc, line); err != nil {
		return err
	}

	t.cursor++

	// Before the checkpoint, only answers are written, because the receipt must list them as
	// materials.
	root := t.doc.Root()
	id, kind := root.Member("id").String(), root.Member("event").String()
	if t.restored = t.restored || id == t.plan.boundary; !t.restored && !answers(kind) {
		return nil
	}

	replay := object{
		"source_task_id": text(t.plan.Log.TaskID), "replay_task_id": text(t.run.TaskID), "original_event_id": text(id),
		"replay_cursor": text(string(number(t.cursor))), "mode": text(string(t.plan.request.Mode)),
	}
	o := object{"replayed": []byte("true")}
	told, s := t.substitute(root, o)
	if !told {
		return nil
	}
	if s != nil {
		replay["override_key"], replay["receipt_delta_id"] = text(s.Key), text(s.delta().DeltaID)
	}

	o["replay"] = replay.json()
	if t.run.Remap {
		t.remap(root, o)
	}
	return t.write(root, o)
}

// answers reports whether an event of the given kind can record an answer or one of the task's
// times.
func answers(kind string) bool {
	for _, prefix := range []string{"task.", "span.", "tool.", "agent.tool_", "agent.mcp_", "agent.memory_read", "session.compacted"} {
		if len(kind) >= len(prefix) && kind[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}

// substitute changes the payload of an event if a substitution applies to it. It reports false if
// the new payload must not appear in any event.
func (t *teller) substitute(root canon.Node, o object) (told bool, by *swap) {
	payload := root.Member("payload")
	id, kind := root.Member("id").String(), root.Member("event").String()

	// An override of the payload takes precedence over an override of an answer.
	if s := t.plan.byEvent[id]; s != nil {
		if o["payload"] = s.value; !s.visible() || s.Kind == kindCheckpoint && (len(s.value) == 0 || s.value[0] != '{') {
			return false, s
		}
		return true, s
	}

	// Two model calls may return the same data. Therefore, a repeated payload is treated as the
	// same answer only if it is not recorded as a separate answer.
	s := t.answers[id]
	if len(t.answers) > 0 && (s != nil || !t.firsts[id]) {
		words := canon.Sum(payload.AppendCanonical([]byte(kind)))
		if s != nil {
			t.words[words] = s
		}
		s = t.words[words]
	}
	if s != nil {
		member := "response"
		if kind == "agent.memory_read" || kind == "session.compacted" {
			member = "" // these events contain only digests
		}
		o["payload"] = s.put(payload, member)
		return true, s
	}

	// Every event that contains the output of the call is changed.
	if s = t.calls[payload.Member("tool_call_id").String()]; s == nil || !tellsOutput(payload) && id != s.of.EventID {
		return true, nil
	}
	o["payload"] = s.put(payload, "output")
	return true, s
}

func tellsOutput(payload canon.Node) bool {
	return !payload.Member("output").IsZero() || !payload.Member("output_sha256").IsZero() || !payload.Member("output_uri").IsZero()
}

// remap replaces the IDs and the sequence in a source event with those of the replay.
func (t *teller) remap(root canon.Node, o object) {
	source := t.plan.Log.TaskID
	if root.Member("task_id").String() == source {
		o["task_id"] = text(t.run.TaskID)
	}

	// The ID of the previous event, if that event is written at all, is different in the replay.
	o["previous_event_id"] = nil
	t.number++
	o["id"] = text(t.id())
	resource := root.Member("resource")
	if resource.Member("object").String() != "task" || resource.Member("id").String() != source {
		t.number-- // the event belongs to the sequence of another resource
		o["id"] = text(t.run.TaskID + ":source:" + string(number(t.cursor)))
		return
	}
	o["resource"] = object{"id": text(t.run.TaskID)}.over(nil, resource)
	o["sequence"] = number(t.number)
}

func (t *teller) id() string { return t.run.TaskID + ":" + string(number(t.number)) }

// write yields an event in canonical form, followed by a line feed.
func (t *teller) write(root canon.Node, o object) error {
	t.line = append(o.over(t.line[:0], root), '\n')
	if !t.yield(t.line, nil) {
		return errStopped
	}
	return nil
}
