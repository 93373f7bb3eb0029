package audit

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// emptyTree is the root of a tree without files.
const emptyTree = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

// A record is a statement and its predicate.
type record struct {
	f    *receipt.Foreign
	root canon.Node
	p    canon.Node
}

// check applies the rules in the order of the draft. It stops at the first rule that fails.
func (r *record) check() bool {
	if !form.Integers(r.f, r.root) {
		return false
	}
	for _, rule := range []func() bool{r.statement, r.members, r.vocabulary, r.closed, r.delegation, r.digests, r.times, r.writes, r.tier, r.derived, r.evidence} {
		if !rule() {
			return false
		}
	}
	return true
}

func (r *record) refuse(at canon.Node, why string) bool {
	form.Fail(r.f, receipt.StepSchema, receipt.CodeSchemaInvalid, at.Pointer(), "the payload: %s", why)
	return false
}

func (r *record) mismatch(at canon.Node, why string) bool {
	form.Fail(r.f, receipt.StepHash, receipt.CodeHashMismatch, at.Pointer(), "the payload: %s", why)
	return false
}

// statement checks the type and the subjects, which repeat members of the predicate.
func (r *record) statement() bool {
	if r.root.Member("_type").String() != "https://in-toto.io/Statement/v1" || r.p.Kind() != canon.KindObject {
		return r.refuse(r.root, "not a statement of in-toto, version 1")
	}
	name := r.p.Member("correlation").Member("id").String()
	want := [][2]string{{name, r.p.Member("decision").Member("requestDigest").String()}}
	if interval := r.p.Member("effect").Member("interval"); !interval.IsZero() {
		want = append(want, [2]string{name + "/after", interval.Member("afterRoot").String()})
	}

	subjects := r.root.Member("subject")
	if subjects.Len() != len(want) {
		return r.refuse(subjects, "expected a subject for the request, and one for the state after it if there is an interval")
	}
	for i, s := range subjects.Elements() {
		if s.Member("name").String() != want[i][0] || s.Member("digest").Member("sha256").String() != want[i][1] || want[i][1] == "" {
			return r.mismatch(s, "a subject is not that of the predicate")
		}
	}
	return true
}

// closed checks the objects "evaluation" and "oversight", in which unknown members are invalid.
func (r *record) closed() bool {
	evaluation, input := r.p.Member("evaluation"), r.p.Member("evaluation").Member("unavailableInput")
	if !form.Members(r.f, evaluation, []string{"status"}, []string{"unavailableInput"}) {
		return false
	}
	evaluated := evaluation.Member("status").String() == "evaluated"
	if evaluated != input.IsZero() || !evaluated && (input.Kind() != canon.KindArray || input.Len() == 0) {
		return r.refuse(evaluation, "unavailableInput lists what was missing if and only if the record was not evaluated")
	}
	seen := map[string]bool{}
	for _, n := range input.Elements() {
		if seen[n.String()] {
			return r.refuse(n, "an unavailable input is listed twice")
		}
		seen[n.String()] = true
	}
	oversight := r.p.Member("oversight")
	return oversight.IsZero() || form.Members(r.f, oversight, []string{"act"}, []string{"recordDigest"})
}

// members checks that the required members are present.
func (r *record) members() bool {
	for _, line := range []string{
		"/ recordId tier hashAlgorithm agent delegation resource decision effect agreement correlation posture remediation observation fieldEvidence doesNotAssert issuedAt evaluation",
		"agent id credentialDigest authentication signers",
		"delegation subject subjectKind authorityDigest",
		"resource kind id binding",
		"decision action requestDigest reported decisionPointId policyDigest reportedAt",
		"effect observed pathScope writes",
		"correlation id scope timeBasis",
		"posture reported reportedDigest observed observedDigest assessedAt agreement",
		"observation vantage coverage",
	} {
		names := strings.Fields(line)
		at := r.p
		if names[0] != "/" {
			at = r.p.Member(names[0])
		}
		if !form.Members(r.f, at, names[1:], nil) {
			return false
		}
	}

	interval, commitment := r.p.Member("effect").Member("interval"), r.p.Member("observation").Member("priorCommitment")
	return (interval.IsZero() || form.Members(r.f, interval, []string{"beforeRoot", "afterRoot", "baseResolution", "openedAt", "sealedAt"}, nil)) &&
		(commitment.IsZero() || form.Members(r.f, commitment, []string{"committedAt", "witnessNonce", "commitmentDigest", "keyid", "sig"}, nil)) &&
		form.Members(r.f, r.p.Member("observation").Member("coverage"), []string{"scopeComplete", "gaps"}, nil) &&
		r.each(r.p.Member("effect").Member("writes"), "path", "preStateDigest", "postStateDigest", "requestDigest", "inScope") &&
		r.each(r.p.Member("remediation"), "cause", "signalReceivedAt", "enforcement")
}

func (r *record) each(list canon.Node, names ...string) bool {
	if list.Kind() != canon.KindArray {
		return r.refuse(list, "expected an array")
	}
	for _, n := range list.Elements() {
		if !form.Members(r.f, n, names, nil) {
			return false
		}
	}
	return true
}

