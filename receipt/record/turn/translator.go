package turn

import (
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Translator makes events of one turn of a chat. The events have decimal ids and
// sequences that count from 1. Each part of a turn has the time at which it was. The
// error of each is an *[event.Error], or what the taker said; it is final: every later call
// returns it. It is not safe for concurrent use.
type Translator struct {
	around event.Envelope // of all events: the task is the invocation, the session is the chat
	budget *event.Budget
	in     *canon.Document
	add    func(event *canon.Document) error
	out    event.Emitter

	index int // of the parts
	err   error
	state state
}

// New returns a translator that gives events to add, such as that of a recorder. What it keeps is
// counted in a budget.
func New(around event.Envelope, add func(event *canon.Document) error, b *event.Budget) *Translator {
	return &Translator{around: around, budget: b, in: new(canon.Document), add: add, out: event.NewEmitter(add)}
}

// Err returns the error that ended the turn's recording, if one did.
func (t *Translator) Err() error { return t.err }

// Waiting is the signal for which the turn is suspended, "" when it is not.
func (t *Translator) Waiting() string { return t.state.waiting.signal }

// Send is the message with which the turn begins to be: it is submitted. The message may be
// one that [Check] refuses, and no JSON at all: its digest is told.
func (t *Translator) Send(at time.Time, message []byte) error {
	e := t.part("send", at)
	if t.state.sent {
		e.Fail(event.CodeTransition, canon.Node{}, "a turn has one message that is sent, and this one had it before")
	}
	if !t.state.submitted {
		t.emit(e, "task.submitted", event.Members{})
	}

	m, digest := t.read(message)
	t.emit(e, "user.message", event.Members{"role": roleOf(m), "content_sha256": digestOf(m.Member("content")), "message_sha256": digest.String()})
	return t.finish(e)
}

// Begin is when the graph is entered, and when it is again after a signal.
func (t *Translator) Begin(at time.Time) error {
	e := t.part("begin", at)
	if waiting := t.state.waiting.signal; waiting != "" {
		e.Fail(event.CodeTransition, canon.Node{}, "the turn is suspended until the signal %s comes", event.Quote(waiting))
	}
	t.emit(e, "task.started", event.Members{})
	return t.finish(e)
}

// Message is one that the turn added, of any role, or with which it answers that it failed.
// One that [Check] refuses ends the recording.
func (t *Translator) Message(at time.Time, message []byte) error {
	e := t.part("message", at)
	m, digest := t.read(message)
	if wrong := shapeOf(m); wrong != nil {
		e.Err = &event.Error{Index: e.Index, Kind: e.Kind, Pointer: wrong.Pointer, Code: event.CodePayload, Detail: wrong.Detail}
		return t.finish(e)
	}

	// A message tells that a tool was called and what it returned, and not how that ended.
	switch m.Member("role").String() {
	case RoleAssistant:
		t.emit(e, "agent.message", event.Members{"content_sha256": digestOf(m.Member("content"))})
		for _, c := range m.Member("tool_calls").Elements() {
			t.emit(e, "agent.tool_use", event.Members{"tool_call_id": c.Member("id"), "name": c.Member("name"), "input": c.Member("arguments")})
		}
	case RoleTool:
		t.emit(e, "agent.tool_result", event.Members{"tool_call_id": m.Member("tool_call_id"), "output": m.Member("content"), "status": "unreported"})
	}

	t.emit(e, "artifact.created", event.Members{"artifact_id": reply + strconv.Itoa(t.state.replies+1), "kind": "message", "sha256": digest.String()})
	return t.finish(e)
}

// Suspend is when the turn begins to wait for a signal. Metadata of the signal is a JSON
// object, whose action is what is asked for; nil: there is none.
func (t *Translator) Suspend(at time.Time, signal string, metadata []byte) error {
	e := t.part("suspend", at)
	if signal == "" {
		e.Fail(event.CodePayload, canon.Node{}, "expected the id of a signal")
	}
	var asked canon.Node
	var digest canon.Digest
	if metadata != nil {
		if asked, digest = t.read(metadata); asked.Kind() != canon.KindObject {
			e.Fail(event.CodePayload, asked, "expected an object as metadata of the signal")
		}
	}

	// A process that ended here may have asked, and no more than that. Who asks the same
	// again while it is open asks it once.
	if t.state.asked.signal != signal || t.state.asked.metadata != digest {
		t.ask(e, signal, asked)
	}
	t.emit(e, "task.input_required", event.Members{})
	return t.finish(e)
}

// ask asks for a signal. One that was asked for before is another question.
func (t *Translator) ask(e *event.Event, signal string, metadata canon.Node) {
	approval := t.state.approval(signal)
	p := event.Members{"approval_id": approval, "input": metadata}
	if approval != signal {
		p["request_id"] = signal
	}
	if action := metadata.Member("action"); action.Kind() == canon.KindString {
		p["action"] = action
	}
	t.emit(e, "tool.approval_required", p)
}

// Signal answers what the turn waits for. A signal for which it does not wait is a
// *[SignalError], and no more than that. The turn goes on with [Translator.Begin].
func (t *Translator) Signal(at time.Time, s Signal) error {
	waiting := t.state.waiting
	if t.err == nil && (s.ID == "" || s.ID != waiting.signal) {
		return &SignalError{s.ID, waiting.signal}
	}

	e := t.part("signal", at)
	p := event.Members{"approval_id": waiting.approval, "actor": s.Actor}
	if s.Payload != nil {
		answer, digest := t.read(s.Payload)
		for _, name := range []string{"decision", "approved", "accepted"} {
			p[name] = answer.Member(name)
		}
		t.emit(e, "user.input_submitted", event.Members{"content_sha256": digest.String()})
	}
	t.emit(e, "user.tool_confirmation", p)
	return t.finish(e)
}

// Complete is the end of a turn.
func (t *Translator) Complete(at time.Time) error {
	e := t.part("complete", at)
	t.emit(e, "task.completed", event.Members{})
	return t.finish(e)
}

// Fail is the end of a turn that failed, also of one that never began.
func (t *Translator) Fail(at time.Time, f Failure) error {
	e := t.part("fail", at)
	if !f.known() {
		e.Fail(event.CodePayload, canon.Node{}, "expected a bucket of %q, found %s", Buckets(), event.Quote(string(f.Bucket)))
	}
	t.emit(e, "task.failed", event.Members{"failure": f.members()})
	return t.finish(e)
}

// Event is what no part of a turn tells, such as what a model cost: an event of a kind,
// with its payload, a JSON object.
func (t *Translator) Event(at time.Time, kind string, payload []byte) error {
	e := t.part(kind, at)
	p, _ := t.read(payload)
	if p.Kind() != canon.KindObject {
		e.Fail(event.CodeMalformed, p, "expected an object as payload")
	}
	t.emitText(e, kind, p.AppendCanonical(nil))
	return t.finish(e)
}

// Take takes an event that the turn became before, as it was kept. The document may be used
// for something else afterwards.
func (t *Translator) Take(doc *canon.Document) error {
	e := t.part("", time.Time{})
	if t.err == nil {
		t.err = t.add(doc)
	}

	// Events of others are passed over.
	if root := doc.Root(); t.err == nil && root.Member("task_id").String() == t.around.TaskID {
		t.note(e, root)
	}
	return t.finish(e)
}

// note takes what an event says of the turn. The next event has the number after the last.
func (t *Translator) note(e *event.Event, root canon.Node) {
	if root.Member("resource").Member("object").String() == "task" {
		t.out.Resume(int(root.Member("sequence").Float()))
	}
	t.state.note(e, root)
}

// part begins a part of the turn. It reads like an event, and keeps the first error.
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

// read parses a text that somebody else wrote, and returns its digest: that of its RFC
// 8785 form, or of its bytes where it is no strict JSON.
func (t *Translator) read(text []byte) (canon.Node, canon.Digest) {
	if err := event.Parse(t.in, text); err != nil {
		return canon.Node{}, canon.Sum(text)
	}
	return t.in.Root(), event.HashOf(t.in.Root())
}

func (t *Translator) emit(e *event.Event, kind string, payload event.Members) {
	t.emitText(e, kind, payload.Text())
}

// emitText gives an event to the taker, which parses and judges it as it does all others.
func (t *Translator) emitText(e *event.Event, kind string, payload []byte) {
	if t.err != nil || e.Err != nil {
		return
	}
	if e.At.IsZero() {
		e.Fail(event.CodeTime, canon.Node{}, "nothing tells when it was")
		return
	}

	if t.err = t.out.Emit(t.around, event.Part{Index: t.index, Name: e.Kind, At: e.At}, kind, payload); t.err == nil {
		t.note(e, t.out.Latest())
	}
}

// roleOf is the role of a message that has one.
func roleOf(m canon.Node) string {
	if role := m.Member("role"); role.Kind() == canon.KindString {
		return role.String()
	}
	return ""
}

// digestOf is the digest of what a message says, "" where it says nothing. A string is the
// one text of it.
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
