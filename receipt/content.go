package receipt

import (
	"bytes"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// checkParse judges what canon leaves open because only the receipt format
// forbids it: its limits, integers that doubles cannot hold, the root's kind.
func (v *Verifier) checkParse(doc *canon.Document, rep *Report) bool {
	limits := v.policy.limits()
	switch lossy, found := doc.LossyInteger(); {
	case len(doc.Source()) > limits.Bytes:
		v.parseFailed(&canon.SyntaxError{Code: canon.CodeSizeLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d bytes, found more", limits.Bytes)}, len(doc.Source()), rep)
	case doc.Depth() > limits.Depth:
		v.parseFailed(&canon.SyntaxError{Code: canon.CodeDepthLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d nested levels, found %d", limits.Depth, doc.Depth())}, len(doc.Source()), rep)
	case found:
		rep.fail(Check{Step: StepParse, Code: CodeNumberPrecision, Pointer: place(lossy), Stated: excerpt(lossy.Raw()),
			Computed: string(lossy.AppendCanonical(nil)),
			Detail:   fmt.Sprintf("the integer %s is outside ±9007199254740991, so its canonical form stands for other integers too", excerpt(lossy.Raw()))})
	case doc.Root().Kind() != canon.KindObject:
		rep.fail(Check{Step: StepParse, Code: CodeNotObject, Detail: "expected a JSON object, found " + kindName(doc.Root().Kind())})
	default:
		rep.pass(StepParse)
		return true
	}
	return false
}

// checkMarker tells receipts of this format from other documents, and from
// receipts of formats that this package does not know.
func (v *Verifier) checkMarker(root canon.Node, rep *Report) bool {
	marker := root.Member("schema")
	text := marker.Text()
	switch {
	case isMarker(text) && string(text) != SchemaMarker:
		rep.skip(StepSchema, CodeUnsupportedSchema, fmt.Sprintf("schema is %q; this tool knows %q", excerpt(text), SchemaMarker))
		rep.Checks[len(rep.Checks)-1].Pointer = "/schema"
		return false
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

func (v *Verifier) checkSchema(root canon.Node, rep *Report) bool {
	check := v.schema.Check
	if v.policy.Plain {
		check = v.schema.Reference
	}
	result := check(root)
	if result.Total == 0 {
		rep.pass(StepSchema)
		return true
	}
	for _, p := range result.Problems {
		rep.fail(Check{Step: StepSchema, Code: CodeSchemaInvalid, Pointer: p.Pointer, Detail: p.Detail})
	}
	if more := result.Total - len(result.Problems); more > 0 {
		rep.Checks[len(rep.Checks)-1].Hint = fmt.Sprintf("and %d more places", more)
	}
	return false
}

const hashPointer = "/chain/receipt_hash"

// checkHash reports whether the receipt hash holds. The step passes when what the
// hashed content says of materials holds too.
func (v *Verifier) checkHash(doc *canon.Document, schemaHolds bool, rep *Report) bool {
	computed, err := v.hash(doc)
	if err != nil { // the plain path refused what the parse accepted: never a success
		rep.fail(Check{Step: StepHash, Code: CodeSyntax, Pointer: hashPointer, Detail: err.Error()})
		return false
	}
	rep.ReceiptHash = computed
	node := doc.Root().Member("chain").Member("receipt_hash")
	if node.Kind() != canon.KindString {
		rep.skip(StepHash, CodeStepNotReached, "hash: the receipt states no receipt_hash")
		rep.Checks[len(rep.Checks)-1].Computed = computed.String()
		return false
	}
	stated, err := canon.ParseDigest(node.Text())
	switch {
	case err != nil:
		rep.fail(Check{Step: StepHash, Code: CodeMalformedHash, Pointer: hashPointer, Stated: excerpt(node.Text()), Computed: computed.String(),
			Detail: "expected sha256: and 64 lower-case hexadecimal digits"})
	case stated != computed:
		rep.fail(Check{Step: StepHash, Code: CodeHashMismatch, Pointer: hashPointer, Stated: stated.String(), Computed: computed.String(),
			Detail: "the content does not fit the stated hash", Hint: hashHint(doc, stated)})
	default:
		if c := v.weighMaterials(doc.Root(), schemaHolds, rep); c.Status == Passed {
			rep.pass(StepHash)
		} else if c.Status == Failed {
			rep.fail(c)
		} else {
			rep.leave(c)
		}
		return true
	}
	return false
}

func (v *Verifier) hash(doc *canon.Document) (canon.Digest, error) {
	if v.policy.Plain {
		return chain.ReferenceHash(doc.Source())
	}
	return chain.Hash(doc)
}

const zeroDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// checkLink judges what one receipt alone shows of its place in a stream.
func checkLink(root canon.Node, rep *Report) {
	previous := root.Member("chain").Member("previous_receipt_hash")
	if string(previous.Text()) == zeroDigest {
		rep.fail(Check{Step: StepLink, Code: CodeChainBreak, Pointer: "/chain/previous_receipt_hash", Stated: zeroDigest,
			Detail: "64 zeros are the hash of no receipt; the first receipt of a stream states null"})
		return
	}
	rep.skip(StepLink, CodeLinkNotChecked, "link: one receipt cannot show whether others precede or follow")
}

func kindName(k canon.Kind) string {
	switch k {
	case canon.KindNull:
		return "null"
	case canon.KindBool:
		return "a boolean"
	case canon.KindNumber:
		return "a number"
	case canon.KindString:
		return "a string"
	case canon.KindArray:
		return "an array"
	case canon.KindObject:
		return "an object"
	}
	return "nothing"
}

// place returns the pointer of n, which its names could make as long as the
// receipt, bounded as package canon bounds those of its errors.
func place(n canon.Node) string { return cut([]byte(n.Pointer()), 256) }

// excerpt bounds foreign text for a message. Whoever prints it must escape it.
func excerpt(text []byte) string { return cut(text, 80) }

func cut(text []byte, most int) string {
	if len(text) <= most {
		return string(text)
	}
	for most > 0 && text[most]&0xc0 == 0x80 { // not inside a character
		most--
	}
	return string(text[:most]) + "…"
}
