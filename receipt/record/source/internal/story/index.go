package story

import "github.com/receiptkit/receiptkit/receipt/internal/event"

// An index is a list whose entries are counted.
type index[T any] struct{ event.List[T] }

func (l *index[T]) entry(s *Story, id string) (*T, bool) {
	t, fresh := l.Entry(id)
	if fresh {
		s.charge(len(l.Order), entryCost+len(id))
	}
	return t, fresh
}
