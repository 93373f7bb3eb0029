package story

// A Gap is a reason for which a log states only a part of what was done and used. Its value is
// the name under which it is counted in metadata.source.counted.
type Gap string

const (
	PartMissing          Gap = "" // a part of the log is not here
	GarbledPart          Gap = "garbled_parts"
	ResultWithoutCall    Gap = "results_without_call"
	TurnWithoutBeginning Gap = "turns_without_their_beginning"
	SpansOfOneID         Gap = "spans_of_one_id"
	CallsOfOneID         Gap = "calls_of_one_id"
	CallWithoutID        Gap = "calls_without_an_id"
	SearchWithoutID      Gap = "web_searches_without_id"
	EventWithoutCall     Gap = "events_without_a_call"
	DenialWithoutCall    Gap = "denials_without_call"
	CallUnstated         Gap = "calls_asked_for_only"
	MessageWithoutID     Gap = "messages_without_an_id"
	MessagesOfOneID      Gap = "messages_of_one_id"
	UsageUnread          Gap = "usages_not_read"
	Embedding            Gap = "embeddings"
	OtherDecision        Gap = "other_decisions"
)

// leaves returns the places of the receipt that a gap leaves incomplete, nil if it is every list and
// count. Package record has these, and leaves them incomplete after a record that was not read, too.
func (g Gap) leaves() []string {
	const (
		calls, egress, approvals = "/side_effects/tool_calls", "/side_effects/network_egress", "/approvals"
		consumed, input, output  = "/autonomy_budget/consumed/tool_calls", "/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens"
		models                   = "/cost/provider_breakdown"
	)
	call := []string{calls, "/side_effects/fs_writes", egress, "/side_effects/a2a_handoffs", approvals, consumed}
	switch g {
	case CallWithoutID, EventWithoutCall, DenialWithoutCall, CallUnstated: // no list can name it, and its result could be any
		return call
	case ResultWithoutCall, CallsOfOneID: // a message is missing, and what else stood there
		return append(call, "/final_artifacts", models, input, output)
	case SearchWithoutID:
		return []string{calls, egress, consumed}
	case MessageWithoutID, MessagesOfOneID, UsageUnread: // another line may state what it used
		return []string{models, input, output}
	case Embedding: // a model read more than its calls state
		return []string{models, input}
	case OtherDecision:
		return []string{approvals}
	}
	return nil
}
