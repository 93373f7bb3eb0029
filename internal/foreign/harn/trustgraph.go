package harn

import (
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// ReadTrustGraph reads an OpenTrustGraph record, or an exported chain of records. Nobody signs
// them.
func ReadTrustGraph(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "opentrustgraph", ID: root.Member("record_id").String()}
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeUncovered, Detail: "the signatures of approvals have no defined bytes"})

	switch schema := root.Member("schema").String(); schema {
	case "opentrustgraph/v0.1", "opentrustgraph/v0":
		if readTrustRecord(f, root) {
			form.Pass(f, receipt.StepSchema)
			form.Pass(f, receipt.StepHash)
			form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, "/previous_hash", "the predecessor was not given")
		}
		f.Hash, _ = canon.ParseDigest(root.Member("entry_hash").Text()) // zero if the hash is malformed
		previous, _ := canon.ParseDigest(root.Member("previous_hash").Text())
		if index, ok := form.Integer(root.Member("chain_index")); ok {
			f.Place = &receipt.ForeignPlace{Sequence: index, Previous: previous}
		}
	case "opentrustgraph-chain/v0":
		readTrustChain(f, root)
	default:
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, "/schema", "the version %s is not known", untrusted.Quote(schema, 80))
	}
	return f
}

// readTrustRecord checks the members, the hash, and the approval of one record.
func readTrustRecord(f *receipt.Foreign, n canon.Node) bool {
	required := []string{"schema", "record_id", "agent", "action", "outcome", "trace_id", "autonomy_tier", "timestamp", "chain_index", "previous_hash", "entry_hash", "metadata"}
	if !form.Members(f, n, required, []string{"approver", "cost_usd"}) || !form.Strings(f, n, "record_id", "agent", "action", "trace_id") ||
		!form.OneOf(f, n.Member("schema"), "opentrustgraph/v0.1", "opentrustgraph/v0") ||
		!form.OneOf(f, n.Member("outcome"), "success", "failure", "denied", "timeout") ||
		!form.OneOf(f, n.Member("autonomy_tier"), "shadow", "suggest", "act_with_approval", "act_auto") {
		return false
	}

	if index, ok := form.Integer(n.Member("chain_index")); !ok || index < 1 || (n.Member("previous_hash").Kind() == canon.KindNull) != (index == 1) {
		form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, n.Pointer(), "chain_index is an integer from 1, and only the first record has no predecessor")
		return false
	}
	computed := canon.Sum(form.AppendSorted(nil, n, "entry_hash"))
	if stated := n.Member("entry_hash").String(); stated != computed.String() {
		mismatch(f, receipt.StepHash, n.Pointer()+"/entry_hash", stated, computed)
		return false
	}

	// If a successful action required an approval, the record must name the approver and contain at
	// least one signature.
	approval := n.Member("metadata").Member("approval")
	if n.Member("outcome").String() != "success" || n.Member("autonomy_tier").String() != "act_with_approval" || !approval.Member("required").Bool() {
		return true
	}
	quorum := max(1, approval.Member("quorum").Float())
	if len(n.Member("approver").Text()) == 0 || float64(approval.Member("signatures").Len()) < quorum {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer()+"/metadata/approval", "the action required an approval, and states no approver or too few signatures")
		return false
	}
	return true
}

// readTrustChain checks the records of an export and their links. The claim in the header that the
// chain is verified is not evidence.
func readTrustChain(f *receipt.Foreign, root canon.Node) {
	header, records := root.Member("chain"), root.Member("records")
	if !form.Members(f, root, []string{"schema", "chain", "records"}, []string{}) || !form.Members(f, header, []string{"topic", "total", "root_hash", "verified"}, []string{"generated_at", "producer"}) {
		return
	}
	form.Uncovered(f, "/chain", "no hash covers topic, verified, generated_at, and producer")
	if records.Kind() != canon.KindArray {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/records", "expected an array")
		return
	}

	previous := canon.Node{}
	byID := map[string]canon.Node{}
	for i, n := range records.Elements() {
		if !readTrustRecord(f, n) {
			return
		}
		switch linked := n.Member("previous_hash"); {
		case string(n.Member("chain_index").Raw()) != strconv.Itoa(i+1), linked.String() != previous.Member("entry_hash").String():
			form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, n.Pointer(), "the record does not follow the one before it")
			return
		}
		if !inherits(f, byID, n) {
			return
		}
		byID[n.Member("record_id").String()] = n
		previous = n
	}

	if total, ok := form.Integer(header.Member("total")); !ok || total != int64(records.Len()) || header.Member("root_hash").String() != previous.Member("entry_hash").String() {
		form.Fail(f, receipt.StepLink, receipt.CodeHeadMismatch, "/chain", "total or root_hash is not that of the records")
		return
	}
	f.Hash, _ = canon.ParseDigest(header.Member("root_hash").Text()) // zero for an empty export
	for _, step := range []receipt.Step{receipt.StepSchema, receipt.StepHash, receipt.StepLink} {
		form.Pass(f, step)
	}
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeTailNotChecked, Pointer: "/records", Detail: "records after the last one, which nothing in the export shows"})
}

// inherits checks that the effects of a record stay within the effects that its parent granted. If
// the parent is not in the export, this is reported as not checked.
func inherits(f *receipt.Foreign, byID map[string]canon.Node, n canon.Node) bool {
	id := n.Member("metadata").Member("parent_record_id")
	if id.Kind() != canon.KindString {
		return true
	}
	parent, found := byID[id.String()]
	if !found {
		f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeUncovered, Pointer: id.Pointer(), Detail: "the effects that the parent grants: the parent is not in the export"})
		return true
	}

	granted := map[string]bool{}
	for _, effect := range parent.Member("metadata").Member("effects_grant").Elements() {
		granted[string(form.AppendSorted(nil, effect))] = true
	}
	for _, list := range []string{"effects_used", "effects_grant"} {
		for _, effect := range n.Member("metadata").Member(list).Elements() {
			if !granted[string(form.AppendSorted(nil, effect))] && !granted[string(form.AppendSorted(nil, effect, "resource"))] {
				form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, effect.Pointer(), "the parent did not grant this effect")
				return false
			}
		}
	}
	return actors(f, parent.Member("metadata").Member("actor_chain"), n.Member("metadata").Member("actor_chain"))
}

// actors checks that the actor chain of a child has the same subject as the parent's actor chain,
// and one more hop.
func actors(f *receipt.Foreign, parent, child canon.Node) bool {
	if parent.IsZero() || child.IsZero() {
		return true
	}
	hop := child.Member("act")
	if parent.Member("sub").String() != child.Member("sub").String() || len(hop.Member("sub").Text()) == 0 || !sameActor(parent.Member("act"), hop.Member("act")) {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, child.Pointer(), "the chain of actors is not that of the parent and one hop more")
		return false
	}
	return true
}

// sameActor reports whether two chains of hops are equal. An absent value and null are equivalent.
func sameActor(a, b canon.Node) bool {
	if a.Kind() != canon.KindObject || b.Kind() != canon.KindObject {
		return a.Kind() != canon.KindObject && b.Kind() != canon.KindObject
	}
	return string(form.AppendSorted(nil, a)) == string(form.AppendSorted(nil, b))
}
