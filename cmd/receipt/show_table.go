package main

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

func (s *shown) table() {
	r := s.root
	s.b.row("receipt", s.text(r, "receipt_id"))
	s.b.row("task", s.text(r, "identifiers", "task_id")+", "+s.text(r, "identifiers", "workspace_ref"))
	s.b.row("issuer", s.issuer(r.Member("issuer")))
	s.b.row("time", s.times())
	if f := r.Member("lifecycle").Member("failure"); f.Kind() == canon.KindObject {
		s.b.row("failure", show(f))
	}
	s.models()
	s.budget()
	s.decided(r.Member("approvals"))
	effects := r.Member("side_effects")
	s.list("files", effects.Member("fs_writes"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("network", effects.Member("network_egress"), s.egress)
	s.list("tools", effects.Member("tool_calls"), func(n canon.Node) string { return s.text(n, "tool") + " " + s.text(n, "status") })
	s.list("handoffs", effects.Member("a2a_handoffs"), func(n canon.Node) string {
		return s.text(n, "target_agent") + " " + s.text(n, "status") + ", " + s.text(n, "task_id")
	})
	s.list("artifacts", r.Member("final_artifacts"), func(n canon.Node) string { return s.text(n, "artifact_id") + " (" + s.text(n, "kind") + ")" })
	s.list("deltas", r.Member("deltas"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("withheld", r.Member("redactions"), func(n canon.Node) string { return s.text(n, "field") + `: "` + s.text(n, "reason") + `"` })
	s.chain()
	s.list("signatures", r.Member("signatures"), func(n canon.Node) string { return s.text(n, "key_id") + ", " + s.text(n, "algorithm") })
	s.notTold()
}

// notTold names every member that the source did not tell, or that may hold more than
// happened, also those that no row above is about.
func (s *shown) notTold() {
	s.pointers("not told", s.untold)
	s.pointers("at most", s.over)
}

func (s *shown) pointers(label string, list []string) {
	for i, pointer := range list {
		if i == mostUntold {
			s.b.row("", fmt.Sprintf("and %d more", len(list)-mostUntold))
			return
		}
		s.b.row(label, pointer)
		label = ""
	}
}

func (s *shown) issuer(n canon.Node) string {
	text := s.text(n, "id")
	if !n.Member("name").IsZero() {
		text += ` "` + s.text(n, "name") + `"`
	}
	return text
}

// memberOf is the list that a row is of, and whether a row stands there when it is
// empty.
func memberOf(label string) (pointer string, ok bool) {
	switch label {
	case "approvals":
		return "/approvals", true
	case "files":
		return "/side_effects/fs_writes", true
	case "network":
		return "/side_effects/network_egress", true
	case "tools":
		return "/side_effects/tool_calls", true
	case "handoffs":
		return "/side_effects/a2a_handoffs", true
	case "signatures":
		return "/signatures", true
	case "artifacts":
		return "/final_artifacts", false
	}
	return "", false
}

// list is a row for each entry; optional lists that are empty or absent are
// left out, the others say "none", unless the source did not tell.
func (s *shown) list(label string, list canon.Node, entry func(canon.Node) string) {
	const most = 50
	pointer, always := memberOf(label)
	untold := pointer != "" && s.untold.Has(pointer)
	if list.Len() == 0 {
		switch {
		case untold:
			s.b.row(label, notTold)
		case always:
			s.b.row(label, "none")
		}
		return
	}
	if untold {
		defer s.b.row("", "others "+notTold)
	}
	for i, n := range list.Elements() {
		if i == most {
			s.b.row("", fmt.Sprintf("and %d more", list.Len()-most))
			return
		}
		if i > 0 {
			label = ""
		}
		s.b.row(label, entry(n))
	}
}

func (s *shown) times() string {
	lifecycle := s.root.Member("lifecycle")
	text := clockText(lifecycle.Member("started_at"), true) + " to " + clockText(lifecycle.Member("completed_at"), !s.sameDay()) + " UTC"
	return text + ", issued " + clockText(s.root.Member("issued_at"), !s.sameDay())
}

// sameDay reports whether the receipt's times lie on one day.
func (s *shown) sameDay() bool {
	lifecycle := s.root.Member("lifecycle")
	day := func(n canon.Node) string { return clockText(n, true)[:min(10, len(clockText(n, true)))] }
	first := day(lifecycle.Member("started_at"))
	return first == day(lifecycle.Member("completed_at")) && first == day(s.root.Member("issued_at"))
}

func (s *shown) models() {
	route := s.root.Member("model_route")
	chosen := route.Member("chosen_model")
	text := s.text(chosen, "provider") + " " + s.text(chosen, "model")
	if s.untold.Has("/model_route/chosen_model") {
		text = notTold
	}
	for _, n := range route.Member("alternatives_considered").Elements() {
		text += ", not " + s.text(n, "model")
		if !n.Member("reason").IsZero() {
			text += `: "` + s.text(n, "reason") + `"`
		}
	}
	s.b.row("model", text)
}

func (s *shown) budget() {
	budget := s.root.Member("autonomy_budget")
	var parts []string
	for name, used := range budget.Member("consumed").Members() {
		text := strings.ReplaceAll(name.String(), "_", " ") + " " + s.used("/autonomy_budget/consumed/"+name.String(), used)
		if limit := budget.Member("limit").Member(name.String()); !limit.IsZero() {
			text += " of " + number(limit)
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		s.b.row("budget", strings.Join(parts, " · "))
	}
}

// used is a number of the budget; of one that was not told whole, how much is
// known.
func (s *shown) used(pointer string, n canon.Node) string {
	if n.Float() > 0 || !s.untold.Has(pointer) {
		return s.bound(pointer) + number(n)
	}
	return notTold
}

// decided lists the approvals by decision: one that was denied stands under
// another word than one that was given.
func (s *shown) decided(list canon.Node) {
	if list.Len() == 0 {
		s.list("approvals", list, nil)
		return
	}
	const most = 50
	last := ""
	for i, n := range list.Elements() {
		if i == most {
			s.b.row("", fmt.Sprintf("and %d more", list.Len()-most))
			break
		}
		label := decisionWord(n.Member("decision").String())
		text := clockText(n.Member("decided_at"), !s.sameDay()) + " " + s.text(n, "action") + " by " + s.text(n, "actor")
		if label == last {
			s.b.row("", text)
		} else {
			s.b.row(label, text)
		}
		last = label
	}
	if s.untold.Has("/approvals") {
		s.b.row("", "others "+notTold)
	}
}

// decisionWord is a decision as the label of a row.
func decisionWord(decision string) string {
	switch decision {
	case "approved", "denied", "canceled":
		return decision
	case "timeout":
		return "timed out"
	}
	return "undecided"
}

func (s *shown) egress(n canon.Node) string {
	text := s.text(n, "destination")
	if sent := n.Member("bytes_sent"); !sent.IsZero() {
		text += ", " + number(sent) + " bytes"
	} else {
		text += ", bytes not stated"
	}
	return text + `, "` + s.text(n, "purpose") + `"`
}

func (s *shown) chain() {
	chain := s.root.Member("chain")
	text := "names no predecessor"
	if previous := chain.Member("previous_receipt_hash"); previous.Kind() == canon.KindString {
		text = "follows " + s.text(previous)
	}
	if root := chain.Member("merkle_root"); !root.IsZero() {
		text += ", in the batch " + s.text(root)
	}
	s.b.row("chain", text)
	s.b.row("hash", s.text(chain, "receipt_hash"))
}
