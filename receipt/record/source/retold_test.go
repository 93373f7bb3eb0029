package source_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// These are lines from the sources, for logs that consist of several lines.
const (
	asked     = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:01Z","message":{"role":"user","content":"do it"}}`
	answered  = `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:02Z","message":{"role":"assistant","id":"m1","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":5}}}`
	again     = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"role":"user","content":"once more"}}`
	command   = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"role":"user","content":"<command-name>/exit</command-name>"}}`
	broke     = `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:04Z","isApiErrorMessage":true,"message":{"role":"assistant","id":"e1","model":"<synthetic>","content":[{"type":"text","text":"API Error: 500"}],"stop_reason":"stop_sequence"}}`
	calling   = `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:01.5Z","message":{"role":"assistant","id":"m0","model":"m","content":[{"type":"tool_use","id":"t1","name":"mcp__tracker__find","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5}}}`
	returned  = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:01.6Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"The user doesn't want to proceed","is_error":true}]},"toolUseResult":"Error: The user doesn't want to proceed"}`
	began     = `{"type":"system","subtype":"init","session_id":"s","model":"m"}`
	spoke     = `{"type":"assistant","session_id":"s","message":{"role":"assistant","id":"m1","model":"m","content":[],"usage":{"input_tokens":100,"output_tokens":8}}}`
	accounted = `{"type":"result","subtype":"success","session_id":"s","uuid":"r1","duration_ms":1000,"total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":100,"outputTokens":50,"costUSD":0.5}}}`
	shrunk    = `{"type":"result","subtype":"success","session_id":"s","uuid":"r2","duration_ms":1000,"total_cost_usd":0.1,"modelUsage":{"m":{"inputTokens":10,"outputTokens":5,"costUSD":0.1}}}`
	rollout   = `{"timestamp":"2026-04-25T10:00:01Z","type":"session_meta","payload":{"id":"c1","cwd":"/w"}}`
	worker    = `{"timestamp":"2026-04-25T10:00:03Z","type":"session_meta","payload":{"id":"c2","cwd":"/w","parent_thread_id":"c1"}}`
	over      = `{"timestamp":"2026-04-25T10:00:02Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"1"}}`
	stopped   = `{"timestamp":"2026-04-25T10:00:04Z","type":"event_msg","payload":{"type":"turn_aborted","turn_id":"2"}}`
)

func response(payload string) string {
	return `{"timestamp":"2026-04-25T10:00:02Z","type":"response_item","payload":` + payload + `}`
}

func took(input, output string) string {
	return `{"timestamp":"2026-04-25T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":` + input + `,"output_tokens":` + output + `}}}}`
}

func toldOf(t *testing.T, logs ...[]string) told {
	t.Helper()
	var inputs []source.Input
	for _, lines := range logs {
		inputs = append(inputs, source.Input{Name: "log", Reader: strings.NewReader(strings.Join(lines, "\n") + "\n")})
	}
	got, err := source.Read(inputs, options())
	if err != nil {
		t.Fatal(err)
	}
	return read(t, got.Draft)
}

// TestUnansweredEnd verifies that the end of a turn does not end a later turn that a person
// started, regardless of which log is read first.
func TestUnansweredEnd(t *testing.T) {
	for name, c := range map[string]struct {
		logs  [][]string
		state string // "" if the draft does not state the final state
	}{
		"asked again":          {[][]string{{asked, answered, again}}, ""},
		"an error":             {[][]string{{asked, answered, again, broke}}, ""},
		"a command":            {[][]string{{asked, answered, command}}, "SUCCEEDED"},
		"later log first":      {[][]string{{again}, {asked, answered}}, ""},
		"earlier lines behind": {[][]string{{answered, calling, asked}}, "SUCCEEDED"},
		"another's turn":       {[][]string{{rollout, over}, {worker, stopped}}, "SUCCEEDED"},
		"its own turn":         {[][]string{{worker, stopped}, {rollout, over}}, "CANCELED"},
	} {
		r := toldOf(t, c.logs...)
		got := r.Lifecycle.FinalState
		if r.untold["/lifecycle/final_state"] {
			got = ""
		}
		if got != c.state {
			t.Errorf("%s: it ended as %q, want %q", name, got, c.state)
		}
	}
}

