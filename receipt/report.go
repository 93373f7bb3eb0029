package receipt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// ReportVersion is the version of the JSON form of reports.
const ReportVersion = 1

// A Report states which parts of a receipt are valid, which are invalid, and which were not
// checked. The library, the command, and the server use the same type. The schema "report" defines
// its JSON form.
//
// A Verifier overwrites the Report that is passed to it. [Report.Clone] copies one.
type Report struct {
	Version     int               `json:"report_version"`
	Verdict     Verdict           `json:"verdict"`
	Scope       Scope             `json:"scope"`
	Source      string            `json:"source"` // file name from the caller; untrusted text
	Index       int               `json:"index"`  // line or item of the source; 1 for a single document
	Listed      bool              `json:"-"`      // the source contains other documents, too
	ReceiptID   Text              `json:"receipt_id"`
	ReceiptHash canon.Digest      `json:"receipt_hash,omitzero"`   // computed, not stated
	InputSHA256 canon.Digest      `json:"input_sha256,omitzero"`   // of the judged bytes, unless the policy omits it
	At          Time              `json:"at,omitzero"`             // the time at which keys were judged
	Existed     ProvenTime        `json:"existed_before,omitzero"` // the earliest proven time; zero: none
	Checks      []Check           `json:"checks"`                  // the seven steps in order; a failed schema has one entry per place
	Signatures  []SignatureResult `json:"signatures"`
	NotChecked  []Note            `json:"not_checked"`
	Warnings    []Note            `json:"warnings"`
	Rules       []string          `json:"rules,omitzero"` // the names of the caller's rules that the receipt also has to meet; see [Rule]

	Issuer    string   `json:"-"` // author of a third-party receipt; untrusted text, "" if the format states only a key
	Disclosed []string `json:"-"` // fields whose disclosed values match their commitments
	Withheld  int      `json:"-"` // number of values that were withheld and not disclosed

	Extracted []byte `json:"-"` // data about the document that a caller keeps with the report; see package stream

	alone   bool // the link is valid as far as the receipt itself shows
	foreign bool // the receipt is a third-party receipt

	tally   *tally // memory that is reused for the next receipt
	scratch []byte // the same
}

// A Check is the result of a single step.
type Check struct {
	Step     Step   `json:"check"`
	Status   Status `json:"status"`
	Code     Code   `json:"code"`
	Pointer  string `json:"pointer"`  // RFC 6901, into the receipt
	Stated   string `json:"stated"`   // the value in the receipt
	Computed string `json:"computed"` // the actual value
	Detail   string `json:"detail"`   // one sentence for people
	Hint     string `json:"hint"`     // what to do, or the probable cause

	Cause   Cause `json:"cause,omitzero"`   // distinguishes mistakes with the same code; "" if the code is unambiguous
	Related Place `json:"related,omitzero"` // the other receipt that the cause refers to

	Reason string            `json:"-"` // Detail without the name of the step, for output that already names the step; may be ""
	Syntax canon.SyntaxError `json:"-"` // where and why the text is not JSON, if that is the finding; otherwise zero
}

// algorithmCheckpoint is the algorithm in a [SignatureResult] that does not represent an entry in
// /signatures. It means that a checkpoint includes the receipt, and that the log key that has
// signed the checkpoint is also a key of the issuer.
const algorithmCheckpoint = "checkpoint"

// A SignatureStatus is the result for a signature.
type SignatureStatus string

// These are the possible results for a signature.
const (
	SignatureValid      SignatureStatus = "valid"       // the signature is mathematically valid and counts
	SignatureInvalid    SignatureStatus = "invalid"     // the signature is invalid, malformed, or does not count; see the code
	SignatureNotChecked SignatureStatus = "not_checked" // the key or the algorithm is unknown
)

// A SignatureResult is the result for an entry in /signatures. If a checkpoint counts as a
// signature, the results for the entries are followed by a result with the algorithm "checkpoint".
type SignatureResult struct {
	KeyID     string          `json:"key_id"`    // untrusted text when no trusted key is named; cut after 256 bytes
	Algorithm string          `json:"algorithm"` // untrusted text; cut after 80 bytes
	Status    SignatureStatus `json:"status"`
	Role      Role            `json:"role"` // the role in which the signature counts; empty if it does not count
	Code      Code            `json:"code"`
	Detail    string          `json:"detail"`
}

