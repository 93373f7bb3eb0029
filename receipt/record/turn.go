package record

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Turn records one turn of a chat. Its task is the invocation, and each method records a part of
// the turn. The methods create events for a [Recorder]. A suspended turn has no draft until it is
// resumed and has ended. The error that a part returns is an *[Error], or the error that
// Options.Keep returned. It is permanent, and every later call returns it. A Turn is not safe for
// concurrent use.
type Turn struct {
	recorder *Recorder
	around   event.Envelope // of all events: the task is the invocation, and the session is the chat
	budget   *event.Budget
	in       *canon.Document
	out      event.Emitter

	index int // number of parts
	err   error
	state turnState
}

// NewTurn returns a Turn. Options.TaskID, which is the ID of the invocation, and Options.SessionID,
// which is the ID of the chat, are required. Options.Keep receives the events of the turn.
// [ResumeTurn] can continue the turn from a log of these events.
func NewTurn(o Options) (*Turn, error) {
	switch {
	case o.TaskID == "":
		return nil, &OptionError{"TaskID", "is empty: no message names the invocation"}
	case o.SessionID == "":
		return nil, &OptionError{"SessionID", "is empty: no message names the chat"}
	}
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	around := event.Envelope{TaskID: o.TaskID, SessionID: o.SessionID, WorkspaceRef: o.WorkspaceRef}
	return &Turn{recorder: r, around: around, budget: r.run.Budget, in: new(canon.Document), out: event.NewEmitter(r.AddDocument)}, nil
}

// ResumeTurn returns the Turn that wrote a log, in its state at the end of the log. If the log
// contains only some events of a part, that part is processed again. The caller must first remove a
// truncated last line. Options.Keep receives the events that follow the log. Errors from the input
// are returned unchanged, and errors in a line are returned as a *[LineError].
func ResumeTurn(o Options, log io.Reader) (*Turn, error) {
	keep, live := o.Keep, false
	o.Keep = func(line []byte) error {
		if !live || keep == nil {
			return nil
		}
		return keep(line)
	}
	t, err := NewTurn(o)
	if err != nil {
		return nil, err
	}

	err = event.Each(log, func(line int, doc *canon.Document, wrong *Error) error {
		if wrong != nil {
			wrong.Index = line
			return wrong
		}
		return t.take(doc)
	})
	if err != nil {
		return nil, err
	}
	live = true
	return t, nil
}

// Ended reports whether the turn has completed or failed.
func (t *Turn) Ended() bool { return t.recorder.Ended() }

// Draft returns the draft of the receipt, like [Recorder.Draft]. The error is [ErrNotEnded] while
// the turn is running or suspended.
func (t *Turn) Draft() (*receipt.Draft, error) {
	if t.err != nil {
		return nil, t.err
	}
	return t.recorder.Draft()
}

// Counts returns the current event counts.
func (t *Turn) Counts() Counts { return t.recorder.Counts() }

// Waiting returns the ID of the signal for which the turn is waiting, or "".
func (t *Turn) Waiting() string { return t.state.waiting.signal }

// Send records the message that starts the turn.
func (t *Turn) Send(at time.Time, message []byte) error {
	e := t.part("send", at)
	if t.state.sent {
		e.Fail(event.CodeTransition, canon.Node{}, "a turn has one message that is sent, and this one had it before")
	}

	// Another event may already have submitted the task.
	if !t.state.submitted {
		t.emit(e, "task.submitted", event.Members{})
	}

	m, digest := t.read(message)
	t.emit(e, "user.message", event.Members{"role": roleOf(m), "content_sha256": digestOf(m.Member("content")), "message_sha256": digest.String()})
	return t.finish(e)
}

// Begin records that the turn entered the graph, for the first time or after a signal.
func (t *Turn) Begin(at time.Time) error {
	e := t.part("begin", at)
	if waiting := t.state.waiting.signal; waiting != "" {
		e.Fail(event.CodeTransition, canon.Node{}, "the turn is suspended until the signal %s comes", event.Quote(waiting))
	}
	t.emit(e, "task.started", event.Members{})
	return t.finish(e)
}

