package redact

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// No error of this package quotes a value of a document, or a part of one.

// A code names one cause of refusal. Codes are never renamed.
type code string

const (
	codeInvalidRule    code = "invalid_rule"     // the rule means nothing, or everything
	codeProtectedField code = "protected_field"  // a rule would withhold a member that receipts need, or what holds one
	codeNoSuchPath     code = "no_such_path"     // a pointer names no value, and no entry says that it was withheld
	codeSchemaBreak    code = "schema_break"     // the format requires a value there that cannot be hidden
	codeAlreadySealed  code = "already_sealed"   // the document has a hash or signatures
	codeNotObject      code = "not_object"       // the document is not a JSON object
	codeSizeLimit      code = "size_limit"       // the redacted draft would be larger than canon.MaxBytes
	codePrecision      code = "number_precision" // an integer beyond ±(2^53−1), which its canonical form does not tell from others
)

// A ruleError says which of the rules is of no use, and why. Errors of detectors
// are *[secret.DetectorError]s.
type ruleError struct {
	Rule   string // such as "pointer 0": its index in the list
	Code   code   // codeInvalidRule or codeProtectedField
	Detail string
}

// Error gives the rule and the detail.
func (e *ruleError) Error() string { return fmt.Sprintf("redact: %s: %s", e.Rule, e.Detail) }

// A problem is one thing that keeps a draft from being redacted.
type problem struct {
	Code    code
	Pointer string // RFC 6901; of codeNoSuchPath the policy's own
	Rule    string // that would withhold the value; may be empty
}

// detail says what is wrong and what can be done.
func (p problem) detail() string {
	switch p.Code {
	case codeProtectedField:
		return "a receipt needs this member, or one in it, as it is: keep secrets out of it"
	case codeNoSuchPath:
		return "the pointer names no value; one with * or ** need not"
	case codeSchemaBreak:
		return "the format requires a value here that could not be hidden: withhold members of it, or the whole list"
	case codeAlreadySealed:
		return "a sealed receipt cannot be redacted, its hash would not fit: redact the draft, before it is sealed"
	case codeNotObject:
		return "expected a JSON object"
	case codePrecision:
		return "an integer in the value is outside ±9007199254740991, so a commitment would stand for other integers too: write it as a string"
	case codeSizeLimit:
		return fmt.Sprintf("the redacted draft would have more than %d bytes", canon.MaxBytes)
	}
	return string(p.Code)
}

// maxProblems is how many problems an error lists; more are counted.
const maxProblems = 20

// A refusedError names the problems of a draft.
type refusedError struct {
	Problems []problem // the first maxProblems
	Total    int
}

// Error lists the problems, one a line after the first.
func (e *refusedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "redact: the draft cannot be redacted: %d problem", e.Total)
	if e.Total != 1 {
		b.WriteByte('s')
	}

	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n%s: %s", p.Code, p.detail())
		if p.Pointer != "" {
			fmt.Fprintf(&b, " at %+.200q", p.Pointer)
		}
		if p.Rule != "" {
			fmt.Fprintf(&b, " (%s)", p.Rule)
		}
	}

	return b.String()
}

func (e *refusedError) add(p problem) {
	if e.Total++; e.Total <= maxProblems {
		e.Problems = append(e.Problems, p)
	}
}

// A bindingError says that disclosures belong to another receipt.
type bindingError struct {
	Stated canon.Digest // the receipt that they are bound to; zero: to none
	Found  canon.Digest // the hash of the receipt at hand; zero: it has none
}

// Error gives both hashes.
func (e *bindingError) Error() string {
	if e.Found.IsZero() {
		return "redact: there is no receipt hash: disclosures are bound to a sealed receipt"
	}
	return fmt.Sprintf("redact: the disclosures belong to the receipt %v, not to %v", e.Stated, e.Found)
}

// A MismatchError says that a disclosed value is not the withheld one: the value,
// the salt or the field is another.
type MismatchError struct {
	Field    string
	Stated   canon.Digest // in the receipt
	Computed canon.Digest // of the disclosure
}

// Error gives the field and both commitments.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q is not the withheld one: the receipt commits to %v, the disclosure is %v", e.Field, e.Stated, e.Computed)
}

// A PrecisionError says that a disclosed value holds an integer outside ±(2^53−1).
// Other integers have the same canonical form, and so the same commitment.
type PrecisionError struct{ Field string }

// Error gives the field.
func (e *PrecisionError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q has an integer outside ±9007199254740991, which its commitment does not tell from others", e.Field)
}

// An UnknownFieldError says that there is no such field: the receipt has no
// entry with a proof_hash for it, or the file no disclosure of it.
type UnknownFieldError struct{ Field string }

// Error gives the field.
func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("redact: there is no commitment, or no disclosure, for %+.200q", e.Field)
}

// A formatError says why disclosures are malformed. It does not quote them.
type formatError struct {
	Pointer      string // RFC 6901, into the file
	Line, Column int    // of text that is not JSON; else 0
	Detail       string
}

// Error gives the place and the detail.
func (e *formatError) Error() string {
	text := "redact: the disclosures are malformed: "
	if e.Line > 0 {
		text += fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	text += e.Detail
	if e.Pointer != "" {
		text += fmt.Sprintf(" at %q", e.Pointer)
	}
	return text
}

// A ContradictionError says that a disclosed value fits its commitment, but not the rest of
// the receipt or another disclosed value. It quotes neither.
type ContradictionError struct {
	Field  string
	Detail string
}

// Error gives the field and the detail.
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q contradicts the receipt: %s", e.Field, e.Detail)
}