// TestOver verifies that the time of the last line is used as the end of the task only if a line
// records that the task ended. Otherwise, the task may have continued, and the time between its
// lines is a lower bound of the duration.
func TestOver(t *testing.T) {
	const (
		id, inner   = `"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a1",`, `"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a2","parentSpanId":"00000000000000a1",`
		start, ends = `"1777111200000000000"`, `"1777111201000000000"`
		request     = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1777111200000000000","attributes":[{"key":"event.name","value":{"stringValue":"api_request"}},{"key":"input_tokens","value":{"intValue":3}}]}]}]}]}`
	)
	for name, c := range map[string]struct {
		lines []string
		told  bool
	}{
		"an answer":                 {[]string{asked, answered}, true},
		"a call that was asked for": {[]string{asked, calling}, false},
		"asked again":               {[]string{asked, answered, again}, false},
		"cut":                       {[]string{asked, answered, answered[:len(answered)/2]}, false},
		"a turn":                    {[]string{rollout, turn1, over1}, true},
		"a turn that goes on":       {[]string{rollout, turn1, over1, strings.ReplaceAll(turn1, `"1"`, `"2"`)}, false},
		"no turns":                  {[]string{rollout, took("3", "5")}, false},
		"a span":                    {[]string{export(chat(id, start, ends, 1))}, true},
		"a span in one elsewhere":   {[]string{export(chat(inner, start, ends, 1))}, false},
		"both":                      {[]string{export(chat(inner, start, ends, 1)), export(chat(id, start, ends, 1))}, true},
		"spans that were cut":       {[]string{export(chat(id, start, ends, 1)), `{"resourceSpans":[`}, false},
		"events":                    {[]string{request}, false},
	} {
		r := toldOf(t, c.lines)
		if r.untold["/lifecycle/completed_at"] == c.told || r.floor["/autonomy_budget/consumed/wall_time_ms"] == c.told || r.untold["/lifecycle/started_at"] {
			t.Errorf("%s: unreported %v, at least %v", name, r.untold, r.floor)
		}
		if r.AutonomyBudget.Consumed.WallTimeMS == nil {
			t.Errorf("%s: the minimum duration is not recorded", name)
		}
	}
}

// TestGaps verifies that the amounts are lower bounds if lines are missing.
func TestGaps(t *testing.T) {
	for name, lines := range map[string][]string{
		"result without its call": {asked, returned, answered},
		"a broken line":           {asked, answered[:len(answered)/2], answered},
		"cut":                     {asked, answered, answered[:len(answered)/2]},
	} {
		r := toldOf(t, lines)
		for _, at := range []string{"/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens", "/autonomy_budget/consumed/tool_calls"} {
			if !r.floor[at] {
				t.Errorf("%s: %s is recorded as if it were complete", name, at)
			}
		}
	}
}

// TestWordsOfServers verifies that text from a server is interpreted neither as a person's decision
// nor as an exit code.
func TestWordsOfServers(t *testing.T) {
	r := toldOf(t, []string{asked, calling, returned, answered})
	if len(r.Approvals) != 0 || r.status(0) != "unanswered" {
		t.Errorf("approvals %+v, calls %+v", r.Approvals, r.SideEffects.ToolCalls)
	}

	call := func(id, name string) string {
		return response(`{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":"{}"}`)
	}
	output := func(id, text string) string {
		return response(`{"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"}`)
	}
	r = toldOf(t, []string{
		rollout, call("a", "mcp__x__log"), output("a", `Exit code: 1\nOutput:\n`),
		call("b", "mcp__x__log"), output("b", "exec command rejected by user"),
		call("c", "view_log"), output("c", `of last night:\nExit code: 1\n`),
		call("d", "shell"), output("d", `Chunk ID: 1\nWall time: 1 s\nProcess exited with code 1\nOutput:\n`),
		response(`{"type":"local_shell_call","call_id":"e","status":"completed","action":{"type":"exec","command":["ls"]}}`), output("e", `Exit code: 0\nOutput:\n`),
	})
	if len(r.Approvals) != 0 {
		t.Errorf("approvals %+v", r.Approvals)
	}
	var ends []string
	for i, c := range r.SideEffects.ToolCalls {
		if r.untold["/side_effects/tool_calls/"+string(rune('0'+i))+"/status"] {
			c.Status = "untold"
		}
		ends = append(ends, c.Tool+" "+c.Status)
	}
	if want := []string{"mcp__x__log untold", "mcp__x__log untold", "view_log untold", "shell failed", "local_shell succeeded"}; !slices.Equal(ends, want) {
		t.Errorf("%q, want %q", ends, want)
	}
}

