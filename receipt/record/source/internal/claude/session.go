package claude

import (
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A session contains the data of a session in a stream. A result covers its process up to that
// point, so the last result is used.
type session struct {
	id, model   string
	cost        string
	unpriced    bool // a result contains an invalid cost
	models      []modelUse
	usage       story.Usage      // usage of the main thread, if results do not list models
	told, whole bool             // a result contains usage; it lists this usage by model
	open        event.List[said] // messages since the latest result
	settled     map[string]bool  // IDs of messages that a result covers
	less        bool             // a result reports a smaller cost than an earlier result
	ended       bool             // a result was read
	nameless    bool             // messages since the latest result have no IDs
}

// maxSettled is the maximum number of messages per session whose copies are recognized.
const maxSettled = 1 << 16

type modelUse struct {
	model string
	story.Usage
	cost string
}

// said is a message that no result covers, so only the usage at the beginning of the message is
// known.
type said struct {
	id, model, agent string
	usage            story.Usage
}

// again reads a repeated result. It is unknown whether the result covers the messages since the
// previous result.
func (x *session) again(s *story.Story) {
	if len(x.open.Order) > 0 {
		s.Lacks(story.TokensInPart)
	}
	x.settle()
}

// settle records that a result covers the messages before it.
func (x *session) settle() {
	for _, m := range x.open.Order {
		if len(x.settled) < maxSettled {
			x.settled[m.id] = true
		}
	}
	x.open, x.nameless = event.List[said]{}, false
}

// priced reports whether the costs of the models cover the cost of the session.
func (x *session) priced() bool {
	return x.cost == "" || len(x.models) > 0 && !slices.ContainsFunc(x.models, func(m modelUse) bool { return m.cost == "" })
}

// unpaid reports whether the session cost more than its results report, or whether the results
// contain no cost.
func (x *session) unpaid() bool {
	return x.cost == "" || x.unpriced || x.less || x.nameless || len(x.open.Order) > 0
}

// unlisted reports whether the session cost more than all models that its result lists.
func (x *session) unlisted() bool {
	total, _ := strconv.ParseFloat(x.cost, 64)
	sum := 0.0
	for _, m := range x.models {
		cost, _ := strconv.ParseFloat(m.cost, 64)
		sum += cost
	}
	return len(x.models) > 0 && x.priced() && sum < total*(1-1e-6)
}

// less reports whether an amount is smaller than another amount. A smaller amount belongs to
// another process or to an earlier time. The largest amount is a lower bound for the cost of the
// session.
func less(amount, than string) bool {
	a, _ := strconv.ParseFloat(amount, 64)
	b, _ := strconv.ParseFloat(than, 64)
	return a < b
}
