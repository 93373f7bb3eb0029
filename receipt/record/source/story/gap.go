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
	MessageWithoutID     Gap = "messages_without_an_id"
	Embedding            Gap = "embeddings"
	OtherDecision        Gap = "other_decisions"
)

// leaves returns the places of the receipt that a gap leaves incomplete. A record that was not
// read is not among the gaps: package record has what it leaves incomplete, for all readers.
func (g Gap) leaves() []string {
	const (
		calls, writes, egress, handoffs = "/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/side_effects/a2a_handoffs"
		consumed, input, output         = "/autonomy_budget/consumed/tool_calls", "/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens"
	)
	switch g {
	case CallWithoutID: // no list can name it, and its result could be any
		return []string{calls, writes, egress, consumed}
	case SearchWithoutID:
		return []string{calls, egress, consumed}
	case EventWithoutCall, DenialWithoutCall:
		return []string{calls, consumed}
	case MessageWithoutID: // another line may state what it used
		return []string{input, output}
	case Embedding: // a model read more than its calls state
		return []string{input}
	case OtherDecision:
		return []string{"/approvals"}
	}
	return []string{calls, writes, egress, handoffs, consumed, input, output}
}
