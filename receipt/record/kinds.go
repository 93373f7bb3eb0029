package record

import (
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/turn"
)

// An eventKind says what an event becomes in a receipt.
type eventKind struct {
	Event   string
	Payload []string // members that are read; others are ignored and counted
	Receipt string   // members of the receipt; "" for an event that is evidence in the log alone

	apply func(*run, *event.Event)
	tells func(*event.Event) bool // whether one after the end would have changed the receipt; nil: always
}

// says reports whether an event changes the receipt.
func (k eventKind) says(e *event.Event) bool { return k.apply != nil && (k.tells == nil || k.tells(e)) }

// eventKinds returns the kinds of the protocol, group by group, and those in which a
// harness logs its durable approvals. docs/record.md is made from it. Events of
// receipts are not in it: issuing makes them.
func eventKinds() []eventKind {
	var all []eventKind
	for _, group := range [...][]eventKind{
		userKinds(), agentKinds(), taskKinds(), sessionKinds(), artifactKinds(), spanKinds(), toolKinds(), connectorKinds(), replayKinds(), hitlKinds(), sourceKinds(),
	} {
		all = append(all, group...)
	}
	return all
}

// kindsByName are the kinds by their events, made once: whoever reads many short logs makes a
// recorder for each.
var kindsByName = sync.OnceValue(func() map[string]eventKind { return byName(eventKinds()) })

func byName(table []eventKind) map[string]eventKind {
	kinds := make(map[string]eventKind, len(table))
	for _, k := range table {
		kinds[k.Event] = k
	}
	return kinds
}

func never(*event.Event) bool { return false }

func answerMembers(more ...string) []string {
	return append([]string{"approval_id", "request_id", "approval_request", "tool_call_id", "name", "action", "decision", "approved", "accepted", "actor", "reviewers", "signatures", "decided_at", "args", "args_sha256", "policy_ref", "reason", "session_id"}, more...)
}

func requestMembers() []string {
	return []string{"approval_id", "request_id", "approval_request", "tool_call_id", "name", "action", "input", "input_sha256", "approvers_required", "deadline", "policy_ref", "session_id",
		"kind", "mutation_scope", "run_id", "worker_id", "declared_paths"}
}

func callMembers(more ...string) []string {
	return append([]string{"tool_call_id", "name", "input", "input_sha256", "kind", "executor", "server", "mutation_scope", "run_id", "worker_id", "parent_call_id", "policy_ref", "executed", "content_sha256", "raw_status", "git_actions", "read_from_command"}, more...)
}

func resultMembers() []string {
	return callMembers("status", "is_error", "output", "output_sha256", "output_uri", "error_category", "error_sha256", "exit_code", "duration_ms", "execution_duration_ms", "fs_writes", "network_egress")
}

func userKinds() []eventKind {
	return []eventKind{
		{Event: "user.message"},
		{Event: "user.input_submitted"},
		{"user.tool_confirmation", answerMembers(), "approvals: evidence, and the decision when no other event tells it", confirmation, nil},
		{"user.cancel_requested", []string{"actor", "reason"}, "metadata.cancel_requested_by, metadata.cancel_reason", cancelRequested, never},
	}
}

func saysWithheld(e *event.Event) bool { return e.Payload.Member("withheld").Bool() }

func agentKinds() []eventKind {
	return []eventKind{
		{"agent.message", []string{"content_sha256", "form"}, "replay_input.determinism: a model said something", said, never},
		{"agent.reasoning_summary", []string{"withheld", "content_sha256"}, "redactions, when it is withheld; never its text", reasoningSummary, saysWithheld},
		{"agent.tool_use", callMembers(), "side_effects.tool_calls: opened", toolRequested, nil},
		{"agent.tool_result", resultMembers(), "side_effects.tool_calls: closed; replay_input.materials: mcp_tool_return, or host_fact", toolCompleted, nil},
		{"agent.mcp_tool_use", callMembers("url", "remote", "output_uri"), "side_effects.tool_calls: opened; network_egress when the server is remote", mcpToolUse, nil},
		{"agent.handoff", []string{"target_agent", "task_id", "unnamed", "status", "receipt_id"}, "side_effects.a2a_handoffs: the last status of each task", handoff, nil},
		{"agent.memory_read", []string{"memory_id", "sha256", "uri"}, "replay_input.materials: host_fact, host:memory: and the id", memoryRead, nil},
		{"agent.memory_write", append([]string{"memory_id"}, artifactMembers()...), "final_artifacts for an artifact, else metadata.memory_writes", memoryWrite, nil},
	}
}

