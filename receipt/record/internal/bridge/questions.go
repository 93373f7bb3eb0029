package bridge

import (
	"cmp"
	"strconv"
)

// A question is identified by the ID in the request. Repeated requests are one question while it is
// open. After the decision, they are a new question with a number.
type question struct {
	first string // ID of the first approval, which an answer by name means
	id    string // of the latest approval
	count int    // number of approvals
	open  bool
}

// Questions contains the questions of the session.
type questions struct {
	asked map[string]*question // by the ID in the request
	given map[string]bool      // IDs of approvals
	held  holding              // answers that the runtime has neither accepted nor refused
}

// ask returns the ID of a question's approval. A numbered ID differs from all IDs in requests so
// far.
func (s *questions) ask(id string) string {
	q := s.asked[id]
	if q == nil {
		q = &question{count: 1}
		s.asked[id] = q
	}
	if q.open {
		return q.id
	}

	// After the decision, the same name is a new question.
	q.id, q.open = id, true
	for s.given[q.id] {
		q.count++
		q.id = id + "#" + strconv.Itoa(q.count)
	}

	s.given[q.id] = true
	q.first = cmp.Or(q.first, q.id)
	return q.id
}

// answered returns the ID of the approval that an answer names.
func (s *questions) answered(id string) string {
	if q := s.asked[id]; q != nil {
		return q.first
	}
	return id
}
