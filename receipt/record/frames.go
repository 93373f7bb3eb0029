package record

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Sender is the peer that sent a frame.
type Sender string

const (
	SenderUnknown Sender = ""       // responses are told by their ids and forms
	SenderAgent   Sender = "agent"  // the runtime: it sends updates and asks for permission
	SenderClient  Sender = "client" // the host: it prompts, answers and cancels
)

// Frames makes events of the JSON-RPC frames of a bridge, in all its dialects, or
// of ACP, and gives them to a Recorder. The events have decimal ids and sequences
// that count from 1. It is not safe for concurrent use.
type Frames struct {
	recorder *Recorder
	table    map[string]frameKind
	outcomes []outcome
	doc, out *canon.Document
	text     []byte // of the event that was made last

	index   int
	emitted int
	err     error
	counts  FrameCounts

	session   string
	pending   map[string][]pending
	open      int            // requests in pending
	stated    bool           // a task.* event came from Event: prompts say nothing of the task's life
	prompted  bool           // the life of the task is that of a prompt
	prompting bool           // a prompt came
	live      bool           // an update came that is of no earlier turn
	loading   bool           // a session/load has no response yet
	loaded    bool           // one came before a prompt
	doubtful  bool           // what was passed over while it loads may be the task's: neither a response nor a prompt came yet
	speech    *speech        // the message of which the latest chunks were
	marks     [2]canon.Node  // replayed and replay, of an event that is given among frames
	builtins  map[string]int // requests of each id

	calls   map[string]*frameCall
	called  []*frameCall // in the order in which they came
	workers map[string]*worker
	asked   map[string]*question // by the id that was asked with
	given   map[string]bool      // ids of approvals
	held    holding              // answers that the runtime did not take or refuse yet
}

// FrameCounts say what became of the frames that were added without an error.
type FrameCounts struct {
	Counts
	Frames        int // all of them
	Silent        int // that say nothing a receipt tells
	Unknown       int // of unknown methods and updates
	OtherSessions int
	Replayed      int // updates that told earlier turns of a session that was loaded
	Dropped       int // members of updates of workers, such as times and paths of snapshots, for which a receipt has no place
	Unmatched     int // responses to no open request
}

// A pending request waits for its response.
type pending struct {
	index  int // of its frame
	from   Sender
	method string
	answer func(fr *frame) // nil when the response says nothing
}

// NewFrames returns Frames. Options.TaskID is required, as no frame names a task.
// Options.Keep gets the events that the frames became.
func NewFrames(o Options) (*Frames, error) {
	if o.TaskID == "" {
		return nil, &OptionError{"TaskID", "is empty: no frame names the task"}
	}
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	return newFrames(r, frameKinds(), outcomes()), nil
}

func newFrames(r *Recorder, table []frameKind, outcomes []outcome) *Frames {
	f := &Frames{
		recorder: r, outcomes: outcomes, table: make(map[string]frameKind, len(table)),
		doc: new(canon.Document), out: new(canon.Document), session: r.options.SessionID,
		pending: map[string][]pending{}, calls: map[string]*frameCall{}, workers: map[string]*worker{}, builtins: map[string]int{}, asked: map[string]*question{}, given: map[string]bool{},
	}
	for _, k := range table {
		f.table[k.Frame] = k
	}
	return f
}

// Add consumes one frame, which passed at a time. The error is an *[Error], or
// what Options.Keep returned; it is final, like that of [Recorder.Add].
func (f *Frames) Add(at time.Time, from Sender, text []byte) error {
	if f.err != nil {
		return f.err
	}
	if err := parse(f.doc, text); err != nil {
		f.index++
		f.err = unparsed(f.index, "", err)
		return f.err
	}
	return f.add(at, from, f.doc.Root())
}

// Event records what no frame tells, such as that the task began or what a model
// cost: an event of a kind, with its payload, a JSON object.
func (f *Frames) Event(at time.Time, kind string, payload []byte) error {
	if f.err != nil {
		return f.err
	}
	if err := parse(f.doc, payload); err != nil {
		f.index++
		f.err = unparsed(f.index, kind, err)
		return f.err
	}
	return f.event(at, kind, f.doc.Root())
}

// Ended reports whether the terminal event has come.
func (f *Frames) Ended() bool { return f.recorder.Ended() }

// Draft returns the draft of the receipt, as [Recorder.Draft] does.
func (f *Frames) Draft() (*receipt.Draft, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.recorder.Draft()
}

// Counts returns what became of the frames so far.
func (f *Frames) Counts() FrameCounts {
	c := f.counts
	c.Counts = f.recorder.Counts()
	return c
}

