package record

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
	"github.com/receiptkit/receiptkit/schemas"
)

// An eventKind describes the effect of an event on a receipt.
type eventKind struct {
	Event   string
	Receipt string // the affected members of the receipt; "" for an event that is only evidence in the log

	apply func(*run, *event.Event)

	// tells reports whether an event would change the receipt after the end of the task. If tells
	// is nil, every event would change the receipt.
	tells func(*event.Event) bool
}

// says reports whether an event changes the receipt.
func (k eventKind) says(e *event.Event) bool { return k.apply != nil && (k.tells == nil || k.tells(e)) }

// eventKinds returns the kinds of events in the protocol, by group, and the kinds that a harness
// uses to log durable approvals. It omits the kinds of receipt events, which are created when a
// receipt is issued. docs/record.md is generated from the table. The event schema lists the members
// of payloads; see forms.
func eventKinds() []eventKind {
	const (
		version         = "final_artifacts: the last version; side_effects.fs_writes if it is applied"
		pending, answer = "approvals: pending", "approvals: the decision"
	)
	return []eventKind{
		{Event: "user.message"},
		{Event: "user.input_submitted"},
		{"user.tool_confirmation", "approvals: evidence, and the decision if no other event states it", confirmation, nil},
		{"user.cancel_requested", "metadata.cancel_requested_by, metadata.cancel_reason", cancelRequested, never},

		{"agent.message", "replay_input.determinism: a model answered", said, never},
		{"agent.reasoning_summary", "redactions, if it is withheld; never its text", reasoningSummary, saysWithheld},
		{"agent.tool_use", "side_effects.tool_calls: opened", toolRequested, nil},
		{"agent.tool_result", "side_effects.tool_calls: closed; replay_input.materials: mcp_tool_return, or host_fact", toolCompleted, nil},
		{"agent.mcp_tool_use", "side_effects.tool_calls: opened; network_egress if the server is remote", mcpToolUse, nil},
		{"agent.handoff", "side_effects.a2a_handoffs: the last status of each task", handoff, nil},
		{"agent.memory_read", "replay_input.materials: host_fact, host:memory: and the ID", memoryRead, nil},
		{"agent.memory_write", "final_artifacts for an artifact, else metadata.memory_writes", memoryWrite, nil},

		{"task.submitted", "subject, identifiers, lifecycle.created_at, trust, autonomy_budget.limit, model_route", submitted, nil},
		{"task.started", "lifecycle.started_at: the first", started, nil},
		{"task.input_required", "trust.end_tier", waitsForInput, nil},
		{"task.auth_required", "trust.end_tier", waitsForAuth, nil},
		{"task.completed", "lifecycle: SUCCEEDED, trust.end_tier", ended("COMPLETED"), nil},
		{"task.failed", "lifecycle: FAILED and failure, trust.end_tier", ended("FAILED"), nil},
		{"task.canceled", "lifecycle: CANCELED, trust.end_tier, metadata.cancel_requested_by, metadata.cancel_reason", ended("CANCELED"), nil},
		{"task.status_changed", "lifecycle.started_at, trust.end_tier; a terminal status has its own kind", statusChanged, saysStatus},

		{Event: "session.created"},
		{Event: "session.closed"},
		{Event: "session.message_appended"},
		{"session.compacted", "replay_input.materials: the snapshot, an artifact", compacted, saysSnapshot},
		{Event: "session.truncated"},
		{Event: "session.thread_forked"},
		{Event: "session.thread_merged"},
		{Event: "session.replayed"},
		{"branch.created", "identifiers.branch_id", branchCreated, never},
		{Event: "branch.updated"},
		{Event: "branch.merged"},
		{Event: "branch.abandoned"},

		{"artifact.created", version, artifactChanged, nil},
		{"artifact.updated", version, artifactChanged, nil},
		{"artifact.linked", version, artifactChanged, nil},
		{"artifact.redacted", "final_artifacts without uri; redactions", artifactRedacted, nil},

		{"span.started", "kind llm: model_route, and that a model was called, regardless of the result; http, fs: metadata.unreported, if the end is not recorded", spanStarted, saysStarted},
		{"span.updated", "kind usage: cost, the account of the session so far", spanUpdated, saysUsage},
		{"span.completed", "kind llm: model_route, cost, autonomy_budget.consumed, replay_input.materials; http: network_egress; fs: fs_writes", spanCompleted, saysSpan},
		{"span.failed", "kind llm: model_route, cost, autonomy_budget.consumed; http: network_egress", spanFailed, saysSpan},

		{"tool.requested", "side_effects.tool_calls: opened", toolRequested, nil},
		{"tool.approval_required", "approvals: pending; at the end, canceled with the task, or else timeout", approvalRequired, nil},
		{"tool.approved", "approvals: the decision; tool_calls: the arguments if they were changed", toolApproved, nil},
		{"tool.denied", "approvals: denied, canceled, or timeout; tool_calls: canceled", toolDenied, nil},
		{"tool.completed", "side_effects.tool_calls: closed; replay_input.materials: mcp_tool_return, or host_fact; fs_writes, network_egress", toolCompleted, nil},
		{"tool.failed", "side_effects.tool_calls: failed, or canceled; fs_writes, network_egress", toolFailed, nil},

		{"connector.delivery_received", "metadata.trigger: the first", triggered, never},
		{Event: "connector.delivery_deduped"},
		{Event: "connector.normalized"},
		{"connector.task_submitted", "metadata.trigger: the first", triggered, never},
		{Event: "connector.failed"},

		{"replay.started", "subject: replay_segment; replay_input.materials: the source's log; metadata.source_task_id, replay_mode, source_receipt_hash, checkpoint_id, checkpoint_event_id, overrides_unused", replayStarted, nil},
		{"replay.event_replayed", "deltas, if a substitution created the event; lifecycle, for the value of a time", eventReplayed, saysOverride},
		{Event: "replay.completed"},
		{"replay.failed", "replay_input: unavailable, with the reason", replayFailed, nil},

		// These kinds are from the log of durable approvals. Questions in this log are not
		// approvals.
		{Event: "hitl.question_asked"},
		{Event: "hitl.response_received"},
		{"hitl.approval_requested", pending, approvalRequired, nil},
		{"hitl.approval_approved", answer, toolApproved, nil},
		{"hitl.approval_denied", answer, toolDenied, nil},
		{"hitl.timeout", "approvals: timeout", timedOut, nil},
		{"hitl.dual_control_requested", pending, approvalRequired, nil},
		{"hitl.dual_control_approved", answer, toolApproved, nil},
		{"hitl.dual_control_denied", answer, toolDenied, nil},
		{Event: "hitl.dual_control_executed"},
		{"hitl.escalation_issued", pending, approvalRequired, nil},
		{"hitl.escalation_accepted", answer, toolApproved, nil},

		// Package source uses these kinds to describe the log of another agent, and the values that
		// the log does not record.
		{"source.read", "metadata.source, metadata.ignored_records, metadata.write_continuity, metadata.unreported, metadata.at_least, metadata.inferred; replay_input.materials: the logs; identifiers, model_route", sourceRead, nil},
		{"source.unread", "metadata.ignored_records, metadata.unreported, metadata.at_least", sourceUnread, nil},
		{"source.ended", "lifecycle: the end, of unknown outcome", sourceEnded, nil},
	}
}

