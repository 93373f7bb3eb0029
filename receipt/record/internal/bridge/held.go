package bridge

import (
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A held answer waits for the response of the runtime. A refused answer, such as one from a person
// who may not decide, has no effect.
type held struct {
	at      time.Time
	id      string // ID of the question
	kind    string // of its event
	payload []byte
	ready   bool // it waits only for earlier answers
	settled bool
	counted bool // the task ended before its response
}

// A holding contains the held answers in order, and by question, so that a long log needs no
// search.
type holding struct {
	order   []*held // includes settled answers
	settled int     // number of them in order
	byID    map[string][]*held
}

func (l *holding) add(h *held) {
	if l.byID == nil {
		l.byID = map[string][]*held{}
	}
	l.order = append(l.order, h)
	l.byID[h.id] = append(l.byID[h.id], h)
}

// remove removes an answer.
func (l *holding) remove(h *held) {
	h.settled = true
	if l.settled++; l.settled > len(l.order)/2 {
		l.order = slices.DeleteFunc(l.order, func(h *held) bool { return h.settled })
		l.settled = 0
	}
	same := l.byID[h.id]
	for len(same) > 0 && same[0].settled {
		same = same[1:]
	}
	if l.byID[h.id] = same; len(same) == 0 {
		delete(l.byID, h.id)
	}
}

// to returns the answers that wait for a question.
func (l *holding) to(id string) []*held { return waiting(l.byID[id]) }

// all returns all waiting answers.
func (l *holding) all() []*held { return waiting(l.order) }

func waiting(list []*held) []*held {
	return slices.DeleteFunc(slices.Clone(list), func(h *held) bool { return h.settled })
}

func (l *holding) hold(f *Translator, fr *frame, id, kind string, payload []byte) *held {
	h := &held{at: fr.At, id: id, kind: kind, payload: f.budget.Keep(&fr.Event, payload)}
	l.add(h)
	return h
}

// waits reports whether a decision has to wait for earlier answers that may still be refused. If
// so, it is recorded after them.
func (l *holding) waits(f *Translator, fr *frame, id, kind string, payload []byte) bool {
	if len(l.to(id)) == 0 || f.to.Ended() {
		return false
	}
	l.hold(f, fr, id, kind, payload).ready = true
	return true
}

// settle records a held answer, or that it was refused.
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

	// Answers to one question are recorded in their order.
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

// release records held answers before the end, because a log of one direction contains no
// responses. If the runtime refuses one afterward, the recording is invalid.
func (l *holding) release(f *Translator, fr *frame, answers []*held) {
	for _, h := range answers {
		h.counted = !h.ready
		l.confirm(f, fr, h)
	}
}
