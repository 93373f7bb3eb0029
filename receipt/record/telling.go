package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A telling collects the locations in a draft whose values are unreported, partial, or
// contradictory. Locations are JSON Pointers (RFC 6901) into the draft.
type telling struct {
	unreported     []string // values that are unreported or incomplete
	atLeast        []string // the subset of unreported whose values are partial sums or lists
	atMost         []string // sums that may include more than the task
	estimated      []string // amounts that the source estimates
	inferred       []string // values that were inferred from other values
	differ         []string // calls whose arguments differ from the approved arguments
	contradictions []contradiction
}

// A contradiction describes two conflicting records, with their location in the draft.
type contradiction struct{ at, what string }

func (t *telling) untold(at string) { t.unreported = append(t.unreported, at) }

// floor marks a value as correct but possibly incomplete.
func (t *telling) floor(at string) {
	t.untold(at)
	t.atLeast = append(t.atLeast, at)
}

func (t *telling) ceiling(at string)  { t.atMost = append(t.atMost, at) }
func (t *telling) estimate(at string) { t.estimated = append(t.estimated, at) }
func (t *telling) infer(at string)    { t.inferred = append(t.inferred, at) }
func (t *telling) contradicts(at, what string) {
	t.contradictions = append(t.contradictions, contradiction{at, what})
}

// name returns a name, or a placeholder if the name is unreported.
func (t *telling) name(at, told, otherwise string) string {
	if told == "" {
		t.untold(at)
		return otherwise
	}
	return told
}

// partly marks a list as possibly incomplete. The entries in the list are correct.
func (t *telling) partly(at string, entries int) {
	if entries == 0 {
		t.untold(at)
		return
	}
	t.floor(at)
}

// into adds the collected locations to the metadata, in sorted order.
func (t *telling) into(m receipt.Object) {
	for name, list := range map[string][]string{
		"unreported": t.unreported, "at_least": t.atLeast, "at_most": t.atMost, "estimated": t.estimated, "inferred": t.inferred, "arguments_differ_from_approved": t.differ,
	} {
		if len(list) > 0 {
			m[name] = slices.Compact(slices.Sorted(slices.Values(list)))
		}
	}

	if len(t.contradictions) == 0 {
		return
	}
	slices.SortFunc(t.contradictions, func(a, b contradiction) int {
		if c := strings.Compare(a.at, b.at); c != 0 {
			return c
		}
		return strings.Compare(a.what, b.what)
	})

	list := []any{}
	for _, c := range slices.Compact(t.contradictions) {
		list = append(list, receipt.Object{"at": c.at, "what": c.what})
	}
	m["contradictions"] = list
}

// Contradictions between events.
const (
	rejectedYetRan  = "executed_and_rejected"
	deniedYetRan    = "executed_and_denied"
	undecidedYetRan = "executed_and_undecided"
	outcomesDiffer  = "outcomes_differ"
	inputsDiffer    = "inputs_differ"
	outputsDiffer   = "outputs_differ"
	namesDiffer     = "names_differ"
	detailsDiffer   = "details_differ"
	notInReport     = "not_in_report"
	answersDiffer   = "answers_differ"
	otherSession    = "answered_from_another_session"
	costsDiffer     = "costs_differ"
	costShrank      = "cost_shrank"
	spanEndedTwice  = "span_ended_twice"
)

// A contradictionWord is a word in metadata.contradictions, with its meaning.
type contradictionWord struct{ What, Means string }

