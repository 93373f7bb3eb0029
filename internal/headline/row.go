package headline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Row is one line in the description of a receipt. A row without a label continues the previous
// row.
type Row struct {
	Label string `json:"label"`
	Text  Words  `json:"text"`
}

// Limits of a description.
const (
	maxRows = 8   // rows with one label; further rows are counted but not listed
	maxName = 120 // characters of a path, a host, or a tool
)

// A description collects the rows that describe a receipt. An object that occurs several times is
// counted once, as in the summary sentence.
type description struct {
	story
	rows []Row
}

// rowsOf returns the description of a receipt: models, effects, decisions, and everything that the
// receipt does not state.
func rowsOf(s story) []Row {
	d := &description{story: s}
	if n := s.Root.Member("lifecycle").Member("failure"); n.Kind() == canon.KindObject {
		d.row("Failure", Words{}.quote(n))
	}
	if isReplay(s.Root) {
		d.row("Replay", Words{}.add(s.Determinism()))
	}

	use := usage(s)
	d.list("Model", use.models())
	d.row("Budget", use.budget(true))
	d.list("Files", append(limited(d.files(), "file"), d.outside()))
	d.row("Tools", d.tools())
	d.list("Network", limited(d.hosts(), "host"))
	d.list("Handoffs", limited(d.handoffs(), "handoff"))
	d.list("Approvals", limited(d.approvalsByAction(), "decision"))
	d.row("Artifacts", d.count("final_artifacts", "artifact", "kind"))
	d.row("Withheld", d.count("redactions", "value", "reason"))

	d.row("Not recorded", Words{}.add(strings.Join(gaps{s}.unrecorded(), ", ")))
	d.row("Not read", Words{}.value(s.Unread()))
	if n := s.Root.Member("metadata").Member("supersedes"); !n.IsZero() {
		d.row("Supersedes", Words{}.quote(n))
	}
	d.row("Receipt", Origin(s).words())
	return d.rows
}

// row adds a row, unless its text is empty.
func (d *description) row(label string, text Words) {
	if text.String() != "" {
		d.rows = append(d.rows, Row{label, text})
	}
}

func (d *description) list(label string, texts []Words) {
	for _, text := range texts {
		before := len(d.rows)
		if d.row(label, text); len(d.rows) > before {
			label = ""
		}
	}
}

// limited shortens a list to maxRows rows, and states how many were omitted.
func limited(list []Words, noun string) []Words {
	if len(list) <= maxRows {
		return list
	}
	return append(list[:maxRows:maxRows], Words{}.add("and ", Plural(len(list)-maxRows, "more "+noun, "")))
}

// A group contains the entries of a list that share a name.
type group struct {
	name  string
	nodes []canon.Node
}

// grouped groups entries by name, with the largest group first.
func grouped(nodes []canon.Node, name func(canon.Node) string) (groups []*group) {
	by := map[string]*group{}
	for _, n := range nodes {
		text := name(n)
		if by[text] == nil {
			by[text] = &group{name: text}
			groups = append(groups, by[text])
		}
		by[text].nodes = append(by[text].nodes, n)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(len(b.nodes), len(a.nodes)) })
	return groups
}

// nodesOf returns the entries of a list as a slice.
func nodesOf(list canon.Node) (nodes []canon.Node) {
	for _, n := range list.Elements() {
		nodes = append(nodes, n)
	}
	return nodes
}

// files lists the written paths, with operations other than "modify", and the number of writes.
func (d *description) files() (list []Words) {
	for _, g := range grouped(d.happened("fs_writes"), func(n canon.Node) string { return d.name(n.Member("path")) }) {
		w := Words{}.named(g.name, "paths that are not stated")
		for _, op := range grouped(g.nodes, func(n canon.Node) string { return d.name(n.Member("operation")) }) {
			if op.name != "modify" && op.name != "" {
				w = w.add(", ").value(op.name)
			}
		}
		list = append(list, w.add(", ", Plural(len(g.nodes), "write", "")))
	}
	return list
}