// TestAccountsThatShrink verifies that the largest reported total is used, as a lower bound,
// regardless of the order of the results. A repeated total, and a message that it includes, must be
// counted once.
func TestAccountsThatShrink(t *testing.T) {
	consumed := func(lines ...string) (receipt.Amounts, told) {
		r := toldOf(t, lines)
		return r.AutonomyBudget.Consumed, r
	}
	for _, lines := range [][]string{{began, spoke, accounted, began, shrunk}, {rollout, took("100", "50"), took("10", "5")}} {
		c, r := consumed(lines...)
		if *c.InputTokens != 100 || *c.OutputTokens != 50 || !r.floor["/autonomy_budget/consumed/input_tokens"] || !r.floor["/autonomy_budget/consumed/output_tokens"] {
			t.Errorf("%d and %d tokens, at least: %v", *c.InputTokens, *c.OutputTokens, r.floor)
		}
		if lines[0] == began && (r.Cost.Total != 0.5 || !r.floor["/cost/total"]) {
			t.Errorf("cost %v, at least: %v", r.Cost.Total, r.floor["/cost/total"])
		}
	}
	c, r := consumed(began, shrunk, accounted)
	if *c.InputTokens != 100 || len(r.floor) != 0 {
		t.Errorf("a running total: %d tokens, at least: %v", *c.InputTokens, r.floor)
	}
	c, _ = consumed(began, spoke, accounted, spoke, accounted)
	if *c.InputTokens != 100 || *c.OutputTokens != 50 || *c.WallTimeMS != 1000 {
		t.Errorf("recorded twice: %d and %d tokens, %d ms", *c.InputTokens, *c.OutputTokens, *c.WallTimeMS)
	}
	c, _ = consumed(began, spoke, accounted, spoke)
	if *c.InputTokens != 100 || *c.OutputTokens != 50 {
		t.Errorf("a repeated line: %d and %d tokens", *c.InputTokens, *c.OutputTokens)
	}
}

// TestPatchFolder verifies that paths in a patch are relative to the working directory of the
// shell.
func TestPatchFolder(t *testing.T) {
	r := toldOf(t, []string{
		rollout,
		response(`{"type":"function_call","call_id":"a","name":"shell","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Add File: a.txt\\n+x\\n*** End Patch\"],\"workdir\":\"/w/sub\"}"}`),
		response(`{"type":"function_call_output","call_id":"a","output":"Exit code: 0\nOutput:\n"}`),
	})
	if w := r.SideEffects.FSWrites; len(w) != 1 || w[0].Path != "sub/a.txt" {
		t.Errorf("%+v", w)
	}
}

