package event

import (
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

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