func taskKinds() []eventKind {
	end := []string{"autonomy_tier", "reason", "actor", "failure"}
	return []eventKind{
		{"task.submitted", []string{"created_by", "autonomy_tier", "workspace_ref", "tenant_id", "persona_ref", "persona_id", "branch_id", "trace_id", "policy_ref", "autonomy_budget", "model_route"},
			"subject, identifiers, lifecycle.created_at, trust, autonomy_budget.limit, model_route", submitted, nil},
		{"task.started", []string{"autonomy_tier"}, "lifecycle.started_at: the first", started, nil},
		{"task.input_required", []string{"autonomy_tier"}, "trust.end_tier", waitsForInput, nil},
		{"task.auth_required", []string{"autonomy_tier"}, "trust.end_tier", waitsForAuth, nil},
		{"task.completed", end, "lifecycle: SUCCEEDED, trust.end_tier", ended("COMPLETED"), nil},
		{"task.failed", end, "lifecycle: FAILED and failure, trust.end_tier", ended("FAILED"), nil},
		{"task.canceled", end, "lifecycle: CANCELED, trust.end_tier, metadata.cancel_requested_by, metadata.cancel_reason", ended("CANCELED"), nil},
		{"task.status_changed", []string{"status", "autonomy_tier"}, "lifecycle.started_at, trust.end_tier; a terminal status has its own kind", statusChanged, saysStatus},
	}
}

// saysStatus reports whether a status is not one of the terminal ones, which may
// accompany the terminal event.
func saysStatus(e *event.Event) bool {
	for _, end := range endings() {
		if end.Task == e.Payload.Member("status").String() {
			return false
		}
	}
	return true
}

func sessionKinds() []eventKind {
	return []eventKind{
		{Event: "session.created"},
		{Event: "session.closed"},
		{Event: "session.message_appended"},
		{"session.compacted", []string{"snapshot_asset_id", "uri", "sha256"}, "replay_input.materials: the snapshot, an artifact", compacted, saysSnapshot},
		{Event: "session.truncated"},
		{Event: "session.thread_forked"},
		{Event: "session.thread_merged"},
		{Event: "session.replayed"},
		{"branch.created", []string{"branch_id"}, "identifiers.branch_id", branchCreated, never},
		{Event: "branch.updated"},
		{Event: "branch.merged"},
		{Event: "branch.abandoned"},
	}
}

func saysSnapshot(e *event.Event) bool { return !event.Absent(e.Payload.Member("snapshot_asset_id")) }

func artifactMembers() []string {
	return []string{"artifact_id", "kind", "uri", "sha256", "applied", "tool_call_id", "path", "operation", "from", "before_sha256", "after_sha256"}
}

func artifactKinds() []eventKind {
	const what = "final_artifacts: the last version; side_effects.fs_writes when it is applied"
	return []eventKind{
		{"artifact.created", artifactMembers(), what, artifactChanged, nil},
		{"artifact.updated", artifactMembers(), what, artifactChanged, nil},
		{"artifact.linked", artifactMembers(), what, artifactChanged, nil},
		{"artifact.redacted", []string{"artifact_id", "kind", "sha256", "reason"}, "final_artifacts without uri; redactions", artifactRedacted, nil},
	}
}

func spanKinds() []eventKind {
	members := []string{
		"kind", "name", "span_id", "tool_call_id", "agent", "provider", "model", "version", "reason", "model_route", "input_tokens", "output_tokens",
		"cache_read_input_tokens", "cache_creation_input_tokens", "reasoning_output_tokens", "cost",
		"response", "response_sha256", "response_uri", "url", "host", "destination", "purpose", "bytes_sent", "path", "operation", "from", "before_sha256", "after_sha256", "at_least", "apart",
	}
	return []eventKind{
		{"span.started", members, "kind llm: model_route, and that a model was called, whatever came of it; http, fs: metadata.unreported, when nothing tells the end", spanStarted, saysStarted},
		{"span.updated", []string{"kind", "cost", "used", "size", "loaded", "earlier"}, "kind usage: cost, the account of the session so far", spanUpdated, saysUsage},
		{"span.completed", members, "kind llm: model_route, cost, autonomy_budget.consumed, replay_input.materials; http: network_egress; fs: fs_writes", spanCompleted, saysSpan},
		{"span.failed", members, "kind llm: model_route, cost, autonomy_budget.consumed; http: network_egress", spanFailed, saysSpan},
	}
}

func toolKinds() []eventKind {
	return []eventKind{
		{"tool.requested", callMembers(), "side_effects.tool_calls: opened", toolRequested, nil},
		{"tool.approval_required", requestMembers(), "approvals: pending; at the end canceled with the task, else timeout", approvalRequired, nil},
		{"tool.approved", answerMembers(), "approvals: the decision; tool_calls: the arguments when they were changed", toolApproved, nil},
		{"tool.denied", answerMembers(), "approvals: denied, canceled or timeout; tool_calls: canceled", toolDenied, nil},
		{"tool.completed", resultMembers(), "side_effects.tool_calls: closed; replay_input.materials: mcp_tool_return, or host_fact; fs_writes, network_egress", toolCompleted, nil},
		{"tool.failed", resultMembers(), "side_effects.tool_calls: failed, or canceled; fs_writes, network_egress", toolFailed, nil},
	}
}

