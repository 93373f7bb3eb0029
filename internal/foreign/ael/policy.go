package ael

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// decisions checks that the recorded policies lead to the recorded decisions (check R). A record
// without a decision needs no policy.
func decisions(a *artifact, r *recorder) {
	for _, n := range r.records {
		decision := n.Member("decision")
		if decision.IsZero() {
			continue
		}
		name := decision.Member("policy").String()
		text := a.file("policy/" + name + ".json")
		policy, err := canon.Parse(text)
		if err != nil || !policy.IsCanonical() || "sha256:"+name != canon.Sum(text).String() {
			a.fail("R", receipt.StepHash, receipt.CodeMaterialMismatch, "the policy of record %d of %q is missing, or has another hash", n.seq, r.id)
			continue
		}
		if verdict, ok := decide(policy.Root(), decision.Member("inputs")); !ok || verdict != decision.Member("verdict").String() {
			a.fail("R", receipt.StepSchema, receipt.CodeSchemaInvalid, "the policy of record %d of %q leads to another verdict", n.seq, r.id)
		}
	}
}

// decide returns the verdict of the first rule that matches, or the default verdict.
func decide(policy, inputs canon.Node) (verdict string, ok bool) {
	for _, rule := range policy.Member("rules").Elements() {
		when := rule.Member("when")
		matched, known := matches(inputs.Member(when.Member("field").String()), when.Member("op").String(), when.Member("value"))
		if !known {
			return "", false
		}
		if matched {
			return rule.Member("verdict").String(), true
		}
	}
	return policy.Member("default").String(), true
}

// matches compares an input with a value, and reports whether the operator is known. The operators
// gte and lt compare integers, and values of different types are never equal.
func matches(input canon.Node, op string, value canon.Node) (matched, known bool) {
	same := func(n canon.Node) bool {
		return !input.IsZero() && n.Kind() == input.Kind() && string(n.Raw()) == string(input.Raw())
	}
	switch op {
	case "eq":
		return same(value), true
	case "in":
		for _, n := range value.Elements() {
			if same(n) {
				return true, true
			}
		}
		return false, true
	case "gte", "lt":
		x, ok1 := form.Integer(input)
		y, ok2 := form.Integer(value)
		return ok1 && ok2 && (x < y) == (op == "lt"), true
	}
	return false, false
}
