package source_test

import "testing"

// TestUnreadClaude reads lines from Claude Code that record an action that the reader does not
// support or cannot attribute. All lists of actions must then be lower bounds.
func TestUnreadClaude(t *testing.T) {
	const transcript, stream = `,"sessionId":"s","timestamp":"2026-04-25T10:00:04Z"`, `,"session_id":"s"`
	const begun = `{"type":"system","subtype":"init","session_id":"s"}`
	message := func(kind, envelope, blocks string) string {
		return `{"type":"` + kind + `"` + envelope + `,"message":{"id":"m9","role":"` + kind + `","content":[` + blocks + `]}}`
	}
	const call, result = `{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"ls"}}`, `{"type":"tool_result","tool_use_id":"t9","content":"ok"}`
	const ran = `{"type":"bash_code_execution_tool_result","tool_use_id":"t9","content":{}}`

	for name, log := range map[string][]string{
		"a subtype of system lines":   {answered, `{"type":"system","subtype":"tool_executed"` + transcript + `}`},
		"a system line without one":   {answered, `{"type":"system"` + transcript + `}`},
		"a call by the user":          {answered, message("user", transcript, call)},
		"a result from the model":     {answered, message("assistant", transcript, result)},
		"a provider's to the model":   {answered, message("user", transcript, ran)},
		"a provider's without a call": {answered, message("assistant", transcript, ran)},
		"a result without a message":  {answered, `{"type":"user"` + transcript + `,"toolUseResult":{"type":"create","filePath":"/w/a"}}`},
		"a result without its block":  {answered, `{"type":"user"` + transcript + `,"toolUseResult":{"type":"create","filePath":"/w/a"},"message":{"role":"user","content":"on"}}`},
		"a line of a person alone":    {answered, `{"type":"user"` + transcript + `}`},

		"a command that runs":       {answered, `{"type":"progress"` + transcript + `,"toolUseID":"bash-progress-0","parentToolUseID":"t9","data":{"type":"bash_progress"}}`},
		"a command of no call":      {answered, `{"type":"progress"` + transcript + `,"data":{"type":"bash_progress"}}`},
		"an MCP tool that runs":     {answered, `{"type":"progress"` + transcript + `,"toolUseID":"t9","data":{"type":"mcp_progress","status":"started"}}`},
		"an agent that works":       {answered, `{"type":"progress"` + transcript + `,"parentToolUseID":"t9","data":{"type":"agent_progress","message":{"type":"user","message":{"role":"user","content":"x"}}}}`},
		"a hook of a call":          {answered, `{"type":"progress"` + transcript + `,"parentToolUseID":"t9","data":{"type":"hook_progress","hookEvent":"PostToolUse"}}`},
		"a hook that ran of a call": {answered, `{"type":"attachment"` + transcript + `,"attachment":{"type":"hook_success","toolUseID":"t9","hookEvent":"PostToolUse"}}`},

		"a stream's call by the user":          {begun, message("user", stream, call)},
		"a stream's result from the model":     {begun, message("assistant", stream, result)},
		"a stream's provider without a call":   {begun, message("assistant", stream, ran)},
		"a stream's result without its block":  {begun, `{"type":"user"` + stream + `,"tool_use_result":{"type":"create"},"message":{"role":"user","content":"on"}}`},
		"a role that its message contradicts":  {answered, `{"type":"user"` + transcript + `,"message":{"role":"assistant","content":[` + call + `]}}`},
		"a stream's role that is contradicted": {begun, `{"type":"user"` + stream + `,"message":{"role":"assistant","content":[` + call + `]}}`},
	} {
		t.Run(name, func(t *testing.T) { open(t, log) })
	}
}

