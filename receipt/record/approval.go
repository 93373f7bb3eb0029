package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// actorHost decides where nobody is named.
const actorHost = "host"

// An approval is one question and everything that answered it.
type approval struct {
	id, call, tool, action string
	session                string // of the question
	input                  canon.Digest
	args                   canon.Digest // what the approver put in place of the input
	required               int64
	deadline               time.Time

	request   []byte          // canonical payload; nil when only an answer came
	about     map[string]bool // calls that questions named
	declared  []string        // paths that the question announced
	notes     map[string]string
	differ    map[string]bool // notes of which two values were told
	evidence  [][]byte
	confirmed bool // a user.tool_confirmation is among the evidence

	refusal   string // denied, canceled or timeout: the first answer that was not an approval
	refuser   string
	refusedAt time.Time
	raw       string // the word of an answer that is in no table
	mute      bool   // the answer that refused has no word that says so

	granted    bool // by the decision itself, or by confirmations
	decided    bool // by the decision itself
	grantedAt  time.Time
	approver   string // of the event that granted, when its payload names nobody
	reviewers  []reviewer
	reviewed   map[string]bool // names of reviewers
	policy     string
	signatures []any
	stray      bool // an answer came from another session
	rewrites   bool // approvers put different arguments in place of the input
}

// A reviewer is one who approved, and when.
type reviewer struct {
	name string
	at   time.Time
}

// ask notes the call that a question names, and what it announces of it.
func (a *approval) ask(r *run, e *event.Event) {
	for _, name := range []string{"kind", "mutation_scope", "run_id", "worker_id"} {
		if value := e.Text(e.Payload, name); value != "" {
			if a.notes == nil {
				a.notes, a.differ = map[string]string{}, map[string]bool{}
			}
			if have := a.notes[name]; have != "" && disagree(name, have, value) {
				a.differ[name] = true
			}
			a.notes[name] = value
		}
	}

	// A question that is asked again may announce more.
	for _, n := range e.Payload.Member("declared_paths").Elements() {
		name, _ := event.InWorkspace(r.options.WorkspaceRoot, n.String())
		if !slices.Contains(bounded(a.declared), name) {
			a.declared = append(a.declared, string(r.Keep(e, []byte(name))))
			r.Room(e)
		}
	}

	// An answer about a call that no question names contradicts itself.
	call := e.Text(e.Payload, "tool_call_id")
	if call == "" || a.about[call] {
		return
	}
	if a.about == nil {
		a.about = map[string]bool{}
	}
	a.about[call] = true
	r.Charge(e, e.Payload, event.PartCost)
}

// contradicts reports whether an answer that approves says itself that it does not,
// or is about a call that nobody asked for under this id.
func (a *approval) contradicts(e *event.Event) bool {
	if event.Declines(e.Payload) {
		return true
	}
	call := e.Text(e.Payload, "tool_call_id")
	return call != "" && len(a.about) > 0 && !a.about[call]
}

// strays reports whether an answer is of another session than the question. Ids of
// questions are numbered in each session alike: it answers another one.
func (a *approval) strays(r *run, e *event.Event) bool {
	asked := cmp.Or(a.session, r.ids.SessionID)
	from := e.Session()
	if from == "" || asked == "" || from == asked {
		return false
	}
	a.stray = true
	r.foreign++
	return true
}

