package receipt

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// A Verifier judges receipts by one policy and one set of trusted keys. It is
// immutable and safe for concurrent use.
type Verifier struct {
	trust  Trust
	policy Policy
	schema *schemas.Schema
	kin    func() kinship

	evidence evidence
	watched  watched
	lender   *lender
}

// NewVerifier returns a Verifier. It refuses a policy that contradicts itself,
// and, unless only integrity is asked for, a trust without keys.
func NewVerifier(trust Trust, policy Policy) (*Verifier, error) {
	if err := policy.validate(trust); err != nil {
		return nil, err
	}
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		return nil, err
	}

	// A Verifier does not change, whatever the caller does with its lists.
	policy.Witnesses.Keys = slices.Clone(policy.Witnesses.Keys)
	policy.Checkpoint.Cosigners.Keys = slices.Clone(policy.Checkpoint.Cosigners.Keys)
	return &Verifier{trust: trust, policy: policy, schema: schema, kin: sync.OnceValue(func() kinship { return kinOf(trust) }), lender: new(lender)}, nil
}

// A Receipt is a receipt that was verified, decoded from the very bytes that
// were. Its report says what was not checked.
type Receipt struct {
	Draft
	Chain      Chain       `json:"chain"`
	Signatures []Signature `json:"signatures"`

	report    *Report
	canonical []byte
}

// Report returns the report that says verified.
func (r *Receipt) Report() *Report { return r.report }

// JSON returns the canonical form of the receipt.
func (r *Receipt) JSON() []byte { return slices.Clone(r.canonical) }

// A RefutedError carries the report of a receipt of which something is false.
type RefutedError struct{ Report *Report }

// Error gives the verdict, the code, the pointer and the detail of the finding.
func (e *RefutedError) Error() string { return findingText(e.Report) }

// An UndecidedError carries the report of a receipt for which evidence is missing.
type UndecidedError struct{ Report *Report }

// Error gives the verdict, the code, the pointer and the detail of the finding.
func (e *UndecidedError) Error() string { return findingText(e.Report) }

