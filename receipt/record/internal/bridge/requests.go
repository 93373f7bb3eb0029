package bridge

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// requestCost is what a request takes that waits for its response, and a call, about.
const requestCost = 512

// A pending request waits for its response.
type pending struct {
	index  int // of its frame
	from   Sender
	method string
	answer func(fr *frame) // nil when the response says nothing
}

// Requests are those that wait, by their ids in canonical form.
type requests struct {
	pending map[string][]pending
	open    int
	budget  *event.Budget
}

// maxSameID bounds the open requests of one id. Two peers make two.
const maxSameID = 16

// expect waits for the response to a request; a notification has none.
func (q *requests) expect(fr *frame, answer func(fr *frame)) {
	id := fr.Root.Member("id")
	if event.Absent(id) || fr.Err != nil {
		return
	}
	if q.open++; q.open > event.MaxPending {
		fr.Exceed("MaxPending", id, q.open)
		return
	}

	// An id is a string or a number: "1" and 1 are two.
	key := string(id.AppendCanonical(nil))
	if q.budget.Charge(&fr.Event, id, len(key)+requestCost); fr.Err != nil {
		return
	}
	if len(q.pending[key]) == maxSameID {
		fr.Fail(event.CodeAmbiguous, id, "%d requests of this id have no response yet", maxSameID)
	}
	q.pending[key] = append(q.pending[key], pending{fr.Index, fr.from, fr.Kind, answer})
}

// respond gives a response to the request that it answers. The two peers number
// their requests alike, so an id may be of two; then the sender tells, or the
// form of the answer.
func (q *requests) respond(f *Translator, fr *frame) {
	fr.Kind = "response"
	id := fr.Root.Member("id")
	if fr.Root.Member("result").IsZero() && fr.Root.Member("error").IsZero() {
		fr.Fail(event.CodeMalformed, fr.Root, "expected a method, a result or an error")
		return
	}

	// Whoever sent the answer did not send the request.
	key := string(id.AppendCanonical(nil))
	all := q.pending[key]
	fits := slices.DeleteFunc(slices.Clone(all), func(p pending) bool {
		return fr.from != SenderUnknown && p.from == fr.from
	})
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(p pending) bool { return !shaped(p.method, fr.Root.Member("result")) })
	}

	// A guess could make an approval of an answer to something else.
	switch len(fits) {
	case 0:
		if len(all) > 1 {
			fr.Fail(event.CodeAmbiguous, id, "%d open requests have the id, and the answer has the form of none; say who sent the frames", len(all))
		}
		f.counts.Unmatched++
		return
	case 1:
	default:
		fr.Fail(event.CodeAmbiguous, id, "%d open requests could have this response; say who sent the frames", len(fits))
		return
	}

	// Another request of the same id stays open.
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

// shaped reports whether a result has the form that a method's has.
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
