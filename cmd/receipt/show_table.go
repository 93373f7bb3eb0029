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
	s.list("approved", r.Member("approvals"), s.approval)
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
}

func (s *shown) issuer(n canon.Node) string {
	text := s.text(n, "id")
	if !n.Member("name").IsZero() {
		text += ` "` + s.text(n, "name") + `"`
	}
	return text
}

// list is a row for each entry; optional lists that are empty or absent are
// left out, the others say "none".
func (s *shown) list(label string, list canon.Node, entry func(canon.Node) string) {
	const most = 50
	if list.Len() == 0 {
		switch label {
		case "handoffs", "files", "network", "tools", "signatures", "approved":
			s.b.row(label, "none")
		}
		return
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
		text := strings.ReplaceAll(name.String(), "_", " ") + " " + number(used)
		if limit := budget.Member("limit").Member(name.String()); !limit.IsZero() {
			text += " of " + number(limit)
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		s.b.row("budget", strings.Join(parts, " · "))
	}
}

func (s *shown) approval(n canon.Node) string {
	text := clockText(n.Member("decided_at"), !s.sameDay()) + " " + s.text(n, "action") + " by " + s.text(n, "actor")
	if decision := s.text(n, "decision"); decision != "approved" {
		text = strings.ToUpper(decision) + " " + text
	}
	return text
}

func (s *shown) egress(n canon.Node) string {
	text := s.text(n, "destination")
	if sent := n.Member("bytes_sent"); !sent.IsZero() {
		text += ", " + number(sent) + " bytes"
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
