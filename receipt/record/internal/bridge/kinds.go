package bridge

import "github.com/receiptkit/receiptkit/receipt/internal/event"

// A frameKind describes the events to which a frame is translated.
type frameKind struct {
	Frame string // a method; for session/update and _harn/agentEvent, also the kind
	Event string // "" if the frame records no action and is known to be harmless
	Rule  string

	translate func(*Translator, *frame)
}

// parseAborted is the error category of a dropped candidate.
const parseAborted = "parse_aborted"

const (
	methodPermission = "session/request_permission"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodLoad       = "session/load"
	methodUpdate     = "session/update"
	methodAsked      = "harn.hitl.requested"
	methodRespond    = "harn.hitl.respond"
	methodBuiltin    = "builtin_call"
	methodHost       = "host/call"
	methodWriteFile  = "fs/write_text_file"
	methodReadFile   = "fs/read_text_file"
	methodTerminal   = "terminal/create"
	methodAgentEvent = "_harn/agentEvent"
)

// SentBy returns the only peer that may send a method, or SenderUnknown if either peer may send it.
// A frame from the other peer is rejected, because a runtime must not approve its own requests.
func SentBy(method string) Sender {
	switch method {
	case methodUpdate, methodPermission, methodAsked, methodBuiltin, methodHost, methodWriteFile, methodReadFile, methodTerminal, methodAgentEvent:
		return SenderAgent
	case methodPrompt, methodCancel, methodLoad, methodRespond:
		return SenderClient
	}
	return SenderUnknown
}

// frameKinds returns the kinds of frames in all dialects. docs/record.md is generated from this
// list. Runtime-specific members are read from _meta.harn or, if they are absent there, from the
// root.
func frameKinds() []frameKind {
	all := []frameKind{
		{methodPrompt, "user.message; task.submitted, task.started; by its response task.completed, task.failed, task.canceled",
			"the prompt is the task, unless there are task.* events among the frames; stopReason end_turn completes it, cancelled cancels it, and any other reason or an error fails it", translatePrompt},
		{methodLoad, "", "updates before its response, and before a prompt, are of earlier turns: skipped and counted. While the task runs, an update of a known object counts, and another one is ambiguous: refused", translateLoad},
		{methodCancel, "user.cancel_requested", "", translateCancel},
		{methodPermission, "tool.approval_required; by its response tool.approved or tool.denied", "the table of answers decides", translatePermission},
		{methodAsked, "tool.approval_required", "a question without approval_request is not an approval", translateAsked},
		{methodRespond, "user.tool_confirmation, user.input_submitted", "approved or accepted must be true, and its own response must not be an error; without both, it answers a question", translateResponded},
		{"session/update tool_call", "tool.requested, agent.mcp_tool_use", "candidates (parsing) wait until they are promoted", translateCall},
		{"session/update tool_call_update", "tool.requested, tool.completed, tool.failed", "new input opens the call again; completed and failed close it", translateCallUpdate},
		{"session/update handoff", "agent.handoff", "", translateHandoff},
		{"session/update worker_update", "agent.handoff", "by status, regardless of event and terminal; progress is recorded once", translateWorker},
		{"session/update artifact", "artifact.created, artifact.updated", "updated if the ID is known", translateArtifact},
		{"session/update transcript_compacted", "session.compacted", "", translateCompacted},
		{"session/update hitl_request", "tool.approval_required", "as harn.hitl.requested; once for each ID", translateAsked},
		{"session/update hitl_resolved", "tool.approved, tool.denied; hitl.response_received", "approved or accepted must be true", translateResolved},
		{"session/update user_message_chunk", "user.message", messageRule, chunk("user.message")},
		{"session/update agent_message_chunk", "agent.message", messageRule, chunk("agent.message")},
		{"session/update agent_thought_chunk", "agent.reasoning_summary", messageRule, chunk("agent.reasoning_summary")},
		{"session/update plan", "agent.message", "its entries by digest", translatePlan},
		{"session/update usage_update", "span.updated of kind usage", "cumulative: the last one counts", translateUsage},
		{methodBuiltin, hostEvents, "a tool of the host; its ID is that of the call, else builtin: and that of the request", translateBuiltin},
		{methodHost, hostEvents, "a capability of the host, as builtin_call; its ID is that of the call, else host: and that of the request. A query about the setup of the host is skipped", translateHost},
		{methodWriteFile, hostEvents, "as host/call; the file is written unless the host refuses", translateHost},
		{methodReadFile, hostEvents, "as host/call", translateHost},
		{methodTerminal, hostEvents, "as host/call", translateHost},
		{methodAgentEvent + " control_outcome", "user.cancel_requested", "if a session/cancel is accepted; its sender", translateControl},
	}

	for _, channel := range []string{methodUpdate, methodAgentEvent} {
		all = append(all,
			frameKind{channel + " composition_child_call", "tool.requested", "a call made by a snippet, with the kind in its annotations", translateChildCall},
			frameKind{channel + " composition_child_result", "tool.completed, tool.failed", "as tool_call_update", translateChildResult},
			frameKind{channel + " composition_start", "agent.message", compositionRule, translateComposition},
			frameKind{channel + " composition_finish", "agent.message; artifact.created, artifact.updated", compositionRule, translateComposition},
			frameKind{channel + " composition_error", "agent.message; artifact.created, artifact.updated", compositionRule, translateComposition},
		)
	}

	for _, name := range []string{"session/input", "session/inject", "agent/user_message", "user_message"} {
		all = append(all, frameKind{name, "user.message", "its params by digest", translateInput})
	}
	for _, name := range silentUpdates() {
		all = append(all, frameKind{Frame: "session/update " + name})
	}

	for _, name := range silentMethods() {
		all = append(all, frameKind{Frame: name})
	}
	for _, name := range silentAgentEvents() {
		all = append(all, frameKind{Frame: methodAgentEvent + " " + name})
	}
	return all
}

