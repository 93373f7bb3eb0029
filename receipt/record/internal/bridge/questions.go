package bridge

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A question is a permission request, identified by its ID. Repeated requests with the same ID are
// one question until it is decided. After the decision, a repeated request is a new question, and a
// number is appended to its ID.
type question struct {
	first string // ID of the first approval, to which an answer with the ID of the question refers
	id    string // ID of the latest approval
	count int    // number of approvals
	open  bool
}

// questions contains the permission requests of the session, and the answers to them.
type questions struct {
	asked map[string]*question // keyed by the ID in the request
	given map[string]bool      // IDs of approvals
	held  holding              // answers that the runtime has neither accepted nor refused
}

// ask returns the approval ID for a question. A numbered ID differs from all request IDs so far.
func (s *questions) ask(id string) string {
	q := s.asked[id]
	if q == nil {
		q = &question{count: 1}
		s.asked[id] = q
	}
	if q.open {
		return q.id
	}

	// After the decision, the same name refers to a new question.
	q.id, q.open = id, true
	for s.given[q.id] {
		q.count++
		q.id = id + "#" + strconv.Itoa(q.count)
	}

	s.given[q.id] = true
	q.first = cmp.Or(q.first, q.id)
	return q.id
}

// answered returns the ID of the approval to which an answer refers.
func (s *questions) answered(id string) string {
	if q := s.asked[id]; q != nil {
		return q.first
	}
	return id
}

// A held value is an answer that waits for the runtime's response. A refused answer has no effect,
// for example, if its sender may not decide.
type held struct {
	at      time.Time
	id      string // ID of the question
	kind    string // of its event
	payload []byte
	ready   bool // the answer waits only for earlier answers
	number  int  // among all answers
	counted bool // the task ended before the runtime responded
}

// A holding contains the held answers, grouped by question so that a long log does not require
// searches.
type holding struct {
	byID  map[string][]*held // in order
	count int                // number of all answers so far
}

// remove removes an answer, which is usually the first answer to its question.
func (l *holding) remove(h *held) {
	same := l.byID[h.id]
	switch i := slices.Index(same, h); {
	case i < 0:
		return
	case i == 0:
		same = same[1:]
	default:
		same = slices.Delete(same, i, i+1)
	}
	if l.byID[h.id] = same; len(same) == 0 {
		delete(l.byID, h.id)
	}
}

// to returns the answers that are held for a question.
func (l *holding) to(id string) []*held { return slices.Clone(l.byID[id]) }

// all returns all held answers, in order of arrival.
func (l *holding) all() []*held {
	all := slices.Concat(slices.Collect(maps.Values(l.byID))...)
	slices.SortFunc(all, func(a, b *held) int { return a.number - b.number })
	return all
}

func (l *holding) hold(f *Translator, fr *frame, id, kind string, payload []byte) *held {
	l.count++
	h := &held{at: fr.At, id: id, kind: kind, payload: f.budget.Keep(&fr.Event, payload), number: l.count}
	if l.byID == nil {
		l.byID = map[string][]*held{}
	}
	l.byID[id] = append(l.byID[id], h)
	return h
}

// waits reports whether a decision must wait for earlier answers that may still be refused. Such a
// decision is recorded after these answers.
func (l *holding) waits(f *Translator, fr *frame, id, kind string, payload []byte) bool {
	if len(l.byID[id]) == 0 || f.to.Ended() {
		return false
	}
	l.hold(f, fr, id, kind, payload).ready = true
	return true
}

// settle records a held answer or its refusal.
func (l *holding) settle(f *Translator, fr *frame, h *held) {
	refused := !event.Absent(fr.Root.Member("error"))
	switch {
	case h.counted && refused:
		fr.Fail(event.CodeAfterEnd, fr.Root, "the task ended before, with an answer that is refused here")
		return
	case h.counted:
		f.counts.Silent++
		return
	case refused:
		l.remove(h)
		f.budget.Free(len(h.payload))
		f.emit(fr, "user.input_submitted", members{"content_sha256": canon.Sum(h.payload).String()})
	default:
		h.ready = true
	}

	// Answers to the same question are recorded in their original order.
	for _, next := range l.to(h.id) {
		if !next.ready {
			return
		}
		l.confirm(f, fr, next)
	}
}

func (l *holding) confirm(f *Translator, fr *frame, h *held) {
	l.remove(h)
	f.budget.Free(len(h.payload))
	at := fr.At
	fr.At = h.at
	f.emitText(fr, h.kind, h.payload)
	fr.At = at
}

// release records the answers that are still held at the end. They may have no responses because
// the log contains only one direction. If the runtime refuses such an answer later, the recording
// fails.
func (l *holding) release(f *Translator, fr *frame, answers []*held) {
	for _, h := range answers {
		h.counted = !h.ready
		l.confirm(f, fr, h)
	}
}