// contradictionWords returns the contradictions that a draft can list. docs/record.md is generated
// from this list.
func contradictionWords() []contradictionWord {
	return []contradictionWord{
		{rejectedYetRan, "one line states that the call was never dispatched, and another that it ran; it is listed as one that ran"},
		{deniedYetRan, "the call ran, but no question about it was approved"},
		{undecidedYetRan, "the call ran while a question about it was open, or had timed out"},
		{outcomesDiffer, "two ends of the call differ; a failure in either is kept"},
		{inputsDiffer, "for a call: two lines state different arguments of the run; the runtime's take precedence over the transcript's, then the first. For an approval: two approvals contain different arguments; the last ones count"},
		{outputsDiffer, "two results of the call differ; the runtime's first result is kept, else the transcript's first"},
		{namesDiffer, "two names differ; the first is kept"},
		{detailsDiffer, "lines about the call, or questions about it, differ in the kind, executor, scope, run, or worker; the last one of the call is kept"},
		{notInReport, "the call's own report of files or of the network omits this entry"},
		{answersDiffer, "the question was both approved and refused; the refusal is kept"},
		{otherSession, "an answer came from another session than the question, and was ignored"},
		{costsDiffer, "the agent's account and the costs of its calls have different sums; the larger one is kept"},
		{spanEndedTwice, "a span ended twice with different contents: both are here, and one of them may be invalid"},
		{costShrank, "the agent's account decreased; the last one counts"},
	}
}

// indexed returns the location of a list entry.
func indexed(at string, i int) string { return at + "/" + strconv.Itoa(i) }

// unread counts, by type, the records, frames, and content blocks in a log that its reader does not
// recognize. Every reader has a closed list of harmless types. A record of any other type may be an
// action, so all lists and counts in the draft become lower bounds.
type unread struct{ counts receipt.Object }

// sourceUnread counts the records that the reader of a log did not read. A source.unread event
// covers one or more records.
func sourceUnread(r *run, e *event.Event) { r.unread.add(r, e) }

// add adds the counts from an event.
func (u *unread) add(r *run, e *event.Event) {
	for kind, n := range countsIn(r, e, e.Payload.Member("ignored_records")) {
		u.count(kind, n.(int64))
	}
}

// note counts one record that this package does not recognize. If there are too many types, all
// further types are counted together.
func (u *unread) note(r *run, e *event.Event, kind string) {
	kind = event.Shorten(kind)
	if _, known := u.counts[kind]; !known {
		if len(u.counts) >= event.MaxPaths {
			kind = otherTypes
		}
		r.Part(e)
	}
	u.count(e.Once([]byte(kind)), 1)
}

// otherTypes is the name under which all further types are counted.
const otherTypes = "other"

func (u *unread) count(kind string, n int64) {
	if u.counts == nil {
		u.counts = receipt.Object{}
	}
	before, _ := u.counts[kind].(int64)
	u.counts[kind] = before + n
}

// complete marks the lists and counts that may be incomplete because a record was not read or a
// part of the log is missing.
func (u *unread) complete(r *run, d *receipt.Draft, t *telling) {
	if len(u.counts) > 0 {
		d.Metadata["ignored_records"] = u.counts
	} else if !r.sourced.partial {
		return
	}
	if d.ReplayInput.Determinism == "byte_deterministic" { // the record may be an answer
		d.ReplayInput.Determinism = "best_effort"
	}
	for _, list := range []string{
		"/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/side_effects/a2a_handoffs",
		"/approvals", "/final_artifacts", "/cost/provider_breakdown", "/replay_input/materials", "/redactions",
	} {
		t.floor(list)
	}
	if r.replay.is {
		t.floor("/deltas")
	}

	const consumed = "/autonomy_budget/consumed"
	for _, count := range []string{"/tool_calls", "/input_tokens", "/output_tokens"} {
		t.floor(consumed + count)
	}
	if !slices.Contains(t.unreported, "/cost/total") {
		t.floor("/cost/total")
	}
	if t.untold(consumed + "/usd"); d.AutonomyBudget.Consumed.USD != nil {
		t.floor(consumed + "/usd")
	}
	for _, name := range []string{"source", "write_continuity", "memory_writes", "not_dispatched"} {
		switch _, have := d.Metadata[name]; {
		case have:
			t.floor("/metadata/" + name)
		case !r.sourced.is && (name == "memory_writes" || name == "not_dispatched"):
			t.untold("/metadata/" + name)
		}
	}
	// Otherwise, the task's times determine the duration.
	if r.sourced.wall != nil || slices.Contains(t.unreported, "/lifecycle/started_at") {
		t.floor(consumed + "/wall_time_ms")
	}
	if d.AutonomyBudget.Limit == nil && !r.sourced.is {
		t.untold("/autonomy_budget/limit")
	}
}
