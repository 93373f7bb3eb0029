package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// events returns a session of Copilot CLI. Each event consists of its TYPE and its data.
func events(events ...string) string {
	var b strings.Builder
	for i, e := range append([]string{`session.start {"sessionId":"s"}`}, events...) {
		kind, data, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `{"type":%q,"data":%s,"id":"e%d","parentId":null,"timestamp":"2026-06-25T10:00:%02dZ"}`+"\n", kind, data, i, i)
	}
	return b.String()
}

// TestCopilot verifies the values that are read from the log in testdata.
func TestCopilot(t *testing.T) {
	r := recorded(t, readFile(t, "testdata/copilot.jsonl"))
	var calls, writes, approvals []string
	for i := range r.SideEffects.ToolCalls {
		c := r.SideEffects.ToolCalls[i]
		calls = append(calls, fmt.Sprint(c.CallID, " ", c.Tool, " ", r.status(i), " ", c.Metadata["exit_code"], " ", c.Metadata["error_category"], " ", c.Metadata["parent_call_id"]))
	}
	for _, w := range r.SideEffects.FSWrites {
		writes = append(writes, w.Operation+" "+w.Path)
	}
	for _, a := range r.Approvals {
		approvals = append(approvals, a.ApprovalID+" "+a.Decision)
	}
	none := "<nil>"
	for what, pair := range map[string][2][]string{
		"calls": {calls, {
			"c1 create succeeded " + none + " " + none + " " + none, "c2 bash failed 1 " + none + " " + none, "c3 web_fetch succeeded " + none + " " + none + " " + none,
			"c4 get_issue failed " + none + " " + none + " " + none, "c5 apply_patch succeeded " + none + " " + none + " " + none, "c6 bash denied " + none + " permission_denied " + none,
			"c7 task succeeded " + none + " " + none + " " + none, "c8 view succeeded " + none + " " + none + " c7", "c9 bash canceled " + none + " not_started " + none,
		}},
		"writes":    {writes, {"create a.txt", "create b.txt", "delete a.txt", "modify gen.go"}},
		"approvals": {approvals, {"c1 approved", "c6 denied"}},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s\n%q\nwant\n%q", what, pair[0], pair[1])
		}
	}
	if n := *r.AutonomyBudget.Consumed.ToolCalls; n != 7 {
		t.Errorf("%d calls are consumed, expected 7: one was refused, and one never started", n)
	}
	if r.untold["/approvals"] || r.Trust.StartTier != "act_with_approval" || *r.AutonomyBudget.Consumed.InputTokens != 900 {
		t.Errorf("approvals unreported: %v, tier %s, tokens %d", r.untold["/approvals"], r.Trust.StartTier, *r.AutonomyBudget.Consumed.InputTokens)
	}
	if text := asText(t, r.Draft); strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "rm -rf") {
		t.Error("the draft contains a secret of the provider, or the text of a command")
	}
}

