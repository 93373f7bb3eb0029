package journal

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/receipt"
)

// A Pointer identifies a resource.
type Pointer struct {
	Object string `json:"object"`
	ID     string `json:"id"`
}

// An Event is an event as defined by the protocol. The journal sets the fields ID, Object,
// Sequence, UpdatedAt, and Previous.
type Event struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	Kind      string          `json:"event"`
	Resource  Pointer         `json:"resource"` // that the event belongs to, and that numbers it
	Sequence  int64           `json:"sequence"`
	CreatedAt receipt.Time    `json:"created_at"` // zero: the time of the commit
	UpdatedAt receipt.Time    `json:"updated_at"`
	Metadata  json.RawMessage `json:"metadata"` // nil: {}
	Payload   json.RawMessage `json:"payload"`  // nil: {}

	Workspace string          `json:"workspace_id,omitempty"`
	Session   string          `json:"session_id,omitempty"`
	Task      string          `json:"task_id,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Key       string          `json:"idempotency_key,omitempty"`
	Previous  string          `json:"previous_event_id,omitempty"` // of the same resource
	Receipt   string          `json:"receipt_id,omitempty"`
	Replayed  bool            `json:"replayed,omitempty"`
	Replay    json.RawMessage `json:"replay,omitempty"`
}

// settle sets the members that depend on the position of the event.
func (e *Event) settle(id string, after last, at receipt.Time) {
	e.ID, e.Object, e.Sequence, e.Previous = id, "event", after.sequence+1, after.id
	if e.CreatedAt.IsZero() {
		e.CreatedAt = at
	}
	e.UpdatedAt = e.CreatedAt

	empty := json.RawMessage("{}")
	if e.Metadata == nil {
		e.Metadata = empty
	}
	if e.Payload == nil {
		e.Payload = empty
	}
}

// last describes the last event of a resource.
type last struct {
	id       string
	sequence int64
}
