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

// An approval is one question, and everything that answered it.
type approval struct {
	id, call, tool, action string
	question               question
	refusal                refusal
	grant                  grant

	input     canon.Digest // of the call: as it was asked, else as far as it was known when it was approved
	policy    string       // that decided, where nobody is named
	evidence  [][]byte     // the answers, as canonical payloads
	confirmed bool         // a user.tool_confirmation is among the evidence
	stray     bool         // an answer came from another session
}

// A question is what was asked, and what it announced of the call.
type question struct {
	session  string
	required int64 // how many have to approve
	deadline time.Time
	payload  []byte          // canonical; nil when only an answer came
	about    map[string]bool // calls that questions named
	declared []string        // paths that the question announced
	notes    details
}

// A refusal is the first answer that was not an approval.
type refusal struct {
	decision string // denied, canceled or timeout; "" when there is none
	by       string
	at       time.Time
	word     string // of the answer, when it is in no table
	mute     bool   // the answer has no word that says so
}

// A grant is what the answers that approve came to.
type grant struct {
	given      bool // by the decision itself, or by confirmations
	decided    bool // by the decision itself
	at         time.Time
	sender     string // of the event that granted, when its payload names nobody
	reviewers  []reviewer
	reviewed   map[string]bool // names of reviewers
	signatures []any
	args       canon.Digest // what the approver put in place of the input
	rewrites   bool         // approvers put different arguments there
}

// A reviewer is one who approved, and when.
type reviewer struct {
	name string
	at   time.Time
}

// ask notes the call that a question names, and what it announces of it.
func (q *question) ask(r *run, e *event.Event) {
	for _, name := range []string{"kind", "mutation_scope", "run_id", "worker_id"} {
		if value := e.Text(e.Payload, name); value != "" {
			q.notes.note(name, value)
		}
	}

	// A question that is asked again may announce more.
	for _, n := range e.Payload.Member("declared_paths").Elements() {
		name, _ := event.InWorkspace(r.options.WorkspaceRoot, n.String())
		if !slices.Contains(bounded(q.declared), name) {
			q.declared = append(q.declared, string(r.Keep(e, []byte(name))))
			r.Room(e)
		}
	}

	// An answer about a call that no question names contradicts itself.
	call := e.Text(e.Payload, "tool_call_id")
	if call == "" || q.about[call] {
		return
	}
	if q.about == nil {
		q.about = map[string]bool{}
	}
	q.about[call] = true
	r.Charge(e, e.Payload, event.PartCost)
}

// contradicts reports whether an answer that approves says itself that it does not,
// or is about a call that nobody asked for under this id.
func (q *question) contradicts(e *event.Event) bool {
	if event.Declines(e.Payload) {
		return true
	}
	call := e.Text(e.Payload, "tool_call_id")
	return call != "" && len(q.about) > 0 && !q.about[call]
}

// strays reports whether an answer is of another session than the question. Ids of
// questions are numbered in each session alike: it answers another one.
func (a *approval) strays(r *run, e *event.Event) bool {
	asked := cmp.Or(a.question.session, r.ids.SessionID)
	from := e.Session()
	if from == "" || asked == "" || from == asked {
		return false
	}
	a.stray = true
	r.approvals.foreign++
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
	if decision == event.Approved && a.question.contradicts(e) {
		decision = event.Denied
	}

	// The first answer that was not an approval is kept, whatever comes after it.
	if decision != event.Approved {
		if a.refusal.decision == "" {
			a.refusal = refusal{decision: decision, by: who, at: at, mute: !saysNo(e)}
			if a.refusal.mute {
				a.refusal.word = event.Shorten(e.Payload.Member("decision").String())
			}
			// A policy decides where nobody is named.
			if who == "" && ref != "" {
				a.policy = ref
			}
		}
		a.refuse(r, e, decision, byRuntime)
		return
	}

	g := &a.grant
	if who == "" && ref != "" {
		first(&a.policy, ref)
	}
	if byRuntime && e.Named() == "" { // the envelope names who tells of the decision, who need not be who approved
		first(&g.sender, who)
		who = ""
	}

	g.review(r, e, who, at)

	// The time of the decision itself comes before that of a confirmation.
	if byRuntime && !g.decided || !g.given && !byRuntime {
		g.at = at
	}

	g.given, g.decided = true, g.decided || byRuntime
	if c := r.calls.ByID[a.call]; a.input.IsZero() && c != nil { // what was asked so far is what was approved
		a.input = c.arguments.asked
	}
	a.rewrite(r, e)
}

