package bridge

import (
	"cmp"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// translatePermission asks for an approval. Its response decides it; without one
// it stays open.
func translatePermission(f *Translator, fr *frame) {
	fr.expects = true
	call := fr.params.Member("toolCall")
	request := harn(call, "approvalRequest")
	if request.IsZero() {
		request = harn(fr.params, "approvalRequest")
	}

	// An approval has the id of its request, else that of its call.
	callID := fr.Required(call, "toolCallId")
	name := cmp.Or(fr.str(call, "toolName"), fr.Text(call, "title"))
	asked := cmp.Or(fr.Text(request, "id"), callID)
	id := f.ask(asked)
	input := call.Member("rawInput")
	if event.Absent(input) {
		input = request.Member("args")
	}

	c := f.call(fr, callID)
	c.name = cmp.Or(c.name, name)
	f.describe(fr, c, call)

	// Dialects have what the call may change beside the call, or in it.
	mutation := harn(fr.params, "mutation")
	if event.Absent(mutation) {
		mutation = harn(call, "mutation", "audit")
	}

	f.emit(fr, "tool.approval_required", members{
		"mutation_scope": fr.Text(mutation, "mutation_scope"), "run_id": fr.Text(mutation, "run_id"), "worker_id": fr.Text(mutation, "worker_id"),
		"declared_paths": fr.declared(call), "approval_id": id, "tool_call_id": callID, "name": c.name, "action": cmp.Or(fr.Text(request, "action"), c.name), "input": input,
		"approvers_required": request.Member("approvers_required"), "deadline": request.Member("deadline"), "policy_ref": fr.policyRef(call, fr.params),
	})

	// The answer is judged by the options that were offered with the question.
	options := f.offered(fr)
	f.expect(fr, func(fr *frame) {
		f.asked[asked].open = false
		f.permitted(fr, options, id, callID)
	})
}

// declared are the paths that a question announces.
func (fr *frame) declared(call canon.Node) any {
	for _, of := range [...]canon.Node{fr.params, call} {
		if n := harn(of, "declaredPaths", "declared_paths"); !event.Absent(n) {
			return n
		}
	}

	list := []byte{'['}
	for _, entry := range harn(fr.params, "declaredPathEntries").Elements() {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = canon.AppendString(list, fr.Required(entry, "path"))
	}

	if len(list) == 1 {
		return nil
	}
	return raw(append(list, ']'))
}

// A question is what an approval id stands for. Who asks again while it is open
// asks the same; after it was decided, it is another, with a number.
type question struct {
	first string // id of the approval that was asked for first: who answers by name means it
	id    string // of the last one
	count int    // of the approvals
	open  bool
}

// ask returns the id of a question's approval. A numbered id is never one that
// something else was asked with.
func (f *Translator) ask(id string) string {
	q := f.asked[id]
	if q == nil {
		q = &question{count: 1}
		f.asked[id] = q
	}
	if q.open {
		return q.id
	}

	// Once it was decided, the same name asks something else.
	q.id, q.open = id, true
	for f.given[q.id] {
		q.count++
		q.id = id + "#" + strconv.Itoa(q.count)
	}

	f.given[q.id] = true
	q.first = cmp.Or(q.first, q.id)
	return q.id
}

// answered returns the id of the approval that an answer means by a name.
func (f *Translator) answered(id string) string {
	if q := f.asked[id]; q != nil {
		return q.first
	}
	return id
}

// offered keeps the options of a question, as text: its document is used for the
// next frame.
func (f *Translator) offered(fr *frame) []byte {
	n := fr.params.Member("options")
	if event.Absent(n) || fr.Err != nil {
		return nil
	}
	return f.budget.Keep(&fr.Event, n.AppendCanonical(nil))
}

func (f *Translator) permitted(fr *frame, options []byte, id, callID string) {
	offered := new(canon.Document)
	if options != nil {
		f.budget.Free(len(options))
		if err := offered.Parse(options, canon.Limits{}); err != nil {
			fr.Fail(event.CodeMalformed, fr.Root, "the options of the question: %v", err)
			return
		}
	}

	a := newAnswer(fr.Root, offered.Root())
	p := members{"approval_id": id, "tool_call_id": callID, "actor": fr.str(a.result, "reviewer")}
	decision := a.decide(f.outcomes)
	if decision == event.Approved {
		args := a.result.Member("args")
		if p["args"] = args; !event.Absent(args) { // what was previewed is not what is done
			clear(f.call(fr, callID).previews)
		}
		f.emit(fr, "tool.approved", p)
		return
	}

	// A denial has a reason where the answer, or its form, tells one.
	p["decision"] = decision
	p["reason"] = event.Shorten(cmp.Or(fr.Text(fr.Root.Member("error"), "message"), fr.Text(a.result, "reason")))
	if p["reason"] == "" && a.granted().Kind() == canon.KindBool {
		p["reason"] = "host did not grant approval"
	}
	f.emit(fr, "tool.denied", p)
}

// policyRef names the policy of a mutation session: by its name, else by the
// digest of its content.
func (fr *frame) policyRef(of ...canon.Node) string {
	for _, n := range of {
		audit := harn(n, "audit", "mutation")
		if ref := fr.Text(audit, "policy_ref"); ref != "" {
			return ref
		}
		if policy := audit.Member("approval_policy"); !event.Absent(policy) {
			return event.HashOf(policy).String()
		}
	}
	return ""
}

// about returns what a durable approval's frame is about: params, or the update.
func (fr *frame) about() canon.Node {
	if !fr.update.IsZero() {
		return fr.update
	}
	return fr.params
}

func (fr *frame) requestID() string {
	n := fr.about()
	return cmp.Or(fr.str(n, "request_id", "requestId"), fr.Text(harn(n, "approval_request", "approvalRequest"), "id"))
}

// translateAsked asks for a durable approval. The notification and the update may
// both tell of it.
func translateAsked(f *Translator, fr *frame) {
	request := harn(fr.about(), "approval_request", "approvalRequest")
	id := fr.requestID()
	switch {
	case fr.Err != nil || f.asked[id] != nil:
		f.counts.Silent++
		return
	case event.Absent(request): // a question, and no approval
		f.emit(fr, "hitl.question_asked", members{"request_id": id, "content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	// Without an id no answer could be given to it.
	if id == "" {
		fr.Fail(event.CodePayload, fr.about(), "the member request_id is missing")
		return
	}

	action := fr.Text(request, "action")
	f.emit(fr, "tool.approval_required", members{
		"approval_id": f.ask(id), "action": action, "name": action, "input": request.Member("args"), "tool_call_id": fr.Text(request, "tool_call_id"),
		"approvers_required": request.Member("approvers_required"), "deadline": request.Member("deadline"),
	})
}

// verdict reads approved and accepted. Both must say the same.
func (fr *frame) verdict() (decision string, given bool) {
	n := fr.about()
	ok := true
	for _, name := range []string{"approved", "accepted"} {
		if v := harn(n, name); !v.IsZero() {
			given, ok = true, ok && v.Bool()
		}
	}
	if given && ok {
		return event.Approved, true
	}
	return event.Denied, given
}

func (f *Translator) verdictMembers(fr *frame) members {
	n := fr.about()
	return members{
		"approval_id": f.answered(fr.requestID()), "actor": fr.str(n, "reviewer"), "reason": event.Shorten(fr.str(n, "reason")),
		"reviewers": harn(n, "reviewers"), "signatures": harn(n, "signatures"),
	}
}

func translateResponded(f *Translator, fr *frame) {
	decision, given := fr.verdict()
	if !given {
		f.emit(fr, "user.input_submitted", members{"content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	p := f.verdictMembers(fr)
	p["decision"] = decision
	if event.Absent(fr.Root.Member("id")) || f.to.Ended() { // nothing is said to a notification
		f.emit(fr, "user.tool_confirmation", p)
		return
	}

	// The runtime may refuse the answer: until it responds, nothing is decided.
	h := f.hold(fr, fr.requestID(), "user.tool_confirmation", p.text())
	fr.expects = true
	f.expect(fr, func(fr *frame) { f.settle(fr, h) })
}

func (f *Translator) hold(fr *frame, id, kind string, payload []byte) *held {
	h := &held{at: fr.At, id: id, kind: kind, payload: f.budget.Keep(&fr.Event, payload)}
	f.held.add(h)
	return h
}

// waits reports whether a decision waits for answers that came before it, and may
// still be refused: it is told after them.
func (f *Translator) waits(fr *frame, id, kind string, payload []byte) bool {
	if len(f.held.to(id)) == 0 || f.to.Ended() {
		return false
	}
	f.hold(fr, id, kind, payload).ready = true
	return true
}

// settle records a held answer, or that there was one that was refused.
func (f *Translator) settle(fr *frame, h *held) {
	refused := !event.Absent(fr.Root.Member("error"))
	switch {
	case h.counted && refused:
		fr.Fail(event.CodeAfterEnd, fr.Root, "the task ended before, with an answer that is refused here")
		return
	case h.counted:
		f.counts.Silent++
		return
	case refused:
		f.held.remove(h)
		f.budget.Free(len(h.payload))
		f.emit(fr, "user.input_submitted", members{"content_sha256": canon.Sum(h.payload).String()})
	default:
		h.ready = true
	}

	// Answers to one question are told in the order in which they came.
	for _, next := range f.held.to(h.id) {
		if !next.ready {
			return
		}
		f.confirm(fr, next)
	}
}

func (f *Translator) confirm(fr *frame, h *held) {
	f.held.remove(h)
	f.budget.Free(len(h.payload))
	at := fr.At
	fr.At = h.at
	f.emitText(fr, h.kind, h.payload)
	fr.At = at
}

// release records held answers before the end: a log of one direction has no
// responses. One that is refused after it is false by then.
func (f *Translator) release(fr *frame, answers []*held) {
	for _, h := range answers {
		h.counted = !h.ready
		f.confirm(fr, h)
	}
}

func translateResolved(f *Translator, fr *frame) {
	decision, given := fr.verdict()
	if !given && f.asked[fr.requestID()] == nil { // a question
		f.emit(fr, "hitl.response_received", members{"request_id": fr.requestID(), "content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	p, kind := f.verdictMembers(fr), "tool.approved"
	if decision != event.Approved {
		p["decision"], kind = event.Denied, "tool.denied"
	}
	if !f.waits(fr, fr.requestID(), kind, p.text()) {
		f.emit(fr, kind, p)
	}
}
