package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An account sets the parts of a draft that depend on the usage and the gaps that the bundle lists.
type account struct{ *drafting }

// usage sets the resources that the run consumed.
func (d account) usage(draft *receipt.Draft) {
	runtime := d.bundle.member("runtime")
	usage := runtime.member("usage")
	draft.AutonomyBudget.Consumed = receipt.Amounts{
		InputTokens: amount(usage.member("input_tokens")), OutputTokens: amount(usage.member("output_tokens")), WallTimeMS: d.took,
	}

	d.cost(draft, usage)

	// If the bundle lists several models, it does not state which of them was chosen.
	const chosen = "/model_route/chosen_model"
	var models []string
	for _, m := range runtime.member("provider_models").each {
		models = append(models, d.marks.clean(m))
	}

	draft.ModelRoute = receipt.ModelRoute{
		ChosenModel: receipt.Model{Provider: unknown, Model: unknown}, AlternativesConsidered: []receipt.Model{}, RoutePolicyReason: "the bundle lists models, and not why",
	}
	d.untold("/model_route/alternatives_considered")
	if len(models) == 1 && models[0] != "" {
		draft.ModelRoute.ChosenModel.Model = models[0]
		d.untold(chosen + "/provider")
		return
	}
	d.untold(chosen)
}

// cost sets the cost of the run. The currency is stated only in the names of some members. A sum
// excludes calls without a price and calls with unknown usage.
func (d account) cost(draft *receipt.Draft, usage value) {
	draft.Cost = receipt.Cost{Currency: "XXX", ProviderBreakdown: []receipt.ProviderCost{}}
	d.untold("/cost/provider_breakdown")

	// The largest of these values is used, because a sum of only the known costs may be incomplete.
	told := false
	for _, name := range []string{"cost_usd", "known_cost_usd", "total_cost"} {
		cost := usage.member(name)
		if cost.kind() != canon.KindNumber || number(cost) < 0 || told && number(cost) <= draft.Cost.Total {
			continue
		}
		told, draft.Cost.Total, draft.Cost.Currency = true, number(cost), "USD"
		if name == "total_cost" {
			draft.Cost.Currency = "XXX"
		}
	}

	if draft.Cost.Currency == "XXX" {
		d.untold("/cost/currency")
	}

	switch unsure := nonzero(usage, "usage_unknown_calls"); {
	case !told:
		d.untold("/cost/total")
	case unsure || nonzero(usage, "unpriced_calls") || usage.member("cost_usd").kind() == canon.KindNull:
		d.floor("/cost/total")
	}
}

// nonzero reports whether a count in the bundle is not zero. A value that is not a number is
// treated as a count other than zero.
func nonzero(v value, name string) bool {
	n := v.member(name)
	return !absent(n) && (n.kind() != canon.KindNumber || number(n) != 0)
}

// amount returns a count in the bundle, or nil if it is not a valid count.
func amount(v value) *int64 {
	f := number(v)
	if v.kind() != canon.KindNumber || f < 0 || f > 1<<53-1 {
		return nil
	}
	count := int64(f)
	return &count
}

// evidence describes the gaps that are listed in a bundle, and the transcript events that are not
// evaluated.
type evidence struct {
	gaps   map[string]int // by component and code
	unread map[string]int // transcript events, by kind
}

// evidence collects the gaps that are listed in the run record, and the transcript events that are
// not known to be harmless.
func (d account) evidence() evidence {
	read := evidence{map[string]int{}, map[string]int{}}
	recorded := d.bundle.member("replay").member("run_record").member("evidence")
	switch gaps := recorded.member("gaps"); {
	case absent(gaps):
	case gaps.kind() != canon.KindArray:
		read.gaps[unknown]++
	default:
		for _, gap := range gaps.each {
			add(read.gaps, cmp.Or(strings.Trim(d.said(gap, "component")+"/"+d.said(gap, "code"), "/"), unknown))
		}
	}

	if nonzero(recorded.member("flight_recording"), "dropped_events") {
		read.gaps["flight_recording/dropped_events"]++
	}

	// An event about a call that the bundle lists adds no information.
	listed := map[string]bool{}
	for _, c := range d.bundle.member("tools").member("calls").each {
		listed[string(c.member("tool_use_id").content())] = true
	}

	for _, section := range d.bundle.member("transcript").member("sections").each {
		for _, e := range section.member("events").each {
			if kind := cmp.Or(d.said(e, "kind"), d.said(e, "type"), unknown); !harmless(kind) && !(ofCall(kind) && listed[callID(e)]) {
				add(read.unread, kind)
			}
		}
	}
	return read
}

// maxCounted is the maximum number of kinds that are counted separately.
const maxCounted = 1000

func add(counts map[string]int, kind string) {
	if _, known := counts[kind]; !known && len(counts) >= maxCounted {
		kind = "other"
	}
	counts[kind]++
}

// harmless reports whether transcript events of the given kind are messages or are processed
// elsewhere, so that they can be skipped here.
func harmless(kind string) bool {
	return slices.Contains(strings.Fields(`message user_message assistant_message system_message system_reminder private_reasoning tool_schemas tool_schema
		compaction transcript_compacted`), kind) ||
		strings.Contains(kind, "permission") || strings.Contains(kind, "approval") || strings.HasPrefix(kind, "hitl_")
}

// ofCall reports whether a kind of transcript event describes a tool call.
func ofCall(kind string) bool {
	return slices.Contains([]string{"tool_call", "tool_use", "tool_result", "tool_intent", "tool_execution"}, kind)
}

// callID returns the ID of the call that an event is about.
func callID(e value) string {
	for _, of := range []value{e, e.member("metadata")} {
		for _, name := range []string{"tool_use_id", "tool_call_id", "id"} {
			if id := of.member(name); id.kind() == canon.KindString {
				return string(id.content())
			}
		}
	}
	return ""
}

// bound marks lists and sums that may be incomplete as lower bounds. A bundle does not state which
// of these values a gap or an unread event affects.
func (d account) bound(draft *receipt.Draft, read evidence) {
	if len(read.gaps) == 0 && len(read.unread) == 0 {
		if nonzero(d.bundle.member("runtime").member("usage"), "usage_unknown_calls") {
			d.tokens(draft)
		}
		return
	}

	// An empty list is unreported, and any other list is a lower bound.
	for at, entries := range map[string]int{"/side_effects/tool_calls": len(draft.SideEffects.ToolCalls), "/approvals": len(draft.Approvals)} {
		if entries == 0 {
			d.untold(at)
			continue
		}
		d.floor(at)
	}
	if d.tokens(draft); !slices.Contains(d.unreported, "/cost/total") {
		d.floor("/cost/total")
	}
}

// tokens marks the token counts as lower bounds.
func (d account) tokens(draft *receipt.Draft) {
	for at, sum := range map[string]*int64{"input_tokens": draft.AutonomyBudget.Consumed.InputTokens, "output_tokens": draft.AutonomyBudget.Consumed.OutputTokens} {
		if sum != nil {
			d.floor("/autonomy_budget/consumed/" + at)
		}
	}
}