// TestEventsApart verifies that two events with the same time but different counts are separate
// events, and that a decision without a person is not attributed to a person.
func TestEventsApart(t *testing.T) {
	event := func(attributes string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","attributes":[` + attributes + `]}]}]}]}`
	}
	pair := func(key, value string) string { return `{"key":"` + key + `","value":{"stringValue":"` + value + `"}}` }
	request := func(tokens, cost string) string {
		return event(strings.Join([]string{pair("event.name", "api_request"), pair("model", "m"), pair("input_tokens", tokens), pair("output_tokens", tokens), pair("cost_usd", cost)}, ","))
	}
	r := toldOf(t, []string{
		request("5", "0.1"), request("50", "0.2"), request("5", "0.1"),
		event(strings.Join([]string{pair("event.name", "tool_decision"), pair("tool_name", "Bash"), pair("tool_use_id", "t"), pair("decision", "timed_out"), pair("source", "User")}, ",")),
	})
	if c := r.AutonomyBudget.Consumed; *c.InputTokens != 55 || r.Cost.Total != 0.3 || len(r.Approvals) != 0 {
		t.Errorf("%d tokens, cost %v, approvals %+v", *c.InputTokens, r.Cost.Total, r.Approvals)
	}
	r = toldOf(t, []string{`{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[` + pair("gen_ai.operation.name", "embeddings") + `,` + pair("gen_ai.usage.input_tokens", "500") + `]},
		{"traceId":"00000000000000000000000000000001","spanId":"0000000000000002","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[` + pair("gen_ai.operation.name", "chat") + `,` + pair("gen_ai.usage.prompt_tokens", "7") + `]}]}]}]}`})
	if c := r.AutonomyBudget.Consumed; *c.InputTokens != 7 || !r.floor["/autonomy_budget/consumed/input_tokens"] {
		t.Errorf("embeddings: %d tokens, at least: %v", *c.InputTokens, r.floor)
	}
}

// TestTiersOfTwoLogs verifies that the first and the last tier are determined by the times,
// regardless of the order of the logs.
func TestTiersOfTwoLogs(t *testing.T) {
	plan := strings.Replace(asked, `"type"`, `"permissionMode":"plan","type"`, 1)
	for _, mode := range []string{"bypassPermissions", "auto"} {
		auto := strings.Replace(again, `"type"`, `"permissionMode":"`+mode+`","type"`, 1)
		for _, logs := range [][][]string{{{plan}, {auto}}, {{auto}, {plan}}} {
			if r := toldOf(t, logs...); r.Trust.StartTier != "suggest" || r.Trust.EndTier != "act_auto" {
				t.Errorf("%s: from %s to %s", mode, r.Trust.StartTier, r.Trust.EndTier)
			}
		}
	}
}

// TestOtherEvents verifies that events that have no place in a receipt are counted.
func TestOtherEvents(t *testing.T) {
	r := toldOf(t, []string{`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","body":{"stringValue":"claude_code.user_prompt"},"attributes":[]}]}]}]}`})
	if counted, _ := r.meta["source"].(map[string]any)["counted"].(map[string]any); fmt.Sprint(counted["other_events"]) != "1" {
		t.Errorf("%v", r.meta["source"])
	}
}

// growing is an endless stream of lines that differ.
type growing struct {
	lines int
	line  func(int) string
	rest  string
}

func (e *growing) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		e.lines++
		e.rest = e.line(e.lines) + "\n"
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestEndlessStream verifies that memory use stays bounded even if a stream never ends with a
// result.
func TestEndlessStream(t *testing.T) {
	for name, line := range map[string]func(int) string{
		"messages": func(n int) string { return strings.ReplaceAll(spoke, "m1", fmt.Sprint("m", n)) },
		"sessions": func(n int) string {
			return strings.ReplaceAll(strings.ReplaceAll(accounted, "r1", fmt.Sprint("r", n)), `"session_id":"s"`, fmt.Sprintf(`"session_id":"s%d"`, n))
		},
	} {
		in := &growing{line: line}
		bounded := source.Input{Name: name, Reader: io.LimitReader(in, 40<<20)}
		_, err := source.Read([]source.Input{bounded}, options())
		var limit *event.LimitError
		if !errors.As(err, &limit) || in.lines > event.MaxEntries+4096 {
			t.Errorf("%s: after %d lines: %v", name, in.lines, err)
		}
	}
}

// TestEditOfNothing verifies that an edit that replaces no text is recorded as an edit that may
// have created the file.
func TestEditOfNothing(t *testing.T) {
	r := toldOf(t, []string{
		asked,
		`{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:02Z","message":{"role":"assistant","id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/a.txt","old_string":"","new_string":"x"}}]}}`,
		`{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"toolUseResult":{"filePath":"/w/a.txt","oldString":"","newString":"x","originalFile":null,"structuredPatch":[]}}`,
	})
	if len(r.SideEffects.FSWrites) != 1 || !r.untold["/side_effects/fs_writes/0/operation"] {
		t.Errorf("%+v, unreported %v", r.SideEffects.FSWrites, r.untold)
	}
}