// review adds those who approved.
func (g *grant) review(r *run, e *event.Event, who string, at time.Time) {
	add := func(name string) {
		switch {
		case name == "" || g.reviewed[name]:
		case len(g.reviewers) == event.MaxReviewers:
			e.Exceed(event.LimitReviewers, e.Payload, event.MaxReviewers+1)
		default:
			if g.reviewed == nil {
				g.reviewed = map[string]bool{}
			}
			g.reviewed[name] = true
			g.reviewers = append(g.reviewers, reviewer{name, at})
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
		if len(g.signatures) == event.MaxReviewers {
			e.Exceed(event.LimitReviewers, e.Payload, event.MaxReviewers+1)
			return
		}
		if r.List(e, 4*event.PartCost); e.Err != nil {
			return
		}
		g.signatures = append(g.signatures, map[string]any{
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
	g := &a.grant
	g.rewrites = g.rewrites || !g.args.IsZero() && g.args != args
	g.args = args

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
func (g *grant) approvedAt(required int64) time.Time {
	if required <= 1 || required > int64(len(g.reviewers)) {
		return g.at
	}
	in := slices.SortedFunc(slices.Values(g.reviewers), func(x, y reviewer) int { return x.at.Compare(y.at) })
	if last := in[required-1].at; last.After(g.at) {
		return last
	}
	return g.at
}

// actor is who approved first.
func (g *grant) actor() string {
	if len(g.reviewers) > 0 {
		return g.reviewers[0].name
	}
	return g.sender
}

// satisfied counts who approved. Approvals that name nobody count as one.
func (g *grant) satisfied() int64 {
	if g.given {
		return max(1, int64(len(g.reviewers)))
	}
	return 0
}

// required is how many have to approve.
func (a *approval) required() int64 { return max(a.question.required, 1) }

// decision is what the receipt says. Too few reviewers are not an approval, and
// neither is an answer after the deadline.
func (a *approval) decision(r *run) (decision, actor string, at time.Time) {
	switch {
	case a.refusal.decision != "":
		return a.refusal.decision, a.refusal.by, a.refusal.at
	case a.grant.satisfied() >= a.required():
		at = a.grant.approvedAt(a.question.required)
		if deadline := a.question.deadline; !deadline.IsZero() && at.After(deadline) {
			return event.TimedOut, a.grant.actor(), at
		}
		return event.Approved, a.grant.actor(), at
	case r.final == receipt.StateCanceled:
		return event.Canceled, "", r.ended
	}
	return event.TimedOut, "", r.ended
}

// open reports whether nothing decided a question: that it ran out, or was canceled
// with the task, is what its state at the end means, and no line's word.
func (a *approval) open() bool {
	return a.refusal.decision == "" && a.grant.satisfied() < a.required()
}

// entry is the approval as the receipt has it.
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
	if a.refusal.mute {
		t.untold(place + "/decision")
	}

	// What was told in two ways is listed. The draft has the safer of them.
	if a.refusal.decision != "" && a.grant.given {
		t.contradicts(place, answersDiffer)
	}
	if a.grant.rewrites {
		t.contradicts(place, inputsDiffer)
	}
	if a.stray {
		t.contradicts(place, otherSession)
	}

	return receipt.Approval{
		ApprovalID: a.id, Actor: t.name(place+"/actor", actor, actorHost), Action: t.name(place+"/action", action, "tool_call"), Decision: decision,
		DecidedAt: receipt.At(at), QuorumProof: a.quorum(), EvidenceHash: a.evidenceHash(),
	}
}

// quorum is who approved, out of how many. Where nobody set a number and one approved, the actor
// is all there is to tell. A word that is in no table does not approve, and is kept for people.
func (a *approval) quorum() (proof receipt.Object) {
	g := &a.grant
	if a.question.required > 0 || len(g.reviewers) > 1 || len(g.signatures) > 0 {
		reviewers := []any{}
		for _, who := range g.reviewers {
			reviewers = append(reviewers, who.name)
		}
		proof = receipt.Object{"required": a.required(), "satisfied": g.satisfied(), "reviewers": reviewers}
	}
	if len(g.signatures) > 0 {
		proof["signatures"] = g.signatures
	}
	if a.refusal.word != "" {
		if proof == nil {
			proof = receipt.Object{}
		}
		proof["raw_decision"] = a.refusal.word
	}
	return proof
}

// evidenceHash is the SHA-256 of the RFC 8785 form of {"request", "response"}:
// the payloads of the question and of the answer, null for one that never came,
// an array for several answers.
func (a *approval) evidenceHash() canon.Digest {
	// RFC 8785 section 3.2.3: request comes before response.
	text := []byte(`{"request":`)
	if a.question.payload == nil {
		text = append(text, "null"...)
	}

	text = append(append(text, a.question.payload...), `,"response":`...)
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
