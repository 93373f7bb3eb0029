package source_test

import (
	"strings"
	"testing"
)

// lists contains the lists and counts to which any line of a log may contribute.
var lists = []string{
	callsList, writesList, "/side_effects/network_egress", handoffsList, "/approvals", "/final_artifacts", "/cost/provider_breakdown",
	"/cost/total", "/autonomy_budget/consumed/tool_calls", inputTokens, "/autonomy_budget/consumed/output_tokens",
}

// TestPartOfLog verifies that all lists and counts are unreported if a part of a log is missing or
// unreadable.
func TestPartOfLog(t *testing.T) {
	const link = `{"type":"pr-link","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","prUrl":`
	const decision = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","attributes":[{"key":"event.name","value":{"stringValue":"tool_decision"}},{"key":"tool_use_id","value":{"stringValue":"t1"}},{"key":"decision","value":{"stringValue":"accept"}},{"key":"source","value":{"stringValue":"user"}}]}]}]}]}`
	for name, log := range map[string][]string{
		"a line that cannot be read":           {answered, `{"type":"pr-link`, asked},
		"a line that is cut off":               {answered, link + `"https://example.com/1"`},
		"a link without its URL":               {answered, link + `7}`},
		"a message of another type":            {answered, `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","message":[]}`},
		"a line of a person without a message": {answered, `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:04Z"}`},
		"a line of telemetry":                  {decision, `{"resourceLogs":`, decision},
		"telemetry of another type":            {decision, `{"resourceLogs":[{"scopeLogs":7}]}`},
		"a turn without its beginning":         {`{"type":"thread.started","thread_id":"t"}`, `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := toldOf(t, log)
			for _, at := range lists {
				if !r.untold[at] {
					t.Errorf("%s is stated: %s", at, asText(t, r.Draft))
				}
			}
		})
	}
}

// TestCallsInPart verifies that the lists of effects, handoffs, and approvals are marked as
// incomplete if a call cannot be listed.
func TestCallsInPart(t *testing.T) {
	for name, log := range map[string][]string{
		"of a transcript": {answered, `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"tool_use","name":"Bash","input":{}}]}}`},
		"of a rollout":    codexLines(codexMeta, codexBegins, codexNever, codexItem(`{"type":"CollabAgentToolCall","tool":"spawnAgent","receiver_thread_ids":["th2"],"status":"completed"}`)),
		"of a run":        execLines(`{"type":"file_change","status":"completed","changes":[]}`),
		"of telemetry":    {`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","attributes":[{"key":"event.name","value":{"stringValue":"tool_decision"}},{"key":"decision","value":{"stringValue":"accept"}},{"key":"source","value":{"stringValue":"user"}}]}]}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, log)
			if !r.untold["/approvals"] {
				t.Errorf("approvals are stated: %s", asText(t, r.Draft))
			}
		})
	}
}

// TestSharedIDs verifies, for all readers, that a different call with the same ID is not treated as
// a copy, and that a copy adds nothing.
func TestSharedIDs(t *testing.T) {
	codex := func(payloads ...string) []string {
		return codexLines(append([]string{codexMeta, codexBegins, codexNever}, payloads...)...)
	}
	function := func(name, arguments string) string {
		return `response_item {"type":"function_call","call_id":"c1","name":"` + name + `","arguments":"` + arguments + `"}`
	}
	ran := func(command string) string {
		return `event_msg {"type":"exec_command_end","call_id":"c1","command":["` + command + `"],"exit_code":0}`
	}
	item := func(command string) string {
		return codexItem(`{"type":"CommandExecution","id":"c1","command":["` + command + `"],"status":"completed"}`)
	}
	step := func(state, command string) string {
		return `{"type":"item.` + state + `","item":{"id":"i","type":"command_execution","command":"` + command + `","status":"` + map[string]string{"started": "in_progress"}[state] + `"}}`
	}
	search := func(state, query string) string {
		return `{"type":"item.` + state + `","item":{"id":"i","type":"web_search","query":"` + query + `"}}`
	}
	run := func(items ...string) []string {
		return append([]string{`{"type":"thread.started","thread_id":"th"}`, `{"type":"turn.started"}`}, items...)
	}
	pair := func(key, value string) string { return `{"key":"` + key + `","value":{"stringValue":"` + value + `"}}` }
	event := func(name, tool string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","attributes":[` + pair("event.name", name) + "," + pair("tool_use_id", "c1") + "," + pair("tool_name", tool) + `]}]}]}]}`
	}
	span := func(id, arguments string) string {
		return export(spanOf{ids: `"spanId":"` + id + `",`, start: `"1777111200000000000"`, end: `"1777111201000000000"`, operation: "execute_tool", more: "," + pair("gen_ai.tool.call.id", "c1") + "," + pair("gen_ai.tool.name", "Bash") + "," + pair("gen_ai.tool.call.arguments", arguments)})
	}

	for name, test := range map[string]struct{ copies, others []string }{
		"functions":          {codex(function("shell", "{}"), function("shell", "{ }")), codex(function("shell", "{}"), function("shell", "{\\\"a\\\":1}"))},
		"functions by name":  {codex(function("shell", "{}"), ran("ls"), function("shell", "{}")), codex(function("shell", "{}"), function("exec", "{}"))},
		"what Codex ran":     {codex(function("shell", "{}"), ran("ls"), ran("ls")), codex(function("shell", "{}"), ran("ls"), ran("rm"))},
		"items":              {codex(ran("ls"), item("ls"), item("ls"), function("shell", "{}"), function("shell", "{}")), codex(item("ls"), item("rm"))},
		"items of two types": {codex(item("ls")), codex(item("ls"), codexItem(`{"type":"FileChange","id":"c1","changes":{"/a":{"type":"delete"}},"status":"completed"}`))},
		"steps":              {run(step("started", "ls"), step("completed", "ls")), run(step("started", "ls"), step("completed", "rm"))},
		"searches":           {run(search("started", ""), search("completed", "a")), run(search("completed", "a"), search("completed", "b"))},
		"events":             {[]string{event("tool_decision", "Bash"), event("tool_result", "Bash")}, []string{event("tool_decision", "Bash"), event("tool_result", "Write")}},
		"spans":              {[]string{event("tool_result", "Bash"), span("00000000000000a1", "{}"), span("00000000000000a2", "{}")}, []string{event("tool_result", "Bash"), span("00000000000000a1", "{}"), span("00000000000000a2", "[]")}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := toldOf(t, test.copies); r.untold[callsList] || len(r.SideEffects.ToolCalls) != 1 {
				t.Errorf("copies are other calls: %s", asText(t, r.Draft))
			}
			open(t, test.others)
		})
	}
}