func findingText(r *Report) string {
	f := r.Finding()
	text := fmt.Sprintf("receipt: %v: %s", r.Verdict, f.Code)
	if f.Pointer != "" {
		text += " at " + quoted(f.Pointer) // it holds foreign text
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// Open returns the receipt in data when the verdict is verified, and otherwise
// a *[RefutedError] or an *[UndecidedError]; never a receipt with an error.
func (v *Verifier) Open(data []byte) (*Receipt, error) {
	doc, rep := new(canon.Document), new(Report)
	v.VerifyBytes(data, doc, rep)

	switch rep.Verdict {
	case Verified:
		r := &Receipt{report: rep, canonical: doc.AppendCanonical(nil)}
		if err := json.Unmarshal(r.canonical, r); err != nil {
			return nil, err
		}
		return r, nil
	case Refuted:
		return nil, &RefutedError{rep}
	}
	return nil, &UndecidedError{rep}
}

// VerifyBytes parses data into doc and judges it. Both doc and rep are reused;
// data must not change while doc is in use.
func (v *Verifier) VerifyBytes(data []byte, doc *canon.Document, rep *Report) {
	v.begin(rep)
	if err := doc.Parse(data, v.policy.limits()); err != nil {
		v.digestInput(data, rep)
		parseStep{v}.fail(err, len(data), rep)
		v.conclude(rep)
		return
	}
	v.judge(doc, rep)
}

// Verify judges a parsed document and overwrites rep. In the steady state of a
// stream, where both are reused, it allocates nothing for a receipt without
// findings. It may call doc's Digest and so needs doc for itself.
func (v *Verifier) Verify(doc *canon.Document, rep *Report) {
	v.begin(rep)
	v.judge(doc, rep)
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
}

func (v *Verifier) digestInput(data []byte, rep *Report) {
	if !v.policy.NoInputDigest {
		rep.InputSHA256 = canon.Sum(data)
	}
}

// judge runs the seven steps. Each step records exactly one status (a failed
// schema one for each place); a step whose ground is gone says so.
func (v *Verifier) judge(doc *canon.Document, rep *Report) {
	root := doc.Root()
	rep.ReceiptID = append(rep.ReceiptID, root.Member("receipt_id").Text()...)
	if !(parseStep{v}).check(doc, rep) || !(schemaStep{v}).checkMarker(root, rep) {
		v.digestInput(doc.Source(), rep) // else it comes with the hash
		v.conclude(rep)
		return
	}

	// The hash is computed of what does not fit the schema, too: both findings are told.
	schemaHolds := schemaStep{v}.check(root, rep)
	hashHolds := hashStep{v}.check(doc, schemaHolds, rep)
	if !schemaHolds || !hashHolds { // no files were looked up, and the report says why
		v.watched.seeAll(pieceMaterials)
	}

	// These rest on schema and hash: where that ground is gone, they say so.
	checkLink(root, rep, v.policy.Strict)
	batchStep{v}.check(doc, schemaHolds && hashHolds, rep)
	signatureStep{v}.check(root, schemaHolds, hashHolds, rep)
	redactionStep{v}.check(doc, schemaHolds && hashHolds, rep)
	if schemaHolds {
		lint(root, &v.policy, rep)
	}

	v.conclude(rep)
}

// conclude is the only place from which a verdict comes. Verified needs a
// positive reason: every step is there, those asked for passed, none failed.
func (v *Verifier) conclude(rep *Report) {
	rep.skipUnreached()
	withholdSecrets(rep)
	switch {
	case rep.failed():
		rep.Verdict = Refuted
	case v.shown(rep):
		rep.Verdict = Verified
	default:
		rep.Verdict = Undecided
	}
}

func (v *Verifier) shown(rep *Report) bool {
	if len(rep.Checks) != int(stepCount) {
		return false
	}

	// Every step once and in order, so that nothing forgotten can look like success.
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

// suffices reports whether a check allows a receipt to be verified. A step for which no
// evidence was given may be left unchecked unless the policy is strict. A step may not be
// left unchecked for another reason.
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

// OpenCheckpoint opens a signed note (C2SP tlog-checkpoint) with the keys of the
// verifier's trust when that is a [LogTrust]. A false checkpoint is not an error: its
// Fault says what is false. Whether a trusted log signed is another question, which
// the reports answer.
func (v *Verifier) OpenCheckpoint(note []byte) *Checkpoint {
	c := newNoteKeys(v.trust, &v.policy.Checkpoint.Cosigners).open(note)
	return &Checkpoint{Claims: c.claims, Readable: c.readable, Fault: c.fault, Signed: c.fault == "" && len(c.logs) > 0, opened: c}
}

// Unreadable writes the report of a document that was not JSON text to begin with,
// such as a malformed CBOR item or a line that is too long. The check says why;
// its status is StatusFailed, or StatusNotChecked when more of the input would be needed.
func (v *Verifier) Unreadable(rep *Report, c Check) {
	v.begin(rep)
	c.Step = StepParse
	rep.Checks = append(rep.Checks, c)
	if c.Status == StatusNotChecked {
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}
	v.conclude(rep)
}

// Link tells a report how its receipt stands to the others of its stream, which
// the receipt alone cannot show, and draws the conclusion anew. The check's
// status is StatusPassed, StatusFailed or StatusNotChecked; a place that the receipt's own form
// refuted stays so. A check with a cause and no
// detail is worded here. Package stream calls it.
func (v *Verifier) Link(rep *Report, c Check) {
	c.Step = StepLink
	c.word()
	for i := range rep.Checks {
		found := &rep.Checks[i]
		left := found.Status == StatusNotChecked && found.Code == CodeLinkNotChecked
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

// Weigh adds a finding of what the receipt alone cannot show, such as that it is not the
// replay that it claims to be, and draws the conclusion anew: StatusFailed refutes, any
// other status leaves undecided. It stands behind the findings of its step. Package replay
// calls it.
func (v *Verifier) Weigh(rep *Report, c Check) {
	if c.Status != StatusFailed {
		c.Status = StatusNotChecked
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}

	at := len(rep.Checks)
	for at > 0 && rep.Checks[at-1].Step > c.Step {
		at--
	}
	rep.Checks = slices.Insert(rep.Checks, at, c)
	v.conclude(rep)
}

// Policy returns what the verifier asks for.
func (v *Verifier) Policy() Policy {
	p := v.policy
	p.Witnesses.Keys = slices.Clone(p.Witnesses.Keys)
	p.Checkpoint.Cosigners.Keys = slices.Clone(p.Checkpoint.Cosigners.Keys)
	return p
}

// Scope returns how much the verifier asks for.
func (v *Verifier) Scope() Scope {
	if v.policy.IntegrityOnly {
		return ScopeIntegrity
	}
	return ScopeFull
}