// outside lists the files that changed between two listed writes.
func (d *description) outside() Words {
	list := d.Root.Member("metadata").Member("write_continuity").Member("changed_outside")
	groups := grouped(nodesOf(list), func(n canon.Node) string { return d.name(n.Member("path")) })
	if len(groups) == 0 {
		return nil
	}

	w := Words{}.add("changed outside the listed writes: ")
	for i, g := range groups {
		if i == maxRows {
			return w.add(", and ", strconv.Itoa(len(groups)-i), " more")
		}
		if i > 0 {
			w = w.add(", ")
		}
		w = w.named(g.name, "paths that are not stated")
	}
	return w
}

// tools lists the distinct calls by tool. Tools with unsuccessful calls are listed first.
func (d *description) tools() (w Words) {
	calls, _ := d.distinctCalls()
	by := map[string]map[string]int{}
	var names []string
	for _, c := range calls {
		if by[c.tool] == nil {
			by[c.tool] = map[string]int{}
			names = append(names, c.tool)
		}
		by[c.tool][c.end]++
	}

	total := func(name string) (all int) {
		for _, n := range by[name] {
			all += n
		}
		return all
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(total(b)-by[b]["succeeded"], total(a)-by[a]["succeeded"]), cmp.Compare(total(b), total(a)))
	})

	const most = 20
	for i, name := range names {
		if i == most {
			return w.add(" · ", Plural(len(names)-i, "more tool", ""))
		}
		if i > 0 {
			w = w.add(" · ")
		}
		w = w.named(name, "unnamed tools").add(" ", Group3(strconv.Itoa(total(name))), unsuccessful(by[name]))
	}
	return w
}

// hosts lists the hosts of requests, with the number of requests and the number of bytes.
func (d *description) hosts() (list []Words) {
	for _, g := range grouped(d.happened("network_egress"), func(n canon.Node) string { return d.host(n.Member("destination")) }) {
		w := Words{}.named(g.name, "hosts that are not stated").add(", ", Plural(len(g.nodes), "request", ""))
		if bytes, known := d.sentBy(g.nodes, false, false); known {
			w = w.add(", ", bytes)
		}
		list = append(list, w)
	}
	return list
}

func (d *description) handoffs() (list []Words) {
	for _, n := range d.happened("a2a_handoffs") {
		w := Words{}.named(d.name(n.Member("target_agent")), "an agent that is not stated").add(", ")
		list = append(list, w.named(d.name(n.Member("status")), "outcome "+d.gap(n.Member("status"))))
	}
	return list
}

// approvalsByAction lists decisions with their actions and actors, and the number of times that
// each decision was made.
func (d *description) approvalsByAction() (list []Words) {
	for _, g := range grouped(nodesOf(d.Root.Member("approvals")), func(n canon.Node) string {
		return strings.Join([]string{d.decision(n), d.name(n.Member("action")), d.name(n.Member("actor"))}, "\x00")
	}) {
		n := g.nodes[0]
		word := map[string]string{"": "of unknown decision", "timeout": "timed out"}[d.decision(n)]
		w := Words{}.named(d.name(n.Member("action")), "an action that is not stated").add(" ", cmp.Or(word, d.decision(n)))
		w = w.add(" by ").named(d.name(n.Member("actor")), "an actor that is "+d.gap(n.Member("actor")))
		if len(g.nodes) > 1 {
			w = w.add(", ", strconv.Itoa(len(g.nodes)), " times")
		}
		list = append(list, w)
	}
	return list
}

// count describes the number of entries of a list by the values of a member, such as "3 values:
// token 2, path 1".
func (d *description) count(list, noun, member string) (w Words) {
	nodes := nodesOf(d.Root.Member(list))
	if len(nodes) == 0 {
		return nil
	}

	w = w.add(d.Bound("/"+list), Plural(len(nodes), noun, ""), ": ")
	groups := grouped(nodes, func(n canon.Node) string { return d.name(n.Member(member)) })
	for i, g := range groups[:min(len(groups), maxRows)] {
		if i > 0 {
			w = w.add(", ")
		}
		if w = w.named(g.name, "not stated"); len(groups) > 1 {
			w = w.add(" ", strconv.Itoa(len(g.nodes)))
		}
	}
	return w
}
