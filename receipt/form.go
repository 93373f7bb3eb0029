package receipt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A parseStep performs the step [StepParse].
type parseStep struct{ *Verifier }

// check reports a document that package canon accepts but the receipt format does not allow. Such a
// document exceeds the limits of the format, contains an integer that a double cannot represent, or
// is not an object.
func (s parseStep) check(doc *canon.Document, rep *Report) bool {
	limits := s.policy.limits()
	// The document may have been parsed with other limits, so the limits of the policy are checked
	// here.
	switch lossy, found := doc.LossyInteger(); {
	case len(doc.Source()) > limits.Bytes:
		s.fail(&canon.SyntaxError{Code: canon.CodeSizeLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d bytes, found more", limits.Bytes)}, len(doc.Source()), rep)
	case doc.Depth() > limits.Depth:
		s.fail(&canon.SyntaxError{Code: canon.CodeDepthLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d nested levels, found %d", limits.Depth, doc.Depth())}, len(doc.Source()), rep)
	// Other integers beyond ±(2^53−1) have the same double (RFC 7493 section 2.2).
	case found:
		rep.fail(Check{Step: StepParse, Code: CodeNumberPrecision, Pointer: place(lossy),
			Detail: untrusted.Number(lossy.Raw()) + " is outside ±9007199254740991, so its canonical form also represents other integers"})
	case doc.Root().Kind() != canon.KindObject:
		rep.fail(Check{Step: StepParse, Code: CodeNotObject, Detail: "expected a JSON object, found " + kindName(doc.Root().Kind())})
	default:
		rep.pass(StepParse)
		return true
	}

	return false
}

// fail records an error from the parser. If the document exceeds only a lower limit that the caller
// has set, the receipt may be valid, so it is undecided.
func (s parseStep) fail(err error, size int, rep *Report) {
	c := Check{Step: StepParse, Code: CodeSyntax, Detail: err.Error()}
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		c.Syntax = *syntax
		c.Code, c.Pointer, c.Hint = Code(syntax.Code), syntax.Pointer, syntax.Hint
		c.Detail = fmt.Sprintf("line %d, column %d (offset %d): %s", syntax.Line, syntax.Column, syntax.Offset, syntax.Detail)
	}

	// A receipt is refuted only if it exceeds a limit of the format itself. Within these limits,
	// the receipt may be valid.
	limits := s.policy.limits()
	lowered := c.Code == CodeSizeLimit && limits.Bytes < MaxBytes && size <= MaxBytes ||
		c.Code == CodeDepthLimit && limits.Depth < MaxDepth
	if lowered {
		c.Hint = "this limit is the caller's, not the format's; raise it to decide"
		rep.Checks = append(rep.Checks, c)
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
		return
	}
	rep.fail(c)
}

// SchemaMarker is the value of the member schema in receipts that this package supports.
const SchemaMarker = "receipt-2026-04-25"

// A schemaStep performs the step [StepSchema].
type schemaStep struct{ *Verifier }

// checkMarker reports whether a document is a receipt in the supported version of the format.
func (schemaStep) checkMarker(root canon.Node, rep *Report) bool {
	marker := root.Member("schema")
	text := marker.Text()
	switch {
	case isMarker(text) && string(text) != SchemaMarker:
		rep.skip(StepSchema, CodeUnsupportedSchema, fmt.Sprintf("schema is %q; this tool knows %q", excerpt(text), SchemaMarker))
		rep.Checks[len(rep.Checks)-1].Pointer = "/schema"
		return false
	// A document with any characteristic of a receipt is checked further, so that the schema check
	// can report what is wrong.
	case !bytes.HasPrefix(text, []byte("receipt-")) && root.Member("receipt_id").IsZero() && root.Member("chain").IsZero():
		rep.fail(Check{Step: StepSchema, Code: CodeNotAReceipt, Detail: notAReceipt(root)})
		return false
	}
	return true
}

// isMarker reports whether text has the form receipt-YYYY-MM-DD.
func isMarker(text []byte) bool {
	const form = "receipt-0000-00-00"
	if len(text) != len(form) {
		return false
	}
	for i := range form {
		digit := text[i] >= '0' && text[i] <= '9'
		if form[i] == '0' && !digit || form[i] != '0' && text[i] != form[i] {
			return false
		}
	}
	return true
}

func notAReceipt(root canon.Node) string {
	const none = "no member schema, receipt_id or chain"
	switch {
	case !root.Member("keys").IsZero():
		return none + "; this looks like a key set"
	case !root.Member("report_version").IsZero():
		return none + "; this looks like a verification report"
	case !root.Member("wire").IsZero():
		return none + "; this looks like an API envelope, whose receipt is in /wire/payload"
	}
	return none
}

// check validates the receipt against the schema.
func (s schemaStep) check(root canon.Node, rep *Report) bool {
	check := s.schema.Check
	if s.policy.Plain {
		check = s.schema.Reference
	}

	result := check(root)
	if result.Total == 0 {
		rep.pass(StepSchema)
		return true
	}

	// Each of the first problems is recorded as a separate check, so that the issuer can correct
	// all of them in one pass.
	for _, p := range result.Problems {
		rep.fail(Check{Step: StepSchema, Code: CodeSchemaInvalid, Pointer: p.Pointer, Detail: p.Detail})
	}
	if more := result.Total - len(result.Problems); more > 0 {
		rep.Checks[len(rep.Checks)-1].Hint = fmt.Sprintf("and %d more places", more)
	}

	return false
}
