package event

import (
	"errors"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Emitter makes events of something else, numbers them, and gives them to a recorder, which
// parses and judges them as it does all others.
type Emitter struct {
	add    func(*canon.Document) error
	number int // of the latest event
	doc    *canon.Document
	text   []byte
}

// NewEmitter returns an Emitter that gives events to add.
func NewEmitter(add func(*canon.Document) error) Emitter {
	return Emitter{add: add, doc: new(canon.Document)}
}

// A Part is what an event is made of, such as a frame: which it is, from 1, what an error calls it,
// and its time.
type Part struct {
	Index int
	Name  string
	At    time.Time
}

// Emit gives the next event, of a kind, with its payload, a JSON object. An *[Error] names the
// part of which the event is made.
func (m *Emitter) Emit(around Envelope, of Part, kind string, payload []byte) error {
	m.number++
	m.text = around.Append(m.text[:0], m.number, kind, of.At, payload)
	if err := m.doc.Parse(m.text, canon.Limits{Bytes: 2 * MaxLine}); err != nil { // such as a kind that is no UTF-8
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

// Resume goes on after an event of a number.
func (m *Emitter) Resume(number int) { m.number = max(m.number, number) }

// Latest is the event that was given last.
func (m *Emitter) Latest() canon.Node { return m.doc.Root() }

// An Envelope is what stands around the payloads of events that are made of something
// else, all of one task. What is empty is left out.
type Envelope struct {
	TaskID, SessionID, WorkspaceRef string
	Replayed, Replay                canon.Node
}

// Append appends the number-th event of the task, with its decimal number as id and as
// sequence. The payload is a JSON object.
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