// Message records a message of any role that the turn added, or the message with which the turn
// reports its failure. If [CheckMessage] rejects the message, the recording ends.
func (t *Turn) Message(at time.Time, message []byte) error {
	e := t.part("message", at)
	m, digest := t.read(message)
	if wrong := shapeOf(m); wrong != nil {
		e.Err = &event.Error{Index: e.Index, Kind: e.Kind, Pointer: wrong.Pointer, Code: event.CodePayload, Detail: wrong.Detail}
		return t.finish(e)
	}

	// A message records a tool call or the result of a tool, but not the status of the call.
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

// Suspend records that the turn is waiting for a signal. The signal's metadata is a JSON object, or
// nil. The member "action" of the metadata is the action to approve.
func (t *Turn) Suspend(at time.Time, signal string, metadata []byte) error {
	e := t.part("suspend", at)
	if signal == "" {
		e.Fail(event.CodePayload, canon.Node{}, "expected the id of a signal")
	}

	// The digest of the metadata shows whether an open question is identical to the new one.
	var asked canon.Node
	var digest canon.Digest
	if metadata != nil {
		if asked, digest = t.read(metadata); asked.Kind() != canon.KindObject {
			e.Fail(event.CodePayload, asked, "expected an object as metadata of the signal")
		}
	}

	// If the process crashed at this point, the log may contain only the question. An identical
	// question is not repeated while it is open.
	if t.state.asked.signal != signal || t.state.asked.metadata != digest {
		t.ask(e, signal, asked)
	}
	t.emit(e, "task.input_required", event.Members{})
	return t.finish(e)
}

// ask requests a signal. If the signal was requested before, this is a new question.
func (t *Turn) ask(e *event.Event, signal string, metadata canon.Node) {
	approval := t.state.approval(signal)

	// A numbered approval also contains the ID of the signal.
	p := event.Members{"approval_id": approval, "input": metadata}
	if approval != signal {
		p["request_id"] = signal
	}
	if action := metadata.Member("action"); action.Kind() == canon.KindString {
		p["action"] = action
	}
	t.emit(e, "tool.approval_required", p)
}

// Signal records the signal for which the turn is waiting. If the turn is not waiting for this
// signal, the error is a *[SignalError], and nothing changes. [Turn.Begin] continues the turn.
func (t *Turn) Signal(at time.Time, s Signal) error {
	waiting := t.state.waiting
	if t.err == nil && (s.ID == "" || s.ID != waiting.signal) {
		return &SignalError{s.ID, waiting.signal}
	}

	e := t.part("signal", at)
	p := event.Members{"approval_id": waiting.approval, "actor": s.Actor}
	if s.Payload != nil {
		// The decision is in these members, as in every confirmation. The digest covers the entire
		// payload.
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
func (t *Turn) Complete(at time.Time) error {
	e := t.part("complete", at)
	t.emit(e, "task.completed", event.Members{})
	return t.finish(e)
}

// Fail ends a failed turn, including a turn that never began.
func (t *Turn) Fail(at time.Time, f Failure) error {
	e := t.part("fail", at)
	if !slices.Contains(buckets(), f.Bucket) {
		e.Fail(event.CodePayload, canon.Node{}, "expected a bucket of %q, found %s", buckets(), event.Quote(string(f.Bucket)))
	}
	t.emit(e, "task.failed", event.Members{"failure": f.members()})
	return t.finish(e)
}

// Event records an event that is not a part of the turn, such as the cost of a model call. The
// payload is a JSON object.
func (t *Turn) Event(at time.Time, kind string, payload []byte) error {
	e := t.part(kind, at)
	p, _ := t.read(payload)
	if p.Kind() != canon.KindObject {
		e.Fail(event.CodeMalformed, p, "expected an object as payload")
	}
	t.emitText(e, kind, p.AppendCanonical(nil))
	return t.finish(e)
}

// take applies an event from the turn's log. The caller may reuse the document afterward.
func (t *Turn) take(doc *canon.Document) error {
	e := t.part("", time.Time{})
	if t.err == nil {
		t.err = t.recorder.AddDocument(doc)
	}

	// Events of other tasks are skipped.
	if root := doc.Root(); t.err == nil && root.Member("task_id").String() == t.around.TaskID {
		t.note(e, root)
	}
	return t.finish(e)
}

// note updates the state of the turn from an event. The next event continues the sequence after
// this event.
func (t *Turn) note(e *event.Event, root canon.Node) {
	if root.Member("resource").Member("object").String() == "task" {
		t.out.Resume(int(root.Member("sequence").Float()))
	}
	t.state.note(e, root)
}

// part starts a part of the turn. The returned event stores the first error.
func (t *Turn) part(kind string, at time.Time) *event.Event {
	t.index++
	return &event.Event{Index: t.index, Kind: kind, At: at, Kept: t.budget}
}

// finish makes the first error of a part permanent.
func (t *Turn) finish(e *event.Event) error {
	if t.err == nil && e.Err != nil {
		t.err = e.Err
	}
	return t.err
}

// read parses JSON that another program wrote. It returns the digest of the RFC 8785 form, or of
// the bytes themselves if they are not strict JSON.
func (t *Turn) read(text []byte) (canon.Node, canon.Digest) {
	if err := event.Parse(t.in, text); err != nil {
		return canon.Node{}, canon.Sum(text)
	}
	return t.in.Root(), event.HashOf(t.in.Root())
}

func (t *Turn) emit(e *event.Event, kind string, payload event.Members) {
	t.emitText(e, kind, payload.Text())
}

// emitText passes an event to the recorder, which checks it like all other events.
func (t *Turn) emitText(e *event.Event, kind string, payload []byte) {
	if t.err != nil || e.Err != nil {
		return
	}

	// All events of a part have the same time.
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

// digestOf returns the digest of the content of a message, or "" if the message has no content. A
// string is equivalent to a single text block.
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

// A turnState is the state of a turn according to its events.
type turnState struct {
	replies   int  // the highest number of a reply so far
	submitted bool // the task was submitted
	sent      bool // the message was sent

	asked, waiting wait           // the last question, and the question for which the turn is suspended
	questions      map[string]int // number of requests for each signal
	given          map[string]bool
}

// A wait is a question that a signal answers. Its approval ID is the ID of the signal. If the turn
// has already waited for this signal, a number is appended.
type wait struct {
	signal, approval string
	metadata         canon.Digest // digest of the metadata; zero if there is none
}

// reply is the prefix of the IDs of added messages.
const reply = "reply_"

// note updates the state from an event. Strings from the event, and an error about a limit, are
// stored in e.
func (s *turnState) note(e *event.Event, root canon.Node) {
	p := root.Member("payload")
	switch root.Member("event").String() {
	case "task.submitted":
		s.submitted = true
	case "user.message":
		s.sent = true
	case "artifact.created", "artifact.updated", "artifact.linked", "artifact.redacted":
		s.number(p.Member("artifact_id").String())
	case "tool.approval_required":
		s.ask(e, p)
	case "user.tool_confirmation", "tool.approved", "tool.denied":
		s.answer(cmp.Or(p.Member("approval_id").String(), p.Member("request_id").String()))

	// A turn waits for the last question before its suspension, until the turn starts again.
	case "task.input_required":
		s.waiting = s.asked
	case "task.started":
		s.waiting = wait{}
	}
}

// number records the number of a reply, so that it is not used again.
func (s *turnState) number(id string) {
	digits, ok := strings.CutPrefix(id, reply)
	if n, err := strconv.Atoi(digits); ok && err == nil && n <= event.MaxEntries {
		s.replies = max(s.replies, n)
	}
}

// ask records a question.
func (s *turnState) ask(e *event.Event, p canon.Node) {
	id, request := p.Member("approval_id").String(), p.Member("request_id").String()
	approval, signal := e.Once([]byte(cmp.Or(id, request))), e.Once([]byte(cmp.Or(request, id)))

	// The metadata is the input of the approval.
	s.asked = wait{signal: signal, approval: approval}
	if input := p.Member("input"); !event.Absent(input) {
		s.asked.metadata = event.HashOf(input)
	}

	if s.given == nil {
		s.questions, s.given = map[string]int{}, map[string]bool{}
	}
	s.questions[signal]++
	s.given[approval] = true
	e.Kept.Charge(e, canon.Node{}, 2*event.PartCost)
}

// answer records that a question was answered.
func (s *turnState) answer(approval string) {
	for _, q := range []*wait{&s.asked, &s.waiting} {
		if q.approval == approval {
			*q = wait{}
		}
	}
}

// approval returns an unused approval ID for a signal.
func (s *turnState) approval(signal string) string {
	id := signal

	// A number may already be in use, because signals may have any IDs.
	for n := max(s.questions[signal]+1, 2); s.given[id]; n++ {
		id = signal + "#" + strconv.Itoa(n)
	}
	return id
}
