package harness

import (
	"encoding/json"
	"slices"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
)

// An envelope contains the members that every resource has.
type envelope struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	CreatedAt receipt.Time `json:"created_at"`
	UpdatedAt receipt.Time `json:"updated_at"`
	Metadata  text         `json:"metadata"`
}

// begin sets the envelope of a resource that an event created.
func (v *envelope) begin(object, id string, c *journal.Commit) {
	v.ID, v.Object, v.CreatedAt, v.UpdatedAt = id, object, c.At, c.At
	if v.Metadata.size() == 0 {
		v.Metadata.raw = json.RawMessage("{}")
	}
}

// A table holds the resources of a kind in the order of their creation. A resource in it does not
// change; a new version replaces the old one. Readers may therefore keep using the version that
// they have.
type table[T any] struct {
	places map[string]int
	list   []*T
	groups map[string][]int // the indexes of the resources of a workspace, a session, or a task
}

// put adds a resource to its groups, or a new version of a resource, which stays in its groups.
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

// get returns a resource, which must not be modified, or nil if there is none with this ID.
func (t *table[T]) get(id string) *T {
	if at, known := t.places[id]; known {
		return t.list[at]
	}
	return nil
}

// of returns the current versions of the resources of a group.
func (t *table[T]) of(group string) []*T {
	list := make([]*T, len(t.groups[group]))
	for i, at := range t.groups[group] {
		list[i] = t.list[at]
	}
	return list
}

// all returns the current versions of all resources.
func (t *table[T]) all() []*T { return slices.Clone(t.list) }
