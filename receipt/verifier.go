package receipt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// A Verifier judges receipts according to one policy and one set of trusted keys. It is immutable
// and safe for concurrent use. [NewVerifier] returns one. The zero Verifier reports every receipt
// as undecided.
type Verifier struct {
	trust  Trust
	policy Policy
	named  []string // the names of the rules
	from   snapshot // the source of the trust; zero if the caller supplied the keys
	schema *schemas.Schema
	kin    func() kinship

	evidence evidence
	watched  watched
	lender   *lender
}

// NewVerifier returns a Verifier that judges receipts by the policy with the keys in trust. It
// rejects a contradictory policy, a nil rule, and a rule whose name is invalid or used twice. It
// rejects a trust without keys, unless the policy requires only integrity.
func NewVerifier(trust Trust, policy Policy) (*Verifier, error) {
	if err := policy.validate(trust); err != nil {
		return nil, err
	}
	named, err := namesOf(policy.Rules)
	if err != nil {
		return nil, err
	}
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		return nil, err
	}

	// Later changes to the caller's lists do not affect the Verifier.
	return &Verifier{trust: trust, policy: policy.clone(), named: named, schema: schema, kin: sync.OnceValue(func() kinship { return kinOf(trust) }), lender: new(lender)}, nil
}

// A Receipt is a verified receipt, decoded from the bytes that were verified. Its report lists
// what was not checked.
type Receipt struct {
	Draft
	Chain      Chain       `json:"chain"`
	Signatures []Signature `json:"signatures"`

	report    *Report
	canonical []byte
}

// Report returns the report, whose verdict is always verified.
func (r *Receipt) Report() *Report { return r.report }

// JSON returns the canonical form of the receipt.
func (r *Receipt) JSON() []byte { return slices.Clone(r.canonical) }

// MarshalJSON returns the canonical form of the receipt. Changes to the fields are not included.
func (r *Receipt) MarshalJSON() ([]byte, error) {
	if r.canonical == nil {
		return nil, errors.New("receipt: the receipt was not verified; Verifier.Open returns verified receipts")
	}
	return r.JSON(), nil
}

// UnmarshalJSON always returns an error, because it cannot verify the receipt; only [Verifier.Open]
// returns a Receipt.
func (r *Receipt) UnmarshalJSON([]byte) error {
	return errors.New("receipt: a Receipt is not decoded from JSON, because it would not be verified: use Verifier.Open")
}

// A RefutedError contains the report of a refuted receipt.
type RefutedError struct{ Report *Report }

// Error returns the verdict and the finding's code, pointer, and detail.
func (e *RefutedError) Error() string { return findingText(e.Report) }

// An UndecidedError contains the report of a receipt that lacks evidence.
type UndecidedError struct{ Report *Report }

// Error returns the verdict and the finding's code, pointer, and detail.
func (e *UndecidedError) Error() string { return findingText(e.Report) }

