package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
)

// An envelope contains the members that all resources have.
type envelope struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	CreatedAt receipt.Time `json:"created_at"`
	UpdatedAt receipt.Time `json:"updated_at"`
	Metadata  text         `json:"metadata"`
}

// begin sets the envelope of a resource when the event that creates it is applied.
func (v *envelope) begin(object, id string, c *journal.Commit) {
	v.ID, v.Object, v.CreatedAt, v.UpdatedAt = id, object, c.At, c.At
	if v.Metadata.size() == 0 {
		v.Metadata.raw = json.RawMessage("{}")
	}
}

// A table contains all resources of one kind, in the order of their creation. A resource in a table
// is never modified; instead, a new version replaces it. Therefore, readers may keep using the
// version that they have.
type table[T any] struct {
	places map[string]int
	list   []*T
	groups map[string][]int // indexes of the resources in a workspace, a session, or a task
}

// put adds a new resource to its groups, or replaces a resource with a new version, which stays in
// the same groups.
func (t *table[T]) put(id string, v T, groups ...string) {
	if at, known := t.places[id]; known {
		t.list[at] = &v
		return
	}
	if t.places == nil {
		t.places, t.groups = map[string]int{}, map[string][]int{}
	}
	for _, group := range groups {
		if group != "" {
			t.groups[group] = append(t.groups[group], len(t.list))
		}
	}
	t.places[id] = len(t.list)
	t.list = append(t.list, &v)
}

// get returns the resource with the given ID, or nil if there is none. The caller must not modify
// it.
func (t *table[T]) get(id string) *T {
	if at, known := t.places[id]; known {
		return t.list[at]
	}
	return nil
}

// of returns the current versions of the resources in a group.
func (t *table[T]) of(group string) []*T {
	list := make([]*T, len(t.groups[group]))
	for i, at := range t.groups[group] {
		list[i] = t.list[at]
	}
	return list
}

// all returns the current versions of all resources.
func (t *table[T]) all() []*T { return slices.Clone(t.list) }