// TestCopilotRules verifies which values are recorded in the events of Copilot CLI, and which are
// not.
func TestCopilotRules(t *testing.T) {
	const (
		start    = `tool.execution_start {"toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}}`
		complete = `tool.execution_complete {"toolCallId":"c1","success":true,"result":{"content":"%s"}}`
		request  = `assistant.message {"messageId":"m1","outputTokens":3,"toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{}}]}`
		shutdown = `session.shutdown {"sessionStartTime":%d,"modelMetrics":{"gpt":{"usage":{"inputTokens":%d,"outputTokens":2}}}}`
		usage    = `session.usage_record {"usage":{"model":"gpt","inputTokens":%d,"outputTokens":2,"cacheReadTokens":1,"cacheWriteTokens":0,"reasoningTokens":0}}`
		question = `permission.requested {"requestId":"q","permissionRequest":{"toolCallId":"c1"}}`
		allowed  = `permission.completed {"requestId":"q","toolCallId":"c1","result":{"kind":"approved-for-location"}}`
	)
	status := func(r told) string { return r.status(0) }
	input := func(r told) string {
		n := r.AutonomyBudget.Consumed.InputTokens
		return fmt.Sprint(show(n), " ", r.floor[inputTokens])
	}
	ignored := func(r told) string { return strings.Trim(fmt.Sprint(r.meta["ignored_records"]), "<nil>") }
	state := func(r told) string {
		if r.untold["/lifecycle/final_state"] {
			return ""
		}
		return r.Lifecycle.FinalState
	}
	approvals := func(r told) string { return fmt.Sprint(len(r.Approvals), " ", r.untold["/approvals"]) }

	for name, c := range map[string]struct {
		events []string
		got    func(told) string
		want   string
	}{
		"exit code 0":              {[]string{start, fmt.Sprintf(complete, `x\n<shellId: 1 completed with exit code 0>`)}, status, "succeeded"},
		"exit code 128":            {[]string{start, fmt.Sprintf(complete, `x\n<shellId: 1 completed with exit code 128>`)}, status, "failed"},
		"an exit code in the text": {[]string{start, fmt.Sprintf(complete, `<shellId: 1 completed with exit code 1>\nx`)}, status, "succeeded"},
		"still running":            {[]string{start, fmt.Sprintf(complete, `<command with shellId: 1 is still running after 30 seconds.>`)}, status, "unknown"},
		"not completed":            {[]string{start}, status, "unanswered"},
		"never started":            {[]string{request, `assistant.turn_end {}`}, status, "canceled"},
		"not started yet":          {[]string{request}, status, "unanswered"},
		"started later":            {[]string{request, `assistant.turn_end {}`, start, fmt.Sprintf(complete, "x")}, status, "succeeded"},
		"one process":              {[]string{fmt.Sprintf(shutdown, 1, 5)}, input, "5 false"},
		"two processes":            {[]string{fmt.Sprintf(shutdown, 1, 5), `session.resume {}`, fmt.Sprintf(shutdown, 2, 7)}, input, "12 false"},
		"one process twice":        {[]string{fmt.Sprintf(shutdown, 1, 5), fmt.Sprintf(shutdown, 1, 7)}, input, "7 false"},
		"a process that was lost":  {[]string{request, `session.resume {}`, fmt.Sprintf(shutdown, 2, 7)}, input, "7 true"},
		"answers after it":         {[]string{fmt.Sprintf(shutdown, 1, 5), request}, input, "5 true"},
		"zero is not reported":     {[]string{fmt.Sprintf(strings.Replace(shutdown, ":2", ":0", 1), 1, 0)}, input, "nothing false"},
		"calls of a lost process":  {[]string{fmt.Sprintf(usage, 10), request}, input, "10 true"},
		"calls, and their sum":     {[]string{fmt.Sprintf(usage, 10), request, fmt.Sprintf(shutdown, 1, 12)}, input, "12 false"},
		"calls after a sum":        {[]string{fmt.Sprintf(usage, 10), fmt.Sprintf(shutdown, 1, 10), `session.resume {}`, fmt.Sprintf(usage, 7), request}, input, "17 true"},
		"a call that is missing":   {[]string{request, strings.Replace(request, "m1", "m2", 1), fmt.Sprintf(usage, 7)}, input, "nothing false"},
		"a rule refused":           {[]string{start, `tool.execution_complete {"toolCallId":"c1","success":false,"error":{"message":"x","code":"denied"}}`}, status, "denied"},
		"an error":                 {[]string{start, `tool.execution_complete {"toolCallId":"c1","success":false,"error":{"message":"denied","code":"failure"}}`}, status, "failed"},
		"a stated exit code":       {[]string{start, `tool.execution_complete {"toolCallId":"c1","success":true,"shellExecution":{"exitCode":3},"result":{"content":"x"}}`}, status, "failed"},
		"a negative exit code":     {[]string{start, `tool.execution_complete {"toolCallId":"c1","success":true,"shellExecution":{"exitCode":-1},"result":{"content":"x"}}`}, status, "failed"},
		"a configured agent":       {[]string{`subagent.configured {"model":"gpt","multiTurn":true}`}, ignored, ""},
		"an end":                   {[]string{`assistant.turn_start {}`, `assistant.turn_end {}`}, state, "SUCCEEDED"},
		"asked again":              {[]string{`assistant.turn_end {}`, `user.message {"content":"x"}`}, state, ""},
		"aborted":                  {[]string{`assistant.turn_end {}`, `abort {"reason":"user"}`}, state, "CANCELED"},
		"all questions answered":   {[]string{start, question, allowed}, approvals, "1 false"},
		"a person answered":        {[]string{start, question, strings.Replace(allowed, "}}", `},"decisionSource":"human_response"}`, 1)}, approvals, "1 false"},
		"a program answered":       {[]string{start, question, strings.Replace(allowed, "}}", `},"decisionSource":"assisted_approval"}`, 1)}, approvals, "0 false"},
		"a program refused":        {[]string{start, question, `permission.completed {"requestId":"q","toolCallId":"c1","result":{"kind":"denied-interactively-by-user"},"decisionSource":"host_policy"}`}, approvals, "0 false"},
		"a question is open":       {[]string{start, question}, approvals, "0 true"},
		"everything is allowed":    {[]string{`session.permissions_changed {"previousAllowAllPermissions":false,"allowAllPermissions":true}`, start, question, allowed}, approvals, "1 true"},
		"an unknown answer":        {[]string{start, question, strings.Replace(allowed, "approved-for-location", "perhaps", 1)}, approvals, "0 true"},
	} {
		if got := c.got(recorded(t, events(c.events...))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
