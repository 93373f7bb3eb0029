package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// openCode returns an OpenCode export that contains one message from a model.
func openCode(info string, parts ...string) string {
	return `{"info":{"id":"s","directory":"/w"},"messages":[{"info":{"id":"m","role":"assistant","modelID":"x"` + info + `},"parts":[` + strings.Join(parts, ",") + `]}]}`
}

func openCodeCall(tool, state string) string {
	return fmt.Sprintf(`{"id":"p","type":"tool","callID":"c","tool":%q,"state":%s}`, tool, state)
}

// gemini returns a Gemini CLI chat as lines.
func gemini(lines ...string) string {
	return `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z"}` + "\n" + strings.Join(lines, "\n") + "\n"
}

// geminiContext is the first message of a chat, which Gemini CLI writes.
const geminiContext = `{"$set":{"messages":[{"id":"u1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":[{"text":"<session_context>\nA chat.\n- **Workspace Directories:**\n  - /w\n- **Directory Structure:**\n</session_context>"}]}]}}`

func geminiSaid(id string, output int, calls string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-01-01T00:00:01Z","type":"gemini","model":"g","tokens":{"input":10,"output":%d,"cached":4,"thoughts":1,"tool":0},"toolCalls":[%s]}`, id, output, calls)
}

// atif returns a trajectory in ATIF.
func atif(rest string, steps ...string) string {
	return `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"a","model_name":"m"},"steps":[` + strings.Join(steps, ",") + `]` + rest + `}`
}

func atifStep(n int, rest string) string {
	return fmt.Sprintf(`{"step_id":%d,"timestamp":"2026-01-01T00:00:0%dZ","source":"agent"%s}`, n, n, rest)
}

// pi returns a session in the format of Pi.
func pi(messages ...string) string {
	var b strings.Builder
	b.WriteString(`{"type":"session","id":"s","cwd":"/w","timestamp":"2026-01-01T00:00:00Z"}` + "\n")
	for _, m := range messages {
		b.WriteString(`{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":` + m + "}\n")
	}
	return b.String()
}

func piSaid(stop, content string) string {
	return fmt.Sprintf(`{"role":"assistant","model":"m","provider":"p","stopReason":%q,"usage":{"input":1,"output":2,"cacheRead":10,"cacheWrite":100,"cost":{"total":0.1}},"content":[%s]}`, stop, content)
}

