package bridge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A frame is one JSON-RPC message while it is translated. It reads like an event.
type frame struct {
	event.Event
	from   Sender
	params canon.Node
	update canon.Node // params.update of session/update

	marks   [2]canon.Node // of the event that it is, see translator.marks
	expects bool          // its response is waited for
}

// add translates one frame.
func (f *Translator) add(at time.Time, from Sender, root canon.Node) error {
	f.index++
	fr := &frame{Event: event.Event{Index: f.index, At: at, Root: root}, from: from, params: root.Member("params")}
	switch {
	case root.Kind() != canon.KindObject:
		fr.Fail(event.CodeMalformed, root, "expected a JSON-RPC message, an object")
	case root.Member("jsonrpc").String() != "2.0":
		fr.Fail(event.CodeMalformed, root, `expected the member jsonrpc to be "2.0"`)
	case root.Member("method").IsZero():
		f.counts.All++
		f.response(fr)
	default:
		f.counts.All++
		f.request(fr)
	}

	return f.finish(fr)
}

// request translates a request or a notification.
func (f *Translator) request(fr *frame) {
	fr.Kind = fr.Required(fr.Root, "method")
	key := fr.Kind
	switch by := sentBy(key); {
	case fr.from == SenderUnknown:
		fr.from = by
	case by != SenderUnknown && fr.from != by:
		fr.Fail(event.CodeMalformed, fr.Root.Member("method"), "expected one that the %s sends: this is of the %s", fr.from, by)
	}

	if key == methodUpdate {
		fr.update = fr.params.Member("update")
		fr.Required(fr.params, "sessionId")
		key += " " + fr.Required(fr.update, "sessionUpdate")
	}

	k, known := f.table[key]
	fr.Kind = key
	mine := fr.Err == nil && f.ofSession(fr) // of another session nothing is kept
	fr.Kept = f.budget
	switch {
	case fr.Err != nil:
		fr.Err.Kind = key
		return
	case !mine:
		f.counts.OtherSessions++
		f.expect(fr, nil)
		return
	case f.loading && !fr.update.IsZero() && !f.loads(fr, key):
		f.counts.Replayed++
	case !known:
		f.counts.Unknown++
	case k.translate == nil:
		f.counts.Silent++
	default:
		f.live = f.live || !fr.update.IsZero() && !f.loading
		if fr.Err == nil {
			k.translate(f, fr)
		}
		if !fr.expects && !fr.Root.Member("id").IsZero() {
			f.expect(fr, nil)
		}
		return
	}
	f.expect(fr, nil)
}

// ofSession reports whether a frame is of the session that is recorded. When the
// options name none there is one. Frames of durable approvals name theirs in the
// runtime's own way.
func (f *Translator) ofSession(fr *frame) bool {
	id := cmp.Or(fr.Text(fr.params, "sessionId"), harn(fr.params, "session_id").String(), harn(fr.update, "session_id").String())
	if f.session == "" {
		f.session = id
	}
	if id != "" && id != f.session && f.options.SessionID == "" {
		fr.Fail(event.CodeSession, fr.params, "expected a frame of the session %s, found one of %s; name the session that is meant", event.Quote(f.session), event.Quote(id))
	}
	return id == "" || id == f.session
}

// running reports whether the task is at work, as far as frames tell.
func (f *Translator) running() bool { return f.prompting || f.live }

// loads reports whether an update counts while a session is loaded. Before a prompt
// it tells earlier turns. Behind one nothing tells what is told again and what goes
// on: an update of something known adds what is new of it, and any other that tells
// of a deed cannot be placed.
func (f *Translator) loads(fr *frame, key string) bool {
	u := fr.update
	switch strings.TrimPrefix(key, methodUpdate+" ") {
	case "usage_update":
		return true
	case "tool_call", "tool_call_update":
		if _, known := f.calls[u.Member("toolCallId").String()]; known {
			return true
		}
	case "worker_update":
		if _, known := f.workers[cmp.Or(harn(u, "workerId", "worker_id").String(), harn(u.Member("content"), "worker_id").String())]; known {
			return true
		}
	case "hitl_request", "hitl_resolved":
		if f.asked[fr.requestID()] != nil {
			return true
		}
	case "handoff", "artifact", "transcript_compacted":
	default:
		return f.running()
	}

	// It tells of a deed, and nothing tells of which turn.
	if f.running() {
		fr.Fail(event.CodeAmbiguous, u, "the session is loaded while the task runs: nothing tells whether this is of an earlier turn")
		return true
	}
	f.doubtful = true
	return false
}

// maxSameID bounds the open requests of one id. Two peers make two.
const maxSameID = 16

// expect waits for the response to a request; a notification has none.
func (f *Translator) expect(fr *frame, answer func(fr *frame)) {
	id := fr.Root.Member("id")
	if event.Absent(id) || fr.Err != nil {
		return
	}
	if f.open++; f.open > event.MaxPending {
		fr.Exceed("MaxPending", id, f.open)
		return
	}

	// An id is a string or a number: "1" and 1 are two.
	key := string(id.AppendCanonical(nil))
	if f.budget.Charge(&fr.Event, id, len(key)+requestCost); fr.Err != nil {
		return
	}
	if len(f.pending[key]) == maxSameID {
		fr.Fail(event.CodeAmbiguous, id, "%d requests of this id have no response yet", maxSameID)
	}
	f.pending[key] = append(f.pending[key], pending{fr.Index, fr.from, fr.Kind, answer})
}

// response gives a response to the request that it answers. The two peers number
// their requests alike, so an id may be of two; then the sender tells, or the
// form of the answer.
func (f *Translator) response(fr *frame) {
	fr.Kind = "response"
	id := fr.Root.Member("id")
	if fr.Root.Member("result").IsZero() && fr.Root.Member("error").IsZero() {
		fr.Fail(event.CodeMalformed, fr.Root, "expected a method, a result or an error")
		return
	}

	// Whoever sent the answer did not send the request.
	key := string(id.AppendCanonical(nil))
	all := f.pending[key]
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
	f.pending[key] = slices.DeleteFunc(slices.Clone(all), func(p pending) bool { return p.index == fits[0].index })
	if len(f.pending[key]) == 0 {
		delete(f.pending, key)
	}

	f.open--
	f.budget.Free(len(key) + requestCost)
	fr.Kept = f.budget
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

// harn returns a member of the runtime's own: under _meta.harn, where newer
// dialects have them, else beside the standard ones.
func harn(of canon.Node, names ...string) canon.Node {
	for _, at := range [...]canon.Node{of.Member("_meta").Member("harn"), of} {
		for _, name := range names {
			if n := at.Member(name); !event.Absent(n) {
				return n
			}
		}
	}
	return canon.Node{}
}

// harnOf returns the object in which a member of the runtime's own is.
func harnOf(of canon.Node, name string) canon.Node {
	if at := of.Member("_meta").Member("harn"); !event.Absent(at.Member(name)) {
		return at
	}
	return of
}

// str reads a string of the runtime's own.
func (fr *frame) str(of canon.Node, names ...string) string {
	n := harn(of, names...)
	switch {
	case n.IsZero():
		return ""
	case n.Kind() != canon.KindString:
		fr.Fail(event.CodePayload, n, "expected a string")
	case len(n.Text()) > event.MaxText:
		fr.Exceed("MaxText", n, len(n.Text()))
	default:
		return fr.Once(n.Text())
	}
	return ""
}