// TestMentions reads streams with a line that mentions a call or a task that no other line records.
// Every list of actions must then be a lower bound. A line that repeats a known call or task must
// have no effect.
func TestMentions(t *testing.T) {
	system := func(sub, members string) string {
		return `{"type":"system","subtype":"` + sub + `","session_id":"s"` + members + `}`
	}
	part := func(event string) string { return `{"type":"stream_event","session_id":"s","event":` + event + `}` }
	block := func(b string) string {
		return part(`{"type":"content_block_start","index":0,"content_block":` + b + `}`)
	}
	begun := system("init", "")
	const call = `{"type":"assistant","session_id":"s","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"ls"}}]}}`
	const search = `{"type":"assistant","session_id":"s","message":{"id":"m8","role":"assistant","model":"m","content":[{"type":"server_tool_use","id":"t8","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"t8","content":[]}]}}`
	const progress = `{"type":"tool_progress","session_id":"s","tool_use_id":"t9","tool_name":"Bash"}`

	for name, lines := range map[string][]string{
		"a call in part":               {block(`{"type":"tool_use","id":"t9","name":"Bash","input":{}}`)},
		"a call in part of another ID": {block(`{"type":"tool_use","id":"t8","name":"Bash","input":{}}`), call},
		"a call in part without an ID": {block(`{"type":"tool_use","name":"Bash","input":{}}`), call},
		"a provider's result in part":  {call, block(`{"type":"web_search_tool_result","tool_use_id":"t9","content":[]}`)},
		"a call at the start":          {part(`{"type":"message_start","message":{"content":[{"type":"tool_use","id":"t9"}]}}`)},
		"a part of an unknown type":    {part(`{"type":"teleport"}`)},
		"a part without a type":        {part(`{}`)},
		"a part without its call":      {part(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`), call},
		"a part of another block":      {block(`{"type":"tool_use","id":"t9"}`), part(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta"}}`), call},
		"a part of a message before":   {block(`{"type":"tool_use","id":"t9"}`), part(`{"type":"message_start"}`), part(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta"}}`), call},
		"a part of an unknown delta":   {part(`{"type":"content_block_delta","index":0,"delta":{"type":"teleport_delta"}}`)},
		"a block of an unknown type":   {block(`{"type":"teleport"}`)},
		"progress of an unknown call":  {progress},
		"progress without an ID":       {call, `{"type":"tool_progress","session_id":"s"}`},
		"a task of an unknown type":    {system("task_started", `,"task_id":"b1","task_type":"remote_agent"`)},
		"a task without a type":        {system("task_started", `,"task_id":"b1"`)},
		"a task without an ID":         {system("task_started", `,"task_type":"local_agent"`)},
		"a command without its call":   {system("task_started", `,"task_id":"b1","task_type":"local_bash","tool_use_id":"t9"`)},
		"a command of no call":         {call, system("task_started", `,"task_id":"b1","task_type":"local_bash"`)},
		"a notification of an unknown": {system("task_notification", `,"task_id":"b1","status":"completed"`)},
		"an update of an unknown task": {system("task_updated", `,"task_id":"b1"`)},
		"an update without an ID":      {system("task_updated", ``)},
		"progress of an unknown task":  {system("task_progress", `,"task_id":"b1"`)},
	} {
		t.Run(name, func(t *testing.T) { open(t, append([]string{begun}, lines...)) })
	}

	r := toldOf(t, []string{
		begun, part(`{"type":"message_start","message":{"content":[]}}`), part(`{"type":"ping"}`), block(`{"type":"text","text":""}`),
		block(`{"type":"tool_use","id":"t9","name":"Bash","input":{}}`), part(`{"type":"content_block_delta","delta":{}}`), call, progress,
		part(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`), part(`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta"}}`),
		block(`{"type":"server_tool_use","id":"t8"}`), block(`{"type":"web_search_tool_result","tool_use_id":"t8"}`), search,
		system("task_started", `,"task_id":"b1","task_type":"local_bash","tool_use_id":"t9"`), system("task_updated", `,"task_id":"b1"`),
		system("task_progress", `,"task_id":"b1"`), system("task_notification", `,"task_id":"b1"`),
	})
	if r.untold["/side_effects/tool_calls"] || r.meta["ignored_records"] != nil || len(r.SideEffects.ToolCalls) != 2 {
		t.Errorf("lines that repeat two calls leave the list open: %s", asText(t, r.Draft))
	}
}

// TestProgressOfCalls verifies that lists stay complete if a line reports that a known call is
// running, or that a hook is running without a call.
func TestProgressOfCalls(t *testing.T) {
	const line = `,"sessionId":"s","timestamp":"2026-04-25T10:00:04Z"`
	r := toldOf(t, []string{
		`{"type":"progress"` + line + `,"toolUseID":"bash-progress-0","parentToolUseID":"t9","data":{"type":"bash_progress"}}`,
		`{"type":"progress"` + line + `,"toolUseID":"x","parentToolUseID":"x","data":{"type":"hook_progress","hookEvent":"SessionStart"}}`,
		`{"type":"assistant"` + line + `,"message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t9","name":"Read","input":{}}]}}`,
		`{"type":"attachment"` + line + `,"attachment":{"type":"hook_success","toolUseID":"x","hookEvent":"Stop"}}`,
	})
	if r.untold[callsList] || r.meta["ignored_records"] != nil || len(r.SideEffects.ToolCalls) != 1 {
		t.Errorf("the list of calls is open: %s", asText(t, r.Draft))
	}
}

// TestCallsOfOneID verifies that a different call with the same ID is not treated as a copy, and
// that a result after both calls is not attributed to either call. A copy must add nothing.
func TestCallsOfOneID(t *testing.T) {
	call := func(tool, input string) string {
		return `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t9","name":"` + tool + `","input":` + input + `}],"usage":{"input_tokens":3,"output_tokens":5}}}`
	}
	const result = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"ok"}]}}`
	first := call("Bash", `{"command":"ls","timeout":1}`)

	for name, test := range map[string]struct {
		log      []string
		unstated bool
	}{
		"another tool":            {[]string{first, call("Write", `{"file_path":"/w/a","content":"x"}`), result}, true},
		"another input":           {[]string{first, call("Bash", `{"command":"rm -r /"}`), result}, true},
		"a result before another": {[]string{first, result, call("Bash", `{}`), result}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, append([]string{answered}, test.log...))
			if calls := r.SideEffects.ToolCalls; len(calls) != 1 || calls[0].Tool != "Bash" || r.untold["/side_effects/tool_calls/0/status"] != test.unstated {
				t.Errorf("calls are %s, expected one of Bash whose status is unstated: %v", asText(t, r.Draft), test.unstated)
			}
		})
	}

	r := toldOf(t, []string{answered, first, call("Bash", `{"timeout":1,"command":"ls"}`), result})
	if r.untold["/side_effects/tool_calls"] || len(r.SideEffects.ToolCalls) != 1 || r.SideEffects.ToolCalls[0].Status != "succeeded" {
		t.Errorf("a copy is another call: %s", asText(t, r.Draft))
	}
}

// open reads a log and fails the test unless every list of actions in the draft is a lower bound.
func open(t *testing.T, log []string) told {
	t.Helper()
	r := toldOf(t, log)
	for _, at := range []string{
		"/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/side_effects/a2a_handoffs",
		"/autonomy_budget/consumed/tool_calls",
	} {
		if !r.untold[at] || !r.floor[at] {
			t.Errorf("%s is stated in full: %s", at, asText(t, r.Draft))
		}
	}
	return r
}