// vocabulary checks the members that permit only certain values. Each line contains a path and the
// permitted values; * in a path stands for every element of an array. Absent members are skipped if
// they are optional.
func (r *record) vocabulary() bool {
	const posture = " no_network allowlist sinkhole unsafe_bypass_egress"
	for _, line := range []string{
		"tier voluntary authoritative",
		"hashAlgorithm sha256",
		"agent/authentication wimse-wpt http-message-signature mtls oauth-access-token none",
		"delegation/subjectKind user system none",
		"resource/kind path uri tool",
		"resource/binding digest-bound not-bindable",
		"decision/reported permit deny permit-with-conditions",
		"effect/observed occurred none unknown",
		"effect/interval/baseResolution supplied empty-tree",
		"agreement agree disagree indeterminate not-exercised",
		"correlation/scope producer cross-party",
		"correlation/timeBasis beacon-anchored asserted",
		"correlation/externalAnchor/kind rfc3161 transparency-log opentimestamps",
		"posture/reported" + posture,
		"posture/observed" + posture,
		"posture/agreement agree disagree",
		"observation/vantage below-observed peer self",
		"evaluation/status evaluated not-evaluated",
		"evaluation/unavailableInput/* standing-source key-source consumption-state policy-source",
		"oversight/act observation check decision release",
		"remediation/*/cause session-revoked risk-elevated subject-disabled token-replay-suspected policy-changed operator-action",
		"remediation/*/enforcement access-attenuated session-terminated tokens-discarded privileges-reduced reevaluated not-enforced",
		"fieldEvidence/* producer-asserted substrate-covered",
	} {
		values := strings.Fields(line)
		for _, n := range find(r.p, strings.Split(values[0], "/")) {
			if !form.OneOf(r.f, n, values[1:]...) {
				return false
			}
		}
	}
	return true
}

// find returns the values at a path; * stands for every element of an array.
func find(n canon.Node, path []string) (list []canon.Node) {
	switch {
	case n.IsZero():
		return nil
	case len(path) == 0:
		return []canon.Node{n}
	case path[0] != "*":
		return find(n.Member(path[0]), path[1:])
	}
	for _, e := range n.Elements() {
		list = append(list, find(e, path[1:])...)
	}
	for _, e := range n.Members() {
		list = append(list, find(e, path[1:])...)
	}
	return list
}

func (r *record) delegation() bool {
	d, resource := r.p.Member("delegation"), r.p.Member("resource")
	if (d.Member("subject").String() == "none") != (d.Member("subjectKind").String() == "none") {
		return r.refuse(d, "subject is none if and only if subjectKind is")
	}
	if (resource.Member("binding").String() == "digest-bound") != !resource.Member("argumentsDigest").IsZero() {
		return r.refuse(resource, "argumentsDigest is present if and only if the binding is digest-bound")
	}
	correlation := r.p.Member("correlation")
	if (correlation.Member("timeBasis").String() == "beacon-anchored") != !correlation.Member("externalAnchor").IsZero() {
		return r.refuse(correlation, "externalAnchor is present if and only if the time is beacon-anchored")
	}
	return true
}

// digests recomputes the digests of the request and of the commitment.
func (r *record) digests() bool {
	resource, decision, commitment := r.p.Member("resource"), r.p.Member("decision"), r.p.Member("observation").Member("priorCommitment")

	// A member that is absent in the record is also absent in the hashed object.
	request := digestOf(of("action", decision.Member("action"), "argumentsDigest", resource.Member("argumentsDigest"), "resourceId", resource.Member("id"), "resourceKind", resource.Member("kind")))
	if decision.Member("requestDigest").String() != request {
		return r.mismatch(decision.Member("requestDigest"), "requestDigest is that of another request")
	}
	if commitment.IsZero() {
		return true
	}
	committed := digestOf(of("authorityDigest", r.p.Member("delegation").Member("authorityDigest"), "beforeRoot", r.p.Member("effect").Member("interval").Member("beforeRoot"),
		"recordId", r.p.Member("recordId"), "witnessNonce", commitment.Member("witnessNonce")))
	if commitment.Member("commitmentDigest").String() != committed {
		return r.mismatch(commitment, "commitmentDigest is that of another commitment")
	}

	// A commitment by the agent binds only the agent.
	for _, signer := range r.p.Member("agent").Member("signers").Elements() {
		if signer.String() == commitment.Member("keyid").String() {
			return r.refuse(commitment, "the agent itself made the commitment")
		}
	}
	return true
}

// of returns an object in canonical form. Its arguments are names in sorted order, each followed by
// a value, which may be absent.
func of(members ...any) []byte {
	text := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		value := members[i+1].(canon.Node)
		if value.IsZero() {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = value.AppendCanonical(append(canon.AppendString(text, members[i].(string)), ':'))
	}
	return append(text, '}')
}

