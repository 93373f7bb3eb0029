package event

// A List has one entry for each ID, in the order in which the IDs first appear. The zero List is
// empty.
type List[T any] struct {
	ByID  map[string]*T
	Order []*T
}

// Entry returns the entry for an ID, and reports whether the entry is new.
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
