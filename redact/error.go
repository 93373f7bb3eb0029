package redact

import (
	"errors"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Errors from this package never quote values from a document, or parts of them.

// A code identifies why rules or a document are rejected. Codes are never renamed.
type code string

const (
	codeInvalidRule   code = "invalid_rule"   // the rule would match nothing or everything
	codeAlreadySealed code = "already_sealed" // the document has a hash or signatures
	codeNotObject     code = "not_object"     // the document is not a JSON object
	codeSizeLimit     code = "size_limit"     // the redacted draft would be larger than canon.MaxBytes

	// A rule would withhold a member that receipts require, or a value that contains such a member.
	codeProtectedField code = "protected_field"

	// The pointer refers to no value, and no entry states that the value was withheld.
	codeNoSuchPath code = "no_such_path"

	// The format requires a value at this location and accepts no replacement for it.
	codeSchemaBreak code = "schema_break"

	// The value is or contains an integer outside ±(2^53−1). Such an integer has the same canonical
	// form as other integers.
	codePrecision code = "number_precision"
)

// A ruleError identifies an invalid rule. For an invalid detector, the error is a
// *[secret.DetectorError].
type ruleError struct {
	Rule   string // for example "pointer 0", with the index in the list
	Code   code   // codeInvalidRule or codeProtectedField
	Detail string
}

// Error returns the rule and the detail.
func (e *ruleError) Error() string { return fmt.Sprintf("redact: %s: %s", e.Rule, e.Detail) }

// A problem describes one reason that a draft cannot be redacted.
type problem struct {
	Code    code
	Pointer string // RFC 6901 pointer; for codeNoSuchPath, the pointer in the policy
	Rule    string // rules that would withhold the value, if any
}

// detail describes the problem and how to resolve it.
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

// maxProblems is the maximum number of problems that an error lists. Further problems are only
// counted.
const maxProblems = 20

// A refusedError lists the problems with a draft.
type refusedError struct {
	Problems []problem // the first maxProblems
	Total    int
}

// Error lists the problems, each on a separate line after the first line.
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

// A DisclosureError describes why a disclosed value is not accepted. It never quotes the value.
type DisclosureError struct {
	Field  string // JSON Pointer (RFC 6901) to the value in the unredacted form
	Code   string // disclosure_unknown, disclosure_mismatch, or number_precision, as in reports
	Detail string

	// These are the commitments in the receipt and from the disclosure, if they differ.
	Stated, Computed canon.Digest
}

// Error returns the field and the detail.
func (e *DisclosureError) Error() string {
	text := fmt.Sprintf("redact: field %+.200q: %s", e.Field, e.Detail)
	if !e.Computed.IsZero() {
		text += fmt.Sprintf(": the receipt commits to %v, the disclosure is %v", e.Stated, e.Computed)
	}
	return text
}

// unknown returns the error for a field that has no commitment in the receipt or no disclosure in
// the file.
func unknown(field, detail string) *DisclosureError {
	return &DisclosureError{Field: field, Code: "disclosure_unknown", Detail: detail}
}

// imprecise returns the error for a value that contains an integer outside ±(2^53−1). Other
// integers have the same canonical form and therefore the same commitment.
func imprecise(field string) *DisclosureError {
	return &DisclosureError{Field: field, Code: string(codePrecision),
		Detail: "an integer in the disclosed value is outside ±9007199254740991, so the commitment stands for other integers too"}
}

// contradictory returns the error for a value that matches its commitment but contradicts the rest
// of the receipt or another disclosed value.
func contradictory(field, detail string) *DisclosureError {
	return &DisclosureError{Field: field, Code: "disclosure_mismatch", Detail: detail}
}

// malformed returns an error that describes how disclosures are malformed, and where. The error
// does not quote the disclosures.
func malformed(pointer, detail string) error {
	if pointer != "" {
		detail += fmt.Sprintf(" at %q", pointer)
	}
	return errors.New("redact: the disclosures are malformed: " + detail)
}
