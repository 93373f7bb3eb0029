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

// A Verifier verifies receipts according to a policy, using a set of trusted keys. A Verifier is
// immutable and safe for concurrent use. [NewVerifier] returns one. The zero Verifier reports every
// receipt as undecided.
type Verifier struct {
	trust  Trust
	policy Policy
	named  []string // names of the rules
	from   snapshot // the source of the keys; zero if the caller supplied them
	schema *schemas.Schema
	kin    func() kinship

	evidence evidence
	watched  watched
	lender   *lender
}

// NewVerifier returns a Verifier for the given policy that uses the keys in trust. It returns an
// error if the policy is contradictory, if a rule is nil, or if the name of a rule is invalid or
// used twice. It also returns an error if trust has no keys, unless the policy requires only
// integrity.
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

	// The policy is copied, so that later changes to the caller's lists have no effect.
	return &Verifier{trust: trust, policy: policy.clone(), named: named, schema: schema, kin: sync.OnceValue(func() kinship { return kinOf(trust) }), lender: new(lender)}, nil
}

// A Receipt is a verified receipt, decoded from the bytes that were verified. Its report lists what
// was not checked.
type Receipt struct {
	Draft
	Chain      Chain       `json:"chain"`
	Signatures []Signature `json:"signatures"`

	report    *Report
	canonical []byte
}

// Report returns the report on the receipt. The verdict in the report is always "verified".
func (r *Receipt) Report() *Report { return r.report }

// JSON returns the canonical form of the receipt.
func (r *Receipt) JSON() []byte { return slices.Clone(r.canonical) }

