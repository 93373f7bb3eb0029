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
