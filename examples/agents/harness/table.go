package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol/journal"
)

// An envelope is what every resource has.
type envelope struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	CreatedAt receipt.Time    `json:"created_at"`
	UpdatedAt receipt.Time    `json:"updated_at"`
	Metadata  json.RawMessage `json:"metadata"`
}

// begin is the envelope of a resource that an event made.
func (v *envelope) begin(object, id string, c *journal.Commit) {
	v.ID, v.Object, v.CreatedAt, v.UpdatedAt = id, object, c.At, c.At
	if v.Metadata == nil {
		v.Metadata = json.RawMessage("{}")
	}
}

// A table holds the resources of a kind, in the order in which they came. What is in it does
// not change: a new version takes the place of the one before, so that whoever has one may
// read it.
type table[T any] struct {
	places map[string]int
	list   []*T
}

func (t *table[T]) put(id string, v T) {
	if at, known := t.places[id]; known {
		t.list[at] = &v
		return
	}
	if t.places == nil {
		t.places = map[string]int{}
	}
	t.places[id] = len(t.list)
	t.list = append(t.list, &v)
}

// get returns a resource, which must not be changed; nil when there is none of this id.
func (t *table[T]) get(id string) *T {
	if at, known := t.places[id]; known {
		return t.list[at]
	}
	return nil
}

// all returns all of them as they are now.
func (t *table[T]) all() []*T { return slices.Clone(t.list) }