// kindsByName maps the names of events to their kinds. It is computed only once, because programs
// that read many short logs create a recorder for each log.
var kindsByName = sync.OnceValue(func() map[string]eventKind { return byName(eventKinds()) })

func byName(table []eventKind) map[string]eventKind {
	kinds := make(map[string]eventKind, len(table))
	for _, k := range table {
		kinds[k.Event] = k
	}
	return kinds
}

func never(*event.Event) bool { return false }

func saysWithheld(e *event.Event) bool { return e.Payload.Member("withheld").Bool() }

// saysStatus reports whether the status in an event is not terminal. A terminal status may be
// reported in addition to the event that ends the task.
func saysStatus(e *event.Event) bool { return !endings().Has(e.Payload.Member("status").String()) }

func saysSnapshot(e *event.Event) bool { return !event.Absent(e.Payload.Member("snapshot_asset_id")) }

func eventReplayed(r *run, e *event.Event) { r.replay.substituted(r, e) }

func saysOverride(e *event.Event) bool {
	return !event.Absent(e.Payload.Member("override_key")) || !event.Absent(e.Root.Member("replay").Member("override_key"))
}

// Tables returns the tables that define how events and frames are recorded, by name. Each table is
// a list of rows, and each row is a list of cells. The command's documentation includes them.
func Tables() map[string][][]string {
	words := func(w event.Word) []string { return []string{w.Word, w.Means} }
	tables := bridge.Tables()
	for name, rows := range map[string][][]string{
		"events":         event.Rows(eventKinds(), func(k eventKind) []string { return []string{k.Event, k.Receipt} }),
		"transitions":    event.Rows(transitions(), func(t transition) []string { return []string{t.From, strings.Join(t.To, ", ")} }),
		"endings":        event.Rows(endings(), words),
		"contradictions": event.Rows(contradictionWords(), func(c contradictionWord) []string { return []string{c.What, c.Means} }),
		"decisions":      event.Rows(event.Decisions(), words),
		"results":        event.Rows(toolStatuses(), words),
		"handoffs":       event.Rows(event.HandoffStatuses(), words),
		"limits":         event.Rows(event.Limits(), func(l event.Limit) []string { return []string{strconv.FormatInt(l.Most, 10), l.Name, l.Of} }),
		"categories":     event.Rows(event.Buckets(), words),
	} {
		tables[name] = rows
	}
	return tables
}

