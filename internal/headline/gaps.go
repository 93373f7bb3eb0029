package headline

import (
	"slices"
	"strings"
)

// A gaps value lists the parts of a receipt that its source did not report.
type gaps struct{ story }

// unrecorded returns names for the parts of the receipt that its source did not report. A number
// that is only a bound is not listed, because the bound itself is printed.
func (g gaps) unrecorded() (names []string) {
	for _, pointer := range g.Unreported {
		names = append(names, g.unrecordedAt(pointer)...)
	}
	t := g.requests()
	if _, known := g.sent(t); t.entries > 0 && !known {
		names = append(names, "bytes sent")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })

	// Each name is listed once, in the order of the first pointer.
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// unrecordedAt returns names for the unreported part at a pointer.
func (g gaps) unrecordedAt(pointer string) []string {
	if pointer == "/side_effects" {
		return []string{g.unlisted("/side_effects/fs_writes", "file changes"), g.unlisted("/side_effects/tool_calls", "tool calls"),
			g.unlisted("/side_effects/network_egress", "network requests"), g.unlisted("/side_effects/a2a_handoffs", "handoffs")}
	}

	tokens := strings.Split(pointer, "/")[1:]
	last := strings.ReplaceAll(tokens[len(tokens)-1], "_", " ")
	switch tokens[0] {
	case "approvals", "side_effects", "final_artifacts", "redactions", "deltas":
		return []string{g.unlistedEntry(pointer, tokens)}
	case "cost":
		return []string{g.uncosted(pointer)}
	case "autonomy_budget":
		return []string{g.unspent(tokens, last)}
	case "trust":
		return []string{"autonomy tier"}
	case "replay_input":
		return []string{"replay input"}
	}

	if name, known := unrecordedNames()[pointer]; known {
		return []string{name}
	}
	if tokens[0] == "identifiers" && len(tokens) == 2 && len(last) < 40 {
		return []string{last}
	}
	return []string{"other values"}
}

// unrecordedNames maps pointers to readable names.
func unrecordedNames() map[string]string {
	return map[string]string{
		"/issued_at": "issue time", "/lifecycle/started_at": "start time", "/lifecycle/completed_at": "end time", "/lifecycle/final_state": "outcome",
		"/model_route": "model", "/model_route/chosen_model": "model", "/model_route/chosen_model/model": "model", "/model_route/chosen_model/provider": "model provider",
		"/identifiers/workspace_ref": "project", "/metadata/source": "details of the source",
	}
}

// unlistedEntry returns a name for a list that may be incomplete, or for a member of its entries.
func (g gaps) unlistedEntry(pointer string, tokens []string) string {
	lists := map[string]string{
		"/approvals": "approvals", "/final_artifacts": "artifacts", "/redactions": "withheld values", "/deltas": "substitutions",
		"/side_effects/fs_writes": "file changes", "/side_effects/tool_calls": "tool calls", "/side_effects/network_egress": "network requests", "/side_effects/a2a_handoffs": "handoffs",
	}
	if noun := lists[pointer]; noun != "" {
		return g.unlisted(pointer, noun)
	}

	list, rest := "/"+tokens[0], tokens[1:]
	if tokens[0] == "side_effects" && len(tokens) > 2 {
		list, rest = list+"/"+tokens[1], tokens[2:]
	}
	noun := lists[list]
	if noun == "" {
		return "other values"
	}
	if len(rest) < 2 {
		return "whether some " + noun + " happened"
	}
	switch member := strings.Join(rest[1:], "/"); member {
	case "before_sha256", "after_sha256":
		return "contents of some files"
	case "status":
		return "outcomes of some " + noun
	case "destination":
		return "hosts of some requests"
	case "bytes_sent":
		return "bytes of some requests"
	}
	return "details of some " + noun
}

// unlisted returns a name for a list that may be incomplete.
func (g gaps) unlisted(pointer, noun string) string {
	list := g.Root
	for _, name := range strings.Split(pointer, "/")[1:] {
		list = list.Member(name)
	}
	if list.Len() > 0 {
		return "further " + noun
	}
	return noun
}

// uncosted returns a name for an unreported part of the cost, or "" if a bound for this part is
// printed.
func (g gaps) uncosted(pointer string) string {
	switch {
	case g.unreportedCost():
		return "cost"
	case pointer == "/cost/currency":
		return "currency"
	case pointer == "/cost/total", pointer == "/cost":
		return ""
	}
	return "cost by model"
}

// unspent returns a name for an unreported part of the budget. It returns "" for the wall time, for
// a part whose bound is printed, and for the cost if that is already listed as unreported.
func (g gaps) unspent(tokens []string, last string) string {
	if len(tokens) != 3 || len(last) > 40 {
		return "budget"
	}
	n := g.Root.Member(tokens[0]).Member(tokens[1]).Member(tokens[2])
	switch {
	case n.Float() > 0, last == "usd" && g.unreportedCost(), last == "wall time ms":
		return ""
	case tokens[1] == "limit":
		return "limit of " + last
	}
	return last
}
