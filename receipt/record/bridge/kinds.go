package bridge

// A frameKind says which event a frame becomes.
type frameKind struct {
	Frame string // a method; for session/update with the kind of the update
	Event string // "" for a frame that says nothing a receipt tells
	Rule  string

	translate func(*Translator, *frame)
}

// parseAborted is the category of the error of a candidate that was dropped.
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
)

// SentBy returns who sends a method that decides something; SenderUnknown: either may.
// One that the log says the other peer sent is refused: a runtime does not approve what
// it asked for.
func SentBy(method string) Sender {
	switch method {
	case methodUpdate, methodPermission, methodAsked, methodBuiltin:
		return SenderAgent
	case methodPrompt, methodCancel, methodLoad, methodRespond:
		return SenderClient
	}
	return SenderUnknown
}

// frameKinds returns the frames of all dialects. docs/record.md is made from it.
// The runtime's own members are read under _meta.harn, else at the root.
func frameKinds() []frameKind {
	all := []frameKind{
		{methodPrompt, "user.message; task.submitted, task.started; by its response task.completed, task.failed, task.canceled",
			"the life of the task is the prompt's unless task.* events are given beside the frames; stopReason end_turn completes, cancelled cancels, any other and an error fail", translatePrompt},
		{methodLoad, "", "updates before its response, and before a prompt, tell earlier turns: passed over, and counted. While the task runs an update of something known counts, and one that is of none cannot be placed: refused", translateLoad},
		{methodCancel, "user.cancel_requested", "", translateCancel},
		{methodPermission, "tool.approval_required; by its response tool.approved or tool.denied", "decided by the table of outcomes", translatePermission},
		{methodAsked, "tool.approval_required", "a question without approval_request is none", translateAsked},
		{methodRespond, "user.tool_confirmation, user.input_submitted", "approved or accepted must be true, and its own response no error; one without either answers a question", translateResponded},
		{"session/update tool_call", "tool.requested, agent.mcp_tool_use", "candidates (parsing) wait until they are promoted", translateCall},
		{"session/update tool_call_update", "tool.requested, tool.completed, tool.failed", "input that is new opens the call again; completed and failed close it", translateCallUpdate},
		{"session/update handoff", "agent.handoff", "", translateHandoff},
		{"session/update worker_update", "agent.handoff", "by status, whatever event and terminal say; progress is told once", translateWorker},
		{"session/update artifact", "artifact.created, artifact.updated", "updated when the id came before", translateArtifact},
		{"session/update transcript_compacted", "session.compacted", "", translateCompacted},
		{"session/update hitl_request", "tool.approval_required", "as harn.hitl.requested; asked once for each id", translateAsked},
		{"session/update hitl_resolved", "tool.approved, tool.denied; hitl.response_received", "approved or accepted must be true", translateResolved},
		{"session/update user_message_chunk", "user.message", messageRule, chunk("user.message")},
		{"session/update agent_message_chunk", "agent.message", messageRule, chunk("agent.message")},
		{"session/update agent_thought_chunk", "agent.reasoning_summary", messageRule, chunk("agent.reasoning_summary")},
		{"session/update plan", "agent.message", "its entries by their digest", translatePlan},
		{"session/update usage_update", "span.updated of kind usage", "cumulative: the last one counts", translateUsage},
		{methodBuiltin, "tool.requested; by its response tool.completed or tool.failed", "a tool of the host; its id is the call's, else builtin: and the request's", translateBuiltin},
	}

	for _, name := range []string{"session/input", "session/inject", "agent/user_message", "user_message"} {
		all = append(all, frameKind{name, "user.message", "its params by their digest", translateInput})
	}
	for _, name := range silentUpdates() {
		all = append(all, frameKind{Frame: "session/update " + name})
	}

	for _, name := range silentMethods() {
		all = append(all, frameKind{Frame: name})
	}
	return all
}

const messageRule = "chunks that follow each other are one message, by the digest of its content"

// silentUpdates are never written down: a file that changed was not changed by the
// agent for sure.
func silentUpdates() []string {
	return []string{
		"session_info_update", "available_commands_update",
		"current_mode_update", "config_option_update", "fs_watch", "log", "progress", "skill_activated", "skill_deactivated", "skill_scope_tools",
		"skill_narrow", "tool_search_query", "tool_search_result", "reminder_emitted", "stance_transition", "transcript_projected",
	}
}

func silentMethods() []string {
	return []string{
		"initialize", "authenticate", "session/new", "agent/idle", "agent/resume",
		"tool_search/query", "host/tools/list", "skills/list", "skills/fetch", "skills/update", "skill/match",
	}
}