// A form describes the payload of a kind of event: the members that are read, and the values that
// each member accepts. A nil Want accepts any value. Other members are ignored, but counted.
type form map[string]event.Want

// forms returns the form of each event kind whose payload is read. The forms are derived from the
// event schema, which lists the kinds, their members, and the type of each member.
var forms = sync.OnceValue(func() map[string]form {
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		panic(err) // the schema is part of this module
	}

	s := eventSchema{doc.Root()}
	all := map[string]form{}
	for _, rule := range s.Member("allOf").Elements() {
		if !rule.Member("$comment").IsZero() { // the rule restricts kinds that have a form
			continue
		}
		_, payload := s.resolve(rule.Member("then").Member("properties").Member("payload"))
		f := form{}
		for name, member := range payload.Member("properties").Members() {
			f[name.String()] = s.want(member, false)
		}
		for _, kind := range kindsOf(rule) {
			all[kind] = f
		}
	}
	return all
})

// kindsOf returns the kinds to which a rule in the schema applies.
func kindsOf(rule canon.Node) (kinds []string) {
	of := rule.Member("if").Member("properties").Member("event")
	if one := of.Member("const"); !one.IsZero() {
		return []string{one.String()}
	}
	for _, kind := range of.Member("enum").Elements() {
		kinds = append(kinds, kind.String())
	}
	return kinds
}

// An eventSchema contains the parts of the event schema that define the types of members. Its
// conditions, patterns, and limits are not read, because the functions that apply an event check
// the values that they need.
type eventSchema struct{ canon.Node }

// resolve returns the name of the definition to which a $ref refers and the definition itself.
func (s eventSchema) resolve(n canon.Node) (name string, def canon.Node) {
	ref := n.Member("$ref")
	if ref.IsZero() {
		return "", n
	}
	name = strings.TrimPrefix(ref.String(), "#/$defs/")
	return name, s.Member("$defs").Member(name)
}

// want returns the values that a member accepts, or nil for any value. Empty names in the payload
// itself are not rejected here, but by the function that applies the event.
func (s eventSchema) want(n canon.Node, nested bool) event.Want {
	name, n := s.resolve(n)
	types := typesOf(n)
	switch {
	case name == "amount":
		return event.WantMoney
	case name == "actor":
		return event.WantActor
	case name == "digest":
		return event.WantDigest
	case name == "name" && nested:
		return event.WantName
	case n.Member("format").String() == "date-time":
		return event.WantTime
	case slices.Contains(types, "array"):
		return event.WantList(s.want(n.Member("items"), true))
	case slices.Contains(types, "object"):
		return s.wantObject(n)
	case slices.Contains(types, "integer"):
		return event.WantCount
	case slices.Contains(types, "boolean"):
		return event.WantFlag
	case slices.Contains(types, "string"), !n.Member("enum").IsZero():
		return event.WantText
	}
	return nil
}

// wantObject returns the values that an object accepts, including the members from the definitions
// that it extends.
func (s eventSchema) wantObject(n canon.Node) event.Want {
	members := map[string]event.Want{}
	var required []string
	add := func(n canon.Node) {
		for name, member := range n.Member("properties").Members() {
			members[name.String()] = s.want(member, true)
		}
		for _, name := range n.Member("required").Elements() {
			required = append(required, name.String())
		}
	}

	add(n)
	for _, of := range n.Member("allOf").Elements() {
		_, def := s.resolve(of)
		add(def)
	}
	return event.WantObject(members, required...)
}

// typesOf returns the value types that a definition allows.
func typesOf(n canon.Node) (types []string) {
	of := n.Member("type")
	if of.Kind() == canon.KindString {
		return []string{of.String()}
	}
	for _, t := range of.Elements() {
		types = append(types, t.String())
	}
	return types
}
