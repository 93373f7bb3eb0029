package receipt

import (
	"bytes"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// SchemaMarker is the value of the schema member of the receipts that this
// package knows.
const SchemaMarker = "receipt-2026-04-25"

// A schemaStep is the step [StepSchema].
type schemaStep struct{ *Verifier }

// checkMarker tells receipts of this format from other documents, and from
// receipts of formats that this package does not know.
func (schemaStep) checkMarker(root canon.Node, rep *Report) bool {
	marker := root.Member("schema")
	text := marker.Text()
	switch {
	case isMarker(text) && string(text) != SchemaMarker:
		rep.skip(StepSchema, codeUnsupportedSchema, fmt.Sprintf("schema is %q; this tool knows %q", excerpt(text), SchemaMarker))
		rep.Checks[len(rep.Checks)-1].Pointer = "/schema"
		return false
	// What has any mark of a receipt goes on, so that the schema can say what is wrong.
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

// check checks the receipt against its schema.
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

	// The first problems have a check each, so that all of them can be mended at once.
	for _, p := range result.Problems {
		rep.fail(Check{Step: StepSchema, Code: CodeSchemaInvalid, Pointer: p.Pointer, Detail: p.Detail})
	}
	if more := result.Total - len(result.Problems); more > 0 {
		rep.Checks[len(rep.Checks)-1].Hint = fmt.Sprintf("and %d more places", more)
	}

	return false
}
