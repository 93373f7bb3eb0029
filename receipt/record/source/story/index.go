package story

// An index keeps entries in the order in which their ids first came.
type index[T any] struct {
	byID  map[string]*T
	order []*T
}

func (l *index[T]) entry(s *Story, id string) (*T, bool) {
	if have, ok := l.byID[id]; ok {
		return have, false
	}
	if l.byID == nil {
		l.byID = map[string]*T{}
	}
	t := new(T)
	l.byID[id] = t
	l.order = append(l.order, t)
	s.charge(len(l.order), entryCost+len(id))
	return t, true
}
