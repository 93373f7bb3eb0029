package story

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Gap explains why a log records only a part of the actions or of the usage.
type Gap int

// The causes. The table that gaps returns lists the parts of the receipt that each gap leaves
// unreported or incomplete.
const (
	PartMissing Gap = iota // a part of the log is missing
	GarbledPart
	ResultWithoutCall
	TurnWithoutBeginning
	SpansOfOneID
	CallsOfOneID
	CallWithoutID
	SearchWithoutID
	EventWithoutCall
	DenialWithoutCall
	CallUnstated
	MessageWithoutID
	MessagesOfOneID
	UsageUnread
	Embedding
	OtherDecision
	WriteUnread      // a file change cannot be read
	HandoffUnclear   // a call may have delegated work to another agent
	TokensInPart     // a model used more tokens than the lines record
	CostInPart       // the task cost more than the lines record
	DurationInPart   // the task took longer than the lines record
	ModelsUntold     // no line records the usage of each model
	TokensUntold     // no line records the usage of the models
	EffectsUnlogged  // the source does not record writes and requests
	RequestsUnlogged // the source does not record requests
	TotalsDiffer     // a total differs from the sum of its parts
)

// A lack describes the effect of a gap on the receipt.
type lack struct {
	counted string   // name of the gap in metadata.source.counted, or "" if it is not counted
	all     bool     // every list and count in the receipt is a lower bound
	atLeast []string // parts that are lower bounds
	untold  []string // parts that are unreported
}

// gaps returns the table of causes and their effects.
var gaps = sync.OnceValue(func() map[Gap]lack {
	const (
		toolCalls, writes, egress  = "/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress"
		handoffs, approvals        = "/side_effects/a2a_handoffs", "/approvals"
		consumed, input, output    = "/autonomy_budget/consumed/tool_calls", "/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens"
		wall, usd, total, perModel = "/autonomy_budget/consumed/wall_time_ms", "/autonomy_budget/consumed/usd", "/cost/total", "/cost/provider_breakdown"
	)
	call := []string{toolCalls, writes, egress, handoffs, approvals, consumed}
	message := append(slices.Clip(call), "/final_artifacts", perModel, input, output)
	usage := []string{perModel, input, output}

	return map[Gap]lack{
		PartMissing:          {all: true},
		GarbledPart:          {counted: "garbled_parts", all: true},
		TurnWithoutBeginning: {counted: "turns_without_their_beginning", all: true},
		SpansOfOneID:         {counted: "spans_of_one_id", all: true},

		// The message that contains the call is missing, as is the rest of its content.
		ResultWithoutCall: {counted: "results_without_call", atLeast: message},
		CallsOfOneID:      {counted: "calls_of_one_id", atLeast: message},

		// The call cannot be listed, and it may have had any effect.
		CallWithoutID:     {counted: "calls_without_an_id", atLeast: call},
		EventWithoutCall:  {counted: "events_without_a_call", atLeast: call},
		DenialWithoutCall: {counted: "denials_without_call", atLeast: call},
		CallUnstated:      {counted: "calls_asked_for_only", atLeast: call},
		SearchWithoutID:   {counted: "web_searches_without_id", atLeast: []string{toolCalls, egress, consumed}},

		// Another line may record the usage of the message.
		MessageWithoutID: {counted: "messages_without_an_id", atLeast: usage},
		MessagesOfOneID:  {counted: "messages_of_one_id", atLeast: usage},
		UsageUnread:      {counted: "usages_not_read", atLeast: usage},
		Embedding:        {counted: "embeddings", atLeast: []string{perModel, input}}, // a model read more tokens than its calls report
		OtherDecision:    {counted: "other_decisions", atLeast: []string{approvals}},

		WriteUnread:      {atLeast: []string{writes}},
		HandoffUnclear:   {atLeast: []string{handoffs}},
		TokensInPart:     {atLeast: usage},
		CostInPart:       {atLeast: []string{total, usd}},
		DurationInPart:   {atLeast: []string{wall}},
		ModelsUntold:     {untold: []string{perModel}},
		TokensUntold:     {untold: usage},
		EffectsUnlogged:  {untold: []string{writes, egress}},
		RequestsUnlogged: {untold: []string{egress}},
		TotalsDiffer:     {counted: "totals_that_differ", atLeast: usage},
	}
})

// Gaps contains the parts of the logs that were not read, and the effects of these gaps on the
// receipt.
type Gaps struct {
	notes, ignored  map[string]int
	untold, atLeast []string
	missing         []string // agents whose logs were not read
	partial         bool     // all lists and counts are lower bounds
}

// Lacks records a gap.
func (g *Gaps) Lacks(cause Gap) {
	lack := gaps()[cause]

	// If the cause is counted, the metadata of the receipt also lists it.
	if lack.counted != "" {
		g.Note(lack.counted)
	}
	g.partial = g.partial || lack.all
	g.atLeast, g.untold = union(g.atLeast, lack.atLeast), union(g.untold, lack.untold)
}

// Missing records that the log of another agent, which worked for this agent, was not read.
func (g *Gaps) Missing(agent string) {
	g.missing = Once(g.missing, agent)
	g.Lacks(PartMissing)
}

// Ignored counts a record of an unknown type.
func (g *Gaps) Ignored(kind string) { g.ignored = count(g.ignored, kind, 1) }

// Unless counts a record as ignored if its type is not in a closed list of types that record no
// action. A record of any other type may record an action.
func (g *Gaps) Unless(harmless []string, class string, kind canon.Node) {
	if !slices.Contains(harmless, kind.String()) {
		g.Unknown(class, kind)
	}
}

// Unknown counts a record of an unknown type. The class is the prefix of the name under which the
// record is counted.
func (g *Gaps) Unknown(class string, kind canon.Node) {
	g.Ignored(class + cmp.Or(g.Name(kind), "None"))
}

// Note counts a record that was read but that a receipt cannot represent. The reader chooses the
// name, which is never text from the log.
func (g *Gaps) Note(name string) { g.notes = count(g.notes, name, 1) }

// knows reports whether no ignored record has a type that begins with prefix.
func (g *Gaps) knows(prefix string) bool {
	for kind := range g.ignored {
		if strings.HasPrefix(kind, prefix) || kind == more {
			return false
		}
	}

	return true
}

// maxNames is the maximum length of a list of names from a log. The constant more is the name under
// which further names are counted.
const (
	maxNames = 64
	more     = "(others)"
)

// count increases the count for a name by n. It returns the map, which it creates if necessary.
func count(of map[string]int, name string, n int) map[string]int {
	if of == nil {
		of = map[string]int{}
	}
	if name = event.Shorten(name); name == "" {
		name = "None"
	}

	// The number of names is limited, so that a log cannot fill the receipt with names.
	if _, have := of[name]; !have && len(of) >= maxNames {
		name = more
	}
	of[name] += n
	return of
}

// Once appends a name, unless the list already contains it or is full.
func Once(list []string, name string) []string {
	if name == "" || len(list) >= maxNames || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func union(list, more []string) []string {
	for _, at := range more {
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}

	return list
}

// Name returns text from a log that can be used as a name. A name must not be longer than a
// recording can store. Longer text is counted but not recorded.
func (g *Gaps) Name(n canon.Node) string { return bounded(g, n.Text()) }

// Joined is like Name, but for text that was composed of several parts of a log.
func Joined[T string | []byte](s *Story, text T) string { return bounded(&s.Gaps, text) }

func bounded[T string | []byte](g *Gaps, text T) string {
	if len(text) > event.MaxText {
		g.Note("names_too_long")
		return ""
	}
	return string(text)
}
