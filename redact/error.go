package redact

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// No error of this package quotes a value of a document or a part of one.

// A code identifies a cause of refusal. Codes are never renamed.
type code string

const (
	codeInvalidRule    code = "invalid_rule"     // the rule matches nothing, or everything
	codeProtectedField code = "protected_field"  // a rule would withhold a member that receipts need, or a value that contains one
	codeNoSuchPath     code = "no_such_path"     // a pointer names no value, and no entry states that it was withheld
	codeSchemaBreak    code = "schema_break"     // the format requires a value there that cannot be hidden
	codeAlreadySealed  code = "already_sealed"   // the document has a hash or signatures
	codeNotObject      code = "not_object"       // the document is not a JSON object
	codeSizeLimit      code = "size_limit"       // the redacted draft would be larger than canon.MaxBytes
	codePrecision      code = "number_precision" // an integer outside ±(2^53−1), whose canonical form is also that of other integers
)

// A ruleError identifies an invalid rule. The error of a detector is a *[secret.DetectorError].
type ruleError struct {
	Rule   string // such as "pointer 0": its index in the list
	Code   code   // codeInvalidRule or codeProtectedField
	Detail string
}

// Error returns the rule and the detail.
func (e *ruleError) Error() string { return fmt.Sprintf("redact: %s: %s", e.Rule, e.Detail) }

// A problem is a reason why a draft cannot be redacted.
type problem struct {
	Code    code
	Pointer string // RFC 6901; for codeNoSuchPath that of the policy
	Rule    string // that would withhold the value; may be empty
}

// detail describes the problem and its remedy.
func (p problem) detail() string {
	switch p.Code {
	case codeProtectedField:
		return "a receipt requires this member, or one in it, unchanged: keep secrets out of it"
	case codeNoSuchPath:
		return "the pointer names no value; only a pointer with * or ** may do so"
	case codeSchemaBreak:
		return "the format requires a value here that cannot be hidden: withhold its members, or the entire list"
	case codeAlreadySealed:
		return "a sealed receipt cannot be redacted, because its hash would become invalid: redact the draft before it is sealed"
	case codeNotObject:
		return "expected a JSON object"
	case codePrecision:
		return "an integer in the value is outside ±9007199254740991, so a commitment would stand for other integers too: write it as a string"
	case codeSizeLimit:
		return fmt.Sprintf("the redacted draft would have more than %d bytes", canon.MaxBytes)
	}
	return string(p.Code)
}

// maxProblems is the maximum number of problems that an error lists. The rest are counted.
const maxProblems = 20

// A refusedError lists the problems of a draft.
type refusedError struct {
	Problems []problem // the first maxProblems
	Total    int
}

// Error lists the problems, one per line after the first.
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

// A bindingError reports that disclosures belong to another receipt.
type bindingError struct {
	Stated canon.Digest // the receipt to which they are bound; zero: none
	Found  canon.Digest // the hash of the given receipt; zero: none
}

// Error returns both hashes.
func (e *bindingError) Error() string {
	if e.Found.IsZero() {
		return "redact: the receipt has no hash: disclosures can only be bound to a sealed receipt"
	}
	return fmt.Sprintf("redact: the disclosures belong to the receipt %v, not to %v", e.Stated, e.Found)
}

// A MismatchError reports that a disclosed value is not the withheld one: the value, the salt
// or the field differs.
type MismatchError struct {
	Field    string
	Stated   canon.Digest // in the receipt
	Computed canon.Digest // of the disclosure
}

// Error returns the field and both commitments.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q is not the withheld one: the receipt commits to %v, the disclosure is %v", e.Field, e.Stated, e.Computed)
}

// A PrecisionError reports that a disclosed value contains an integer outside ±(2^53−1). Other
// integers have the same canonical form, and so the same commitment.
type PrecisionError struct{ Field string }

// Error gives the field.
func (e *PrecisionError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q has an integer outside ±9007199254740991, so its commitment also fits other integers", e.Field)
}

// An UnknownFieldError reports an unknown field: the receipt has no entry with a proof_hash for
// it, or the file has no disclosure of it.
type UnknownFieldError struct{ Field string }

// Error gives the field.
func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("redact: no commitment or no disclosure for %+.200q", e.Field)
}

// A formatError reports why disclosures are malformed. It does not quote them.
type formatError struct {
	Pointer      string // RFC 6901, into the file
	Line, Column int    // of text that is not JSON; otherwise 0
	Detail       string
}

// Error returns the place and the detail.
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

// A ContradictionError reports that a disclosed value fits its commitment, but contradicts the
// rest of the receipt or another disclosed value. It quotes neither.
type ContradictionError struct {
	Field  string
	Detail string
}

// Error returns the field and the detail.
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q contradicts the receipt: %s", e.Field, e.Detail)
}
