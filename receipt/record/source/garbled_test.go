package source_test

import (
	"strings"
	"testing"
)

// TestGarbled verifies that a value with an unexpected type is not used, and that the remaining
// values are lower bounds.
func TestGarbled(t *testing.T) {
	const (
		input, output, calls = "/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens", "/side_effects/tool_calls"
		state, over, given   = "/lifecycle/final_state", "/lifecycle/completed_at", "/side_effects/a2a_handoffs"
		cost, approvals      = "/cost/total", "/approvals"
	)
	asks := func(name, id string) string {
		return `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:02Z","message":{"role":"assistant","id":"m1","model":"m","content":[{"type":"tool_use","id":` + id + `,"name":` + name + `,"input":{}}]}}`
	}
	answers := func(more string) string {
		return `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"` + more
	}
	account := func(models, more string) string {
		return `{"type":"result","session_id":"s","uuid":"r1","modelUsage":{` + models + `}` + more + `}`
	}
	const (
		one     = `"m":{"inputTokens":3,"outputTokens":5,"costUSD":0.1}`
		granted = `{"timeUnixNano":"1767225600000000000","attributes":[{"key":"event.name","value":{"stringValue":"tool_decision"}},{"key":"tool_use_id","value":{"stringValue":"t1"}},{"key":"decision","value":{"stringValue":"accept"}},{"key":"source","value":{"stringValue":"user"}}]}`
		request = `{"timeUnixNano":"1767225600000000000","attributes":[{"key":"event.name","value":{"stringValue":"api_request"}},{"key":"input_tokens","value":{"intValue":3}},{"key":"output_tokens","value":{"intValue":5}},{"key":"cost_usd","value":{"doubleValue":0.1}}]}`
		id, at  = `"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a1",`, `"1777111200000000000"`
		later   = `"1777111201000000000"`
	)
	records := func(list string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + list + `]}]}]}`
	}
	for name, test := range map[string]struct {
		right, wrong []string
		untold       string // locations that must be reported for the lines in right, and unreported for the lines in wrong
	}{
		"is_error":              {[]string{asks(`"Bash"`, `"t1"`), answers(`}]}}`)}, []string{asks(`"Bash"`, `"t1"`), answers(`,"is_error":"true"}]}}`)}, calls + "/0/status"},
		"interrupted":           {[]string{asks(`"Bash"`, `"t1"`), answers(`}]}}`)}, []string{asks(`"Bash"`, `"t1"`), answers(`}]},"toolUseResult":{"interrupted":1}}`)}, calls + "/0/status"},
		"a message":             {[]string{answered}, []string{answered, strings.Replace(asked, `"user"`, `"assistant"`, 1), `{"type":"assistant","sessionId":"s","message":"x"}`}, input},
		"blocks":                {[]string{answered}, []string{answered, `{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m1","content":{"type":"tool_use"}}}`}, calls},
		"a block":               {[]string{answered}, []string{answered, `{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m1","content":["tool_use"]}}`}, calls},
		"the type of a block":   {[]string{answered}, []string{answered, `{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m1","content":[{"type":7}]}}`}, calls},
		"the name of a tool":    {[]string{asks(`"Bash"`, `"t1"`)}, []string{asks(`7`, `"t1"`)}, given},
		"the id of a Task":      {[]string{asks(`"Bash"`, `"t1"`)}, []string{asks(`"Task"`, `7`)}, given},
		"a time":                {[]string{answered}, []string{answered, strings.Replace(again, `"2026-04-25T10:00:03Z"`, `"soon"`, 1)}, over},
		"a model's account":     {[]string{account(one, "")}, []string{account(one+`,"n":7`, "")}, input},
		"a model's output":      {[]string{account(one, "")}, []string{account(one+`,"n":{"inputTokens":3,"outputTokens":-5}`, "")}, output},
		"what all cost":         {[]string{account(one, `,"total_cost_usd":0.1`)}, []string{account(one, `,"total_cost_usd":0.1`), strings.Replace(account(one, `,"total_cost_usd":"0.2"`), "r1", "r2", 1)}, cost},
		"what became of it":     {[]string{account(one, `,"subtype":"success"`)}, []string{account(one, `,"subtype":7`)}, state},
		"whether it is so":      {[]string{account(one, `,"subtype":"success"`)}, []string{account(one, `,"subtype":"success","is_error":"true"`)}, state},
		"denials":               {[]string{account(one, `,"permission_denials":[]`)}, []string{account(one, `,"permission_denials":"Bash"`)}, calls},
		"a count so far":        {[]string{rollout, took("3", "5")}, []string{rollout, took("3", "5"), took(`"9"`, "9")}, input},
		"the counts so far":     {[]string{rollout, took("3", "5")}, []string{rollout, took("3", "5"), `{"type":"event_msg","payload":{"type":"token_count","info":7}}`}, output},
		"a time of a rollout":   {[]string{rollout, turn1, over1}, []string{rollout, turn1, over1, `{"timestamp":7,"type":"event_msg","payload":{"type":"agent_message"}}`}, over},
		"a list of spans":       {[]string{export(chat(id, at, later, 1))}, []string{export(chat(id, at, later, 1)), `{"resourceSpans":[{"scopeSpans":7}]}`}, calls},
		"a span":                {[]string{export(chat(id, at, later, 1))}, []string{export(chat(id, at, later, 1)), `{"resourceSpans":[{"scopeSpans":[{"spans":["x"]}]}]}`}, input},
		"an attribute":          {[]string{export(chat(id, at, later, 1))}, []string{export(spanOf{ids: id, start: at, end: later, operation: "chat", more: `,{"key":"n","value":{"stringValue":7}}`})}, calls},
		"times of spans":        {[]string{export(chat(id, at, later, 1))}, []string{export(chat(id, at, later, 1)), `{"resourceSpans":[7]}`}, over},
		"decisions":             {[]string{records(granted)}, []string{records(granted + `,7`)}, approvals},
		"what a request cost":   {[]string{records(request)}, []string{records(request), strings.NewReplacer(`0.1`, `"x"`, `:5}`, `:6}`).Replace(records(request))}, cost},
		"a status out of range": {[]string{export(chat(id, at, later, 1)), ended(1)}, []string{export(chat(id, at, later, 1)), ended(7)}, state},
	} {
		t.Run(name, func(t *testing.T) {
			if r := toldOf(t, test.right); r.untold[test.untold] {
				t.Errorf("%s is not reported for a valid value", test.untold)
			}
			if r := toldOf(t, test.wrong); !r.untold[test.untold] {
				t.Errorf("%s is reported, %s", test.untold, asText(t, r.Draft))
			}
		})
	}
}

const (
	turn1 = `{"timestamp":"2026-04-25T10:00:01Z","type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}`
	over1 = `{"timestamp":"2026-04-25T10:00:05Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"1"}}`
)

// ended returns a root span that ended with the given status.
func ended(status int) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000b2","startTimeUnixNano":"1777111200000000000","endTimeUnixNano":"1777111201000000000","status":{"code":` + string(rune('0'+status)) + `}}]}]}]}`
}