func connectorKinds() []eventKind {
	trigger := []string{"connector_id", "delivery_id"}
	return []eventKind{
		{"connector.delivery_received", trigger, "metadata.trigger: the first", triggered, never},
		{Event: "connector.delivery_deduped"},
		{Event: "connector.normalized"},
		{"connector.task_submitted", trigger, "metadata.trigger: the first", triggered, never},
		{Event: "connector.failed"},
	}
}

func replayKinds() []eventKind {
	return []eventKind{
		{"replay.started", []string{"source_task_id", "mode", "source_receipt_hash", "source_log_sha256", "source_log_uri", "source_log_events", "checkpoint_id", "checkpoint_event_id", "overrides_unused"},
			"subject: replay_segment; replay_input.materials: the source's log; metadata.source_task_id, replay_mode, source_receipt_hash, checkpoint_id, checkpoint_event_id, overrides_unused", replayStarted, nil},
		{"replay.event_replayed", []string{"override_key", "kind", "delta_id", "operation", "path", "event_id", "artifact_id", "reason", "before_sha256", "after_sha256", "value"},
			"deltas, when a substitution made the event; lifecycle, for the value of a time", eventReplayed, saysOverride},
		{Event: "replay.completed"},
		{"replay.failed", []string{"code", "message", "first_unavailable"}, "replay_input: unavailable, and why", replayFailed, nil},
	}
}

func eventReplayed(r *run, e *event.Event) { r.replay.substituted(r, e) }

func saysOverride(e *event.Event) bool {
	return !event.Absent(e.Payload.Member("override_key")) || !event.Absent(e.Root.Member("replay").Member("override_key"))
}

// hitlKinds are the kinds of the log of durable approvals. Questions are not approvals.
func hitlKinds() []eventKind {
	const pending, answer = "approvals: pending", "approvals: the decision"
	return []eventKind{
		{Event: "hitl.question_asked"},
		{Event: "hitl.response_received"},
		{"hitl.approval_requested", requestMembers(), pending, approvalRequired, nil},
		{"hitl.approval_approved", answerMembers(), answer, toolApproved, nil},
		{"hitl.approval_denied", answerMembers(), answer, toolDenied, nil},
		{"hitl.timeout", answerMembers(), "approvals: timeout", timedOut, nil},
		{"hitl.dual_control_requested", requestMembers(), pending, approvalRequired, nil},
		{"hitl.dual_control_approved", answerMembers(), answer, toolApproved, nil},
		{"hitl.dual_control_denied", answerMembers(), answer, toolDenied, nil},
		{Event: "hitl.dual_control_executed"},
		{"hitl.escalation_issued", requestMembers(), pending, approvalRequired, nil},
		{"hitl.escalation_accepted", answerMembers(), answer, toolApproved, nil},
	}
}

// sourceKinds are those in which package source tells what a log of another agent says of
// itself, and what it does not say.
func sourceKinds() []eventKind {
	return []eventKind{
		{"source.read", []string{"kind", "workspace_ref", "workspace_root", "workspace_roots", "policy_ref", "trace_id", "model", "wall_time_ms", "timed", "estimated", "partial", "unreported", "at_least", "inferred", "logs", "ignored_records", "write_continuity", "prompts", "about"},
			"metadata.source, metadata.ignored_records, metadata.write_continuity, metadata.unreported, metadata.at_least, metadata.inferred; replay_input.materials: the logs; identifiers, model_route", sourceRead, nil},
		{"source.unread", []string{"ignored_records", "content_sha256"}, "metadata.ignored_records, metadata.unreported, metadata.at_least", sourceUnread, nil},
		{"source.ended", []string{"autonomy_tier"}, "lifecycle: the end, and that nothing tells how", sourceEnded, nil},
	}
}

// Tables returns the tables that a recording follows, by their names, as rows of cells. The
// documentation of the command shows them.
func Tables() map[string][][]string {
	words := func(w event.Word) []string { return []string{w.Word, w.Means} }
	tables := bridge.Tables()
	for name, rows := range map[string][][]string{
		"events":         event.Rows(eventKinds(), func(k eventKind) []string { return []string{k.Event, k.Receipt} }),
		"transitions":    event.Rows(transitions(), func(t transition) []string { return []string{t.From, strings.Join(t.To, ", ")} }),
		"endings":        event.Rows(endings(), func(e ending) []string { return []string{e.Task, e.Receipt} }),
		"contradictions": event.Rows(contradictionWords(), func(c contradictionWord) []string { return []string{c.What, c.Means} }),
		"decisions":      event.Rows(event.Decisions(), words),
		"results":        event.Rows(toolStatuses(), words),
		"handoffs":       event.Rows(event.HandoffStatuses(), words),
		"limits":         event.Rows(event.Limits(), func(l event.Limit) []string { return []string{strconv.FormatInt(l.Most, 10), l.Name, l.Of} }),
		"categories":     event.Rows(turn.Categories(), func(c turn.Category) []string { return []string{c.Name, string(c.Bucket)} }),
	} {
		tables[name] = rows
	}
	return tables
}
