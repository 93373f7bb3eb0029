// Package inorder keeps entries by their ids, in the order in which those first came.
package inorder

// A List has an entry for each id. The zero List is empty.
type List[T any] struct {
	ByID  map[string]*T
	Order []*T
}

// Entry returns the entry of an id, and whether it is new.
func (l *List[T]) Entry(id string) (*T, bool) {
	if have, ok := l.ByID[id]; ok {
		return have, false
	}
	if l.ByID == nil {
		l.ByID = map[string]*T{}
	}
	t := new(T)
	l.ByID[id] = t
	l.Order = append(l.Order, t)
	return t, true
}