// A Note describes a warning or a check that was omitted.
type Note struct {
	Code    Code   `json:"code"`
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Undecides reports whether the omission described by the note makes a verdict undecided.
func (n Note) Undecides() bool {
	info, _ := Lookup(n.Code)
	return info.Outcome == OutcomeUndecides || strings.HasPrefix(string(n.Code), rulePrefix)
}

// Text is untrusted text from a receipt. It is a slice, so that a reused Report allocates no memory
// for it.
type Text []byte

// String returns the text.
func (t Text) String() string { return string(t) }

// MarshalText returns the text.
func (t Text) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText copies text.
func (t *Text) UnmarshalText(text []byte) error {
	*t = append((*t)[:0], text...)
	return nil
}

// Finding returns the check that explains the verdict: the first failed check, or the check that
// leaves the receipt undecided. For a verified receipt, it returns the zero Check.
func (r *Report) Finding() Check {
	switch r.Verdict {
	case Verified:
		return Check{}
	case Refuted:
		for _, c := range r.Checks {
			if c.Status == StatusFailed {
				return c
			}
		}
	default:
		return r.undecidedBy()
	}
	return Check{}
}

// undecidedBy returns the check for which evidence is missing. Under a strict policy, this may be a
// check that is otherwise only informational.
func (r *Report) undecidedBy() (why Check) {
	for _, c := range r.Checks {
		if c.Status != StatusNotChecked {
			continue
		}

		// A check with one of the first codes is the reason only under a strict policy, and a check
		// with one of the next two codes only if there is no other reason.
		switch c.Code {
		case CodeLinkNotChecked, CodeBatchNotChecked, CodeRedactionsNotChecked:
			if why.Code == "" || why.Code == CodeSignaturesNotChecked || why.Code == CodeStepNotReached {
				why = c
			}
		case CodeSignaturesNotChecked, CodeStepNotReached:
			if why.Code == "" {
				why = c
			}
		default:
			return c
		}
	}
	return why
}

// Check returns the first check of a step.
func (r *Report) Check(s Step) Check {
	for i := range r.Checks {
		if r.Checks[i].Step == s {
			return r.Checks[i]
		}
	}
	return Check{Step: s}
}

// Clone returns a copy of r that shares no memory with r.
func (r *Report) Clone() *Report {
	c := *r
	c.tally, c.scratch = nil, nil
	c.ReceiptID = slices.Clone(r.ReceiptID)
	c.Checks = slices.Clone(r.Checks)
	c.Signatures = slices.Clone(r.Signatures)
	c.NotChecked = slices.Clone(r.NotChecked)
	c.Warnings = slices.Clone(r.Warnings)
	c.Rules = slices.Clone(r.Rules)
	c.Disclosed = slices.Clone(r.Disclosed)
	c.Extracted = slices.Clone(r.Extracted)
	return &c
}

// reset clears r for the next receipt, but keeps its memory and its source.
func (r *Report) reset(scope Scope, at Time) {
	*r = Report{
		Version:    ReportVersion,
		Scope:      scope,
		Source:     r.Source,
		Index:      max(r.Index, 1),
		Listed:     r.Listed,
		At:         at,
		ReceiptID:  r.ReceiptID[:0],
		Checks:     r.Checks[:0],
		Signatures: r.Signatures[:0],
		NotChecked: r.NotChecked[:0],
		Warnings:   r.Warnings[:0],
		Extracted:  r.Extracted[:0],
		tally:      r.tally,
		scratch:    r.scratch,
	}

	if r.tally != nil { // verifying the previous receipt may have caused a panic
		r.tally.included = r.tally.included[:0]
	}
	if r.Signatures == nil { // empty lists are encoded as [], not as null
		r.Signatures, r.NotChecked, r.Warnings = []SignatureResult{}, []Note{}, []Note{}
	}
}

func (r *Report) pass(s Step) { r.Checks = append(r.Checks, Check{Step: s, Status: StatusPassed}) }

func (r *Report) fail(c Check) {
	c.Status = StatusFailed
	r.Checks = append(r.Checks, c)
}

// leave records that the step of c was not checked.
func (r *Report) leave(c Check) {
	c.Status = StatusNotChecked
	c.nameStep()
	r.Checks = append(r.Checks, c)
	r.NotChecked = append(r.NotChecked, Note{c.Code, c.Pointer, c.Detail})
}

// omit is like skip, but its detail begins with the name of the step. The detail must be a
// constant, so that no memory is allocated.
func (r *Report) omit(s Step, code Code, detail string) {
	r.skip(s, code, detail)
	r.Checks[len(r.Checks)-1].Reason = detail[len(s.String())+len(": "):]
}

// skip records that a step was not checked, and the reason.
func (r *Report) skip(s Step, code Code, detail string) {
	r.Checks = append(r.Checks, Check{Step: s, Status: StatusNotChecked, Code: code, Detail: detail})
	r.NotChecked = append(r.NotChecked, Note{Code: code, Detail: detail})
}

func (r *Report) notApplicable(s Step) {
	r.Checks = append(r.Checks, Check{Step: s, Status: StatusNotApplicable})
}

func (r *Report) warn(code Code, pointer, detail string) {
	r.Warnings = append(r.Warnings, Note{code, pointer, detail})
}

// skipUnreached adds the steps that were not reached because verification ended early.
func (r *Report) skipUnreached() {
	if len(r.Checks) == 0 {
		return
	}
	// Rules that were not applied are also added.
	end := stepCount
	if len(r.Rules) > 0 && r.Checks[len(r.Checks)-1].Step+1 < stepCount { // otherwise, the rules have been applied
		end = StepRules + 1
	}
	for s := r.Checks[len(r.Checks)-1].Step + 1; s < end; s++ {
		r.omit(s, CodeStepNotReached, s.String()+": an earlier step ended the verification")
	}
}

// failed reports whether any step failed.
func (r *Report) failed() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == StatusFailed })
}

