package source_test

import "testing"

// TestUnreadClaude verifies that a line of Claude Code that states an action, in a form that its
// reader does not know or cannot attribute, makes every list of actions a lower bound.
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

// open fails the test unless every list of actions in the draft of a log is a lower bound.
func open(t *testing.T, log []string) {
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
}
