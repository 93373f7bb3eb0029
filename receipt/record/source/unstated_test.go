package source_test

import (
	"strings"
	"testing"
)

const (
	writesList   = "/side_effects/fs_writes"
	handoffsList = "/side_effects/a2a_handoffs"
	callsList    = "/side_effects/tool_calls"
	inputTokens  = "/autonomy_budget/consumed/input_tokens"
)

// TestCodexPatchesInPart verifies that the list of written files is marked as incomplete if the
// changes of a successful patch are unreadable.
func TestCodexPatchesInPart(t *testing.T) {
	const asks = `response_item {"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: old.go\n*** End Patch"}`
	const output = `response_item {"type":"custom_tool_call_output","call_id":"c1","output":"Exit code: 0\nOutput:\nSuccess"}`
	end := func(more string) string {
		return `event_msg {"type":"patch_apply_end","call_id":"c1"` + more + `}`
	}
	for name, test := range map[string]struct {
		lines []string
		open  bool
		did   string
	}{
		"changes":            {[]string{end(`,"success":true,"changes":{"/srv/p/a":{"type":"delete"}}`)}, false, "delete a"},
		"none":               {[]string{end(`,"success":true,"changes":{}`)}, false, ""},
		"no member":          {[]string{end(`,"success":true`)}, true, ""},
		"null":               {[]string{end(`,"success":true,"changes":null`)}, true, ""},
		"a text":             {[]string{end(`,"success":true,"changes":"a"`)}, true, ""},
		"no member, a patch": {[]string{asks, end(`,"success":true`), output}, false, "delete old.go"},
		"a text, a patch":    {[]string{asks, end(`,"success":true,"changes":"a"`), output}, true, "delete old.go"},
		"an item's text":     {[]string{codexItem(`{"type":"FileChange","id":"i","status":"completed","changes":"x"}`)}, true, ""},
		"an image's number":  {[]string{codexItem(`{"type":"ImageGeneration","id":"i","status":"completed","saved_path":5}`)}, true, ""},
		"an image in camel":  {[]string{codexItem(`{"type":"ImageGeneration","id":"i","status":"completed","savedPath":"/srv/p/x.png"}`)}, false, "? x.png"},
	} {
		r := toldOf(t, codexLines(append([]string{codexMeta, codexBegins, codexNever}, test.lines...)...))
		if r.untold[writesList] != test.open || r.did() != test.did {
			t.Errorf("%s: open: %v, %q", name, r.untold[writesList], r.did())
		}
	}

	for changes, open := range map[string]bool{`[{"path":"a","kind":"add"}]`: false, `"x"`: true, `{}`: true, `null`: true} {
		r := toldOf(t, execLines(`{"id":"i","type":"file_change","status":"completed","changes":`+changes+`}`))
		if r.untold[writesList] != open {
			t.Errorf("%s of exec: open: %v", changes, !open)
		}
	}
}

// execLines returns a stream that contains one turn with one completed item.
func execLines(item string) []string {
	return []string{`{"type":"thread.started","thread_id":"th"}`, `{"type":"turn.started"}`, `{"type":"item.completed","item":` + item + `}`, `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`}
}

