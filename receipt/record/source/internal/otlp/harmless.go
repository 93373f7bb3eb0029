package otlp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// The lists in this file are closed: they contain all spans and events that record none of an
// agent's actions. A span or an event of any other type may record an action, and is counted as
// unread. Spans that follow no agent convention come from programs and libraries other than agents.

// A convention describes an attribute that contains the type of a span, and lists the types that
// record no action.
type convention struct {
	name     string
	harmless []string
}

// conventions lists the agent conventions, with the most specific first.
func conventions() []convention {
	return []convention{
		{"gen_ai.operation.name", []string{"embeddings", "retrieval", "invoke_workflow"}},
		{"openinference.span.kind", []string{"CHAIN", "RETRIEVER", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT", "EMBEDDING"}},
		{"traceloop.span.kind", []string{"workflow", "task", "agent"}},
		{"langfuse.observation.type", []string{"span", "event", "generation", "agent", "chain", "retriever", "evaluator", "embedding", "guardrail"}},
		{"mcp.method.name", []string{"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "notifications/initialized", "notifications/progress"}},
		{"ai.operationId", []string{
			"ai.generateText", "ai.generateText.doGenerate", "ai.streamText", "ai.streamText.doStream", "ai.generateObject", "ai.generateObject.doGenerate",
			"ai.streamObject", "ai.streamObject.doStream", "ai.embed", "ai.embed.doEmbed", "ai.embedMany", "ai.embedMany.doEmbed",
		}},
	}
}

// unreadSpan returns the type of a span that follows an agent convention but is not read, or "" for
// any other span. If the type is unreadable, or if there are two types, the span is unread
// regardless of its class.
func unreadSpan(s *story.Story, a attributes, is class, name string) string {
	kind, follows := "", false
	for _, c := range conventions() {
		v := a.get(c.name)
		if v.IsZero() {
			continue
		}
		word := v.Member("stringValue").String()

		// An unreadable type may be any type.
		if a.ambiguous(c.name) {
			return "span/None"
		}
		if word != "" && kind == "" && !slices.Contains(c.harmless, word) {
			kind = word
		}
		follows = follows || word != ""
	}

	// Spans of a known class are read, unless they also have attributes of a call.
	switch {
	case is == other && kind != "":
		return story.Joined(s, "span/"+kind)
	case is != toolCall && !a.get("gen_ai.tool.name", "gen_ai.tool.call.id", "tool.name", "ai.toolCall.id", "ai.toolCall.name").IsZero():
		return "span/None" // the span has attributes of a call, but another type
	case is != other, follows:
		return ""
	}

	return unnamedSpan(s, a, name)
}

// unnamedSpan infers the type of a span without an explicit type, if its name or attributes follow
// an agent convention.
func unnamedSpan(s *story.Story, a attributes, name string) string {
	switch name {
	case "claude_code.interaction", "claude_code.llm_request", "claude_code.hook":
		return ""
	}

	// A span without a type may follow a convention in its name or in an attribute.
	for _, prefix := range []string{"claude_code.", "codex.", "ai.toolCall", "tools/call", "invoke_agent", "create_agent", "chat ", "text_completion ", "generate_content ", "embeddings "} {
		if strings.HasPrefix(name, prefix) {
			return story.Joined(s, "span/"+prefix)
		}
	}
	if !a.get("tool_name").IsZero() {
		return "span/None"
	}

	for _, x := range a.list.Elements() {
		if prefix := conventionOf(x.Member("key")); prefix != "" {
			return "span/" + prefix
		}
	}

	return ""
}

// conventionOf returns the prefix of an attribute that follows an agent convention, or "". It
// ignores attributes that name the agent or the session, because exporters add them to all spans,
// including spans for HTTP requests and databases.
func conventionOf(key canon.Node) string {
	name := key.Text()
	has := func(prefix string) bool { return strings.HasPrefix(string(name[:min(len(name), 64)]), prefix) }

	// Attributes about the agent or the session are in all spans.
	for _, about := range []string{
		"gen_ai.conversation.", "gen_ai.agent.", "gen_ai.task.", "traceloop.association.", "traceloop.workflow.", "traceloop.entity.",
		"langfuse.trace.", "langfuse.session.", "langfuse.user.", "langfuse.environment", "langfuse.release", "langfuse.version", "llm.headers",
	} {
		if has(about) {
			return ""
		}
	}

	for _, prefix := range []string{"gen_ai.", "llm.", "openinference.", "traceloop.", "langfuse.", "mcp.", "ai.", "tool.", "tool_call."} {
		if has(prefix) {
			return prefix
		}
	}

	return ""
}

// harmlessEvent reports whether an event records no action. Only the prefixes of known agents are
// removed, because other programs may use the same event names for actions.
func harmlessEvent(name string) bool {
	for _, agent := range []string{"claude_code.", "codex."} {
		if rest, ok := strings.CutPrefix(name, agent); ok {
			name = rest
			break
		}
	}

	switch name {
	case "user_prompt", "api_error", "api_request_body", "api_response_body", "api_retries_exhausted", "internal_error", "auth", "at_mention",
		"permission_mode_changed", "mcp_server_connection", "skill_activated", "hook_execution_start", "hook_execution_complete", "compaction",
		"conversation_starts", "websocket_request", "websocket_event":
		return true
	}

	return false
}

// unreadEvent returns the type of an event that is not read. It ignores the body of the record,
// because the body is not a name.
func unreadEvent(s *story.Story, a attributes, eventName string) string {
	return story.Joined(s, "event/"+cmp.Or(strings.TrimSpace(cmp.Or(a.text(s, "event.name"), eventName)), "None"))
}

// metric reads the name of a metric. The metrics of agents are sums of values that spans and events
// record for each call. The metrics of other programs do not contain such values.
func metric(s *story.Story, n canon.Node) {
	name := n.Member("name").String()
	switch name {
	case "claude_code.session.count", "claude_code.active_time.total", "claude_code.lines_of_code.count", "claude_code.commit.count",
		"gen_ai.server.request.duration", "gen_ai.server.time_per_output_token", "gen_ai.server.time_to_first_token":
	case "claude_code.token.usage", "gen_ai.client.token.usage", "gen_ai.client.operation.duration":
		s.Lacks(story.UsageUnread)
	case "claude_code.cost.usage":
		s.Lacks(story.CostInPart)
	case "claude_code.code_edit_tool.decision":
		s.Lacks(story.EventWithoutCall)
	default:
		if agent, _, _ := strings.Cut(name, "."); agent == "claude_code" || agent == "codex" || conventionOf(n.Member("name")) != "" || name == "" {
			s.Unknown("metric/", n.Member("name"))
		}
	}
}
