package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// A frame is one JSON-RPC message while it is translated. It reads like an event.
type frame struct {
	event
	from   Sender
	params canon.Node
	update canon.Node // params.update of session/update

	marks   [2]canon.Node // of the event that it is, see Frames.marks
	expects bool          // its response is waited for
}

// add translates one frame.
func (f *Frames) add(at time.Time, from Sender, root canon.Node) error {
	f.index++
	fr := &frame{event: event{index: f.index, at: at, root: root}, from: from, params: root.Member("params")}
	switch {
	case root.Kind() != canon.KindObject:
		fr.fail(CodeMalformed, root, "expected a JSON-RPC message, an object")
	case root.Member("jsonrpc").String() != "2.0":
		fr.fail(CodeMalformed, root, `expected the member jsonrpc to be "2.0"`)
	case root.Member("method").IsZero():
		f.counts.Frames++
		f.response(fr)
	default:
		f.counts.Frames++
		f.request(fr)
	}

	return f.finish(fr)
}

// request translates a request or a notification.
func (f *Frames) request(fr *frame) {
	fr.kind = fr.required(fr.root, "method")
	key := fr.kind
	switch by := sentBy(key); {
	case fr.from == SenderUnknown:
		fr.from = by
	case by != SenderUnknown && fr.from != by:
		fr.fail(CodeMalformed, fr.root.Member("method"), "expected one that the %s sends: this is of the %s", fr.from, by)
	}

	if key == methodUpdate {
		fr.update = fr.params.Member("update")
		fr.required(fr.params, "sessionId")
		key += " " + fr.required(fr.update, "sessionUpdate")
	}

	k, known := f.table[key]
	fr.kind = key
	mine := fr.err == nil && f.ofSession(fr) // of another session nothing is kept
	fr.kept = f.recorder.run.budget
	switch {
	case fr.err != nil:
		fr.err.Kind = key
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
		if fr.err == nil {
			k.translate(f, fr)
		}
		if !fr.expects && !fr.root.Member("id").IsZero() {
			f.expect(fr, nil)
		}
		return
	}
	f.expect(fr, nil)
}

// ofSession reports whether a frame is of the session that is recorded. When the
// options name none there is one. Frames of durable approvals name theirs in the
// runtime's own way.
func (f *Frames) ofSession(fr *frame) bool {
	id := cmp.Or(fr.text(fr.params, "sessionId"), harn(fr.params, "session_id").String(), harn(fr.update, "session_id").String())
	if f.session == "" {
		f.session = id
	}
	if id != "" && id != f.session && f.recorder.options.SessionID == "" {
		fr.fail(CodeSession, fr.params, "expected a frame of the session %s, found one of %s; name the session that is meant", quote(f.session), quote(id))
	}
	return id == "" || id == f.session
}

// running reports whether the task is at work, as far as frames tell.
func (f *Frames) running() bool { return f.prompting || f.live }

// loads reports whether an update counts while a session is loaded. Before a prompt
// it tells earlier turns. Behind one nothing tells what is told again and what goes
// on: an update of something known adds what is new of it, and any other that tells
// of a deed cannot be placed.
func (f *Frames) loads(fr *frame, key string) bool {
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
		fr.fail(CodeAmbiguous, u, "the session is loaded while the task runs: nothing tells whether this is of an earlier turn")
		return true
	}
	f.doubtful = true
	return false
}

// maxSameID bounds the open requests of one id. Two peers make two.
const maxSameID = 16

// expect waits for the response to a request; a notification has none.
func (f *Frames) expect(fr *frame, answer func(fr *frame)) {
	id := fr.root.Member("id")
	if absent(id) || fr.err != nil {
		return
	}
	if f.open++; f.open > MaxPending {
		fr.exceed("MaxPending", id, f.open)
		return
	}

	// An id is a string or a number: "1" and 1 are two.
	key := string(id.AppendCanonical(nil))
	if f.recorder.run.charge(&fr.event, id, len(key)+requestCost); fr.err != nil {
		return
	}
	if len(f.pending[key]) == maxSameID {
		fr.fail(CodeAmbiguous, id, "%d requests of this id have no response yet", maxSameID)
	}
	f.pending[key] = append(f.pending[key], pending{fr.index, fr.from, fr.kind, answer})
}

// response gives a response to the request that it answers. The two peers number
// their requests alike, so an id may be of two; then the sender tells, or the
// form of the answer.
func (f *Frames) response(fr *frame) {
	fr.kind = "response"
	id := fr.root.Member("id")
	if fr.root.Member("result").IsZero() && fr.root.Member("error").IsZero() {
		fr.fail(CodeMalformed, fr.root, "expected a method, a result or an error")
		return
	}

	// Whoever sent the answer did not send the request.
	key := string(id.AppendCanonical(nil))
	all := f.pending[key]
	fits := slices.DeleteFunc(slices.Clone(all), func(p pending) bool {
		return fr.from != SenderUnknown && p.from == fr.from
	})
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(p pending) bool { return !shaped(p.method, fr.root.Member("result")) })
	}

	// A guess could make an approval of an answer to something else.
	switch len(fits) {
	case 0:
		if len(all) > 1 {
			fr.fail(CodeAmbiguous, id, "%d open requests have the id, and the answer has the form of none; say who sent the frames", len(all))
		}
		f.counts.Unmatched++
		return
	case 1:
	default:
		fr.fail(CodeAmbiguous, id, "%d open requests could have this response; say who sent the frames", len(fits))
		return
	}

	// Another request of the same id stays open.
	f.pending[key] = slices.DeleteFunc(slices.Clone(all), func(p pending) bool { return p.index == fits[0].index })
	if len(f.pending[key]) == 0 {
		delete(f.pending, key)
	}

	f.open--
	f.recorder.run.free(len(key) + requestCost)
	fr.kept = f.recorder.run.budget
	fr.kind = "response to " + fits[0].method

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
			if n := at.Member(name); !absent(n) {
				return n
			}
		}
	}
	return canon.Node{}
}

// harnOf returns the object in which a member of the runtime's own is.
func harnOf(of canon.Node, name string) canon.Node {
	if at := of.Member("_meta").Member("harn"); !absent(at.Member(name)) {
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
		fr.fail(CodePayload, n, "expected a string")
	case len(n.Text()) > MaxText:
		fr.exceed("MaxText", n, len(n.Text()))
	default:
		return fr.once(n.Text())
	}
	return ""
}