const (
	hostEvents      = "tool.requested; by its response tool.completed or tool.failed"
	compositionRule = "a code snippet, by digest; its effects are those of its calls"
)

const messageRule = "successive chunks are one message, by the digest of its content"

// silentUpdates returns the kinds of updates that are not translated to any event. For example, a
// change that fs_watch reports was not necessarily made by the agent.
func silentUpdates() []string {
	return []string{
		"session_info_update", "available_commands_update",
		"current_mode_update", "config_option_update", "fs_watch", "log", "progress", "skill_activated", "skill_deactivated", "skill_scope_tools",
		"skill_narrow", "tool_search_query", "tool_search_result", "reminder_emitted", "stance_transition", "transcript_projected", "live_session_client",
	}
}

func silentMethods() []string {
	return []string{
		"initialize", "authenticate", "session/new", "agent/idle", "agent/resume",
		"tool_search/query", "host/tools/list", "skills/list", "skills/fetch", "skills/update", "skill/match",
		"host/capabilities", "session/list", "session/set_mode", "session/set_config_option", "session/set_budget", "session/resume", "session/close",
		"session/attach", "session/detach", "session/heartbeat", "session/live_clients", "session/takeover", "session/cancel_tool_call",
		"terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release", "_harn/providerCatalog",
	}
}

// silentAgentEvents returns the kinds of _harn/agentEvent that describe the agent's loop.
func silentAgentEvents() []string {
	return []string{
		"agent_loop_stall_warning", "agent_scratchpad_reorganization", "boundary_failure", "budget_circuit_breaker", "budget_exhausted", "capability_gap",
		"code_librarian_query_nl_fallback", "compass_routing_decision", "daemon_watchdog_tripped", "feedback_injected", "final_wrapup", "host_attachment",
		"input_guardrail_verdict", "iteration_end", "iteration_start", "judge_decision", "judge_started", "loop_checkpoint", "loop_control_decision", "loop_stuck",
		"mcp_auth_required", "mcp_catalog_changed", "orchestration_decision", "pack_thinking_stripped", "progress_reported", "purpose_label",
		"repair_output_contract_applied", "require_successful_tools_violation", "reserved_terminal_verify", "scope_classifier_verdict", "self_consistency_tie",
		"session_closed", "step_judge_decision", "structural_validator_decision", "tool_batch_disposition", "tool_call_audit", "tool_format_override",
		"turn_phase_changed", "typed_checkpoint",
	}
}

// Tables returns this package's tables, by name, each as rows of cells.
func Tables() map[string][][]string {
	words := func(w event.Word) []string { return []string{w.Word, w.Means} }
	return map[string][][]string{
		"frames":    event.Rows(frameKinds(), func(k frameKind) []string { return []string{k.Frame, k.Event, k.Rule} }),
		"answers":   event.Rows(outcomes(), func(o outcome) []string { return []string{o.Answer, o.When, o.Decision} }),
		"workers":   event.Rows(workerEvents(), words),
		"stops":     event.Rows(stopReasons(), words),
		"terminals": event.Rows(terminals(), words),
	}
}