// answer notes one answer. An approval never takes back an answer that was not one.
func (a *approval) answer(r *run, e *event.Event, decision string, byRuntime bool) {
	at := e.Time(e.Payload, "decided_at")
	if at.IsZero() {
		at = e.At
	}

	who := e.Actor()
	ref := e.Text(e.Payload, "policy_ref")
	if decision == event.Approved && a.contradicts(e) {
		decision = event.Denied
	}

	// The first answer that was not an approval is kept, whatever comes after it.
	if decision != event.Approved {
		if a.refusal == "" {
			a.refusal, a.refuser, a.refusedAt = decision, who, at
			if a.mute = !saysNo(e); a.mute {
				a.raw = event.Shorten(e.Payload.Member("decision").String())
			}
			// A policy decides where nobody is named.
			if who == "" && ref != "" {
				a.policy = ref
			}
		}
		a.refuse(r, e, decision, byRuntime)
		return
	}

	if who == "" && ref != "" {
		first(&a.policy, ref)
	}
	if byRuntime && e.Named() == "" { // the envelope names who tells of the decision, who need not be who approved
		first(&a.approver, who)
		who = ""
	}

	a.review(r, e, who, at)

	// The time of the decision itself comes before that of a confirmation.
	if byRuntime && !a.decided || !a.granted && !byRuntime {
		a.grantedAt = at
	}

	a.granted, a.decided = true, a.decided || byRuntime
	if c := r.calls.ByID[a.call]; a.input.IsZero() && c != nil { // what was asked so far is what was approved
		a.input = c.arguments.asked
	}
	a.rewrite(r, e)
}

// review adds those who approved.
func (a *approval) review(r *run, e *event.Event, who string, at time.Time) {
	add := func(name string) {
		switch {
		case name == "" || a.reviewed[name]:
		case len(a.reviewers) == event.MaxReviewers:
			e.Exceed(event.LimitReviewers, e.Payload, event.MaxReviewers+1)
		default:
			if a.reviewed == nil {
				a.reviewed = map[string]bool{}
			}
			a.reviewed[name] = true
			a.reviewers = append(a.reviewers, reviewer{name, at})
			r.Part(e)
		}
	}

	// One name is one reviewer, however often it is given.
	add(who)
	list := e.Payload.Member("reviewers")
	for _, n := range list.Elements() {
		if n.Kind() != canon.KindString || len(n.Text()) > event.MaxText {
			e.Fail(event.CodePayload, n, "expected a string of at most %d bytes", event.MaxText)
			return
		}
		if add(e.Once(n.Text())); e.Err != nil {
			return
		}
	}

	// Signatures are copied, not checked: nobody here has the keys.
	for _, s := range e.Elements(e.Payload, "signatures") {
		if len(a.signatures) == event.MaxReviewers {
			e.Exceed(event.LimitReviewers, e.Payload, event.MaxReviewers+1)
			return
		}
		if r.List(e, 4*event.PartCost); e.Err != nil {
			return
		}
		a.signatures = append(a.signatures, map[string]any{
			"reviewer": e.Required(s, "reviewer"), "signed_at": e.Required(s, "signed_at"), "signature": e.Required(s, "signature"),
		})
	}
}

// rewrite notes that the approver changed what the tool is called with.
func (a *approval) rewrite(r *run, e *event.Event) {
	args := e.Content(e.Payload, "args")
	if n := e.Payload.Member("args_sha256"); args.IsZero() && event.Abbreviated(n) {
		if c := r.calls.ByID[a.call]; c != nil {
			c.short[0] = e.Once(n.Text())
		}
	}
	if args.IsZero() {
		return
	}
	a.rewrites = a.rewrites || !a.args.IsZero() && a.args != args
	a.args = args

	if a.call == "" {
		return
	}
	c := r.calls.ByID[a.call]
	if c == nil {
		c = r.calls.openFor(r, e, a)
	}
	c.arguments.change(args, a.input)
}

// refuse cancels the call that was asked for.
func (a *approval) refuse(r *run, e *event.Event, decision string, byRuntime bool) {
	if a.call == "" || !byRuntime && decision != event.Denied {
		return
	}
	c := r.calls.ByID[a.call]
	if c == nil {
		c = r.calls.openFor(r, e, a)
	}
	c.denied = true
}

// approvedAt is when enough had approved: not before the last of those who were
// needed, as one of two is not an approval yet.
func (a *approval) approvedAt() time.Time {
	at := a.grantedAt
	if a.required > 1 && a.required <= int64(len(a.reviewers)) {
		in := slices.SortedFunc(slices.Values(a.reviewers), func(x, y reviewer) int { return x.at.Compare(y.at) })
		if last := in[a.required-1].at; last.After(at) {
			at = last
		}
	}
	return at
}

