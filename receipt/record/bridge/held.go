package bridge

import (
	"slices"
	"time"
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
