package event

import (
	"errors"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Emitter creates numbered events and passes them to a recorder, which parses and checks them in
// the same way as logged events.
type Emitter struct {
	add    func(*canon.Document) error
	number int // number of the latest event
	doc    *canon.Document
	text   []byte
}

// NewEmitter returns an Emitter that passes events to add.
func NewEmitter(add func(*canon.Document) error) Emitter {
	return Emitter{add: add, doc: new(canon.Document)}
}

// A Part identifies the source of an event, such as a frame: its number (from 1), its name in
// errors, and its time.
type Part struct {
	Index int
	Name  string
	At    time.Time
}

// Emit creates the next event, with the given kind, and passes it to the recorder. The payload must
// be a JSON object. If the recorder returns an *[Error], Emit returns a copy whose Index is the
// number of the part.
func (m *Emitter) Emit(around Envelope, of Part, kind string, payload []byte) error {
	// The recorder parses the text, so that created events get the same checks as logged events.
	m.number++
	m.text = around.Append(m.text[:0], m.number, kind, of.At, payload)
	if err := m.doc.Parse(m.text, canon.Limits{Bytes: 2 * MaxLine}); err != nil { // for example, if the kind is not valid UTF-8
		return Unparsed(of.Index, of.Name, err)
	}

	err := m.add(m.doc)
	var refused *Error
	if errors.As(err, &refused) {
		again := *refused
		again.Index = of.Index
		return &again
	}
	return err
}

// Resume continues the numbering: the next event is numbered one higher than the given number.
func (m *Emitter) Resume(number int) { m.number = max(m.number, number) }

// Latest returns the latest event.
func (m *Emitter) Latest() canon.Node { return m.doc.Root() }

// An Envelope contains the members that surround the payloads of created events, all of which
// belong to one task. Empty members are omitted.
type Envelope struct {
	TaskID, SessionID, WorkspaceRef string
	Replayed, Replay                canon.Node
}

// Append appends an event of the task to b. The number, in decimal, is both the ID and the sequence
// number of the event. The payload must be a JSON object.
func (v Envelope) Append(b []byte, number int, kind string, at time.Time, payload []byte) []byte {
	id, when := strconv.Itoa(number), receipt.At(at).String()
	b = append(append(b, `{"object":"event","metadata":{},"id":"`...), id...)
	b = append(append(b, `","sequence":`...), id...)
	b = canon.AppendString(append(b, `,"event":`...), kind)
	b = append(append(b, `,"created_at":"`...), when...)
	b = append(append(b, `","updated_at":"`...), when...)
	b = canon.AppendString(append(b, `","task_id":`...), v.TaskID)
	b = canon.AppendString(append(b, `,"resource":{"object":"task","id":`...), v.TaskID)
	b = append(b, '}')

	// Optional members.
	if v.SessionID != "" {
		b = canon.AppendString(append(b, `,"session_id":`...), v.SessionID)
	}
	if v.WorkspaceRef != "" {
		b = canon.AppendString(append(b, `,"workspace_id":`...), v.WorkspaceRef)
	}
	if !Absent(v.Replayed) {
		b = v.Replayed.AppendCanonical(append(b, `,"replayed":`...))
	}
	if !Absent(v.Replay) {
		b = v.Replay.AppendCanonical(append(b, `,"replay":`...))
	}

	return append(append(append(b, `,"payload":`...), payload...), '}')
}