// late reports whether an approval came after the deadline.
func (a *approval) late() bool { return !a.deadline.IsZero() && a.approvedAt().After(a.deadline) }

// decision is what the receipt says. Too few reviewers are not an approval, and
// neither is an answer after the deadline.
func (a *approval) decision(r *run) (decision, actor string, at time.Time) {
	switch {
	case a.refusal != "":
		return a.refusal, a.refuser, a.refusedAt
	case a.granted && a.satisfied() >= max(a.required, 1):
		actor = a.approver
		if len(a.reviewers) > 0 {
			actor = a.reviewers[0].name
		}
		if a.late() {
			return event.TimedOut, actor, a.approvedAt()
		}
		return event.Approved, actor, a.approvedAt()
	case r.final == receipt.StateCanceled:
		return event.Canceled, "", r.ended
	}
	return event.TimedOut, "", r.ended
}

// open reports whether nothing decided a question: that it ran out, or was canceled
// with the task, is what its state at the end means, and no line's word.
func (a *approval) open() bool { return a.refusal == "" && a.satisfied() < max(a.required, 1) }

// satisfied counts who approved. Approvals that name nobody count as one.
func (a *approval) satisfied() int64 {
	if a.granted {
		return max(1, int64(len(a.reviewers)))
	}
	return 0
}

func (a *approval) entry(r *run, t *telling, place string) receipt.Approval {
	decision, actor, at := a.decision(r)
	if actor == "" && a.policy != "" {
		actor = "policy:" + a.policy
	}

	action := cmp.Or(a.action, a.tool)
	if c := r.calls.ByID[a.call]; action == "" && c != nil {
		action = c.tool
	}

	// No line says so: it is what the end of the task means for an open question.
	if a.open() {
		t.untold(place + "/decision")
		t.untold(place + "/decided_at")
	}
	if a.mute {
		t.untold(place + "/decision")
	}

	// What was told in two ways is listed. The draft has the safer of them.
	if a.refusal != "" && a.granted {
		t.contradicts(place, answersDiffer)
	}
	if a.rewrites {
		t.contradicts(place, inputsDiffer)
	}
	if a.stray {
		t.contradicts(place, otherSession)
	}

	entry := receipt.Approval{
		ApprovalID: a.id, Actor: t.name(place+"/actor", actor, actorHost), Action: t.name(place+"/action", action, "tool_call"), Decision: decision,
		DecidedAt: receipt.At(at), EvidenceHash: a.evidenceHash(),
	}

	// Where nobody set a number and one approved, the actor is all there is to tell.
	if a.required > 0 || len(a.reviewers) > 1 || len(a.signatures) > 0 {
		reviewers := []any{}
		for _, who := range a.reviewers {
			reviewers = append(reviewers, who.name)
		}
		entry.QuorumProof = receipt.Object{"required": max(a.required, 1), "satisfied": a.satisfied(), "reviewers": reviewers}
		if len(a.signatures) > 0 {
			entry.QuorumProof["signatures"] = a.signatures
		}
	}

	// A word that is in no table does not approve. It is kept for people.
	if a.raw != "" {
		if entry.QuorumProof == nil {
			entry.QuorumProof = receipt.Object{}
		}
		entry.QuorumProof["raw_decision"] = a.raw
	}

	return entry
}

// evidenceHash is the SHA-256 of the RFC 8785 form of {"request", "response"}:
// the payloads of the question and of the answer, null for one that never came,
// an array for several answers.
func (a *approval) evidenceHash() canon.Digest {
	// RFC 8785 section 3.2.3: request comes before response.
	text := []byte(`{"request":`)
	if a.request == nil {
		text = append(text, "null"...)
	}

	text = append(append(text, a.request...), `,"response":`...)
	switch len(a.evidence) {
	case 0:
		text = append(text, "null"...)
	case 1:
		text = append(text, a.evidence[0]...)
	default:
		for i, answer := range a.evidence {
			text = append(append(text, "[,"[min(i, 1)]), answer...)
		}
		text = append(text, ']')
	}

	return canon.Sum(append(text, '}'))
}