// times checks the order of the times that the rules compare.
func (r *record) times() bool {
	for _, n := range r.p.Member("remediation").Elements() {
		enforced := n.Member("enforcedAt")
		if !enforced.IsZero() && (form.Time(enforced).IsZero() || form.Time(enforced).Before(form.Time(n.Member("signalReceivedAt")))) {
			return r.refuse(n, "it was enforced before its signal was received")
		}
	}
	interval, commitment := r.p.Member("effect").Member("interval"), r.p.Member("observation").Member("priorCommitment")
	if interval.Member("baseResolution").String() == "empty-tree" && interval.Member("beforeRoot").String() != emptyTree {
		return r.mismatch(interval, "beforeRoot is not that of the empty tree")
	}
	if !commitment.IsZero() && !interval.IsZero() && !form.Time(commitment.Member("committedAt")).Before(form.Time(interval.Member("openedAt"))) {
		return r.refuse(commitment, "the commitment is not earlier than the interval")
	}
	return true
}

// writes checks that the writes lead from the state before the task to the state after it.
func (r *record) writes() bool {
	effect := r.p.Member("effect")
	for _, n := range effect.Member("pathScope").Elements() {
		if strings.ContainsAny(n.String(), "*?[]{}") {
			return r.refuse(n, "a scope is a path, without patterns")
		}
	}
	interval := effect.Member("interval")
	if interval.IsZero() {
		return true
	}
	state := interval.Member("beforeRoot").String()
	for _, n := range effect.Member("writes").Elements() {
		if n.Member("preStateDigest").String() != state {
			return r.mismatch(n, "a write does not begin with the state after the one before it")
		}
		state = n.Member("postStateDigest").String()
	}
	if state != interval.Member("afterRoot").String() {
		return r.mismatch(interval, "the writes do not lead to afterRoot")
	}
	return true
}

// tier checks that an authoritative record contains the required evidence.
func (r *record) tier() bool {
	observation, scope := r.p.Member("observation"), r.p.Member("effect").Member("pathScope")
	if r.p.Member("tier").String() != "authoritative" {
		return true
	}
	coverage := observation.Member("coverage")
	inside := slices.ContainsFunc(find(coverage.Member("gaps"), []string{"*"}), func(gap canon.Node) bool {
		return gap.Kind() != canon.KindString || r.inScope(gap.String())
	})
	switch {
	case observation.Member("vantage").String() != "below-observed", observation.Member("priorCommitment").IsZero(), scope.Len() == 0,
		inside && !coverage.Member("scopeComplete").Bool(), r.p.Member("resource").Member("binding").String() != "digest-bound":
		return r.refuse(r.p.Member("tier"), "the evidence is not enough for an authoritative record")
	}
	return true
}

// inScope reports whether a path is in the observed scope.
func (r *record) inScope(path string) bool {
	return slices.ContainsFunc(find(r.p, []string{"effect", "pathScope", "*"}), func(n canon.Node) bool {
		entry := strings.TrimSuffix(n.String(), "/")
		return strings.TrimSuffix(path, "/") == entry || strings.HasPrefix(path, entry+"/")
	})
}

// derived recomputes the members that follow from other members.
func (r *record) derived() bool {
	observed, own := "none", r.p.Member("decision").Member("requestDigest").String()
	for _, n := range r.p.Member("effect").Member("writes").Elements() {
		within := r.inScope(n.Member("path").String())
		if n.Member("inScope").Kind() != canon.KindBool || n.Member("inScope").Bool() != within {
			return r.refuse(n, "inScope does not follow from the path")
		}
		switch {
		case n.Member("requestDigest").String() == own:
			observed = "occurred"
		case n.Member("requestDigest").String() == "unattributed" && within && observed == "none":
			observed = "unknown"
		}
	}
	if r.p.Member("effect").Member("observed").String() != observed {
		return r.refuse(r.p.Member("effect"), "observed does not follow from the writes")
	}

	agreement := "agree"
	switch denied := r.p.Member("decision").Member("reported").String() == "deny"; {
	case observed == "unknown":
		agreement = "indeterminate"
	case denied && observed == "occurred":
		agreement = "disagree"
	case !denied && observed == "none":
		agreement = "not-exercised"
	}
	if r.p.Member("agreement").String() != agreement {
		return r.refuse(r.p.Member("agreement"), "agreement does not follow from the decision and the effect")
	}

	posture := r.p.Member("posture")
	agree := posture.Member("reported").String() == posture.Member("observed").String() && posture.Member("reportedDigest").String() == posture.Member("observedDigest").String()
	if (posture.Member("agreement").String() == "agree") != agree {
		return r.refuse(posture, "agreement does not follow from the postures")
	}
	return true
}

// evidence checks that the record specifies a source for each of the seven fields.
func (r *record) evidence() bool {
	fields := r.p.Member("fieldEvidence")
	if !form.Members(r.f, fields, wimseFields(), []string{}) {
		return false
	}
	for _, n := range fields.Members() {
		if n.String() == "substrate-covered" && r.p.Member("observation").Member("vantage").String() == "self" {
			return r.refuse(fields, "an observer of itself covers no field")
		}
	}
	return true
}

// wimseFields returns the audit fields of WIMSE (draft-ietf-wimse-aims).
func wimseFields() []string {
	return []string{"agent", "delegation", "resource", "decision", "posture", "remediation", "correlation"}
}