// MarshalJSON returns the canonical form of the receipt. The result does not include changes to the
// fields.
func (r Receipt) MarshalJSON() ([]byte, error) {
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

// A RefutedError contains the report on a refuted receipt.
type RefutedError struct{ Report *Report }

// Error returns the verdict, and the code, pointer, and detail of the finding.
func (e *RefutedError) Error() string { return findingText(e.Report) }

// An UndecidedError contains the report on a receipt for which evidence is missing.
type UndecidedError struct{ Report *Report }

// Error returns the verdict, and the code, pointer, and detail of the finding.
func (e *UndecidedError) Error() string { return findingText(e.Report) }

func findingText(r *Report) string {
	f := r.Finding()
	text := fmt.Sprintf("receipt: %v: %s", r.Verdict, f.Code)
	if f.Pointer != "" {
		text += " at " + quoted(f.Pointer) // the pointer contains untrusted text
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// Open verifies the receipt in data, and returns the receipt if the verdict is "verified".
// Otherwise, the error is a *[RefutedError] or an *[UndecidedError].
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

// VerifyBytes parses data into doc, verifies the receipt, and overwrites rep. It reuses the memory
// of doc and rep. data must not change while doc is in use.
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

// Verify verifies a parsed receipt and overwrites rep. If doc and rep are reused, verifying a
// receipt without findings allocates no memory.
func (v *Verifier) Verify(doc *canon.Document, rep *Report) {
	v.begin(rep)
	if v.schema == nil {
		v.abstain(rep)
		return
	}
	v.judge(doc, rep)
}

// abstain writes the report of the zero Verifier, which has no policy and no keys.
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

// judge performs the seven steps of a verification. Each step records exactly one status, except
// that a failed schema step records one for each location. If an earlier failure prevents a step
// from being checked, the step records this.
func (v *Verifier) judge(doc *canon.Document, rep *Report) {
	root := doc.Root()
	rep.ReceiptID = append(rep.ReceiptID, root.Member("receipt_id").Text()...)
	if !(parseStep{v}).check(doc, rep) || !(schemaStep{v}).checkMarker(root, rep) {
		v.digestInput(doc.Source(), rep) // otherwise, the digest is computed together with the receipt hash
		v.conclude(rep)
		return
	}

	// The hash is computed even if the schema step fails, so that both findings are reported.
	schemaHolds := schemaStep{v}.check(root, rep)
	hashHolds := hashStep{v}.check(doc, schemaHolds, rep)
	if !schemaHolds || !hashHolds { // no files were looked up, and the report contains the reason
		v.watched.seeAll(pieceMaterials)
	}

	// The following steps require the schema and the hash to be valid. If either is invalid, these
	// steps record that.
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

// conclude sets the verdict. No other code sets it. The verdict "verified" requires positive
// evidence: all steps are present, the required steps have passed, and no step has failed.
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

	// Every step must be present once and in order, so that an omission never appears as success.
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

// suffices reports whether a check allows the verdict "verified". A step for which no evidence was
// supplied may be unchecked, unless the policy is strict. A step must not be unchecked for any
// other reason.
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

// OpenCheckpoint opens a signed note (C2SP tlog-checkpoint), using the keys of the verifier's trust
// if that is a [LogTrust]. An invalid checkpoint is not an error; the Fault field of the result
// describes the invalid part. A Report shows whether a trusted log has signed the checkpoint.
func (v *Verifier) OpenCheckpoint(note []byte) *Checkpoint {
	c := newNoteKeys(v.trust, &v.policy.Checkpoint).open(note)
	return &Checkpoint{Claims: c.claims, Readable: c.readable, Fault: c.fault, Signed: c.fault == "" && len(c.logs) > 0, opened: c}
}

// Foreign writes the report on a third-party receipt. data is the text of the receipt. The verdict
// is "verified" if no check failed, every step that the format defines was checked, and a trusted
// key has signed the receipt. Unless the policy is strict, links and inclusions in unknown logs may
// be unchecked. If the policy requires only integrity, a valid hash is required instead of a
// signature. No signature may be invalid, although the keys of some signatures may be unknown. If
// [Foreign].All is set, the keys of all signatures, and of a log that includes the receipt, must be
// trusted.
func (v *Verifier) Foreign(data []byte, f *Foreign, rep *Report) {
	foreignStep{v}.report(data, f, rep)
}

// Amend adds to a report a check that cannot be made with the receipt alone, and determines the
// verdict again. The meaning depends on the step of the check:
//
//   - [StepParse]: the input is not JSON text, for example because it is a malformed CBOR item or a
//     line that is too long. The report is reset to this check, and all other steps are recorded as
//     not reached. The status must be StatusFailed, or StatusNotChecked if the result depends on
//     further input.
//   - [StepLink]: the result for the receipt's link to the other receipts in its stream. The check
//     may have any status. A link that is invalid according to the receipt alone remains invalid.
//     If the check has a cause but no detail, Amend sets the detail.
//   - any other step: an additional finding, for example that the receipt is not the replay that it
//     claims to be. StatusFailed refutes the receipt, and any other status leaves it undecided. The
//     finding is inserted after the other findings of the same step.
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

// link replaces the result for the link if the link was not checked, or was checked using only the
// receipt itself.
func (v *Verifier) link(rep *Report, c Check) {
	c.word()
	for i := range rep.Checks {
		found := &rep.Checks[i]
		left := found.Status == StatusNotChecked && found.Code == CodeLinkNotChecked
		// The check is replaced only if the link was not checked, or if the receipt claims to have
		// no predecessor and nothing contradicts it.
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

// weigh inserts a finding after the other findings of the same step.
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

// A Rule is a caller's requirement for the content of receipts. A Rule must be safe for concurrent
// use. Its result must depend only on the document, so that equal receipts have equal verdicts.
type Rule interface {
	// Name identifies the rule and its version in reports and summaries. It has up to 64
	// characters, which are lowercase letters, digits, and underscores, such as "cost_limit_2".
	// Summaries that were created with different rules cannot be merged.
	Name() string

	// Judge returns a check for each part of the rule that a receipt does not meet. The receipt has
	// already been found to match the schema. A check with StatusFailed refutes the receipt, and
	// any other check leaves it undecided. If Judge returns no checks, the receipt meets the rule.
	// Judge must not retain doc.
	//
	// The checks are reported with the step StepRules and the code "rule_" followed by the name. If
	// Judge panics, the receipt is undecided.
	Judge(doc *canon.Document) []Check
}

// rulePrefix is the prefix of all rule codes. No other code begins with this prefix.
const rulePrefix = "rule_"

// mostOfRule is the maximum number of checks per rule that a report contains. Omitting checks does
// not change the verdict, because failed checks come first.
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

// applyRules adds the checks of the rules to the report.
func (v *Verifier) applyRules(doc *canon.Document, schemaHolds bool, rep *Report) {
	// Rules may rely on the schema, so they are not applied otherwise.
	if len(v.named) > 0 && !schemaHolds {
		rep.omit(StepRules, CodeStepNotReached, "rules: the receipt does not fit its schema")
		return
	}
	for i, r := range v.policy.Rules {
		checks := judgeByRule(r, doc)
		// Failed checks come first, so that the limit omits other checks before failed ones.
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

// judgeByRule returns the checks of a rule. A rule that panics has no result.
func judgeByRule(r Rule, doc *canon.Document) (checks []Check) {
	// The rule is the caller's code, so a mistake in it must neither verify the receipt nor end the
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

// Policy returns the policy of the verifier.
func (v *Verifier) Policy() Policy { return v.policy.clone() }

// Snapshot returns the version of the keys that [NewSnapshot] obtained, or the error from the
// source if there are no keys. Both are zero if the caller supplied the keys.
func (v *Verifier) Snapshot() (version string, err error) { return v.from.version, v.from.err }

// Scope returns the scope of the reports that the verifier creates.
func (v *Verifier) Scope() Scope {
	if v.policy.IntegrityOnly {
		return ScopeIntegrity
	}
	return ScopeFull
}
