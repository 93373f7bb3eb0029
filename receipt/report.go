package receipt

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// ReportVersion is the version of the report's JSON form.
const ReportVersion = 1

// A Report says what is true, what is false and what was not checked of one
// receipt. The same report serves the library, the command and the endpoint;
// its JSON form is fixed by the schema "report".
//
// A Verifier overwrites the Report that it is given; [Report.Clone] keeps one.
type Report struct {
	Version     int               `json:"report_version"`
	Verdict     Verdict           `json:"verdict"`
	Scope       Scope             `json:"scope"`
	Source      string            `json:"source"` // file name as the caller gave it; untrusted text
	Index       int               `json:"index"`  // line or item of the source; 1 for a single document
	Listed      bool              `json:"-"`      // the source holds more than this one
	ReceiptID   Text              `json:"receipt_id"`
	ReceiptHash canon.Digest      `json:"receipt_hash,omitzero"` // computed, not stated
	InputSHA256 canon.Digest      `json:"input_sha256,omitzero"` // of the bytes that were judged, unless the policy leaves it out
	At          Time              `json:"at,omitzero"`           // the time at which keys were judged
	Checks      []Check           `json:"checks"`                // the seven steps in order; a failed schema has an entry for each place
	Signatures  []SignatureResult `json:"signatures"`
	NotChecked  []Note            `json:"not_checked"`
	Warnings    []Note            `json:"warnings"`

	Withheld int `json:"-"` // values that were withheld and not disclosed

	Gleaned []byte `json:"-"` // what a caller that verifies many has kept of the document beside its report; see package stream

	alone bool // the link holds as far as the receipt alone shows

	tally   *tally // memory for the next receipt
	scratch []byte // the same
}

// A Check is the outcome of one step.
type Check struct {
	Step     Step   `json:"check"`
	Status   Status `json:"status"`
	Code     Code   `json:"code"`
	Pointer  string `json:"pointer"`  // RFC 6901, into the receipt
	Stated   string `json:"stated"`   // what the receipt says
	Computed string `json:"computed"` // what is so
	Detail   string `json:"detail"`   // one sentence for a person
	Hint     string `json:"hint"`     // what to do, or what probably happened

	Cause   Cause `json:"cause,omitzero"`   // which of the mistakes that share the code; "" when the code says all
	Related Place `json:"related,omitzero"` // the receipt that the cause is about beside this one

	Reason string            `json:"-"` // Detail without the name of the step, for where that stands beside it; may be ""
	Syntax canon.SyntaxError `json:"-"` // where and why the text is not JSON, when that is the finding; else zero
}

// algorithmCheckpoint is the algorithm of a [SignatureResult] that is not an entry of
// /signatures: the receipt is in a checkpoint whose log key is the issuer's.
const algorithmCheckpoint = "checkpoint"

// A SignatureStatus is the outcome of one signature.
type SignatureStatus string

// The outcomes of one signature.
const (
	SignatureValid      SignatureStatus = "valid"       // mathematically valid and counted
	SignatureInvalid    SignatureStatus = "invalid"     // false, malformed, or valid and not counted: the code says why
	SignatureNotChecked SignatureStatus = "not_checked" // the key or the algorithm is not known here
)

// A SignatureResult is the outcome of one entry of /signatures. A last one tells
// of a checkpoint that stands for a signature; its algorithm is "checkpoint".
type SignatureResult struct {
	KeyID     string          `json:"key_id"`    // untrusted text when no trusted key is named; cut after 256 bytes
	Algorithm string          `json:"algorithm"` // untrusted text; cut after 80 bytes
	Status    SignatureStatus `json:"status"`
	Role      Role            `json:"role"` // what the signature counts as; empty when it does not count
	Code      Code            `json:"code"`
	Detail    string          `json:"detail"`
}

