package verify

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// A table prints a row for each statement of a receipt, including all list entries and digests.
type table struct{ *Shown }

func (s table) write() {
	r := s.Root
	s.b.Row("subject", s.Subject())
	s.b.Row("task", s.text(r, "identifiers", "task_id")+", "+s.named(r.Member("identifiers"), "workspace_ref", "workspace"))
	s.b.Row("time", s.times())
	if budget := s.Budget().String(); budget != "" {
		s.b.Row("budget", budget)
	}

	s.list("approvals", "/approvals", r.Member("approvals"), s.approval)
	effects := r.Member("side_effects")
	s.list("files", "/side_effects/fs_writes", effects.Member("fs_writes"), s.file)
	s.list("network", "/side_effects/network_egress", effects.Member("network_egress"), s.egress)
	s.list("tools", "/side_effects/tool_calls", effects.Member("tool_calls"), s.call)
	s.list("handoffs", "/side_effects/a2a_handoffs", effects.Member("a2a_handoffs"), func(n canon.Node) string {
		return s.ended(n, "target_agent") + ", " + s.named(n, "task_id", "task")
	})
	s.continuity(r.Member("metadata").Member("write_continuity"))
	s.list("artifacts", "", r.Member("final_artifacts"), func(n canon.Node) string { return s.text(n, "artifact_id") + " (" + s.text(n, "kind") + ")" })
	s.b.Row("replay", s.Determinism())
	s.list("deltas", "", r.Member("deltas"), func(n canon.Node) string { return s.text(n, "operation") + " " + s.text(n, "path") })
	s.list("withheld", "", r.Member("redactions"), func(n canon.Node) string { return s.text(n, "field") + `: "` + s.text(n, "reason") + `"` })
	s.chain()
	s.list("signatures", "/signatures", r.Member("signatures"), func(n canon.Node) string { return s.text(n, "key_id") + ", " + s.text(n, "algorithm") })

	// These rows list every member that the source did not report, every upper bound, every
	// estimate, and every inferred member.
	s.b.Rows(headline.NotRecorded, s.Unreported...)
	s.b.Rows("at most", s.Over...)
	s.b.Rows("estimated", s.Estimated...)
	s.b.Rows("inferred", s.Inferred...)
}

// list prints a row for each entry. If there are no entries, the row states "none" or that the
// source did not report the list. However, the row is omitted if the list has no pointer.
func (s table) list(label, pointer string, list canon.Node, entry func(canon.Node) string) {
	unreported := pointer != "" && s.Unreported.Has(pointer)
	for _, n := range list.Elements() {
		s.b.Row(label, entry(n))
		label = ""
	}

	switch {
	case unreported && label == "": // there may be further entries
		s.b.Row("", "others "+headline.NotRecorded)
	case unreported:
		s.b.Row(label, headline.NotRecorded)
	case label != "" && pointer != "":
		s.b.Row(label, "none")
	}
}

// times returns the times that the source reported.
func (s table) times() string {
	lifecycle, text := s.Root.Member("lifecycle"), ""
	for _, one := range []struct {
		label string
		node  canon.Node
	}{{"started ", lifecycle.Member("started_at")}, {", completed ", lifecycle.Member("completed_at")}, {", issued ", s.Root.Member("issued_at")}} {
		text += one.label
		if s.Hidden(one.node) {
			text += "at a time that is " + headline.NotRecorded
		} else {
			text += cli.ClockText(one.node, true)
		}
	}
	return text
}

func (s table) approval(n canon.Node) string {
	text := s.text(n, "action") + " by " + s.named(n, "actor", "an actor") + ", " + s.named(n, "decision", "decision")
	if at := n.Member("decided_at"); !s.Hidden(at) {
		text = cli.ClockText(at, true) + " " + text
	}
	return text
}

func (s table) file(n canon.Node) string {
	return s.text(n, "path") + ", " + s.named(n, "operation", "operation") + s.digests(n, "before_sha256", "after_sha256")
}

// ended returns the name of a call with its outcome.
func (s table) ended(n canon.Node, name string) string {
	if s.Hidden(n.Member("status")) {
		return s.text(n, name) + ", outcome " + headline.NotRecorded
	}
	return s.text(n, name) + " " + s.text(n, "status")
}

func (s table) call(n canon.Node) string {
	why := ""
	if category := n.Member("metadata").Member("error_category"); category.Kind() == canon.KindString {
		why = " (" + s.text(category) + ")"
	}
	return s.ended(n, "tool") + why + ", " + s.named(n, "call_id", "call") + s.digests(n, "input_hash", "output_hash")
}

// digests formats the digests of two contents, if they are stated.
func (s table) digests(n canon.Node, before, after string) string {
	text, some := "", false
	for i, name := range []string{before, after} {
		if i > 0 {
			text += " → "
		}
		switch digest := n.Member(name); {
		case s.Hidden(digest):
			text += headline.NotRecorded
		case digest.Kind() == canon.KindString:
			text, some = text+s.text(digest), true
		case digest.Kind() == canon.KindNull:
			text, some = text+"none", true
		default:
			text += "not stated"
		}
	}
	if !some {
		return ""
	}
	return ", " + text
}

func (s table) egress(n canon.Node) string {
	text := s.named(n, "destination", "destination")
	sent := n.Member("bytes_sent")

	// A number that is only a lower bound may be zero.
	switch least, most := s.Bounds(sent); {
	case sent.IsZero():
		text += ", bytes not stated"
	case least && !(sent.Float() > 0):
		text += ", bytes " + headline.NotRecorded
	default:
		text += ", " + headline.Between(least, most) + cli.Number(sent) + " bytes"
	}
	text += `, "` + s.text(n, "purpose") + `"`
	if s.Possible(n) {
		text += ", not recorded whether it was sent"
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
