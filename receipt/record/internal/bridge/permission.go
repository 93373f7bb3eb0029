package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// translatePermission records a permission request. The approval stays open until the response
// decides it.
func translatePermission(f *Translator, fr *frame) {
	fr.expects = true
	call := fr.params.Member("toolCall")
	request := Own(call, "approvalRequest")
	if request.IsZero() {
		request = Own(fr.params, "approvalRequest")
	}

	// The approval has the ID of its request or, if that is missing, the ID of its call.
	callID := fr.Required(call, "toolCallId")
	name := cmp.Or(fr.str(call, "toolName"), fr.Text(call, "title"))
	asked := cmp.Or(fr.Text(request, "id"), callID)
	id := f.questions.ask(asked)
	input := call.Member("rawInput")
	if event.Absent(input) {
		input = request.Member("args")
	}

	c := f.calls.named(fr, callID)
	c.name = cmp.Or(c.name, name)
	c.describe(f, fr, call)

	// Depending on the dialect, the planned changes are in the call or next to it.
	mutation := Own(fr.params, "mutation")
	if event.Absent(mutation) {
		mutation = Own(call, "mutation", "audit")
	}

	f.emit(fr, "tool.approval_required", members{
		"mutation_scope": fr.Text(mutation, "mutation_scope"), "run_id": fr.Text(mutation, "run_id"), "worker_id": fr.Text(mutation, "worker_id"),
		"declared_paths": fr.declared(call), "approval_id": id, "tool_call_id": callID, "name": c.name, "action": cmp.Or(fr.Text(request, "action"), c.name), "input": input,
		"approvers_required": request.Member("approvers_required"), "deadline": request.Member("deadline"), "policy_ref": fr.policyRef(call, fr.params),
	})

	// The offered options determine how the answer is interpreted.
	options := offered(f, fr)
	f.requests.expect(fr, func(fr *frame) {
		f.questions.asked[asked].open = false
		permitted(f, fr, options, id, callID)
	})
}

// offered returns the offered options as text, because the next frame reuses the document.
func offered(f *Translator, fr *frame) []byte {
	n := fr.params.Member("options")
	if event.Absent(n) || fr.Err != nil {
		return nil
	}
	return f.budget.Keep(&fr.Event, n.AppendCanonical(nil))
}

func permitted(f *Translator, fr *frame, options []byte, id, callID string) {
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
		c := f.calls.named(fr, callID)
		c.approved = true
		args := a.result.Member("args")
		if p["args"] = args; !event.Absent(args) { // the preview does not match the new arguments
			clear(c.previews)
		}
		f.emit(fr, "tool.approved", p)
		return
	}

	// The reason for a denial is the error message or the reason in the answer. If the answer
	// contains neither, but contains granted as a Boolean, a fixed reason is used.
	p["decision"] = decision
	p["reason"] = event.Shorten(cmp.Or(fr.Text(fr.Root.Member("error"), "message"), fr.Text(a.result, "reason")))
	if p["reason"] == "" && a.granted().Kind() == canon.KindBool {
		p["reason"] = "host did not grant approval"
	}
	f.emit(fr, "tool.denied", p)
}

// translateAsked opens a durable approval. Both the notification and the update may contain the
// approval request.
func translateAsked(f *Translator, fr *frame) {
	request := Own(fr.about(), "approval_request", "approvalRequest")
	id := fr.requestID()
	switch {
	case fr.Err != nil || f.questions.asked[id] != nil:
		f.counts.Silent++
		return
	case event.Absent(request): // the frame requests no approval
		f.emit(fr, "hitl.question_asked", members{"request_id": id, "content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	// Without an ID, no answer could refer to the request.
	if id == "" {
		fr.Fail(event.CodePayload, fr.about(), "the member request_id is missing")
		return
	}

	action := fr.Text(request, "action")
	f.emit(fr, "tool.approval_required", members{
		"approval_id": f.questions.ask(id), "action": action, "name": action, "input": request.Member("args"), "tool_call_id": fr.Text(request, "tool_call_id"),
		"approvers_required": request.Member("approvers_required"), "deadline": request.Member("deadline"),
	})
}

func verdictMembers(f *Translator, fr *frame) members {
	n := fr.about()
	return members{
		"approval_id": f.questions.answered(fr.requestID()), "actor": fr.str(n, "reviewer"), "reason": event.Shorten(fr.str(n, "reason")),
		"reviewers": Own(n, "reviewers"), "signatures": Own(n, "signatures"),
	}
}

func translateResponded(f *Translator, fr *frame) {
	decision, given := fr.verdict()
	if !given {
		f.emit(fr, "user.input_submitted", members{"content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	p := verdictMembers(f, fr)
	p["decision"] = decision
	if event.Absent(fr.Root.Member("id")) || f.to.Ended() { // a notification gets no response
		f.emit(fr, "user.tool_confirmation", p)
		return
	}

	// The runtime may still refuse the answer, so the approval stays open until the runtime
	// responds.
	h := f.questions.held.hold(f, fr, fr.requestID(), "user.tool_confirmation", p.Text())
	fr.expects = true
	f.requests.expect(fr, func(fr *frame) { f.questions.held.settle(f, fr, h) })
}

func translateResolved(f *Translator, fr *frame) {
	decision, given := fr.verdict()
	if !given && f.questions.asked[fr.requestID()] == nil { // a question
		f.emit(fr, "hitl.response_received", members{"request_id": fr.requestID(), "content_sha256": event.HashOf(fr.about()).String()})
		return
	}

	p, kind := verdictMembers(f, fr), "tool.approved"
	if decision != event.Approved {
		p["decision"], kind = event.Denied, "tool.denied"
	}
	if !f.questions.held.waits(f, fr, fr.requestID(), kind, p.Text()) {
		f.emit(fr, kind, p)
	}
}
