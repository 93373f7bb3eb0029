package source_test

import (
	"strings"
	"testing"
)

// TestCallsAskedFor verifies that the list of calls is marked as incomplete if a model requests
// calls in the attributes or events of a span and no span records these calls.
func TestCallsAskedFor(t *testing.T) {
	pair := func(key, value string) string {
		return `,{"key":"` + key + `","value":{"stringValue":"` + strings.ReplaceAll(value, `"`, `\"`) + `"}}`
	}
	const at, later = `"1777111200000000000"`, `"1777111201000000000"`
	model := func(more string) spanOf {
		x := chat(`"spanId":"00000000000000a1",`, at, later, 1)
		x.more = more
		return x
	}
	event := func(event string) spanOf {
		return chat(`"spanId":"00000000000000a1","events":[`+event+`],`, at, later, 1)
	}
	tool := func(more string) spanOf {
		return spanOf{ids: `"spanId":"00000000000000b1",`, start: at, end: later, operation: "execute_tool", more: more}
	}
	choice := func(message string) spanOf {
		return event(`{"name":"gen_ai.choice","attributes":[` + pair("message", message)[1:] + `]}`)
	}
	const asks = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	listed, nameless := tool(pair("gen_ai.tool.call.id", "c1")), tool("")

	for name, test := range map[string]struct {
		spans []spanOf
		open  bool
	}{
		"nothing":                        {[]spanOf{model("")}, false},
		"an event of another program":    {[]spanOf{event(`{"name":"cache.miss","attributes":[]}`)}, false},
		"an exception":                   {[]spanOf{event(`{"name":"exception"}`)}, false},
		"an event of an unknown type":    {[]spanOf{event(`{"name":"gen_ai.teleport"}`)}, true},
		"an attribute of such an event":  {[]spanOf{event(`{"name":"x","attributes":[` + pair("gen_ai.teleport", "y")[1:] + `]}`)}, true},
		"an event that is none":          {[]spanOf{event(`7`)}, true},
		"a choice":                       {[]spanOf{choice(asks)}, true},
		"a choice of a call that is":     {[]spanOf{choice(asks), listed}, false},
		"a choice of a call without IDs": {[]spanOf{choice(asks), nameless}, false},
		"choices that are no JSON":       {[]spanOf{choice(asks + `,` + asks), nameless}, true},
		"a choice of a text":             {[]spanOf{choice(`{"role":"assistant","content":"x"}`)}, false},
		"a choice that is cut off":       {[]spanOf{choice(asks[:30])}, true},
		"a choice without an ID":         {[]spanOf{choice(strings.Replace(asks, `"id"`, `"x"`, 1))}, true},
		"a choice in a value":            {[]spanOf{event(`{"name":"gen_ai.choice","attributes":[{"key":"message","value":{"kvlistValue":{"values":[]}}}]}`)}, true},
		"messages":                       {[]spanOf{model(pair("gen_ai.output.messages", `[{"parts":[{"type":"tool_call","id":"c1","name":"f"}]}]`))}, true},
		"messages of a call that is":     {[]spanOf{model(pair("gen_ai.output.messages", `[{"parts":[{"type":"tool_call","id":"c1","name":"f"}]}]`)), listed}, false},
		"attributes":                     {[]spanOf{model(pair("llm.output_messages.0.message.tool_calls.0.tool_call.id", "c1"))}, true},
		"attributes without an ID":       {[]spanOf{model(pair("gen_ai.completion.0.tool_calls.0.name", "f")), listed}, true},
		"attributes of a call that is":   {[]spanOf{model(pair("gen_ai.completion.0.tool_calls.0.name", "f") + pair("gen_ai.completion.0.tool_calls.0.id", "c1")), listed}, false},
		"calls of the input":             {[]spanOf{model(pair("gen_ai.prompt.0.tool_calls.0.id", "c0"))}, false},
		"a call named otherwise":         {[]spanOf{model(""), {ids: `"spanId":"00000000000000b1",`, start: at, end: later, operation: "invoke_agent", more: pair("gen_ai.tool.call.id", "c1")}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if r := toldOf(t, []string{export(test.spans...)}); r.untold[callsList] != test.open || r.untold["/autonomy_budget/consumed/tool_calls"] != test.open {
				t.Errorf("the list of calls is open: %v, want %v", r.untold[callsList], test.open)
			}
		})
	}
}

// TestMetrics verifies that sums and lists are marked as incomplete if an agent's metrics cover
// values that no span or event records.
func TestMetrics(t *testing.T) {
	span := export(chat(`"spanId":"00000000000000a1",`, `"1777111200000000000"`, `"1777111201000000000"`, 1))
	for metric, open := range map[string][]string{
		`{"name":"claude_code.session.count"}`:           nil,
		`{"name":"system.cpu.time"}`:                     nil,
		`{"name":"claude_code.token.usage"}`:             {inputTokens, "/cost/provider_breakdown"},
		`{"name":"claude_code.cost.usage"}`:              {"/cost/total"},
		`{"name":"claude_code.code_edit_tool.decision"}`: {callsList, "/approvals"},
		`{"name":"codex.tool.call"}`:                     {callsList, inputTokens, "/approvals"},
		`{"sum":{}}`:                                     {callsList, inputTokens},
		`7`:                                              {callsList, inputTokens},
	} {
		r := toldOf(t, []string{span, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[` + metric + `]}]}]}`})
		for _, at := range open {
			if !r.untold[at] {
				t.Errorf("%s: %s is stated", metric, at)
			}
		}
		if len(open) == 0 && (r.untold[callsList] || r.untold[inputTokens]) {
			t.Errorf("%s: unreported %v", metric, r.untold)
		}
	}
}

// TestAgentsSum verifies that sums are lower bounds if an agent used more tokens than the model
// calls in the log.
func TestAgentsSum(t *testing.T) {
	const tokens = `,{"key":"gen_ai.usage.input_tokens","value":{"intValue":9}}`
	agent := spanOf{ids: `"spanId":"00000000000000b1",`, start: `"1777111200000000000"`, end: `"1777111201000000000"`, operation: "invoke_agent", more: tokens}
	for input, open := range map[int]bool{9: false, 8: true} {
		if r := toldOf(t, []string{export(agent, chat(`"spanId":"00000000000000a1",`, agent.start, agent.end, input))}); r.floor[inputTokens] != open {
			t.Errorf("%d of 9 tokens: a lower bound: %v", input, r.floor[inputTokens])
		}
	}
	if r := toldOf(t, []string{export(spanOf{ids: agent.ids, start: agent.start, end: agent.end, operation: "invoke_agent"})}); !r.untold[inputTokens] {
		t.Error("tokens that no line states are not unreported")
	}
}
