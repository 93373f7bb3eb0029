package bridge

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// requestCost is the approximate memory in bytes for a pending request or a call.
const requestCost = 512

// A pending request is waiting for its response.
type pending struct {
	index  int // number of the request's frame
	from   Sender
	method string
	answer func(fr *frame) // nil if the response has no effect
}

// requests contains the pending requests, keyed by the canonical form of their ID.
type requests struct {
	pending map[string][]pending
	open    int
	budget  *event.Budget
}

// maxSameID is the maximum number of open requests with the same ID. Several requests are possible,
// because each peer assigns its own IDs.
const maxSameID = 16

// expect registers a request whose response is expected. A notification has no response.
func (q *requests) expect(fr *frame, answer func(fr *frame)) {
	id := fr.Root.Member("id")
	if event.Absent(id) || fr.Err != nil {
		return
	}
	if q.open++; q.open > event.MaxPending {
		fr.Exceed("MaxPending", id, q.open)
		return
	}

	// The string "1" and the number 1 are different IDs.
	key := string(id.AppendCanonical(nil))
	if q.budget.Charge(&fr.Event, id, len(key)+requestCost); fr.Err != nil {
		return
	}
	if len(q.pending[key]) == maxSameID {
		fr.Fail(event.CodeAmbiguous, id, "%d requests of this id have no response yet", maxSameID)
	}
	q.pending[key] = append(q.pending[key], pending{fr.Index, fr.from, fr.Kind, answer})
}

// respond matches a response to its request. Each peer numbers its own requests, so two requests
// may have the same ID. In that case, the sender or the form of the response determines which
// request it answers.
func (q *requests) respond(f *Translator, fr *frame) {
	fr.Kind = "response"
	id := fr.Root.Member("id")
	if fr.Root.Member("result").IsZero() && fr.Root.Member("error").IsZero() {
		fr.Fail(event.CodeMalformed, fr.Root, "expected a method, a result or an error")
		return
	}

	// A response is never sent by the sender of the request.
	key := string(id.AppendCanonical(nil))
	all := q.pending[key]
	fits := slices.DeleteFunc(slices.Clone(all), func(p pending) bool {
		return fr.from != SenderUnknown && p.from == fr.from
	})
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(p pending) bool { return !shaped(p.method, fr.Root.Member("result")) })
	}

	// A wrong guess could turn the response to another request into an approval.
	switch len(fits) {
	case 0:
		if len(all) > 1 {
			fr.Fail(event.CodeAmbiguous, id, "%d open requests have the id, and the response matches none of their methods; record the sender of the frames", len(all))
		}
		f.counts.Unmatched++
		return
	case 1:
	default:
		fr.Fail(event.CodeAmbiguous, id, "%d open requests could have this response; record the sender of the frames", len(fits))
		return
	}

	// Any other request with the same ID stays open.
	q.pending[key] = slices.DeleteFunc(slices.Clone(all), func(p pending) bool { return p.index == fits[0].index })
	if len(q.pending[key]) == 0 {
		delete(q.pending, key)
	}

	q.open--
	q.budget.Free(len(key) + requestCost)
	fr.Kept = q.budget
	fr.Kind = "response to " + fits[0].method

	if fits[0].answer == nil {
		f.counts.Silent++
		return
	}
	fits[0].answer(fr)
}

// shaped reports whether a result has the form that a method returns.
func shaped(method string, result canon.Node) bool {
	permission := !result.Member("outcome").IsZero() || !result.Member("granted").IsZero()
	prompt := !result.Member("stopReason").IsZero()
	switch method {
	case methodPermission:
		return permission && !prompt
	case methodPrompt:
		return prompt && !permission
	}
	return !permission && !prompt
}
