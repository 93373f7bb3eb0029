package claude

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// These lists are closed: they name the types of records and blocks that state no action. A
// record of a type that is neither here nor read may state one, and is counted as unread.

// harmlessRecord reports a type of line of a transcript.
func harmlessRecord(kind string) bool {
	switch kind {
	case "summary", "file-history-snapshot", "queue-operation", "last-prompt", "mode", "custom-title", "ai-title":
		return true
	}
	return false
}

// isRecord reports a type of line of a transcript that is known.
func isRecord(kind string) bool {
	switch kind {
	case "assistant", "user", "system", "progress", "permission-mode", "pr-link", "frame-link", "attachment":
		return true
	}
	return harmlessRecord(kind)
}

// isStamped reports a type of line of a transcript that states its time.
func isStamped(kind string) bool {
	switch kind {
	case "assistant", "user", "system", "progress", "attachment":
		return true
	}
	return false
}

// harmlessSubtype reports whether the system lines of a transcript that have this subtype state
// no action.
func harmlessSubtype(sub string) bool {
	switch sub {
	case "turn_duration", "stop_hook_summary", "compact_boundary", "local_command", "model_refusal_fallback":
		return true
	}
	return false
}

// harmlessProgress reports a type of progress that states nothing but that something runs.
func harmlessProgress(kind string) bool {
	switch kind {
	case "bash_progress", "mcp_progress", "query_update", "search_results_received", "waiting_for_task":
		return true
	}
	return false
}

// harmlessAttachment reports a type of what Claude Code adds to a conversation.
func harmlessAttachment(kind string) bool {
	switch kind {
	case "task_reminder", "hook_additional_context", "nested_memory", "edited_text_file", "command_permissions", "deferred_tools_delta", "hook_success",
		"skill_listing", "mcp_instructions_delta", "hook_system_message", "agent_listing_delta", "queued_command", "auto_mode", "hook_non_blocking_error",
		"file", "compact_file_reference", "hook_blocking_error", "hook_error_during_execution", "hook_cancelled":
		return true
	}
	return false
}

// harmlessStream reports a type of line of a stream.
func harmlessStream(kind string) bool { return kind == "rate_limit_event" }

// harmlessSystem reports a subtype of the system lines of a stream.
func harmlessSystem(kind string) bool {
	switch kind {
	case "thinking_tokens", "hook_response", "compact_boundary", "status":
		return true
	}
	return false
}

// isCall reports whether a content block of this type calls a tool.
func isCall(kind string) bool {
	return kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use"
}

// isBlock reports whether a content block of this type is read in lines of this role, or is
// known to state no action. Each role has blocks of its own: a model calls tools, and the
// results of those that Claude Code runs are in lines of the user.
func isBlock(role, kind string) bool {
	switch kind {
	case "text", "thinking", "redacted_thinking", "image", "document", "fallback":
		return true
	case "tool_result":
		return role == "user"
	}
	return role == "assistant" && (isCall(kind) || isProviderResult(kind))
}

// isProviderResult reports the result of a tool that the provider ran.
func isProviderResult(kind string) bool {
	switch kind {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result":
		return true
	}
	return false
}

// unreadBlocks counts the blocks of a message that are not read in lines of this role.
func unreadBlocks(s *story.Story, role string, message canon.Node) {
	for _, b := range contents(message) {
		if kind := b.Member("type"); kind.Kind() == canon.KindString && !isBlock(role, kind.String()) {
			s.Ignored(role + "/" + cmp.Or(s.Name(kind), "None"))
		}
	}
}