// TestOtherKinds verifies which values are recorded in the logs of newer agents, and which are not.
func TestOtherKinds(t *testing.T) {
	status := func(r told) string { return r.status(0) }
	input := func(r told) string {
		return fmt.Sprint(show(r.AutonomyBudget.Consumed.InputTokens), " ", show(r.AutonomyBudget.Consumed.OutputTokens), " ", r.floor[inputTokens])
	}
	output := func(r told) string {
		return fmt.Sprint(show(r.AutonomyBudget.Consumed.OutputTokens), " ", r.floor["/autonomy_budget/consumed/output_tokens"])
	}
	cost := func(r told) string { return fmt.Sprint(r.Cost.Total, " ", r.untold["/cost/total"]) }
	state := func(r told) string {
		if r.untold["/lifecycle/final_state"] {
			return ""
		}
		return r.Lifecycle.FinalState
	}
	write := func(r told) string {
		if len(r.SideEffects.FSWrites) == 0 {
			return ""
		}
		w := r.SideEffects.FSWrites[0]
		return fmt.Sprint(w.Path, " ", w.Operation, " ", w.BeforeSHA256.Null, !w.BeforeSHA256.IsZero(), " ", w.AfterSHA256.Null, !w.AfterSHA256.IsZero())
	}
	hosts := func(r told) string {
		var all []string
		for _, e := range r.SideEffects.NetworkEgress {
			all = append(all, e.Destination)
		}
		return strings.Join(all, " ")
	}
	egress := func(r told) string { return fmt.Sprint(r.untold["/side_effects/network_egress"]) }
	exit := func(r told) string {
		return fmt.Sprint(r.status(0), " ", r.SideEffects.ToolCalls[0].Metadata["exit_code"])
	}
	prompts := func(r told) string {
		prompts, _ := r.meta["source"].(map[string]any)["prompts"].(map[string]any)
		return fmt.Sprint(prompts["count"], " ", r.Identifiers.WorkspaceRef)
	}
	handoff := func(r told) string {
		h := r.SideEffects.A2AHandoffs[0]
		return h.TargetAgent + " " + h.TaskID + " " + fmt.Sprint(r.untold[callsList])
	}
	const (
		files    = `{"status":"completed","input":{},"metadata":{"files":[{"filePath":"/w/a","type":%q,"before":"x","after":"","movePath":"/w/b"}]}}`
		run      = `{"status":"completed","input":{"command":"make"},"metadata":{"exit":%s}}`
		fetch    = `{"id":"c","name":"web_fetch","args":{"prompt":"read https://go.dev/doc, then http://x.example."},"status":"success"}`
		replaced = `{"id":"c","name":"replace","args":{"file_path":"a"},"status":"success","resultDisplay":%s}`
		ran      = `{"id":"c","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"c","response":{%s}}}]}`
		request  = `{"id":"u2","timestamp":"2026-01-01T00:00:01Z","type":"user","content":[{"text":"go"}]}`
		results  = `{"id":"u3","timestamp":"2026-01-01T00:00:02Z","type":"user","content":[{"functionResponse":{"id":"c","response":{"output":"x"}}}]}`
		metrics  = `,"metrics":{"prompt_tokens":10,"completion_tokens":1,"cost_usd":0.5}`
		total    = `,"final_metrics":{"total_prompt_tokens":%d,"total_completion_tokens":2,"total_cost_usd":2}`
		asked    = `{"type":"toolCall","id":"c","name":"write","arguments":{"path":"a","content":"x"}}`
		answered = `{"role":"toolResult","toolCallId":"c","isError":%v,"content":[]}`
	)

	for name, c := range map[string]struct {
		log  string
		got  func(told) string
		want string
	}{
		"opencode: exit 0":             {openCode("", openCodeCall("bash", fmt.Sprintf(run, "0"))), status, "succeeded"},
		"opencode: exit 127":           {openCode("", openCodeCall("bash", fmt.Sprintf(run, "127"))), status, "failed"},
		"opencode: no exit code":       {openCode("", openCodeCall("bash", fmt.Sprintf(run, "null"))), status, "unknown"},
		"opencode: an error":           {openCode("", openCodeCall("read", `{"status":"error","input":{},"error":"x"}`)), status, "failed"},
		"opencode: running":            {openCode("", openCodeCall("read", `{"status":"running","input":{}}`)), status, "unanswered"},
		"opencode: added":              {openCode("", openCodeCall("apply_patch", fmt.Sprintf(files, "add"))), write, "a create true true false true"},
		"opencode: deleted":            {openCode("", openCodeCall("apply_patch", fmt.Sprintf(files, "delete"))), write, "a delete false true true true"},
		"opencode: moved":              {openCode("", openCodeCall("apply_patch", fmt.Sprintf(files, "move"))), write, "a delete false true true true"},
		"opencode: a new file":         {openCode("", openCodeCall("write", `{"status":"completed","input":{"filePath":"/w/a","content":"x"},"metadata":{"exists":false}}`)), write, "a create true true false true"},
		"opencode: an unknown file":    {openCode("", openCodeCall("write", `{"status":"completed","input":{"filePath":"/w/a","content":"x"},"metadata":{}}`)), write, "a modify false false false true"},
		"opencode: a snapshot":         {openCode("", `{"type":"patch","files":["/w/gen.go"]}`), write, "gen.go modify false false false false"},
		"opencode: tokens":             {openCode(`,"tokens":{"input":1,"output":9,"reasoning":4,"cache":{"read":10,"write":100}}`), input, "111 9 false"},
		"opencode: reasoning apart":    {openCode(`,"tokens":{"total":124,"input":1,"output":9,"reasoning":4,"cache":{"read":10,"write":100}}`), input, "111 13 false"},
		"opencode: reasoning in it":    {openCode(`,"tokens":{"total":120,"input":1,"output":9,"reasoning":4,"cache":{"read":10,"write":100}}`), input, "111 9 false"},
		"opencode: no total":           {openCode(`,"tokens":{"input":1,"output":9,"reasoning":4,"cache":{"read":10,"write":100}}`), output, "9 true"},
		"opencode: the total":          {openCode(`,"tokens":{"total":120,"input":1,"output":9,"reasoning":4,"cache":{"read":10,"write":100}}`), output, "9 false"},
		"opencode: a rule refused":     {openCode("", openCodeCall("bash", `{"status":"error","input":{},"error":"The user has specified a rule which prevents you from using this specific tool call. Here they are"}`)), status, "denied"},
		"opencode: nobody was asked":   {openCode("", openCodeCall("webfetch", `{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call."}`)), status, "denied"},
		"opencode: an unknown tool":    {openCode("", openCodeCall("invalid", `{"status":"completed","input":{"tool":"x","error":"y"},"output":"z","metadata":{"truncated":false}}`)), status, "failed"},
		"opencode: text of a server":   {openCode("", openCodeCall("x_y", `{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call."}`)), status, "failed"},
		"opencode: no tokens":          {openCode(""), input, "nothing nothing false"},
		"opencode: cost":               {openCode(`,"cost":0.25`), cost, "0.25 false"},
		"opencode: no cost":            {openCode(""), cost, "0 true"},
		"opencode: the end":            {openCode(`,"finish":"stop"`), state, "SUCCEEDED"},
		"opencode: not the end":        {openCode(`,"finish":"tool-calls"`), state, ""},
		"opencode: aborted":            {openCode(`,"error":{"name":"MessageAbortedError"}`), state, "CANCELED"},
		"opencode: failed":             {openCode(`,"error":{"name":"APIError"}`), state, "FAILED"},
		"opencode: a child":            {openCode("", openCodeCall("task", `{"status":"completed","input":{"subagent_type":"explore"},"metadata":{"sessionId":"ses_2"}}`)), handoff, "explore ses_2 false"},
		"gemini: the last counts":      {gemini(geminiSaid("g", 1, ""), geminiSaid("g", 7, "")), input, "10 8 false"},
		"gemini: rewound":              {gemini(geminiSaid("g1", 1, ""), `{"$rewindTo":"g1"}`, geminiSaid("g2", 7, "")), input, "20 10 false"},
		"gemini: refused or aborted":   {gemini(geminiSaid("g", 1, `{"id":"c","name":"x","args":{},"status":"cancelled"}`)), status, "canceled"},
		"gemini: executing":            {gemini(geminiSaid("g", 1, `{"id":"c","name":"x","args":{},"status":"executing"}`)), status, "unanswered"},
		"gemini: executed":             {gemini(geminiSaid("g", 1, `{"id":"c","name":"x","args":{},"status":"executing"}`), geminiSaid("g", 1, `{"id":"c","name":"x","args":{},"status":"success"}`)), status, "succeeded"},
		"gemini: an unknown status":    {gemini(geminiSaid("g", 1, `{"id":"c","name":"x","args":{},"status":"perhaps"}`)), status, "unknown"},
		"gemini: URLs in a prompt":     {gemini(geminiSaid("g", 1, fetch)), hosts, "go.dev x.example"},
		"gemini: a search":             {gemini(geminiSaid("g", 1, `{"id":"c","name":"google_web_search","args":{},"status":"success"}`)), hosts, "unknown"},
		"gemini: no file before":       {gemini(geminiSaid("g", 1, fmt.Sprintf(replaced, `{"originalContent":null,"newContent":"x"}`))), write, "a create true true false true"},
		"gemini: a new file":           {gemini(geminiSaid("g", 1, fmt.Sprintf(replaced, `{"originalContent":"","newContent":"x","isNewFile":true}`))), write, "a create true true false true"},
		"gemini: an empty file":        {gemini(geminiSaid("g", 1, fmt.Sprintf(replaced, `{"originalContent":"","newContent":"x","isNewFile":false}`))), write, "a modify false true false true"},
		"gemini: exit code 1":          {gemini(geminiSaid("g", 1, fmt.Sprintf(ran, `"output":"<untrusted_context>\nOutput: (empty)\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"`))), exit, "failed 1"},
		"gemini: exit code 0":          {gemini(geminiSaid("g", 1, fmt.Sprintf(ran, `"output":"<untrusted_context>\nOutput: a\nProcess Group PGID: 7\n</untrusted_context>"`))), exit, "succeeded <nil>"},
		"gemini: text of a command":    {gemini(geminiSaid("g", 1, fmt.Sprintf(ran, `"output":"Output: a\nExit Code: 1\nb\nProcess Group PGID: 7"`))), exit, "succeeded <nil>"},
		"gemini: text at the end":      {gemini(geminiSaid("g", 1, fmt.Sprintf(strings.Replace(ran, `"success"`, `"success","resultDisplay":"a\nExit Code: 1"`, 1), `"output":"<untrusted_context>\nOutput: a\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"`))), exit, "succeeded <nil>"},
		"gemini: text and exit code":   {gemini(geminiSaid("g", 1, fmt.Sprintf(strings.Replace(ran, `"success"`, `"success","resultDisplay":"a\nExit Code: 0"`, 1), `"output":"<untrusted_context>\nOutput: a\nExit Code: 0\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>"`))), exit, "failed 2"},
		"gemini: a rule refused":       {gemini(geminiSaid("g", 1, fmt.Sprintf(strings.Replace(ran, "success", "error", 1), `"error":"Tool execution denied by policy. No network."`))), status, "denied"},
		"gemini: an error":             {gemini(geminiSaid("g", 1, fmt.Sprintf(strings.Replace(ran, "success", "error", 1), `"error":"denied by policy"`))), status, "failed"},
		"gemini: tokens of a search":   {gemini(geminiSaid("g", 1, `{"id":"c","name":"google_web_search","args":{},"status":"success"}`)), input, "10 2 true"},
		"gemini: a failed search":      {gemini(geminiSaid("g", 1, `{"id":"c","name":"google_web_search","args":{},"status":"error"}`)), input, "10 2 true"},
		"gemini: prompts":              {gemini(geminiContext, request, results, request), prompts, "1 w.d1bb8ca3"},
		"gemini: a folder":             {gemini(`{"$set":{"directories":["/w"]}}`, request), prompts, "1 w.d1bb8ca3"},
		"gemini: a file before":        {gemini(geminiSaid("g", 1, fmt.Sprintf(replaced, `{"originalContent":"y","newContent":"x"}`))), write, "a modify false true false true"},
		"gemini: nothing displayed":    {gemini(geminiSaid("g", 1, fmt.Sprintf(replaced, `"x"`))), write, "a modify false false false false"},
		"gemini: an agent":             {gemini(geminiSaid("g", 1, `{"id":"c","name":"explore","args":{},"status":"success","agentId":"a1"}`)), handoff, "explore a1 true"},
		"gemini: no end":               {gemini(geminiSaid("g", 1, "")), state, ""},
		"atif: the sum":                {atif("", atifStep(1, metrics), atifStep(2, metrics)), input, "20 2 false"},
		"atif: a repeated step":        {atif("", atifStep(1, metrics), atifStep(2, metrics), atifStep(2, metrics)), input, "20 2 false"},
		"atif: the total":              {atif(fmt.Sprintf(total, 20), atifStep(1, metrics), atifStep(2, metrics)), input, "20 2 false"},
		"atif: a larger total":         {atif(fmt.Sprintf(total, 25), atifStep(1, metrics), atifStep(2, metrics)), input, "25 2 true"},
		"atif: a smaller total":        {atif(fmt.Sprintf(total, 15), atifStep(1, metrics), atifStep(2, metrics)), input, "20 2 true"},
		"atif: some steps, less":       {atif(fmt.Sprintf(total, 25), atifStep(1, metrics), atifStep(2, "")), input, "25 2 false"},
		"atif: some steps, more":       {atif(fmt.Sprintf(total, 5), atifStep(1, metrics), atifStep(2, "")), input, "10 1 true"},
		"atif: some steps":             {atif("", atifStep(1, metrics), atifStep(2, "")), input, "10 1 true"},
		"atif: no metrics":             {atif("", atifStep(1, "")), input, "nothing nothing false"},
		"atif: the cost of steps":      {atif("", atifStep(1, metrics), atifStep(2, metrics)), cost, "1 false"},
		"atif: the total cost":         {atif(fmt.Sprintf(total, 20), atifStep(1, metrics), atifStep(2, metrics)), cost, "2 false"},
		"atif: a result":               {atif("", atifStep(1, `,"tool_calls":[{"tool_call_id":"c","function_name":"x","arguments":{}}],"observation":{"results":[{"source_call_id":"c","content":"x"}]}`)), status, "unknown"},
		"atif: no result":              {atif("", atifStep(1, `,"tool_calls":[{"tool_call_id":"c","function_name":"x","arguments":{}}]`)), status, "unanswered"},
		"atif: continued":              {atif(`,"continued_trajectory_ref":"next.json"`, atifStep(1, metrics)), input, "10 1 true"},
		"atif: requests":               {atif("", atifStep(1, metrics)), egress, "true"},
		"pi: tokens":                   {pi(piSaid("stop", "")), input, "111 2 false"},
		"pi: a copy":                   {pi(piSaid("stop", ""), piSaid("stop", "")), input, "111 2 false"},
		"pi: cost":                     {pi(piSaid("stop", ""), piSaid("aborted", "")), cost, "0.2 false"},
		"pi: the end":                  {pi(piSaid("stop", "")), state, "SUCCEEDED"},
		"pi: aborted inside":           {pi(piSaid("aborted", ""), piSaid("stop", "")), state, "SUCCEEDED"},
		"pi: aborted":                  {pi(piSaid("stop", ""), piSaid("aborted", "")), state, "CANCELED"},
		"pi: an error":                 {pi(piSaid("error", "")), state, "FAILED"},
		"pi: not the end":              {pi(piSaid("toolUse", "")), state, ""},
		"pi: asked again":              {pi(piSaid("stop", ""), `{"role":"user","content":"x"}`), state, ""},
		"pi: written":                  {pi(piSaid("toolUse", asked), fmt.Sprintf(answered, false)), write, "a modify false false false true"},
		"pi: not written":              {pi(piSaid("toolUse", asked), fmt.Sprintf(answered, true)), write, ""},
		"pi: a result of another type": {pi(piSaid("toolUse", asked), fmt.Sprintf(answered, `"no"`)), status, "unknown"},
		"pi: no result":                {pi(piSaid("error", asked)), status, "unanswered"},
		"pi: a command of the person":  {pi(piSaid("stop", ""), `{"role":"bashExecution","command":"make","exitCode":0}`), state, "SUCCEEDED"},
		"pi: requests":                 {pi(piSaid("stop", "")), egress, "true"},
	} {
		if got := c.got(recorded(t, c.log)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestConverted verifies that the receipt for a converted log names the agent, and that a log is
// accepted or rejected based on its format version.
func TestConverted(t *testing.T) {
	r := recorded(t, atif("", atifStep(1, "")))
	if about, _ := r.meta["source"].(map[string]any); about["agent"] != "a" {
		t.Errorf("the agent is %v", about["agent"])
	}
	if d := tryRead(t, []byte(strings.Replace(atif("", atifStep(1, "")), "ATIF-v1.7", "ATIF-v2.0", 1))); d != nil {
		t.Error("another version of the format is read")
	}
}
