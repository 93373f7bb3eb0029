package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An account is what a bundle tells of what its run used, and of what is missing in it.
type account struct{ *drafting }

// usage tells what the run used.
func (d account) usage(draft *receipt.Draft) {
	runtime := d.bundle.member("runtime")
	usage := runtime.member("usage")
	draft.AutonomyBudget.Consumed = receipt.Amounts{
		InputTokens: amount(usage.member("input_tokens")), OutputTokens: amount(usage.member("output_tokens")), WallTimeMS: d.took,
	}

	d.cost(draft, usage)

	// Of several models nobody tells which was chosen.
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

// cost is what the run cost. The currency is told by the names of some members alone. What a
// call cost that nobody priced, or of which nobody knows what it used, is not in a sum.
func (d account) cost(draft *receipt.Draft, usage value) {
	draft.Cost = receipt.Cost{Currency: "XXX", ProviderBreakdown: []receipt.ProviderCost{}}
	d.untold("/cost/provider_breakdown")

	// The largest counts: a sum of what is known may leave something out.
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

// nonzero reports whether a count is not zero, as far as the bundle tells: one that is no number
// is not known to be zero.
func nonzero(v value, name string) bool {
	n := v.member(name)
	return !absent(n) && (n.kind() != canon.KindNumber || number(n) != 0)
}

// amount is a count that the bundle tells; nil where it tells none.
func amount(v value) *int64 {
	f := number(v)
	if v.kind() != canon.KindNumber || f < 0 || f > 1<<53-1 {
		return nil
	}
	count := int64(f)
	return &count
}

// Evidence is what a bundle says that is missing in it, and what of it is not read.
type evidence struct {
	gaps   map[string]int // by component and code
	unread map[string]int // events of transcripts, by kind
}

// evidence reads what the run record says of its gaps, and which events of transcripts are of
// kinds that are not known to be harmless.
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

	// An event of a call that is listed tells nothing new.
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

// maxCounted bounds how many kinds are counted apart.
const maxCounted = 1000

func add(counts map[string]int, kind string) {
	if _, known := counts[kind]; !known && len(counts) >= maxCounted {
		kind = "other"
	}
	counts[kind]++
}

// harmless reports whether an event of a transcript tells of no call: it is a message, or is
// read elsewhere.
func harmless(kind string) bool {
	return slices.Contains(strings.Fields(`message user_message assistant_message system_message system_reminder private_reasoning tool_schemas tool_schema
		compaction transcript_compacted`), kind) ||
		strings.Contains(kind, "permission") || strings.Contains(kind, "approval") || strings.HasPrefix(kind, "hitl_")
}

// ofCall reports whether an event of a transcript tells of a call, which the list of calls has.
func ofCall(kind string) bool {
	return slices.Contains([]string{"tool_call", "tool_use", "tool_result", "tool_intent", "tool_execution"}, kind)
}

// callID is the call of which an event tells.
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

// bound makes lower bounds of the lists and sums in which something may be missing. Nothing
// tells which of them a gap or an unread event is about.
func (d account) bound(draft *receipt.Draft, read evidence) {
	if len(read.gaps) == 0 && len(read.unread) == 0 {
		if nonzero(d.bundle.member("runtime").member("usage"), "usage_unknown_calls") {
			d.tokens(draft)
		}
		return
	}

	// An empty list is untold; another one holds at least what it holds.
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

// tokens makes lower bounds of the sums of tokens.
func (d account) tokens(draft *receipt.Draft) {
	for at, sum := range map[string]*int64{"input_tokens": draft.AutonomyBudget.Consumed.InputTokens, "output_tokens": draft.AutonomyBudget.Consumed.OutputTokens} {
		if sum != nil {
			d.floor("/autonomy_budget/consumed/" + at)
		}
	}
}
