package verify

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// A table prints a row for each statement of a receipt.
type table struct{ *Shown }

func (s table) write() {
	r := s.Root
	s.b.Row("receipt", s.text(r, "receipt_id"))
	s.b.Row("subject", s.Subject())
	s.b.Row("task", s.text(r, "identifiers", "task_id")+", "+s.named(r.Member("identifiers"), "workspace_ref", "workspace"))
	s.b.Row("issuer", s.issuer(r.Member("issuer")))
	s.b.Row("time", s.times())
	if f := r.Member("lifecycle").Member("failure"); f.Kind() == canon.KindObject {
		s.b.Row("failure", cli.Show(f))
	}

	s.models()
	s.budget()
	s.decided(r.Member("approvals"))
	effects := r.Member("side_effects")
	s.list("files", effects.Member("fs_writes"), s.file)
	s.list("network", effects.Member("network_egress"), s.egress)
	s.list("tools", effects.Member("tool_calls"), func(n canon.Node) string { return s.ended(n, "tool") })
	s.list("handoffs", effects.Member("a2a_handoffs"), func(n canon.Node) string {
		return s.ended(n, "target_agent") + ", " + s.named(n, "task_id", "task")
	})
	continuity(s).write()
	s.list("artifacts", r.Member("final_artifacts"), func(n canon.Node) string { return s.text(n, "artifact_id") + " (" + s.text(n, "kind") + ")" })
	s.b.Row("replay", s.Determinism())
	s.list("deltas", r.Member("deltas"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("withheld", r.Member("redactions"), func(n canon.Node) string { return s.text(n, "field") + `: "` + s.text(n, "reason") + `"` })
	if n := r.Member("metadata").Member("supersedes"); !n.IsZero() {
		s.b.Row("supersedes", s.text(n))
	}
	s.chain()
	s.list("signatures", r.Member("signatures"), func(n canon.Node) string { return s.text(n, "key_id") + ", " + s.text(n, "algorithm") })
	s.unread()
	s.listUntold()
}

// unread prints how much of the log was not read. Any of these records may be an action that no row
// shows.
func (s table) unread() {
	if text := s.Unread(); text != "" {
		s.b.Row("not read", text)
	}
}

// listUntold lists every member that the source did not report, that may include more than
// happened, that is an estimate, or that was inferred, including members without a row.
func (s table) listUntold() {
	s.pointers("not told", s.Untold)
	s.pointers("at most", s.Over)
	s.pointers("estimated", s.Estimated)
	s.pointers("inferred", s.Inferred)
}

func (s table) pointers(label string, list []string) {
	for i, pointer := range list {
		if i == cli.MostUntold {
			s.b.Row("", fmt.Sprintf("and %d more", len(list)-cli.MostUntold))
			return
		}
		s.b.Row(label, pointer)
		label = ""
	}
}

func (s table) issuer(n canon.Node) string {
	text := s.text(n, "id")
	if !n.Member("name").IsZero() {
		text += ` "` + s.text(n, "name") + `"`
	}
	return text
}

// members are the lists that rows print. All rows except artifacts are printed even if the list is
// empty.
var members = map[string]string{
	"approvals": "/approvals", "files": "/side_effects/fs_writes", "network": "/side_effects/network_egress", "tools": "/side_effects/tool_calls",
	"handoffs": "/side_effects/a2a_handoffs", "signatures": "/signatures", "artifacts": "/final_artifacts",
}

// list prints a row for each entry. If a list is empty or absent, the row is omitted if it
// is optional, and otherwise states "none" or that the source did not report it.
func (s table) list(label string, list canon.Node, entry func(canon.Node) string) {
	const most = 50
	pointer := members[label]
	untold := pointer != "" && s.Untold.Has(pointer)
	if list.Len() == 0 {
		switch {
		case untold:
			s.b.Row(label, headline.NotTold)
		case pointer != "" && label != "artifacts":
			s.b.Row(label, "none")
		}
		return
	}

	// There may be entries that the source did not report.
	if untold {
		defer s.b.Row("", "others "+headline.NotTold)
	}

	for i, n := range list.Elements() {
		if i == most {
			s.b.Row("", fmt.Sprintf("and %d more", list.Len()-most))
			return
		}
		if i > 0 {
			label = ""
		}
		s.b.Row(label, entry(n))
	}
}

// times returns the times that the source reported.
func (s table) times() string {
	lifecycle, issued := s.Root.Member("lifecycle"), s.Root.Member("issued_at")
	started, completed := lifecycle.Member("started_at"), lifecycle.Member("completed_at")

	text, dated := "", true // whether the text contains the day of the other times
	switch begun, ended := !s.Hidden(started), !s.Hidden(completed); {
	case begun && ended:
		text = cli.ClockText(started, true) + " to " + cli.ClockText(completed, !s.sameDay()) + " UTC"
	case begun:
		text = cli.ClockText(started, true) + " UTC, end " + headline.NotTold
	case ended:
		text = "start " + headline.NotTold + ", end " + cli.ClockText(completed, true) + " UTC"
	case s.Hidden(issued):
		return headline.NotTold
	default:
		text, dated = "start and end "+headline.NotTold, false
	}

	if s.Hidden(issued) {
		return text + ", issue " + headline.NotTold
	}
	return text + ", issued " + cli.ClockText(issued, !dated || !s.sameDay())
}

func (s table) file(n canon.Node) string {
	if s.Hidden(n.Member("operation")) {
		return s.text(n, "path") + ", operation " + headline.NotTold
	}
	return s.text(n, "operation") + " " + s.text(n, "path")
}

// ended returns the name of the called tool or agent, and the outcome.
func (s table) ended(n canon.Node, name string) string {
	if s.Hidden(n.Member("status")) {
		return s.text(n, name) + ", outcome " + headline.NotTold
	}
	return s.text(n, name) + " " + s.text(n, "status")
}

// sameDay reports whether the times of the receipt are on one day.
func (s table) sameDay() bool {
	lifecycle := s.Root.Member("lifecycle")
	day := func(n canon.Node) string { return cli.ClockText(n, true)[:min(10, len(cli.ClockText(n, true)))] }
	first := day(lifecycle.Member("started_at"))
	return first == day(lifecycle.Member("completed_at")) && first == day(s.Root.Member("issued_at"))
}

func (s table) models() {
	route := s.Root.Member("model_route")
	chosen := route.Member("chosen_model")
	provider, model := chosen.Member("provider"), chosen.Member("model")
	text := s.text(provider) + " " + s.text(model)

	// The source may have reported only one of them.
	switch {
	case s.Hidden(provider) && s.Hidden(model):
		text = headline.NotTold
	case s.Hidden(provider):
		text = s.text(model)
	case s.Hidden(model):
		text = s.text(provider) + ", model " + headline.NotTold
	}
	for _, n := range route.Member("alternatives_considered").Elements() {
		text += ", not " + s.text(n, "model")
		if !n.Member("reason").IsZero() {
			text += `: "` + s.text(n, "reason") + `"`
		}
	}
	s.b.Row("model", text)
}

func (s table) budget() {
	budget := s.Root.Member("autonomy_budget")
	var parts []string
	for name, used := range budget.Member("consumed").Members() {
		text := strings.ReplaceAll(name.String(), "_", " ") + " " + s.used("/autonomy_budget/consumed/"+name.String(), used, "")
		if limit := budget.Member("limit").Member(name.String()); !limit.IsZero() {
			text += " of " + s.used("/autonomy_budget/limit/"+name.String(), limit, "a limit ")
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		s.b.Row("budget", strings.Join(parts, " · "))
	}
}

// used formats a budget number: the exact value, a bound if it was recorded only in part,
// or a note that noun was not recorded.
func (s table) used(pointer string, n canon.Node, noun string) string {
	if n.Float() > 0 || !s.Untold.Has(pointer) {
		return s.Bound(pointer) + cli.Number(n) + s.Reckoned(pointer)
	}
	return noun + headline.NotTold
}

// decided lists the approvals by decision, so that a denied action has a different label
// from an approved one.
func (s table) decided(list canon.Node) {
	if list.Len() == 0 {
		s.list("approvals", list, nil)
		return
	}

	const most = 50
	last := ""
	for i, n := range list.Elements() {
		if i == most {
			s.b.Row("", fmt.Sprintf("and %d more", list.Len()-most))
			break
		}

		label := s.decision(n)
		text := s.text(n, "action") + " by " + s.named(n, "actor", "somebody")
		if at := n.Member("decided_at"); !s.Hidden(at) {
			text = cli.ClockText(at, !s.sameDay()) + " " + text
		}
		if label == last {
			s.b.Row("", text)
		} else {
			s.b.Row(label, text)
		}
		last = label
	}

	if s.Untold.Has("/approvals") {
		s.b.Row("", "others "+headline.NotTold)
	}
}

// decision returns the label for the decision of an approval.
func (s table) decision(n canon.Node) string {
	if s.Hidden(n.Member("decision")) {
		return "undecided"
	}
	switch decision := n.Member("decision").String(); decision {
	case "approved", "denied", "canceled":
		return decision
	case "timeout":
		return "timed out"
	}
	return "undecided"
}

func (s table) egress(n canon.Node) string {
	text := s.named(n, "destination", "destination")
	sent := n.Member("bytes_sent")

	// A number that is only a lower bound may be zero.
	switch least, most := s.Bounds(sent); {
	case sent.IsZero():
		text += ", bytes not stated"
	case least && !(sent.Float() > 0):
		text += ", bytes " + headline.NotTold
	default:
		text += ", " + headline.Between(least, most) + cli.Number(sent) + " bytes"
	}
	text += `, "` + s.text(n, "purpose") + `"`
	if s.Possible(n) {
		text += ", whether it was sent " + headline.NotTold
	}
	return text
}

func (s table) chain() {
	chain := s.Root.Member("chain")
	text := "names no predecessor"
	if previous := chain.Member("previous_receipt_hash"); previous.Kind() == canon.KindString {
		text = "follows " + s.text(previous)
	}
	if root := chain.Member("merkle_root"); !root.IsZero() {
		text += ", in the batch " + s.text(root)
	}
	s.b.Row("chain", text)
	s.b.Row("hash", s.text(chain, "receipt_hash"))
}
