package record

// A list keeps entries in the order in which their ids first came.
type list[T any] struct {
	byID  map[string]*T
	order []*T
}

// entry returns the entry of an id, and whether it is new.
func (l *list[T]) entry(id string) (*T, bool) {
	if have, ok := l.byID[id]; ok {
		return have, false
	}
	if l.byID == nil {
		l.byID = map[string]*T{}
	}
	t := new(T)
	l.byID[id] = t
	l.order = append(l.order, t)
	return t, true
}

// first sets what is not set yet.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// named sets a name that is not set yet, and reports whether it has another.
func named(have *string, name string) bool {
	first(have, name)
	return name != "" && name != *have
}

// last sets what is said anew.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