func findingText(r *Report) string {
	f := r.Finding()
	text := fmt.Sprintf("receipt: %v: %s", r.Verdict, f.Code)
	if f.Pointer != "" {
		text += " at " + quoted(f.Pointer) // the pointer contains foreign text
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// Open verifies the receipt in data, and returns the receipt if the verdict is verified. Otherwise,
// the error is a *[RefutedError] or an *[UndecidedError].
func (v *Verifier) Open(data []byte) (*Receipt, error) {
	doc, rep := new(canon.Document), new(Report)
	v.VerifyBytes(data, doc, rep)

	switch rep.Verdict {
	case Verified:
		r := &Receipt{report: rep, canonical: doc.AppendCanonical(nil)}
		members := struct {
			*Draft
			Chain      *Chain       `json:"chain"`
			Signatures *[]Signature `json:"signatures"`
		}{&r.Draft, &r.Chain, &r.Signatures}
		if err := json.Unmarshal(r.canonical, &members); err != nil {
			return nil, err
		}
		return r, nil
	case Refuted:
		return nil, &RefutedError{rep}
	}
	return nil, &UndecidedError{rep}
}

// VerifyBytes parses data into doc, judges it, and overwrites rep. It reuses the memory of doc
// and rep. data must not change while doc is in use.
func (v *Verifier) VerifyBytes(data []byte, doc *canon.Document, rep *Report) {
	v.begin(rep)
	if v.schema == nil {
		v.abstain(rep)
		return
	}
	if err := doc.Parse(data, v.policy.limits()); err != nil {
		v.digestInput(data, rep)
		parseStep{v}.fail(err, len(data), rep)
		v.conclude(rep)
		return
	}
	v.judge(doc, rep)
}

// Verify judges a parsed document and overwrites rep. If doc and rep are reused, it allocates no
// memory for a receipt without findings.
func (v *Verifier) Verify(doc *canon.Document, rep *Report) {
	v.begin(rep)
	if v.schema == nil {
		v.abstain(rep)
		return
	}
	v.judge(doc, rep)
}

// abstain writes the report for the zero Verifier, which has no policy and no keys.
func (v *Verifier) abstain(rep *Report) {
	rep.omit(StepParse, CodeStepNotReached, "parse: the verifier was not created with NewVerifier")
	v.conclude(rep)
}

func (v *Verifier) begin(rep *Report) {
	scope := ScopeFull
	if v.policy.IntegrityOnly {
		scope = ScopeIntegrity
	}
	at := Time{}
	if !v.policy.At.IsZero() {
		at = judgedAt(v.policy.At)
	}
	rep.reset(scope, at)
	rep.Rules = v.named
}

func (v *Verifier) digestInput(data []byte, rep *Report) {
	if !v.policy.NoInputDigest {
		rep.InputSHA256 = canon.Sum(data)
	}
}

// judge runs the seven steps. Each step records exactly one status, except that a failed schema
// step has one entry per location. If an earlier failure prevents a step from being checked, the
// step records this.
func (v *Verifier) judge(doc *canon.Document, rep *Report) {
	root := doc.Root()
	rep.ReceiptID = append(rep.ReceiptID, root.Member("receipt_id").Text()...)
	if !(parseStep{v}).check(doc, rep) || !(schemaStep{v}).checkMarker(root, rep) {
		v.digestInput(doc.Source(), rep) // otherwise, the digest is computed together with the receipt hash
		v.conclude(rep)
		return
	}

	// The hash is also computed if the schema check fails, so that both findings are reported.
	schemaHolds := schemaStep{v}.check(root, rep)
	hashHolds := hashStep{v}.check(doc, schemaHolds, rep)
	if !schemaHolds || !hashHolds { // no files were looked up, and the report states why
		v.watched.seeAll(pieceMaterials)
	}

	// These steps depend on the schema and the hash. If either check failed, these steps record
	// this.
	checkLink(root, rep, v.policy.Strict)
	batchStep{v}.check(doc, schemaHolds && hashHolds, rep)
	signatureStep{v}.check(root, schemaHolds, hashHolds, rep)
	redactionStep{v}.check(doc, schemaHolds && hashHolds, rep)
	if schemaHolds {
		lint(root, &v.policy, rep)
	}
	v.applyRules(doc, schemaHolds, rep)

	v.conclude(rep)
}

// conclude assigns the verdict; no other code does. The verdict verified requires positive evidence:
// every step is present, the required steps passed, and none failed.
func (v *Verifier) conclude(rep *Report) {
	rep.skipUnreached()
	withholdSecrets(rep)
	switch {
	case rep.failed():
		rep.Verdict = Refuted
	case v.schema != nil && v.shown(rep): // the zero Verifier verifies nothing
		rep.Verdict = Verified
	default:
		rep.Verdict = Undecided
	}
}

func (v *Verifier) shown(rep *Report) bool {
	if rep.foreign {
		return foreignStep{v}.shown(rep)
	}
	if len(rep.Checks) != int(stepCount) {
		return false
	}

	// Every step must occur once and in order, so that an omission does not look like success.
	for i, c := range rep.Checks {
		if c.Step != Step(i) {
			return false
		}

		if !v.suffices(c) {
			return false
		}
	}

	return true
}

// suffices reports whether a check allows a receipt to be verified. If no evidence was supplied for
// a step, the step may be left unchecked unless the policy is strict. A step must not be left
// unchecked for any other reason.
func (v *Verifier) suffices(c Check) bool {
	allowed := CodeBatchNotChecked
	switch c.Step {
	case StepParse, StepSchema, StepHash:
		return c.Status == StatusPassed
	case StepSignatures:
		return c.Status == StatusPassed || v.policy.IntegrityOnly
	case StepBatch:
	case StepRedactions:
		allowed = CodeRedactionsNotChecked
	case StepLink:
		allowed = CodeLinkNotChecked
	}
	return c.Status != StatusNotChecked || c.Code == allowed && !v.policy.Strict
}

// OpenCheckpoint opens a signed note (C2SP tlog-checkpoint) with the keys of the verifier's trust
// if it is a [LogTrust]. An invalid checkpoint does not cause an error; the result's Fault
// describes the invalid part. Reports state whether a trusted log signed the checkpoint.
func (v *Verifier) OpenCheckpoint(note []byte) *Checkpoint {
	c := newNoteKeys(v.trust, &v.policy.Checkpoint).open(note)
	return &Checkpoint{Claims: c.claims, Readable: c.readable, Fault: c.fault, Signed: c.fault == "" && len(c.logs) > 0, opened: c}
}

// Foreign writes the report on a receipt in another format. data is the receipt's text. The verdict
// is verified if no check failed, every step that the format defines was checked, and a trusted key
// signed the receipt. Unless the policy is strict, a link and inclusions in unknown logs may be left
// unchecked. If signatures are out of scope, a hash must match instead of a signature. Every given
// signature must be valid or unknown.
func (v *Verifier) Foreign(data []byte, f *Foreign, rep *Report) {
	foreignStep{v}.report(data, f, rep)
}

// Amend adds to a report a check that cannot be made with the receipt alone, and determines the
// verdict again. The check's step determines what the check means:
//
//   - [StepParse]: the input is not JSON text, such as a malformed CBOR item or a line that is too
//     long. The report is reset to this check, and all other steps are recorded as not reached. The
//     check's status is StatusFailed, or StatusNotChecked if the result depends on further input.
//   - [StepLink]: the relation of the receipt to the other receipts in its stream. The check may
//     have any status. A link that the receipt alone refutes remains refuted. A check that has a
//     cause but no detail receives its detail here.
//   - any other step: an additional finding, such as that the receipt is not the replay that it
//     claims to be. StatusFailed refutes, and any other status leaves the receipt undecided. The
//     finding is placed after the other findings of its step.
func (v *Verifier) Amend(rep *Report, c Check) {
	switch c.Step {
	case StepParse:
		v.unreadable(rep, c)
	case StepLink:
		v.link(rep, c)
	default:
		v.weigh(rep, c)
	}
}

// unreadable writes the report on a document that is not JSON text.
func (v *Verifier) unreadable(rep *Report, c Check) {
	v.begin(rep)
	rep.Checks = append(rep.Checks, c)
	if c.Status == StatusNotChecked {
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}
	v.conclude(rep)
}

// link replaces the check of a link that was not checked, or that was checked only against the
// receipt itself.
func (v *Verifier) link(rep *Report, c Check) {
	c.word()
	for i := range rep.Checks {
		found := &rep.Checks[i]
		left := found.Status == StatusNotChecked && found.Code == CodeLinkNotChecked
		// A link's check is replaced only if the link was not checked, or if it passed because
		// nothing had contradicted it yet.
		if found.Step != StepLink || !left && !rep.alone {
			continue
		}
		rep.dropNote(CodeLinkNotChecked)
		rep.alone = false
		*found = c
		if c.Status == StatusNotChecked {
			rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
		}
		v.conclude(rep)
		return
	}
}

// weigh inserts a finding after the other findings of its step.
func (v *Verifier) weigh(rep *Report, c Check) {
	if c.Status != StatusFailed {
		c.Status = StatusNotChecked
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}

	// The checks in a report are in the order of the steps.
	at := len(rep.Checks)
	for at > 0 && rep.Checks[at-1].Step > c.Step {
		at--
	}
	rep.Checks = slices.Insert(rep.Checks, at, c)
	v.conclude(rep)
}

// A Rule is the caller's requirement for the content of receipts. It must be safe for concurrent
// use, and depend only on the document, so that equal receipts get equal verdicts.
type Rule interface {
	// Name identifies the rule and its version in reports and summaries: up to 64 lowercase
	// letters, digits, and underscores, such as "cost_limit_2". Summaries that were created with
	// different rules cannot be merged.
	Name() string

	// Judge returns a check for each part of the rule that a receipt does not satisfy. The receipt
	// matches its schema. A check with StatusFailed refutes the receipt, and any other check makes
	// it undecided. If Judge returns no checks, the receipt satisfies the rule. Judge must not
	// retain doc.
	//
	// The step of the checks is StepRules, and their code is "rule_" followed by the name. If Judge
	// panics, the receipt is undecided.
	Judge(doc *canon.Document) []Check
}

// rulePrefix is the prefix of the codes for rules. No code in the registry begins with it.
const rulePrefix = "rule_"

// mostOfRule is the maximum number of checks per rule that a report lists. The verdict does not
// depend on the omitted checks, because failed checks are listed first.
const mostOfRule = 100

// namesOf returns the names of the rules.
func namesOf(rules []Rule) (names []string, err error) {
	for _, r := range rules {
		if r == nil {
			return nil, errors.New("receipt: a rule is nil")
		}
		name := r.Name()
		plain := func(r rune) bool { return r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
		switch {
		case name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
			return nil, fmt.Errorf("receipt: invalid name %.80q of a rule: must have 1 to 64 lowercase letters, digits, and underscores", name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("receipt: two rules have the name %q", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// applyRules adds the rules' checks to the report.
func (v *Verifier) applyRules(doc *canon.Document, schemaHolds bool, rep *Report) {
	// Rules may rely on the schema.
	if len(v.named) > 0 && !schemaHolds {
		rep.omit(StepRules, CodeStepNotReached, "rules: the receipt does not fit its schema")
		return
	}
	for i, r := range v.policy.Rules {
		checks := judgeByRule(r, doc)
		// Failed checks come first, so that the limit does not hide any of them.
		slices.SortStableFunc(checks, func(a, b Check) int { return rank(b) - rank(a) })
		for _, c := range checks[:min(len(checks), mostOfRule)] {
			c.Step, c.Code = StepRules, Code(rulePrefix+v.named[i])
			if c.Detail == "" {
				c.Reason = cmp.Or(c.Reason, "the rule "+v.named[i]+" is not met")
			}
			if c.nameStep(); c.Status == StatusFailed {
				rep.fail(c)
			} else {
				rep.leave(c)
			}
		}
	}
}

// judgeByRule returns the checks of a rule. A rule that panics has produced no result.
func judgeByRule(r Rule, doc *canon.Document) (checks []Check) {
	// The rule is the caller's code: an error in it must neither verify the receipt nor abort the
	// run.
	defer func() {
		if p := recover(); p != nil {
			checks = []Check{{Reason: fmt.Sprintf("the rule panicked: %.200q", fmt.Sprint(p)), Hint: "fix the rule"}}
		}
	}()
	checks = slices.Clone(r.Judge(doc))
	for i := range checks {
		if checks[i].Status != StatusFailed {
			checks[i].Status = StatusNotChecked
		}
	}
	return checks
}

// Policy returns the verifier's policy.
func (v *Verifier) Policy() Policy { return v.policy.clone() }

// Snapshot returns the version of the keys from [NewSnapshot], or the error that left the verifier
// without keys. Both are zero if the caller supplied the keys.
func (v *Verifier) Snapshot() (version string, err error) { return v.from.version, v.from.err }

// Scope returns the scope of the verifier's reports.
func (v *Verifier) Scope() Scope {
	if v.policy.IntegrityOnly {
		return ScopeIntegrity
	}
	return ScopeFull
}