// Address returns a readable name for the receipt: its source, followed by a colon and the line or
// item if the source contains other documents.
func (r *Report) Address() string {
	if !r.Listed {
		return r.Source
	}
	return r.Source + ":" + strconv.Itoa(r.Index)
}

// dropNote removes the first note with the given code.
func (r *Report) dropNote(code Code) {
	if i := slices.IndexFunc(r.NotChecked, func(n Note) bool { return n.Code == code }); i >= 0 {
		r.NotChecked = slices.Delete(r.NotChecked, i, i+1)
	}
}

// A Verdict is the result of verifying a receipt. The zero value is Undecided, so that an omission
// never appears as success.
type Verdict uint8

const (
	Undecided Verdict = iota // evidence is missing
	Verified                 // every requirement was checked and met
	Refuted                  // some part is invalid or malformed
)

// A Scope specifies which properties of a receipt the policy requires.
type Scope uint8

const (
	ScopeFull      Scope = iota // content and signatures
	ScopeIntegrity              // only the content; anyone may have written an intact receipt
)

// A Step is one of the seven steps of verifying a receipt, in order, or the caller's rules, which
// come last.
type Step uint8

const (
	StepParse Step = iota
	StepSchema
	StepHash
	StepLink
	StepBatch
	StepSignatures
	StepRedactions
	StepRules // the caller's rules, see [Rule]; present only if a rule is not met or was not applied

	stepCount = StepRules // number of steps that every report contains
)

// A Status is the result of a step. The zero value is StatusNotChecked.
type Status uint8

const (
	StatusNotChecked Status = iota
	StatusPassed
	StatusFailed
	StatusNotApplicable
)

func verdictNames() []string { return []string{"undecided", "verified", "refuted"} }
func scopeNames() []string   { return []string{"full", "integrity"} }
func statusNames() []string  { return []string{"not_checked", "passed", "failed", "not_applicable"} }
func stepNames() []string {
	return []string{"parse", "schema", "hash", "link", "batch", "signatures", "redactions", "rules"}
}

// String returns the name used in reports, such as "refuted".
func (v Verdict) String() string { return name(verdictNames(), uint8(v)) }

// String returns the name used in reports: "full" or "integrity".
func (s Scope) String() string { return name(scopeNames(), uint8(s)) }

// String returns the name used in reports, such as "hash".
func (s Step) String() string { return name(stepNames(), uint8(s)) }

// String returns the name used in reports, such as "not_checked".
func (s Status) String() string { return name(statusNames(), uint8(s)) }

// MarshalText returns the name used in reports.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText returns the name used in reports.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name used in reports.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name used in reports.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts the names that MarshalText returns.
func (v *Verdict) UnmarshalText(text []byte) error { return unname((*uint8)(v), verdictNames(), text) }

// UnmarshalText accepts the names that MarshalText returns.
func (s *Scope) UnmarshalText(text []byte) error { return unname((*uint8)(s), scopeNames(), text) }

// UnmarshalText accepts the names that MarshalText returns.
func (s *Step) UnmarshalText(text []byte) error { return unname((*uint8)(s), stepNames(), text) }

// UnmarshalText accepts the names that MarshalText returns.
func (s *Status) UnmarshalText(text []byte) error { return unname((*uint8)(s), statusNames(), text) }

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func unname(i *uint8, names []string, text []byte) error {
	found := slices.Index(names, string(text))
	if found < 0 {
		return fmt.Errorf("receipt: expected one of %q, found %.40q", names, text)
	}
	*i = uint8(found)
	return nil
}