func (f *Frames) event(at time.Time, kind string, payload canon.Node) error {
	f.index++
	fr := &frame{event: event{index: f.index, kind: kind, at: at}}

	// Events of the life of the task take the place of what prompts say of it.
	if len(kind) > 5 && kind[:5] == "task." {
		f.stated, f.loading = true, f.loading && kind != "task.submitted" && kind != "task.started"
	}

	if payload.Kind() != canon.KindObject {
		f.err = fr.fail(CodeMalformed, payload, "expected an object as payload")
		return f.err
	}

	// A decision comes after the answers before it that may still be refused.
	text := payload.AppendCanonical(nil)
	about := cmp.Or(payload.Member("approval_id").String(), payload.Member("request_id").String())
	if fr.kept = f.recorder.run.budget; about == "" || !f.waits(fr, about, kind, text) {
		f.speak(fr)
		fr.marks, f.marks = f.marks, [2]canon.Node{}
		f.emitText(fr, kind, text)
	}

	return f.finish(fr)
}

// last tells, before the end, what waited for more.
func (f *Frames) last(fr *frame) {
	if f.loading && f.doubtful {
		fr.fail(CodeAmbiguous, fr.root, "a session was loaded, and neither a response nor a prompt tells where earlier turns ended")
		return
	}

	// Nothing is told after the end, so what waits is told now.
	f.release(fr, f.held.all())
	for _, c := range f.called {
		if said := c.saying(); said != "" && c.announced {
			f.emit(fr, "tool.requested", members{"tool_call_id": c.id, "content_sha256": said})
		}
	}
}

// finish makes the first error of a frame final.
func (f *Frames) finish(fr *frame) error {
	if fr.err == nil {
		f.recorder.run.charge(&fr.event, fr.root, 0) // texts were kept
	}
	if f.err == nil && fr.err != nil {
		f.err = fr.err
	}
	return f.err
}

// emit records an event that a frame says.
func (f *Frames) emit(fr *frame, kind string, payload members) {
	f.emitText(fr, kind, payload.text())
}

func (f *Frames) emitText(fr *frame, kind string, payload []byte) {
	if kind == "task.completed" || kind == "task.failed" || kind == "task.canceled" {
		f.last(fr)
	}
	f.speak(fr)

	if f.err != nil || fr.err != nil {
		return
	}
	if fr.at.IsZero() {
		f.err = fr.fail(CodeTime, canon.Node{}, "nothing tells when it was sent")
		return
	}

	// The event takes the way of every other: a recorder parses and judges it.
	f.emitted++
	f.text = f.envelope(f.text[:0], fr, kind, payload)
	err := f.out.Parse(f.text, canon.Limits{Bytes: 2 * MaxLine})
	if err == nil {
		err = f.recorder.AddDocument(f.out)
	}

	var refused *Error
	if errors.As(err, &refused) { // it names the frame, not the event made of it
		again := *refused
		again.Index = f.index
		err = &again
	}
	f.err = err
}

// envelope appends the event that a frame says.
func (f *Frames) envelope(b []byte, fr *frame, kind string, payload []byte) []byte {
	o, at := f.recorder.options, receipt.At(fr.at).String()
	number := strconv.Itoa(f.emitted)
	b = append(append(b, `{"object":"event","metadata":{},"id":"`...), number...)
	b = append(append(b, `","sequence":`...), number...)
	b = canon.AppendString(append(b, `,"event":`...), kind)
	b = append(append(b, `,"created_at":"`...), at...)
	b = append(append(b, `","updated_at":"`...), at...)
	b = canon.AppendString(append(b, `","task_id":`...), o.TaskID)
	b = canon.AppendString(append(b, `,"resource":{"object":"task","id":`...), o.TaskID)
	b = append(b, '}')
	if f.session != "" {
		b = canon.AppendString(append(b, `,"session_id":`...), f.session)
	}

	if o.WorkspaceRef != "" {
		b = canon.AppendString(append(b, `,"workspace_id":`...), o.WorkspaceRef)
	}
	for i, name := range [...]string{`,"replayed":`, `,"replay":`} {
		if n := fr.marks[i]; !absent(n) {
			b = n.AppendCanonical(append(b, name...))
		}
	}

	return append(append(append(b, `,"payload":`...), payload...), '}')
}

// members are those of an object that is written. Empty strings and absent nodes
// are left out.
type members map[string]any

// raw is JSON that is written as it is.
type raw []byte

// text returns the object as JSON. The order of its members does not matter: the
// event is recorded in its canonical form.
func (m members) text() []byte { return m.append(nil) }

func (m members) append(b []byte) []byte {
	b = append(b, '{')
	first := true
	for name, value := range m {
		before := len(b)
		if !first {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, name), ':')
		empty := len(b)
		if b = appendValue(b, value); len(b) == empty {
			b = b[:before]
			continue
		}
		first = false
	}

	return append(b, '}')
}

// appendValue appends nothing for what is left out.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		if v != "" {
			return canon.AppendString(b, v)
		}
	case canon.Node:
		if !absent(v) {
			return v.AppendCanonical(b)
		}
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		if v {
			return append(b, "true"...)
		}
	case raw:
		return append(b, v...)
	case members:
		return v.append(b)
	case []members:
		if len(v) == 0 {
			return b
		}
		b = append(b, '[')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.append(b)
		}
		return append(b, ']')
	}
	return b
}
