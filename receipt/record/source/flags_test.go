package source_test

import (
	"strings"
	"testing"
)

// TestHowCallsRan verifies that exit codes, flags, and hints are read from the members and the
// fixed text of each kind of log. A value must not be recorded if the log does not contain it.
func TestHowCallsRan(t *testing.T) {
	codex := func(policy, call, arguments, output string) string {
		return strings.Join(codexLines(codexMeta, codexBegins, `turn_context {"turn_id":"t1","cwd":"/srv/p","sandbox_policy":{"type":"`+policy+`"},"model":"m"}`,
			`response_item {"type":"function_call","call_id":"c","name":"`+call+`","arguments":`+arguments+`}`,
			`response_item {"type":"function_call_output","call_id":"c","output":"`+output+`"}`), "\n")
	}
	ran := func(arguments, properties string) string {
		return events(`tool.execution_start {"toolCallId":"c","toolName":"bash","arguments":`+arguments+`}`,
			`tool.execution_complete {"toolCallId":"c","success":true,"result":{"content":"x"},"toolTelemetry":{"properties":`+properties+`}}`)
	}
	shell := func(args, output string) string {
		return gemini(geminiSaid("g", 1, `{"id":"c","name":"run_shell_command","args":`+args+`,"status":"success","timestamp":"2026-01-15T20:52:00Z","result":[{"functionResponse":{"response":{"output":"`+output+`"}}}]}`))
	}

	for name, x := range map[string]struct{ log, exit, flags, hints string }{
		"Claude Code":             {transcript(asks("c", "Bash", `{"command":"ls"}`), answers("c", `"content":"ok"`, `{"stdout":"ok"}`)), "null", "null", "null"},
		"in the background":       {transcript(asks("c", "Bash", `{"command":"make test","run_in_background":true,"dangerouslyDisableSandbox":true}`), answers("c", `"content":"ok"`, `{}`)), "null", `["background","sandbox_off_requested"]`, `{"tests":["make test"]}`},
		"put into the background": {transcript(asks("c", "Bash", `{"command":"ls"}`), answers("c", `"content":"ok"`, `{"backgroundTaskId":"b1"}`)), "null", `["background"]`, "null"},
		"Claude Code, exit code":  {transcript(asks("c", "Bash", `{"command":"ls"}`), answers("c", `"is_error":true,"content":"Exit code 7\nno"`, `null`)), "7", "null", "null"},

		"Codex":              {codex("workspace-write", "shell", `"{\"command\":[\"bash\",\"-lc\",\"git push -f\"]}"`, `Exit code: 3\nWall time: 1 seconds\nOutput:\nno`), "3", `["sandbox:workspace-write"]`, `{"git":["force_push"]}`},
		"words of a command": {codex("danger-full-access", "shell", `"{\"command\":[\"git\",\"commit\",\"-m\",\"x; git push\"]}"`, `Exit code: 0\nOutput:\n`), "0", `["sandbox:danger-full-access"]`, `{"git":["commit"]}`},
		"with more rights":   {codex("read-only", "exec_command", `"{\"cmd\":\"go test ./...\",\"sandbox_permissions\":\"require_escalated\"}"`, `Process exited with code 1\nOutput:`), "1", `["sandbox:read-only","sandbox_off_requested"]`, `{"tests":["go test"]}`},
		"MCP server":         {codex("read-only", "mcp__s__exec_command", `"{\"cmd\":\"git push\"}"`, `Process exited with code 1`), "null", "null", "null"},
		"codex exec":         {strings.Join(execLines(`{"id":"c","type":"command_execution","command":"bash -lc 'git push'; git commit -m x","exit_code":4,"status":"failed"}`), "\n"), "4", "null", `{"git":["commit"]}`},

		"Copilot CLI":              {ran(`{"command":"git push"}`, `{"detached":"false","sandboxApplied":"false","sandboxOptOutRequested":"false"}`), "null", `["sandbox:none"]`, `{"git":["push"]}`},
		"Copilot CLI, in the back": {ran(`{"command":"ls"}`, `{"detached":"true","sandboxApplied":"true","sandboxOptOutRequested":"true"}`), "null", `["background","sandbox_off_requested","sandbox:applied"]`, "null"},
		"Copilot CLI, nothing":     {ran(`{"command":"ls"}`, `{}`), "null", "null", "null"},

		"Gemini CLI":         {shell(`{"command":"ls","is_background":true}`, `Command: ls\nOutput: Exit Code: 9\nExit Code: 2\nSignal: 0`), "2", `["background"]`, "null"},
		"Gemini, no code":    {shell(`{"command":"ls"}`, `Command: ls\nExit Code: (none)\nSignal: 9`), "null", "null", "null"},
		"Pi":                 {pi(piSaid("toolUse", `{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"npm test"}}`), `{"role":"toolResult","toolCallId":"c","isError":true,"content":[{"type":"text","text":"no\n\nCommand exited with code 5"}]}`), "5", "null", `{"tests":["npm test"]}`},
		"Pi, another ending": {pi(piSaid("toolUse", `{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}`), `{"role":"toolResult","toolCallId":"c","isError":true,"content":[{"type":"text","text":"Command aborted"}]}`), "null", "null", "null"},
	} {
		r := recorded(t, x.log)
		if len(r.SideEffects.ToolCalls) != 1 {
			t.Errorf("%s: %d calls", name, len(r.SideEffects.ToolCalls))
			continue
		}
		m := r.SideEffects.ToolCalls[0].Metadata
		if exit, flags, hints := asText(t, m["exit_code"]), asText(t, m["flags"]), asText(t, m["read_from_command"]); exit != x.exit || flags != x.flags || hints != x.hints {
			t.Errorf("%s: exit code %s, flags %s, hints %s\nwant %s, %s, %s", name, exit, flags, hints, x.exit, x.flags, x.hints)
		}
	}
}

// TestProcesses verifies that the exit code of a process that outlives its call is recorded for the
// call, although the status of the call remains unreported.
func TestProcesses(t *testing.T) {
	r := toldOf(t, codexLines(codexMeta, codexBegins,
		`response_item {"type":"function_call","call_id":"c","name":"exec_command","arguments":"{\"cmd\":\"make\"}"}`,
		`response_item {"type":"function_call_output","call_id":"c","output":"Chunk ID: 1\nProcess running with session ID 42\nOutput:\n"}`,
		`response_item {"type":"function_call","call_id":"w1","name":"write_stdin","arguments":"{\"session_id\":42}"}`,
		`response_item {"type":"function_call_output","call_id":"w1","output":"Process running with session ID 42\nOutput:\n"}`,
		`response_item {"type":"function_call","call_id":"w2","name":"write_stdin","arguments":"{\"session_id\":42}"}`,
		`response_item {"type":"function_call_output","call_id":"w2","output":"Process exited with code 2\nOutput:\n"}`))
	want := []string{`unknown 2 ["background"]`, `unknown null null`, `failed 2 null`}
	for i, c := range r.SideEffects.ToolCalls {
		if got := r.status(i) + " " + asText(t, c.Metadata["exit_code"]) + " " + asText(t, c.Metadata["flags"]); got != want[i] {
			t.Errorf("%s: %s, want %s", c.CallID, got, want[i])
		}
	}
}
