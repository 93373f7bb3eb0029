package bridge

import (
	"cmp"
	"strconv"
)

// A question is what an approval id stands for. Who asks again while it is open
// asks the same; after it was decided, it is another, with a number.
type question struct {
	first string // id of the approval that was asked for first: who answers by name means it
	id    string // of the last one
	count int    // of the approvals
	open  bool
}

// Questions are those of the session.
type questions struct {
	asked map[string]*question // by the id that was asked with
	given map[string]bool      // ids of approvals
	held  holding              // answers that the runtime did not take or refuse yet
}

// ask returns the id of a question's approval. A numbered id is never one that
// something else was asked with.
func (s *questions) ask(id string) string {
	q := s.asked[id]
	if q == nil {
		q = &question{count: 1}
		s.asked[id] = q
	}
	if q.open {
		return q.id
	}

	// Once it was decided, the same name asks something else.
	q.id, q.open = id, true
	for s.given[q.id] {
		q.count++
		q.id = id + "#" + strconv.Itoa(q.count)
	}

	s.given[q.id] = true
	q.first = cmp.Or(q.first, q.id)
	return q.id
}

// answered returns the id of the approval that an answer means by a name.
func (s *questions) answered(id string) string {
	if q := s.asked[id]; q != nil {
		return q.first
	}
	return id
}
