package otlp

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/record/source/story"
)

// These lists are closed: they name the spans and events that state no action of an agent. One
// of another type may state one, and is counted as unread. Spans that follow no convention of
// agents are those of programs and libraries around them.

// unreadSpan is the type of a span that follows a convention of agents and is not read; "" for
// every other span.
func unreadSpan(s *story.Story, a attributes, is class) string {
	if is != other {
		return ""
	}
	word := func(name string) string { return a.get(name).Member("stringValue").String() }
	operation, kind := word("gen_ai.operation.name"), word("openinference.span.kind")
	switch {
	case operation != "":
		switch operation {
		case "embeddings", "retrieval", "invoke_workflow":
			return ""
		}
		return story.Joined(s, "span/"+operation)
	case kind != "":
		switch kind {
		case "CHAIN", "RETRIEVER", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT", "EMBEDDING":
			return ""
		}
		return story.Joined(s, "span/"+kind)
	}

	switch kind := word("traceloop.span.kind"); {
	case kind == "workflow", kind == "task", kind == "agent":
		return ""
	case kind != "":
		return story.Joined(s, "span/"+kind)
	case !a.get("gen_ai.tool.name", "tool.name").IsZero():
		return "span/None"
	}
	return ""
}

// harmlessEvent reports the name of an event, without that of the agent before it.
func harmlessEvent(name string) bool {
	switch name {
	case "user_prompt", "api_error", "api_request_body", "api_response_body", "api_retries_exhausted", "internal_error", "auth", "at_mention",
		"permission_mode_changed", "mcp_server_connection", "skill_activated", "hook_execution_start", "hook_execution_complete", "compaction",
		"conversation_starts", "websocket_request", "websocket_event":
		return true
	}
	return false
}

// unreadEvent is the type of an event that is not read. The body of a record is no name of it.
func unreadEvent(s *story.Story, a attributes, eventName string) string {
	return story.Joined(s, "event/"+cmp.Or(strings.TrimSpace(cmp.Or(a.text(s, "event.name"), eventName)), "None"))
}
