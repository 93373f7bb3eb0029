package harn

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// ReadPersona reads a receipt for a step or a run of a persona. Such a receipt has no hash, link,
// or signature, so only its schema can be checked.
func ReadPersona(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "harn-receipt", ID: root.Member("id").String()}
	form.Leave(f, receipt.StepHash, receipt.CodeUnsigned, "", "the format has no hash and no link, so anyone may have written or changed the receipt")
	required := strings.Fields(`schema id parent_run_id persona step trace_id started_at completed_at status inputs_digest outputs_digest
		model_calls tool_calls cost_usd approvals handoffs side_effects error redaction_class metadata`)
	if !form.Members(f, root, required, []string{}) {
		return f
	}

	refuse := func(name, why string) *receipt.Foreign {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/"+name, "expected %s", why)
		return f
	}
	for _, name := range []string{"id", "persona", "trace_id"} {
		if strings.TrimSpace(root.Member(name).String()) == "" {
			return refuse(name, "a string with a character that is not a space")
		}
	}
	for _, name := range []string{"model_calls", "tool_calls", "approvals", "handoffs", "side_effects"} {
		ok := root.Member(name).Kind() == canon.KindArray
		for _, entry := range root.Member(name).Elements() {
			ok = ok && entry.Kind() == canon.KindObject
		}
		if !ok {
			return refuse(name, "an array of objects")
		}
	}
	for _, name := range []string{"inputs_digest", "outputs_digest"} {
		if alg, value, _ := strings.Cut(root.Member(name).String(), ":"); root.Member(name).Kind() != canon.KindNull && (alg == "" || value == "") {
			return refuse(name, "null, or an algorithm and a digest")
		}
	}
	if cost := root.Member("cost_usd"); cost.Kind() != canon.KindNumber || cost.Float() < 0 {
		return refuse("cost_usd", "a number that is not negative")
	}
	if k := root.Member("error").Kind(); k != canon.KindNull && k != canon.KindObject {
		return refuse("error", "null or an object")
	}
	if form.OneOf(f, root.Member("status"), "accepted", "running", "success", "noop", "failure", "denied", "duplicate", "cancelled") &&
		form.OneOf(f, root.Member("redaction_class"), "public", "internal", "receipt_only", "secret") {
		form.Pass(f, receipt.StepSchema)
	}
	return f
}
