package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// agentSpan is a span of an agent. childSpan returns another span with the given name and with
// attributes of the form NAME=VALUE. A value in braces is used as an AnyValue.
const agentSpan = `{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0000000000000001","name":"invoke_agent a","startTimeUnixNano":"1777111200000000000","endTimeUnixNano":"1777111209000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}],"status":{"code":1}}`

func childSpan(name string, pairs ...string) string {
	var all []string
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(value, "{") {
			value = fmt.Sprintf(`{"stringValue":%q}`, value)
		}
		all = append(all, fmt.Sprintf(`{"key":%q,"value":%s}`, key, value))
	}
	return strings.NewReplacer("invoke_agent a", name, "0001", "0002", `"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}]`, `"parentSpanId":"0000000000000001","attributes":[`+strings.Join(all, ",")+`]`).Replace(agentSpan)
}

// TestSpansOfConventions verifies that a span that follows a known agent convention is recorded as
// a call, or that the list of calls is marked as incomplete. Neither applies to spans of requests
// and databases.
func TestSpansOfConventions(t *testing.T) {
	const none, unread = "", "?"
	for name, test := range map[string]struct{ span, tool string }{
		"of Vercel":              {childSpan("ai.toolCall", "ai.operationId=ai.toolCall", "ai.toolCall.name=rm", "ai.toolCall.id=c1"), "rm"},
		"of Vercel, without ids": {childSpan("ai.toolCall", "operation.name=ai.toolCall"), unread},
		"of Vercel's models":     {childSpan("ai.generateText", "ai.operationId=ai.generateText", "ai.model.id=m"), none},
		"of MCP":                 {childSpan("tools/call rm", "mcp.method.name=tools/call"), unread},
		"of MCP, a list":         {childSpan("tools/list", "mcp.method.name=tools/list", "mcp.session.id=s"), none},
		"of Langfuse":            {childSpan("rm", "langfuse.observation.type=tool"), unread},
		"of Claude Code":         {childSpan("claude_code.tool", "tool_name=Bash"), unread},
		"of Claude Code's turns": {childSpan("claude_code.interaction"), none},
		"of Codex":               {childSpan("codex.tool_call"), unread},
		"by its name":            {childSpan("execute_tool rm"), "rm"},
		"by the id of its call":  {childSpan("x", "gen_ai.tool.call.id=c1", "gen_ai.tool.name=rm"), "rm"},
		"of CrewAI":              {childSpan("Tool Usage", "tool_name=rm"), unread},
		"an agent by its name":   {childSpan("invoke_agent b"), unread},
		"of no operation":        {childSpan("x", "gen_ai.request.choice.count=1"), unread},
		"of a number":            {childSpan("x", `gen_ai.operation.name={"intValue":"5"}`), unread},
		"of a list":              {childSpan("x", `openinference.span.kind={"arrayValue":{"values":[{"stringValue":"TOOL"}]}}`), unread},
		"of a Boolean":           {childSpan("x", `traceloop.span.kind={"boolValue":true}`), unread},
		"of nothing":             {childSpan("x", `traceloop.span.kind={}`), unread},
		"of two operations":      {childSpan("x", "gen_ai.operation.name=invoke_workflow", "gen_ai.operation.name=execute_tool"), unread},
		"of one, twice":          {childSpan("x", "gen_ai.operation.name=invoke_workflow", "gen_ai.operation.name=invoke_workflow"), none},
		"of a request":           {childSpan("POST /", "http.request.method=POST", "gen_ai.conversation.id=s", "traceloop.workflow.name=w"), none},
		"of a database":          {childSpan("SELECT", "db.system=postgresql"), none},
		"with an unknown list":   {strings.Replace(childSpan("x", "a=b"), `"attributes"`, `"attribute"`, 1), unread},
	} {
		r := toldOf(t, []string{`{"resourceSpans":[{"scopeSpans":[{"spans":[` + agentSpan + `,` + test.span + `]}]}]}`})
		tool := none
		for _, c := range r.SideEffects.ToolCalls {
			tool += c.Tool
		}
		if open := r.untold["/side_effects/tool_calls"] && r.untold["/autonomy_budget/consumed/tool_calls"]; open != (test.tool == unread) {
			t.Errorf("a span %s: which calls were made is open: %v", name, open)
		}
		if test.tool != unread && tool != test.tool {
			t.Errorf("a span %s: calls of %q, want %q", name, tool, test.tool)
		}
	}
}

// TestContainers verifies that the list of calls is marked as incomplete if a container lacks its
// list or a list has an unknown name.
func TestContainers(t *testing.T) {
	const event = `{"timeUnixNano":"1777111200000000000","attributes":[{"key":"event.name","value":{"stringValue":"NAME"}}]}`
	spans, logs := `{"scopeSpans":[{"spans":[`+agentSpan+`]}]}`, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[`+event+`]}]}]}`
	for text, open := range map[string]bool{
		`{"resourceSpans":[` + spans + `]}`:                                                           false,
		`{"resourceSpans":[` + spans + `,{"scopeSpans":[{"spans":[]}]}]}`:                             false,
		`{"resourceSpans":[` + spans + `],"schemaUrl":"x"}`:                                           false,
		`{"resourceSpans":[` + spans + `,{"scope_spans":[]}]}`:                                        true,
		`{"resourceSpans":[` + spans + `,{"scopeSpans":null}]}`:                                       true,
		`{"resourceSpans":[` + spans + `,{"resource":{}}]}`:                                           true,
		`{"resourceSpans":[` + spans + `,{"scopeSpans":[{"scope":{}}]}]}`:                             true,
		`{"resourceSpans":[` + spans + `,{"scopeSpans":[{"span":[]}]}]}`:                              true,
		`{"resourceSpans":[` + spans + `],"resource_spans":{"a":1}}`:                                  true,
		`{"resourceSpans":[` + spans + `],"resourceLogs":null}`:                                       true,
		strings.Replace(`{"resourceSpans":[`+spans+`]}`, `"spans"`, `"more":{"spans":[]},"spans"`, 1): true,
		strings.Replace(logs, "NAME", "claude_code.user_prompt", 1):                                   false,
		strings.Replace(logs, "NAME", "user_prompt", 1):                                               false,
		strings.Replace(logs, "NAME", "other.user_prompt", 1):                                         true,
		strings.Replace(logs, "NAME", "claude_code.other.user_prompt", 1):                             true,
		strings.Replace(logs, `{"stringValue":"NAME"}`, `{"intValue":1}`, 1):                          true,
	} {
		r := toldOf(t, []string{text})
		if open && !r.untold["/cost/provider_breakdown"] {
			t.Errorf("%s: all models that were called are stated", text)
		}
		if r.untold["/side_effects/tool_calls"] != open {
			t.Errorf("%s: which calls were made is open: %v", text, !open)
		}
	}
}

// TestNestedAgents verifies that the list of handoffs is marked as incomplete if an agent was
// called by another agent.
func TestNestedAgents(t *testing.T) {
	for span, open := range map[string]bool{
		childSpan("invoke_agent b", "gen_ai.operation.name=invoke_agent"): true,
		childSpan("b", "openinference.span.kind=AGENT"):                   true,
		childSpan("chat m", "gen_ai.operation.name=chat"):                 false,
	} {
		r := toldOf(t, []string{`{"resourceSpans":[{"scopeSpans":[{"spans":[` + agentSpan + `,` + span + `]}]}]}`})
		if r.untold["/side_effects/a2a_handoffs"] != open {
			t.Errorf("%s: to whom work was given is open: %v", span, !open)
		}
	}
}
