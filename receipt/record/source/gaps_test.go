package source_test

import "testing"

// lists are the lists and counts that any line of a log may add to.
var lists = []string{
	callsList, writesList, "/side_effects/network_egress", handoffsList, "/approvals", "/final_artifacts", "/cost/provider_breakdown",
	"/cost/total", "/autonomy_budget/consumed/tool_calls", inputTokens, "/autonomy_budget/consumed/output_tokens",
}

// TestPartOfLog verifies that where a part of a log is missing or cannot be read, each list and
// count is unreported.
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

// TestCallsInPart verifies that a call that no list can name leaves open what it did, to whom it
// gave work, and whether somebody approved it.
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