// TestCodexHandoffs verifies that calls that assign work to other agents are recorded as handoffs
// to the named agents. If a call names no agent, the list of handoffs is incomplete.
func TestCodexHandoffs(t *testing.T) {
	spawn := func(name, output string) []string {
		return codexLines(codexMeta, codexBegins, codexNever, `response_item {"type":"function_call","name":"`+name+`","call_id":"c1","arguments":"{\"message\":\"x\"}"}`, `response_item {"type":"function_call_output","call_id":"c1","output":`+output+`}`)
	}
	item := func(text string) []string {
		return codexLines(codexMeta, codexBegins, codexNever, codexItem(text))
	}
	for name, test := range map[string]struct {
		lines  []string
		thread string
		open   bool
	}{
		"a function":                {spawn("spawn_agent", `"{\"agent_id\":\"th2\"}"`), "th2", true},
		"a function in a namespace": {spawn("collaboration.spawn_agent", `"{\"agent_id\":\"th2\"}"`), "th2", true},
		"a function without an id":  {spawn("spawn_agent", `"started"`), "", true},
		"a function of a server":    {spawn("mcp__s__spawn_agent", `"started"`), "", false},
		"a function that waits":     {spawn("wait_agent", `"{}"`), "", false},
		"an item":                   {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"spawnAgent","receiver_thread_ids":["th2"],"status":"completed"}`), "th2", true},
		"an item in camelCase":      {item(`{"type":"collabAgentToolCall","id":"c1","tool":"spawnAgent","receiverThreadIds":["th2"],"status":"completed"}`), "th2", true},
		"input for an agent":        {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"sendInput","receiver_thread_ids":["th2"],"status":"completed"}`), "th2", true},
		"an item without ids":       {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"spawnAgent","status":"completed"}`), "", true},
		"an item that failed":       {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"spawnAgent","status":"failed"}`), "", false},
		"an item that waits":        {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"wait","receiver_thread_ids":["th2"],"status":"completed"}`), "", false},
		"an item of another name":   {item(`{"type":"CollabAgentToolCall","id":"c1","tool":"teleport","status":"completed"}`), "", true},
		"an activity":               {item(`{"type":"SubAgentActivity","id":"i","agentThreadId":"th2"}`), "th2", true},
		"an activity without an id": {item(`{"type":"SubAgentActivity","id":"i"}`), "", true},
		"an item of exec":           {execLines(`{"id":"i","type":"collab_tool_call","tool":"spawn_agent","status":"completed","receiver_thread_ids":["th2"]}`), "th2", true},
		"one without ids":           {execLines(`{"id":"i","type":"collab_tool_call","tool":"spawn_agent","status":"completed"}`), "", true},
		"one of another name":       {execLines(`{"id":"i","type":"collab_tool_call","tool":"teleport","status":"completed"}`), "", true},
		"one that waits":            {execLines(`{"id":"i","type":"collab_tool_call","tool":"wait","status":"completed"}`), "", false},
	} {
		r := toldOf(t, test.lines)
		thread := ""
		for _, h := range r.SideEffects.A2AHandoffs {
			thread += h.TaskID
		}
		if thread != test.thread || r.untold[handoffsList] != test.open {
			t.Errorf("%s: work for %q, open: %v", name, thread, r.untold[handoffsList])
		}
	}
}

// TestCodexUnreadContent verifies that the list of calls is marked as incomplete if a message block
// has an unknown type or a mark has additional members.
func TestCodexUnreadContent(t *testing.T) {
	const message = `response_item {"type":"message","role":"assistant","content":`
	for payload, open := range map[string]bool{
		message + `[{"type":"output_text","text":"x"}]}`: false,
		message + `"x"}`: false,
		message + `[{"type":"tool_call","id":"c1"}]}`: true,
		message + `["x"]}`:                            true,
		message + `{"type":"tool_call"}}`:             true,
		codexItem(`{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"x"}]}`):     false,
		codexItem(`{"type":"AgentMessage","id":"i","content":[{"type":"tool_call","id":"c1"}]}`): true,
	} {
		if r := toldOf(t, codexLines(codexMeta, codexBegins, codexNever, payload)); r.untold[callsList] != open {
			t.Errorf("%s: open: %v", payload, !open)
		}
	}
	for mark, open := range map[string]bool{`{"record_type":"state"}`: false, `{"record_type":"state","type":"teleport","call_id":"x"}`: true, `{"record_type":"state","call":{}}`: true} {
		if r := toldOf(t, append(codexLines(codexMeta, codexBegins, codexNever), mark)); r.untold[callsList] != open {
			t.Errorf("%s: open: %v", mark, !open)
		}
	}
}

// TestExecWithoutUsage verifies that a completed turn without usage makes the number of tokens
// unreported.
func TestExecWithoutUsage(t *testing.T) {
	lines := execLines(`{"id":"i","type":"agent_message"}`)
	if r := toldOf(t, lines); r.untold[inputTokens] {
		t.Error("tokens that are stated are unreported")
	}
	lines[3] = strings.Replace(lines[3], "usage", "x_usage", 1)
	if r := toldOf(t, lines); !r.untold[inputTokens] || !r.untold["/cost/provider_breakdown"] || r.AutonomyBudget.Consumed.InputTokens != nil {
		t.Errorf("%s tokens", show(r.AutonomyBudget.Consumed.InputTokens))
	}
}
