package main

import (
	"bytes"
	"fmt"
	"strings"
)

// result is the result of each call, which is about as long as results in many logs.
var result = strings.Repeat(`the \"quick\" brown fox\tjumps over the lazy dog\n`, 80)

// log returns the log of a session and its path below the home directory. The sessions of each
// agent are in four projects.
func log(session, calls int) (path string, text []byte) {
	project := session / 5 % 4
	var b bytes.Buffer
	switch session % 5 {
	case 0:
		claude(&b, session, calls)
		return fmt.Sprintf(".claude/projects/p%d/s%d.jsonl", project, session), b.Bytes()
	case 1:
		codex(&b, session, calls)
		return fmt.Sprintf(".codex/sessions/2026/01/%02d/rollout-s%d.jsonl", 1+project, session), b.Bytes()
	case 2:
		copilot(&b, session, calls)
		return fmt.Sprintf(".copilot/session-state/s%d/events.jsonl", session), b.Bytes()
	case 3:
		gemini(&b, session, calls)
		return fmt.Sprintf(".gemini/tmp/p%d/chats/session-s%d.json", project, session), b.Bytes()
	}
	pi(&b, session, calls)
	return fmt.Sprintf(".pi/agent/sessions/p%d/s%d.jsonl", project, session), b.Bytes()
}

func claude(b *bytes.Buffer, s, calls int) {
	head := func(kind string, n int) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s%d","version":"2.1.219","cwd":"/home/me/p","gitBranch":"main","uuid":%q,"timestamp":%q,`, kind, s, id(kind, s, n), at(s, n))
	}
	fmt.Fprintf(b, `%s"message":{"role":"user","content":"go on"}}`+"\n", head("user", calls+1))
	for n := range calls {
		call := id("toolu_", s, n)
		fmt.Fprintf(b, `%s"message":{"role":"assistant","id":%q,"model":"m","stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":9},"content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make"}}]}}`+"\n", head("assistant", n), id("msg_", s, n), call)
		fmt.Fprintf(b, `%s"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"%s"}]},"toolUseResult":{"stdout":"x"}}`+"\n", head("user", n), call, result)
	}
}

func codex(b *bytes.Buffer, s, calls int) {
	line := func(n int, kind, payload string) {
		fmt.Fprintf(b, `{"timestamp":%q,"type":%q,"payload":%s}`+"\n", at(s, n), kind, payload)
	}
	line(0, "session_meta", fmt.Sprintf(`{"id":"s%d","cwd":"/home/me/p","cli_version":"0.142.0","model_provider":"openai"}`, s))
	line(0, "turn_context", `{"cwd":"/home/me/p","approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"},"model":"m"}`)
	line(0, "event_msg", `{"type":"task_started","turn_id":"t1"}`)
	for n := range calls {
		line(n, "response_item", fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"exec_command","arguments":"{\"cmd\":\"make\"}"}`, id("call_", s, n)))
		line(n, "response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"Process exited with code 0\nOutput:\n%s"}`, id("call_", s, n), result))
	}
	line(calls, "event_msg", `{"type":"task_complete","turn_id":"t1"}`)
}

func copilot(b *bytes.Buffer, s, calls int) {
	event := func(n int, kind, data string) {
		fmt.Fprintf(b, `{"type":%q,"data":%s,"id":%q,"parentId":null,"timestamp":%q}`+"\n", kind, data, id(kind, s, n), at(s, n))
	}
	event(0, "session.start", fmt.Sprintf(`{"sessionId":"s%d","copilotVersion":"1.0.72","context":{"cwd":"/home/me/p"}}`, s))
	for n := range calls {
		event(n, "tool.execution_start", fmt.Sprintf(`{"toolCallId":%q,"toolName":"bash","arguments":{"command":"make"}}`, id("call_", s, n)))
		event(n, "tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":true,"result":{"content":"%s"}}`, id("call_", s, n), result))
	}
	event(calls, "assistant.turn_end", `{"turnId":"0"}`)
}

func gemini(b *bytes.Buffer, s, calls int) {
	fmt.Fprintf(b, `{"sessionId":"s%d","projectHash":"h","startTime":%q,"lastUpdated":%q,"messages":[`, s, at(s, 0), at(s, calls))
	for n := range calls {
		if n > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(b, `{"id":%q,"timestamp":%q,"type":"gemini","content":"","model":"m","tokens":{"input":3,"output":9,"cached":0,"thoughts":0,"tool":0,"total":12},"toolCalls":[{"id":%q,"name":"run_shell_command","args":{"command":"make"},"status":"success","timestamp":%q,"result":[{"functionResponse":{"response":{"output":"%s"}}}]}]}`,
			id("m", s, n), at(s, n), id("call_", s, n), at(s, n), result)
	}
	b.WriteString("]}\n")
}

func pi(b *bytes.Buffer, s, calls int) {
	line := func(n int, rest string) {
		fmt.Fprintf(b, `{"id":%q,"parentId":null,"timestamp":%q,%s}`+"\n", id("e", s, n), at(s, n), rest)
	}
	fmt.Fprintf(b, `{"type":"session","version":3,"id":"s%d","cwd":"/home/me/p","timestamp":%q}`+"\n", s, at(s, 0))
	for n := range calls {
		line(2*n, fmt.Sprintf(`"type":"message","message":{"role":"assistant","model":"m","provider":"p","stopReason":"toolUse","timestamp":%d,"usage":{"input":3,"output":9,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"content":[{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":"make"}}]}`, n, id("call_", s, n)))
		line(2*n+1, fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":%q,"isError":false,"content":[{"type":"text","text":"%s"}]}`, id("call_", s, n), result))
	}
}
