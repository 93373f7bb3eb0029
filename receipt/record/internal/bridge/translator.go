package bridge

import (
	"cmp"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Sender is the peer that sent a frame.
type Sender string

const (
	SenderUnknown Sender = ""       // the sender is inferred from the IDs and forms of responses
	SenderAgent   Sender = "agent"  // the runtime, which sends updates and requests permission
	SenderClient  Sender = "client" // the host, which prompts, answers, and cancels
)

// A Taker accepts the events to which frames are translated.
type Taker interface {
	AddDocument(event *canon.Document) error
	Ended() bool             // reports whether an event that ends the task was recorded
	Artifact(id string) bool // reports whether an artifact with this ID was recorded
}

// Options contains values that frames do not record.
type Options struct {
	TaskID        string // required, because frames do not contain it
	SessionID     string // default: the session in the first frame that names one
	WorkspaceRef  string // workspace reference of the events; "" for none
	WorkspaceRoot string // prefix to remove from file paths; if "", absolute paths are outside the workspace
}

// A Translator converts the JSON-RPC frames of a bridge, in all its dialects, or of ACP to events.
// The IDs of the events are decimal numbers, and both IDs and sequences start at 1. A Translator is
// not safe for concurrent use.
type Translator struct {
	options  Options
	table    map[string]frameKind
	outcomes []outcome
	budget   *event.Budget

	in     reading
	to     Taker
	out    event.Emitter
	err    error
	counts Counts

	// The state after the frames so far.
	session   session
	requests  requests
	calls     calls
	questions questions
	workers   map[string]*worker // by ID
	speech    *speech            // the message that is being assembled from chunks
	unread    unread
}

// A reading is the position in a log of frames.
type reading struct {
	doc   *canon.Document
	index int           // number of the latest frame, counting from 1
	at    time.Time     // time of the latest line that has a timestamp
	marks [2]canon.Node // replayed and replay members of an event that was logged between frames
}

// Counts contains the numbers of frames that were added without an error.
type Counts struct {
	All           int
	Silent        int // frames that do not affect a receipt
	Unknown       int // unknown methods, updates, and agent events, which may have any effect
	OtherSessions int
	Replayed      int // updates that belong to earlier turns of a loaded session
	Dropped       int // members of worker updates that a receipt cannot represent, such as times and paths of snapshots
	Unmatched     int // responses that match no open request
}

// New returns a translator that passes events to a taker. The budget limits the memory that the
// translator uses.
func New(o Options, to Taker, b *event.Budget) *Translator {
	return newTranslator(o, to, b, frameKinds(), outcomes())
}

func newTranslator(o Options, to Taker, b *event.Budget, table []frameKind, outcomes []outcome) *Translator {
	f := &Translator{
		options: o, budget: b, outcomes: outcomes, table: make(map[string]frameKind, len(table)),
		in: reading{doc: new(canon.Document)}, to: to, out: event.NewEmitter(to.AddDocument),
		session:  session{id: o.SessionID, named: o.SessionID != ""},
		requests: requests{pending: map[string][]pending{}, budget: b}, calls: calls{byID: map[string]*frameCall{}, numbers: map[string]int{}, root: o.WorkspaceRoot, budget: b},
		questions: questions{asked: map[string]*question{}, given: map[string]bool{}}, workers: map[string]*worker{},
	}
	for _, k := range table {
		f.table[k.Frame] = k
	}
	return f
}

// Add adds a frame that was sent at the given time. The error is an *[event.Error], or the error
// that the taker returned. It is permanent, and every later call returns it.
func (f *Translator) Add(at time.Time, from Sender, text []byte) error {
	if f.parse("", text); f.err != nil {
		return f.err
	}
	return f.add(at, from, f.in.doc.Root())
}

// parse parses a frame, or the payload of an event.
func (f *Translator) parse(kind string, text []byte) {
	if f.err != nil {
		return
	}
	if err := event.Parse(f.in.doc, text); err != nil {
		f.in.index++
		f.err = event.Unparsed(f.in.index, kind, err)
	}
}

// Event adds an event that is not in a frame. The payload is a JSON object.
func (f *Translator) Event(at time.Time, kind string, payload []byte) error {
	if f.parse(kind, payload); f.err != nil {
		return f.err
	}
	return f.event(at, kind, f.in.doc.Root())
}

// Line adds a line from a log of frames. index is the line number.
func (f *Translator) Line(index int, root canon.Node) error {
	e := &event.Event{Index: index, Root: root}
	if !IsLine(root) {
		return e.Fail(event.CodeTwoFormats, root, "expected a line of a log of frames, found an event")
	}
	if !root.Member("event").IsZero() && (!root.Member("frame").IsZero() || !root.Member("jsonrpc").IsZero()) {
		return e.Fail(event.CodeMalformed, root.Member("event"), "expected a frame or an event, found both")
	}
	if !root.Member("jsonrpc").IsZero() {
		return f.add(f.in.at, SenderUnknown, root)
	}

	// A line without a time is assigned the previous line's time.
	if at := e.Time(root, "at"); !at.IsZero() {
		f.in.at = at
	}
	from := Sender(e.Text(root, "from"))
	if from != SenderUnknown && from != SenderAgent && from != SenderClient {
		e.Fail(event.CodeMalformed, root.Member("from"), `expected "agent" or "client"`)
	}

	kind := e.Text(root, "event")
	if e.Err != nil {
		return e.Err
	}
	if frame := root.Member("frame"); !frame.IsZero() {
		return f.add(f.in.at, from, frame)
	}
	if kind == "" {
		return e.Fail(event.CodeMalformed, root, "expected a member frame or event")
	}

	// The marks for replays are the same as in an event.
	f.in.marks = [2]canon.Node{root.Member("replayed"), root.Member("replay")}
	return f.event(f.in.at, kind, root.Member("payload"))
}

// IsLine reports whether a line belongs to a log of frames. Unlike an event, such a line has no ID.
func IsLine(root canon.Node) bool {
	return !root.Member("jsonrpc").IsZero() || !root.Member("frame").IsZero() || !root.Member("at").IsZero() && root.Member("id").IsZero()
}

// Err returns the error that ended the reading, or nil.
func (f *Translator) Err() error { return f.err }

// Counts returns the frame counts so far.
func (f *Translator) Counts() Counts { return f.counts }

func (f *Translator) event(at time.Time, kind string, payload canon.Node) error {
	f.in.index++
	fr := &frame{Event: event.Event{Index: f.in.index, Kind: kind, At: at}}

	// Task events take precedence over prompts.
	if len(kind) > 5 && kind[:5] == "task." {
		f.session.stated, f.session.loading = true, f.session.loading && kind != "task.submitted" && kind != "task.started"
	}

	if payload.Kind() != canon.KindObject {
		f.err = fr.Fail(event.CodeMalformed, payload, "expected an object as payload")
		return f.err
	}

	// A decision is recorded after earlier answers that may still be refused.
	text := payload.AppendCanonical(nil)
	about := cmp.Or(payload.Member("approval_id").String(), payload.Member("request_id").String())
	if fr.Kept = f.budget; about == "" || !f.questions.held.waits(f, fr, about, kind, text) {
		speak(f, fr)
		fr.marks, f.in.marks = f.in.marks, [2]canon.Node{}
		f.emitText(fr, kind, text)
	}

	return f.finish(fr)
}

// last records everything that is still pending before the task ends.
func (f *Translator) last(fr *frame) {
	if f.session.loading && f.session.doubtful {
		fr.Fail(event.CodeAmbiguous, fr.Root, "a session was loaded, and neither a response nor a prompt marks the end of earlier turns")
		return
	}

	// Nothing can be recorded after the end of the task.
	f.unread.mentions.unstated(f, fr)
	f.unread.tell(f, fr)
	f.questions.held.release(f, fr, f.questions.held.all())
	for _, c := range f.calls.order {
		if said := c.saying(); said != "" && c.announced {
			f.emit(fr, "tool.requested", members{"tool_call_id": c.id, "content_sha256": said})
		}
	}
}

// finish makes the first error of a frame permanent.
func (f *Translator) finish(fr *frame) error {
	if fr.Err == nil {
		f.budget.Charge(&fr.Event, fr.Root, 0) // strings were stored
	}
	if f.err == nil && fr.Err != nil {
		f.err = fr.Err
	}
	return f.err
}

// emit records an event for a frame.
func (f *Translator) emit(fr *frame, kind string, payload members) {
	f.emitText(fr, kind, payload.Text())
}

func (f *Translator) emitText(fr *frame, kind string, payload []byte) {
	if kind == "task.completed" || kind == "task.failed" || kind == "task.canceled" {
		f.last(fr)
	}
	speak(f, fr)

	if f.err != nil || fr.Err != nil {
		return
	}
	if fr.At.IsZero() {
		f.err = fr.Fail(event.CodeTime, canon.Node{}, "the time at which it was sent is not recorded")
		return
	}

	// An error refers to the frame instead of the event.
	around := event.Envelope{TaskID: f.options.TaskID, SessionID: f.session.id, WorkspaceRef: f.options.WorkspaceRef, Replayed: fr.marks[0], Replay: fr.marks[1]}
	f.err = f.out.Emit(around, event.Part{Index: f.in.index, Name: kind, At: fr.At}, kind, payload)
}

// add translates one frame.
func (f *Translator) add(at time.Time, from Sender, root canon.Node) error {
	f.in.index++
	fr := &frame{Event: event.Event{Index: f.in.index, At: at, Root: root}, from: from, params: root.Member("params")}
	switch {
	case root.Kind() != canon.KindObject:
		fr.Fail(event.CodeMalformed, root, "expected a JSON-RPC message, an object")
	case root.Member("jsonrpc").String() != "2.0":
		fr.Fail(event.CodeMalformed, root, `expected the member jsonrpc to be "2.0"`)
	case root.Member("method").IsZero():
		f.counts.All++
		f.requests.respond(f, fr)
	default:
		f.counts.All++
		f.request(fr)
	}

	return f.finish(fr)
}

// request translates a request or a notification.
func (f *Translator) request(fr *frame) {
	fr.Kind = fr.Required(fr.Root, "method")
	key := fr.Kind
	switch by := SentBy(key); {
	case fr.from == SenderUnknown:
		fr.from = by
	case by != SenderUnknown && fr.from != by:
		fr.Fail(event.CodeMalformed, fr.Root.Member("method"), "expected one that the %s sends: this is of the %s", fr.from, by)
	}

	switch key {
	case methodUpdate:
		fr.update = fr.params.Member("update")
		fr.Required(fr.params, "sessionId")
		key += " " + fr.Required(fr.update, "sessionUpdate")
	case methodAgentEvent:
		fr.update = fr.params
		key += " " + fr.Required(fr.params, "kind")
	}

	k, known := f.table[key]
	fr.Kind = key
	mine := fr.Err == nil && f.session.has(fr) // frames of other sessions are not stored
	fr.Kept = f.budget
	switch {
	case fr.Err != nil:
		fr.Err.Kind = key
		return
	case !mine:
		f.counts.OtherSessions++
		f.requests.expect(fr, nil)
		return
	case f.session.loading && !fr.update.IsZero() && !f.session.loads(f, fr, key):
		f.counts.Replayed++
	case !known:
		f.counts.Unknown++
		f.unread.note(f, fr, key, fr.Root)
	case k.translate == nil:
		f.counts.Silent++
		f.unread.mentions.add(f, fr)
	default:
		f.session.live = f.session.live || !fr.update.IsZero() && !f.session.loading
		if fr.Err == nil {
			k.translate(f, fr)
		}
		if !fr.expects && !fr.Root.Member("id").IsZero() {
			f.requests.expect(fr, nil)
		}
		return
	}
	f.requests.expect(fr, nil)
}
