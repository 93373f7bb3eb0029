package turn

import (
	"slices"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Translator creates the events of one turn of a chat. The events have decimal IDs and sequences
// that count from 1. Each method takes the time of its part of the turn. Its error is an
// *[event.Error], or the error of the function that receives the events. It is final: every later
// call returns it. A Translator is not safe for concurrent use.
type Translator struct {
	around event.Envelope // of all events; the task is the invocation, and the session is the chat
	budget *event.Budget
	in     *canon.Document
	add    func(event *canon.Document) error
	out    event.Emitter

	index int // number of parts
	err   error
	state state
}

// New returns a translator that passes events to add, such as the method of a recorder. The budget
// counts the memory that it uses.
func New(around event.Envelope, add func(event *canon.Document) error, b *event.Budget) *Translator {
	return &Translator{around: around, budget: b, in: new(canon.Document), add: add, out: event.NewEmitter(add)}
}

// Err returns the error that ended the turn's recording, if one did.
func (t *Translator) Err() error { return t.err }

// Waiting returns the ID of the signal for which the turn is suspended, or "".
func (t *Translator) Waiting() string { return t.state.waiting.signal }

// contentOf returns the digest of the content of an entire message.
func (t *Translator) Send(at time.Time, message []byte) error {
	e := t.part("send", at)
	if t.state.sent {
		e.Fail(event.CodeTransition, canon.Node{}, "a turn has one message that is sent, and this one had it before")
	}

	// Another event may have submitted the task.
	if !t.state.submitted {
		t.emit(e, "task.submitted", event.Members{})
	}

	m, digest := t.read(message)
	t.emit(e, "user.message", event.Members{"role": roleOf(m), "content_sha256": digestOf(m.Member("content")), "message_sha256": digest.String()})
	return t.finish(e)
}

// Begin records that the graph was entered, for the first time or after a signal.
func (t *Translator) Begin(at time.Time) error {
	e := t.part("begin", at)
	if waiting := t.state.waiting.signal; waiting != "" {
		e.Fail(event.CodeTransition, canon.Node{}, "the turn is suspended until the signal %s comes", event.Quote(waiting))
	}
	t.emit(e, "task.started", event.Members{})
	return t.finish(e)
}

// Message records a message that the turn added, of any role, or the message with which it reports
// its failure. If [Check] rejects the message, the recording ends.
func (t *Translator) Message(at time.Time, message []byte) error {
	e := t.part("message", at)
	m, digest := t.read(message)
	if wrong := shapeOf(m); wrong != nil {
		e.Err = &event.Error{Index: e.Index, Kind: e.Kind, Pointer: wrong.Pointer, Code: event.CodePayload, Detail: wrong.Detail}
		return t.finish(e)
	}

	// A message records that a tool was called or what it returned, but not the status of the call.
	switch m.Member("role").String() {
	case roleAssistant:
		t.emit(e, "agent.message", event.Members{"content_sha256": digestOf(m.Member("content"))})
		for _, c := range m.Member("tool_calls").Elements() {
			t.emit(e, "agent.tool_use", event.Members{"tool_call_id": c.Member("id"), "name": c.Member("name"), "input": c.Member("arguments")})
		}
	case roleTool:
		t.emit(e, "agent.tool_result", event.Members{"tool_call_id": m.Member("tool_call_id"), "output": m.Member("content"), "status": "unreported"})
	}

	t.emit(e, "artifact.created", event.Members{"artifact_id": reply + strconv.Itoa(t.state.replies+1), "kind": "message", "sha256": digest.String()})
	return t.finish(e)
}

// Suspend records that the turn waits for a signal. The metadata of the signal is a JSON object, or
// nil. Its action is the action to approve.
func (t *Translator) Suspend(at time.Time, signal string, metadata []byte) error {
	e := t.part("suspend", at)
	if signal == "" {
		e.Fail(event.CodePayload, canon.Node{}, "expected the id of a signal")
	}

	// The digest of the metadata shows whether an open question is the same.
	var asked canon.Node
	var digest canon.Digest
	if metadata != nil {
		if asked, digest = t.read(metadata); asked.Kind() != canon.KindObject {
			e.Fail(event.CodePayload, asked, "expected an object as metadata of the signal")
		}
	}

	// A process that ended here may have recorded only the question. An identical question is not
	// repeated while it is open.
	if t.state.asked.signal != signal || t.state.asked.metadata != digest {
		t.ask(e, signal, asked)
	}
	t.emit(e, "task.input_required", event.Members{})
	return t.finish(e)
}

// ask requests a signal. If the signal was requested before, this is a new question.
func (t *Translator) ask(e *event.Event, signal string, metadata canon.Node) {
	approval := t.state.approval(signal)

	// A numbered approval also names the signal that it waits for.
	p := event.Members{"approval_id": approval, "input": metadata}
	if approval != signal {
		p["request_id"] = signal
	}
	if action := metadata.Member("action"); action.Kind() == canon.KindString {
		p["action"] = action
	}
	t.emit(e, "tool.approval_required", p)
}

// Signal records the signal for which the turn waits. The error is a *[SignalError] if the turn
// does not wait for it; then nothing changes. [Translator.Begin] continues the turn.
func (t *Translator) Signal(at time.Time, s Signal) error {
	waiting := t.state.waiting
	if t.err == nil && (s.ID == "" || s.ID != waiting.signal) {
		return &SignalError{s.ID, waiting.signal}
	}

	e := t.part("signal", at)
	p := event.Members{"approval_id": waiting.approval, "actor": s.Actor}
	if s.Payload != nil {
		// The decision is in these members, as in any confirmation. The digest covers all others.
		answer, digest := t.read(s.Payload)
		for _, name := range []string{"decision", "approved", "accepted"} {
			p[name] = answer.Member(name)
		}
		t.emit(e, "user.input_submitted", event.Members{"content_sha256": digest.String()})
	}
	t.emit(e, "user.tool_confirmation", p)
	return t.finish(e)
}

// Complete ends a turn.
func (t *Translator) Complete(at time.Time) error {
	e := t.part("complete", at)
	t.emit(e, "task.completed", event.Members{})
	return t.finish(e)
}

// Fail ends a turn that failed, including a turn that never began.
func (t *Translator) Fail(at time.Time, f Failure) error {
	e := t.part("fail", at)
	if !slices.Contains(buckets(), f.Bucket) {
		e.Fail(event.CodePayload, canon.Node{}, "expected a bucket of %q, found %s", buckets(), event.Quote(string(f.Bucket)))
	}
	t.emit(e, "task.failed", event.Members{"failure": f.members()})
	return t.finish(e)
}

// Event records an event that is not part of a turn, such as the cost of a model call. The payload
// is a JSON object.
func (t *Translator) Event(at time.Time, kind string, payload []byte) error {
	e := t.part(kind, at)
	p, _ := t.read(payload)
	if p.Kind() != canon.KindObject {
		e.Fail(event.CodeMalformed, p, "expected an object as payload")
	}
	t.emitText(e, kind, p.AppendCanonical(nil))
	return t.finish(e)
}

// Take applies an event of the turn from its log. The caller may reuse the document afterward.
func (t *Translator) Take(doc *canon.Document) error {
	e := t.part("", time.Time{})
	if t.err == nil {
		t.err = t.add(doc)
	}

	// Events of other tasks are skipped.
	if root := doc.Root(); t.err == nil && root.Member("task_id").String() == t.around.TaskID {
		t.note(e, root)
	}
	return t.finish(e)
}

// note applies an event to the state. The next event continues its sequence.
func (t *Translator) note(e *event.Event, root canon.Node) {
	if root.Member("resource").Member("object").String() == "task" {
		t.out.Resume(int(root.Member("sequence").Float()))
	}
	t.state.note(e, root)
}

// part starts a part of the turn. The returned event holds the first error.
func (t *Translator) part(kind string, at time.Time) *event.Event {
	t.index++
	return &event.Event{Index: t.index, Kind: kind, At: at, Kept: t.budget}
}

// finish makes the first error of a part final.
func (t *Translator) finish(e *event.Event) error {
	if t.err == nil && e.Err != nil {
		t.err = e.Err
	}
	return t.err
}

// read parses JSON from another program. It returns the digest of the RFC 8785 form, or of the
// bytes if they are not strict JSON.
func (t *Translator) read(text []byte) (canon.Node, canon.Digest) {
	if err := event.Parse(t.in, text); err != nil {
		return canon.Node{}, canon.Sum(text)
	}
	return t.in.Root(), event.HashOf(t.in.Root())
}

func (t *Translator) emit(e *event.Event, kind string, payload event.Members) {
	t.emitText(e, kind, payload.Text())
}

// emitText passes an event to the recorder, which checks it like all others.
func (t *Translator) emitText(e *event.Event, kind string, payload []byte) {
	if t.err != nil || e.Err != nil {
		return
	}

	// The events of a part have its time.
	if e.At.IsZero() {
		e.Fail(event.CodeTime, canon.Node{}, "the time is not recorded")
		return
	}

	if t.err = t.out.Emit(t.around, event.Part{Index: t.index, Name: e.Kind, At: e.At}, kind, payload); t.err == nil {
		t.note(e, t.out.Latest())
	}
}

// roleOf returns the role of a message, or "".
func roleOf(m canon.Node) string {
	if role := m.Member("role"); role.Kind() == canon.KindString {
		return role.String()
	}
	return ""
}

// digestOf returns the digest of the content of a message, or "" if there is none. A string is
// equivalent to one text block.
func digestOf(content canon.Node) string {
	c := event.NewContent()
	switch content.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return ""
	case canon.KindString:
		c.Text(content)
	case canon.KindArray:
		for _, b := range content.Elements() {
			c.Block(b)
		}
	default:
		c.Block(content)
	}
	return c.Digest().String()
}
