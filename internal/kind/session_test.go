package kind_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/internal/kind"
)

// TestSessions verifies that the sessions of each agent are recognized by their characteristic
// members, even after a line from another program.
func TestSessions(t *testing.T) {
	read := []string{"a trajectory (ATIF)", "a session of OpenCode", "a session of Gemini CLI", "a session of GitHub Copilot CLI", "a session of Pi"}
	for text, what := range map[string]string{
		`{"schema_version":"ATIF-v1.7","steps":[]}`:                                      "a trajectory (ATIF)",
		`{"schema_version":"ATIF-v2.0","steps":[]}`:                                      "a trajectory in another version of ATIF",
		`{"info":{"id":"s"},"messages":[{"info":{},"parts":[]}]}`:                        "a session of OpenCode",
		`{"sessionId":"s","projectHash":"h","startTime":"t","messages":[]}`:              "a session of Gemini CLI",
		`{"sessionId":"s","projectHash":"h","startTime":"t"}`:                            "a session of Gemini CLI",
		`{"$set":{"lastUpdated":"t"}}`:                                                   "a session of Gemini CLI",
		`{"type":"session.start","data":{"vscodeVersion":"1"},"id":"i","parentId":null}`: "a session of GitHub Copilot Chat (VS Code)",
		`{"requests":[],"responderUsername":"GitHub Copilot"}`:                           "a session of GitHub Copilot Chat (VS Code)",
		`{"type":"session.start","data":{},"id":"i","parentId":null}`:                    "a session of GitHub Copilot CLI",
		`{"type":"session","id":"i","cwd":"/w","version":3}`:                             "a session of Pi",
		`{"type":"session","id":"i","cwd":"/w","version":7}`:                             "a session of OpenClaw",
		`{"type":"session_init","id":"i"}`:                                               "a session of omp",
		`{"type":"user","sessionId":"s","message":{"role":"user","parts":[]}}`:           "a session of Qwen Code",
		`{"type":"user","sessionId":"session-1","version":"1.0.0","message":{}}`:         "a session of iFlow",
		`{"role":"user","message":{"content":[]}}`:                                       "a session of Cursor",
		`[{"ts":1,"type":"say","say":"text"}]`:                                           "a session of Cline or Roo Code",
		`[{"role":"user","content":"x"}]`:                                                "a session of Cline or Roo Code",
		`{"conversation":[],"working_dir":"/w","accumulated_usage":{}}`:                  "a session of Goose",
		`{"v":1,"id":"T-1","messages":[]}`:                                               "a session of Amp",
		`{"type":"session_start","owner":"me","sessionTitle":"x"}`:                       "a session of Droid (Factory)",
		`{"status":"done","type":"user_input","user_input":{}}`:                          "a session of Windsurf",
		`{"sessionId":"s","workspaceDirectory":"/w","history":[]}`:                       "a session of Continue",
		`[{"kind":"ActionEvent"}]`:                                                       "a session of OpenHands",
		`[{"action":"run","cause":1}]`:                                                   "a session of OpenHands",
		`{"trajectory":[],"history":[],"info":{"exit_status":"submitted"}}`:              "a trajectory of SWE-agent",
		`{"info":{"exit_status":"Submitted"},"messages":[],"trajectory_format":"mini"}`:  "a trajectory of SWE-agent",
		`[{"id":0,"source":"user","action":"message","args":{}}]`:                        "a session of OpenHands",
		`{"trace":{"id":"t"},"observations":[]}`:                                         "an export of Langfuse",
		`{"session":{"source":"tui","system_prompt":"x"},"messages":[]}`:                 "a session of Hermes",
		`{"kind":"user","captured_at":"t","source_line_id":"1"}`:                         "a session of Letta Code",
		`{"id":"m","sessionID":"s","role":"assistant","modelID":"x"}`:                    "a part of the store of OpenCode",
		`{"type":"tool_use","sessionID":"s","part":{}}`:                                  "a stream of OpenCode",
		`{"run_type":"llm","trace_id":"t","dotted_order":"1"}`:                           "a run of LangSmith",
		"# aider chat started at 2026-01-01 10:00:00\n\n#### do it":                      "a session of Aider",
	} {
		inputs := []string{text, strings.ReplaceAll(text, ",", ",\n")}
		if strings.HasPrefix(text, "{") {
			inputs = append(inputs, `{"foreign":{}}`+"\n"+text+"\n")
		}
		for _, in := range inputs {
			want := kind.Session
			if slices.Contains(read, what) {
				want = kind.Transcript
			}
			if f := kind.Of([]byte(in), true); f.Kind != want || f.What != what || f.Next == "" {
				t.Errorf("%s: %+v, want %s", in, f, what)
			}
		}
	}
}

// TestNoSession verifies that supported logs and receipts are not recognized as sessions of other
// agents.
func TestNoSession(t *testing.T) {
	for _, text := range []string{
		`{"type":"user","sessionId":"5111125b-e311-42be-8e4d-93942aaaacf4","version":"1.0.96","message":{"role":"user","content":"x"}}`,
		`{"type":"system","subtype":"init","session_id":"s"}`,
		`{"type":"item.completed","item":{"id":"i","type":"command_execution","status":"completed"}}`,
		`{"timestamp":"t","type":"event_msg","payload":{"type":"task_started"}}`,
		`{"object":"event","id":"1","sequence":1,"event":"task.started","resource":{"object":"task"},"payload":{}}`,
		`[{"receipt_id":"r","role":"user","content":"x"}]`,
		`[{"type":"system","session_id":"s"}]`,
		`{"receipt_id":"r","schema_version":"ATIF-v1","steps":[]}`,
		`{"resourceSpans":[]}`,
	} {
		if f := kind.Of([]byte(text), true); f.Kind == kind.Session {
			t.Errorf("%s: %+v", text, f)
		}
	}
}
