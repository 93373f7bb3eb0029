package claude

import (
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// harmless lists the types that record no action, by class of record. A record of any other type
// may record an action, and is counted as unread unless it is read.
var harmless = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		// Transcripts.
		"line": {
			"summary", "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "mode", "custom-title", "ai-title", "tools-used", "atis-latch", "cost-state",
			"api-request", "api-request-blob", "api-request-shape",
		},
		"system":   {"turn_duration", "stop_hook_summary", "compact_boundary", "local_command", "model_refusal_fallback"},
		"progress": {"bash_progress", "mcp_progress", "query_update", "search_results_received", "waiting_for_task"},
		"attachment": {
			"task_reminder", "hook_additional_context", "nested_memory", "edited_text_file", "command_permissions", "deferred_tools_delta", "hook_success",
			"skill_listing", "mcp_instructions_delta", "hook_system_message", "agent_listing_delta", "queued_command", "auto_mode", "hook_non_blocking_error",
			"file", "compact_file_reference", "hook_blocking_error", "hook_error_during_execution", "hook_cancelled",
			"environment", "model", "date", "session_context", "prompt_snapshot", "remote_session_change", "silent_turn_reminder",
		},

		// Streams.
		"stream":        {"rate_limit_event"},
		"stream system": {"thinking_tokens", "hook_response", "compact_boundary", "status"},
		"delta":         {"text_delta", "thinking_delta", "signature_delta", "citations_delta"},
	}
})

// isRecord reports whether a type of transcript line is known.
func isRecord(kind string) bool {
	return isStamped(kind) || kind == "permission-mode" || kind == "pr-link" || kind == "frame-link" || slices.Contains(harmless()["line"], kind)
}

// isStamped reports whether transcript lines of this type contain a time.
func isStamped(kind string) bool {
	switch kind {
	case "assistant", "user", "system", "progress", "attachment":
		return true
	}
	return false
}

// isCall reports whether a content block of this type calls a tool.
func isCall(kind string) bool {
	return kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use"
}

// isBlock reports whether a content block of this type is read in lines of this role, or is known
// to record no action. Each role has its own block types: a model calls tools, and the results of
// tools that Claude Code runs are in user lines.
func isBlock(role, kind string) bool {
	switch kind {
	case "text", "thinking", "redacted_thinking", "image", "document", "fallback":
		return true
	case "tool_result":
		return role == "user"
	}
	return role == "assistant" && (isCall(kind) || isProviderResult(kind))
}

// isProviderResult reports whether a content block of this type is the result of a tool that the
// provider executed.
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
			s.Unknown(role+"/", kind)
		}
	}
}