// A Note is a warning, or something that was not checked.
type Note struct {
	Code    Code   `json:"code"`
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Undecides reports whether what the note is about leaves the answer open: not
// verified, whatever else was shown.
func (n Note) Undecides() bool {
	info, _ := Lookup(n.Code)
	return info.Outcome == OutcomeUndecides
}

// Text is untrusted text taken from a receipt. It is a slice so that a reused
// Report needs no new memory for it.
type Text []byte

// String returns the text.
func (t Text) String() string { return string(t) }

// MarshalText returns the text.
func (t Text) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText copies the text.
func (t *Text) UnmarshalText(text []byte) error {
	*t = append((*t)[:0], text...)
	return nil
}

// Finding returns the check that explains the verdict: the first that failed,
// or the one that left it undecided. For a verified receipt it is zero.
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

// undecidedBy returns the step whose evidence is missing; under a strict policy
// that may be a step that merely informs.
func (r *Report) undecidedBy() (why Check) {
	for _, c := range r.Checks {
		if c.Status != StatusNotChecked {
			continue
		}

		// These codes only inform, unless the policy is strict; any other is the reason.
		switch c.Code {
		case CodeLinkNotChecked, CodeBatchNotChecked, CodeRedactionsNotChecked, CodeSignaturesNotChecked, CodeStepNotReached:
			if why.Code == "" {
				why = c
			}
		default:
			return c
		}
	}
	return why
}

// Check returns the first entry of a step.
func (r *Report) Check(s Step) Check {
	for i := range r.Checks {
		if r.Checks[i].Step == s {
			return r.Checks[i]
		}
	}
	return Check{Step: s}
}

// Clone returns a copy that shares nothing with r.
func (r *Report) Clone() *Report {
	c := *r
	c.tally, c.scratch = nil, nil
	c.ReceiptID = slices.Clone(r.ReceiptID)
	c.Checks = slices.Clone(r.Checks)
	c.Signatures = slices.Clone(r.Signatures)
	c.NotChecked = slices.Clone(r.NotChecked)
	c.Warnings = slices.Clone(r.Warnings)
	c.Gleaned = slices.Clone(r.Gleaned)
	return &c
}

// reset empties r for the next receipt and keeps its memory and its source.
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
		Gleaned:    r.Gleaned[:0],
		tally:      r.tally,
		scratch:    r.scratch,
	}

	if r.tally != nil { // nothing of a receipt whose verification panicked
		r.tally.included = r.tally.included[:0]
	}
	if r.Signatures == nil { // lists are written [], never null
		r.Signatures, r.NotChecked, r.Warnings = []SignatureResult{}, []Note{}, []Note{}
	}
}

func (r *Report) pass(s Step) { r.Checks = append(r.Checks, Check{Step: s, Status: StatusPassed}) }

func (r *Report) fail(c Check) {
	c.Status = StatusFailed
	r.Checks = append(r.Checks, c)
}

// leave records a step that was not checked as c says.
func (r *Report) leave(c Check) {
	c.Status = StatusNotChecked
	c.nameStep()
	r.Checks = append(r.Checks, c)
	r.NotChecked = append(r.NotChecked, Note{c.Code, c.Pointer, c.Detail})
}

// omit is skip with a detail that begins with the name of the step: a constant, so
// that it costs no memory.
func (r *Report) omit(s Step, code Code, detail string) {
	r.skip(s, code, detail)
	r.Checks[len(r.Checks)-1].Reason = detail[len(s.String())+len(": "):]
}

// skip records a step that was not checked, and why.
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

// skipUnreached lists the steps that an early end left out.
func (r *Report) skipUnreached() {
	if len(r.Checks) == 0 {
		return
	}
	for s := r.Checks[len(r.Checks)-1].Step + 1; s < stepCount; s++ {
		r.omit(s, CodeStepNotReached, s.String()+": an earlier step ended the verification")
	}
}

// failed reports whether any step failed.
func (r *Report) failed() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == StatusFailed })
}

// Address names the receipt for a person: its source, and after a colon the
// line or item when the source holds more than one.
func (r *Report) Address() string {
	if !r.Listed {
		return r.Source
	}
	return r.Source + ":" + strconv.Itoa(r.Index)
}

// dropNote removes the first note of a code.
func (r *Report) dropNote(code Code) {
	for i, n := range r.NotChecked {
		if n.Code == code {
			r.NotChecked = append(r.NotChecked[:i], r.NotChecked[i+1:]...)
			return
		}
	}
}

// A Verdict is the answer about one receipt. The zero value is Undecided, so
// that nothing forgotten can look like success.
type Verdict uint8

const (
	Undecided Verdict = iota // evidence is missing
	Verified                 // everything asked for was positively shown
	Refuted                  // something is false or malformed
)

// A Scope is how much was asked for.
type Scope uint8

const (
	ScopeFull      Scope = iota // content and signatures
	ScopeIntegrity              // content only: a receipt is then "intact", and anyone may have written it
)

// A Step is one of the seven checks of a receipt, in their order.
type Step uint8

const (
	StepParse Step = iota
	StepSchema
	StepHash
	StepLink
	StepBatch
	StepSignatures
	StepRedactions
	stepCount
)

// A Status is the outcome of one step. The zero value is NotChecked.
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
	return []string{"parse", "schema", "hash", "link", "batch", "signatures", "redactions"}
}

// String returns the name as reports spell it, such as "refuted".
func (v Verdict) String() string { return name(verdictNames(), uint8(v)) }

// String returns the name as reports spell it: "full" or "integrity".
func (s Scope) String() string { return name(scopeNames(), uint8(s)) }

// String returns the name as reports spell it, such as "hash".
func (s Step) String() string { return name(stepNames(), uint8(s)) }

// String returns the name as reports spell it, such as "not_checked".
func (s Status) String() string { return name(statusNames(), uint8(s)) }

// MarshalText returns the name as reports spell it.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText returns the name as reports spell it.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts the names that MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error { return unname((*uint8)(v), verdictNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
func (s *Scope) UnmarshalText(text []byte) error { return unname((*uint8)(s), scopeNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
func (s *Step) UnmarshalText(text []byte) error { return unname((*uint8)(s), stepNames(), text) }

// UnmarshalText accepts the names that MarshalText writes.
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
