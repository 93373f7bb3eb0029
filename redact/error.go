package redact

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// No error of this package quotes a value of a document, or a part of one.

// A Code names one cause of refusal. Codes are never renamed.
type Code string

const (
	CodeInvalidRule    Code = "invalid_rule"         // the rule means nothing, or everything
	CodeProtectedField Code = "protected_field"      // a rule would withhold a member that receipts need, or what holds one
	CodeNoSuchPath     Code = "no_such_path"         // a pointer names no value, and no entry says that it was withheld
	CodeSchemaBreak    Code = "schema_break"         // the format requires a value there that cannot be hidden
	CodeAlreadySealed  Code = "already_sealed"       // the document has a hash or signatures
	CodeNotObject      Code = "not_object"           // the document is not a JSON object
	CodeSizeLimit      Code = "size_limit"           // the redacted draft would be larger than canon.MaxBytes
	CodeMismatch       Code = "disclosure_mismatch"  // a disclosed value is not what the receipt commits to
	CodeUnknownField   Code = "disclosure_unknown"   // the receipt has no commitment for a disclosed field
	CodeInvalid        Code = "disclosure_malformed" // a file of disclosures breaks its own rules
	CodePrecision      Code = "number_precision"     // an integer beyond ±(2^53−1), which its canonical form does not tell from others
)

// A RuleError says which of the rules is of no use, and why. Errors of detectors
// are *[secret.DetectorError]s.
type RuleError struct {
	Rule   string // such as "pointer 0": its index in the list
	Code   Code   // CodeInvalidRule or CodeProtectedField
	Detail string
}

// Error gives the rule and the detail.
func (e *RuleError) Error() string { return fmt.Sprintf("redact: %s: %s", e.Rule, e.Detail) }

// A Problem is one thing that keeps a draft from being redacted.
type Problem struct {
	Code    Code
	Pointer string // RFC 6901; of CodeNoSuchPath the policy's own
	Rule    string // that would withhold the value; may be empty
}

// detail says what is wrong and what can be done.
func (p Problem) detail() string {
	switch p.Code {
	case CodeProtectedField:
		return "a receipt needs this member, or one in it, as it is: keep secrets out of it"
	case CodeNoSuchPath:
		return "the pointer names no value; one with * or ** need not"
	case CodeSchemaBreak:
		return "the format requires a value here that could not be hidden: withhold members of it, or the whole list"
	case CodeAlreadySealed:
		return "a sealed receipt cannot be redacted, its hash would not fit: redact the draft, before it is sealed"
	case CodeNotObject:
		return "expected a JSON object"
	case CodePrecision:
		return "an integer in the value is outside ±9007199254740991, so a commitment would stand for other integers too: write it as a string"
	case CodeSizeLimit:
		return fmt.Sprintf("the redacted draft would have more than %d bytes", canon.MaxBytes)
	}
	return string(p.Code)
}

// MaxProblems is how many problems an error lists; more are counted.
const MaxProblems = 20

// A RefusedError names the problems of a draft.
type RefusedError struct {
	Problems []Problem // the first MaxProblems
	Total    int
}

// Error lists the problems, one a line after the first.
func (e *RefusedError) Error() string {
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

func (e *RefusedError) add(p Problem) {
	if e.Total++; e.Total <= MaxProblems {
		e.Problems = append(e.Problems, p)
	}
}