// TestDamagedLines uses damage that TestDamage found, and that does not change the type of a
// record. It verifies which locations are then unreported.
func TestDamagedLines(t *testing.T) {
	const ended, over = "/lifecycle/final_state", "/lifecycle/completed_at"
	message := func(id, usage string) string {
		return `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"id":"` + id + `","role":"assistant","model":"m","stop_reason":"end_turn","content":[],"usage":` + usage + `}}`
	}
	const cached = `{"input_tokens":3,"cache_read_input_tokens":50,"cache_creation_input_tokens":7,"output_tokens":5}`
	refused := func(isError, besides string) string {
		return `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","toolUseResult":` + besides + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"no"` + isError + `}]}}`
	}
	const called = `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t9","name":"Read","input":{}}]}}`
	result := func(id, more string) string {
		return `{"type":"result","subtype":"success","session_id":"s","uuid":"` + id + `"` + more + `}`
	}
	const model = `,"modelUsage":{"m":{"inputTokens":3,"outputTokens":5,"costUSD":0.1}},"total_cost_usd":`
	codex := func(payloads ...string) []string {
		return codexLines(append([]string{codexMeta, codexBegins, codexNever}, payloads...)...)
	}
	const complete = `event_msg {"type":"task_complete","turn_id":"t1"}`
	search := func(where string) []string {
		return codex(`response_item {"type":"tool_search_call","call_id":"c1","execution":"` + where + `"}`)
	}
	letter := `response_item {"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"input_text","text":"x"}]}`
	spawned := `response_item {"type":"function_call","name":"spawn_agent","call_id":"c1","arguments":"{}"}`

	for name, test := range map[string]struct {
		right, wrong []string
		at           string
	}{
		"two messages of one ID":       {[]string{message("m1", cached), message("m1", cached)}, []string{message("m1", cached), message("m1", `{"input_tokens":3,"cache_read_input_tokens":9,"output_tokens":6}`)}, inputTokens},
		"a part of an input":           {[]string{message("m1", cached), message("m2", cached)}, []string{message("m1", cached), message("m2", `{"input_tokens":3,"output_tokens":5}`)}, inputTokens},
		"a time of a line":             {[]string{message("m1", cached)}, []string{message("m1", cached), `{"type":"user","sessionId":"s","message":{"role":"user","content":"x"}}`}, "/lifecycle/started_at"},
		"a refusal without its flag":   {[]string{called, refused("", `{}`)}, []string{called, refused("", `"User rejected tool use"`)}, callsList + "/0/status"},
		"an error without its flag":    {[]string{called, refused(`,"is_error":true`, `"Error: x"`)}, []string{called, refused("", `"Error: x"`)}, callsList + "/0/status"},
		"two results of one ID":        {[]string{began, result("r1", model+"0.1")}, []string{began, result("r1", model+"0.1"), result("r1", `,"permission_denials":[{"tool_use_id":"t1"}]`)}, callsList},
		"a model that is not listed":   {[]string{began, result("r1", model+"0.1")}, []string{began, result("r1", model+"0.3")}, inputTokens},
		"how long a run took":          {[]string{began, result("r1", `,"duration_ms":5`)}, []string{began, result("r1", `,"duration_ms":5`), result("r2", `,"duration_ms":"5"`)}, "/autonomy_budget/consumed/wall_time_ms"},
		"two turns of one ID":          {codex(complete), codex(complete, `event_msg {"type":"task_started","turn_id":"t1"}`), ended},
		"when two turns of one ID end": {codex(complete), codex(complete, `event_msg {"type":"task_started","turn_id":"t1"}`), over},
		"a session without its ID":     {codex(complete), append(codex(complete), `{"timestamp":"2026-04-25T10:00:09Z","type":"session_meta","payload":{}}`), callsList},
		"a time of a rollout's line":   {codex(complete), append(codex(complete), `{"type":"event_msg","payload":{"type":"agent_message"}}`), over},
		"another search for tools":     {search("client"), search("remote"), callsList},
		"a letter of an agent":         {codex(), codex(letter), callsList},
		"an agent without an ID":       {codex(), codex(spawned), callsList},
		"a message to an agent":        {codex(), codex(strings.Replace(spawned, "spawn_agent", "send_message", 1)), handoffsList},
	} {
		t.Run(name, func(t *testing.T) {
			if r := toldOf(t, test.right); r.untold[test.at] {
				t.Errorf("%s is not stated for a valid value", test.at)
			}
			if r := toldOf(t, test.wrong); !r.untold[test.at] {
				t.Errorf("%s is stated: %s", test.at, asText(t, r.Draft))
			}
		})
	}
}
