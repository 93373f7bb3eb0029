package bridge

import (
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A held answer waits for what the runtime says to it: one that is refused, such as
// that of somebody who may not decide, decides nothing.
type held struct {
	at      time.Time
	id      string // what it is an answer to
	kind    string // of the event that it becomes
	payload []byte
	ready   bool // nothing is waited for but those before it
	settled bool
	counted bool // the end came before its response
}

// A holding has the held answers in the order in which they came, and by what they
// answer: a long log of them costs no search.
type holding struct {
	order   []*held // settled ones among them
	settled int     // of those in order
	byID    map[string][]*held
}

func (l *holding) add(h *held) {
	if l.byID == nil {
		l.byID = map[string][]*held{}
	}
	l.order = append(l.order, h)
	l.byID[h.id] = append(l.byID[h.id], h)
}

// remove takes an answer out.
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

// to returns those that wait for a question.
func (l *holding) to(id string) []*held { return waiting(l.byID[id]) }

// all returns all that wait.
func (l *holding) all() []*held { return waiting(l.order) }

func waiting(list []*held) []*held {
	return slices.DeleteFunc(slices.Clone(list), func(h *held) bool { return h.settled })
}

func (l *holding) hold(f *Translator, fr *frame, id, kind string, payload []byte) *held {
	h := &held{at: fr.At, id: id, kind: kind, payload: f.budget.Keep(&fr.Event, payload)}
	l.add(h)
	return h
}

// waits reports whether a decision waits for answers that came before it, and may
// still be refused: it is told after them.
func (l *holding) waits(f *Translator, fr *frame, id, kind string, payload []byte) bool {
	if len(l.to(id)) == 0 || f.to.Ended() {
		return false
	}
	l.hold(f, fr, id, kind, payload).ready = true
	return true
}

// settle records a held answer, or that there was one that was refused.
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

	// Answers to one question are told in the order in which they came.
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

// release records held answers before the end: a log of one direction has no
// responses. One that is refused after it is false by then.
func (l *holding) release(f *Translator, fr *frame, answers []*held) {
	for _, h := range answers {
		h.counted = !h.ready
		l.confirm(f, fr, h)
	}
}
