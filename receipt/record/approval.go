package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// actorHost is the actor of a decision that names neither a person nor a policy.
const actorHost = "host"

// An approval combines a permission request with all answers to it.
type approval struct {
	id, call, tool, action string
	question               question
	refusal                refusal
	grant                  grant

	input     canon.Digest // input of the call: from the question or, if the question has none, the input known at the time of the approval
	policy    string       // policy that decided, if no person is named
	evidence  [][]byte     // canonical payloads of the answers
	confirmed bool         // evidence includes a user.tool_confirmation
	stray     bool         // an answer from another session was ignored
}

// A question is a request for an approval, with the announced details of the call.
type question struct {
	session  string
	required int64 // minimum number of reviewers
	deadline time.Time
	payload  []byte          // canonical; nil if only an answer was recorded
	about    map[string]bool // IDs of the calls that are named in the questions
	declared []string        // paths announced in the question
	notes    details
}

// A refusal is the first answer that did not approve.
type refusal struct {
	decision string // denied, canceled, or timeout; "" if no answer refused
	by       string
	at       time.Time
	word     string // the answer's decision word, if it is unknown
	mute     bool   // the answer is not a recognized refusal
}

// A grant combines the answers that approve.
type grant struct {
	given      bool // by a decision of the runtime or by user confirmations
	decided    bool // by a decision of the runtime
	at         time.Time
	sender     string // sender of the granting event, if its payload names no person
	reviewers  []reviewer
	reviewed   map[string]bool // names in reviewers
	signatures []any
	args       canon.Digest // input that the approver substituted for the original input
	rewrites   bool         // approvers substituted different values for the input
}

// A reviewer is a person who approved, with the time of the approval.
type reviewer struct {
	name string
	at   time.Time
}

// ask records the call and the other details that a question contains.
func (q *question) ask(r *run, e *event.Event) {
	for _, name := range []string{"kind", "mutation_scope", "run_id", "worker_id"} {
		q.notes.note(name, e.Text(e.Payload, name))
	}

	// A repeated question may announce more paths.
	for _, n := range e.Payload.Member("declared_paths").Elements() {
		name, _ := event.InWorkspace(r.options.WorkspaceRoot, n.String())
		if !slices.Contains(bounded(q.declared), name) {
			q.declared = append(q.declared, string(r.Keep(e, []byte(name))))
			r.Room(e)
		}
	}

	// The call is stored, because an answer that names a different call contradicts the question.
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

// contradicts reports whether an approving answer also contains a refusal, or refers to a call that
// does not appear in any question with this ID.
func (q *question) contradicts(e *event.Event) bool {
	if event.Declines(e.Payload) {
		return true
	}
	call := e.Text(e.Payload, "tool_call_id")
	return call != "" && len(q.about) > 0 && !q.about[call]
}

// strays reports whether an answer belongs to a different session than the question. Each session
// numbers its own questions, so an answer from another session is for a different question with the
// same ID.
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

// answer applies an answer to the question. An approval never overrides an earlier refusal.
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

	// The first refusal is final, regardless of later answers.
	if decision != event.Approved {
		if a.refusal.decision == "" {
			a.refusal = refusal{decision: decision, by: who, at: at, mute: !saysNo(e)}
			if a.refusal.mute {
				a.refusal.word = event.Shorten(e.Payload.Member("decision").String())
			}
			// If no person is named, the policy decided.
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
	if byRuntime && e.Named() == "" { // the envelope names the sender of the event, who might not be the approver
		first(&g.sender, who)
		who = ""
	}

	g.review(r, e, who, at)

	// The time of the decision takes precedence over the time of a confirmation.
	if byRuntime && !g.decided || !g.given && !byRuntime {
		g.at = at
	}

	g.given, g.decided = true, g.decided || byRuntime
	if c := r.calls.ByID[a.call]; a.input.IsZero() && c != nil { // the approval covers the input that is known so far
		a.input = c.arguments.asked
	}
	a.rewrite(r, e)
}

// review adds the reviewers that are named in an approval, and its signatures.
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

	// A reviewer is counted once, even if the name is repeated.
	add(who)
	list := e.Payload.Member("reviewers")
	for _, n := range list.Elements() {
		if add(e.Once(n.Text())); e.Err != nil {
			return
		}
	}

	// Signatures are copied without verification, because no keys are available here.
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

// rewrite records the arguments that the approver substituted for the call's input.
func (a *approval) rewrite(r *run, e *event.Event) {
	args := e.Content(e.Payload, "args")

	// An abbreviated digest does not replace the input. If the arguments and the digest do not
	// match, the input is unreported.
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

// refuse marks the call as denied.
func (a *approval) refuse(r *run, e *event.Event, decision string, byRuntime bool) {
	// A confirmation stops the call only if it is a denial. A decision of the runtime always stops
	// the call.
	if a.call == "" || !byRuntime && decision != event.Denied {
		return
	}
	c := r.calls.ByID[a.call]
	if c == nil {
		c = r.calls.openFor(r, e, a)
	}
	c.denied = true
}

// approvedAt returns the time of the decision or, if later, the time at which enough reviewers had
// approved.
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

// actor returns the first reviewer or, if there is none, the sender of the approving event.
func (g *grant) actor() string {
	if len(g.reviewers) > 0 {
		return g.reviewers[0].name
	}
	return g.sender
}

// satisfied returns the number of reviewers. If no approval names a person, all approvals together
// count as one reviewer.
func (g *grant) satisfied() int64 {
	if g.given {
		return max(1, int64(len(g.reviewers)))
	}
	return 0
}

// required returns the number of reviewers required, at least 1.
func (a *approval) required() int64 { return max(a.question.required, 1) }

// decision returns the decision for the receipt. An approval by too few reviewers, or after the
// deadline, is not an approval.
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

// open reports whether no answer decided the question. The draft then derives the decision (timeout
// or canceled) from the end of the task, because no event records it.
func (a *approval) open() bool {
	return a.refusal.decision == "" && a.grant.satisfied() < a.required()
}

// entry returns the approval for the receipt.
func (a *approval) entry(r *run, t *telling, place string) receipt.Approval {
	decision, actor, at := a.decision(r)
	if actor == "" && a.policy != "" {
		actor = "policy:" + a.policy
	}

	action := cmp.Or(a.action, a.tool)
	if c := r.calls.ByID[a.call]; action == "" && c != nil {
		action = c.tool
	}

	// No event records this decision. The decision follows from the end of the task.
	if a.open() {
		t.untold(place + "/decision")
		t.untold(place + "/decided_at")
	}
	if a.refusal.mute {
		t.untold(place + "/decision")
	}

	// Conflicting answers are listed as contradictions. The draft states the safer decision.
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

// quorum returns the reviewers, their signatures, and the required number of reviewers. It omits
// these values if they add nothing to the actor: no number was required, at most one reviewer
// approved, and there are no signatures. An unknown decision word is not treated as an approval,
// but it is recorded for readers.
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

// evidenceHash returns the SHA-256 of the RFC 8785 form of {"request", "response"}, where the
// values are the payloads of the question and the answer. A missing payload is null, and several
// answers form an array.
func (a *approval) evidenceHash() canon.Digest {
	// RFC 8785 section 3.2.3: members are sorted, so request precedes response.
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
