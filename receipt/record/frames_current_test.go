package record_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestTerminal verifies that only a natural end completes a turn, regardless of the stop reason.
func TestTerminal(t *testing.T) {
	for _, test := range []struct{ result, state, code string }{
		{`{"stopReason":"end_turn"}`, "SUCCEEDED", ""},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":null}}}`, "SUCCEEDED", ""},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"natural","reason":"done","owner":"agent"}}}}`, "SUCCEEDED", ""},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":"natural"}}}`, "SUCCEEDED", ""},
		{`{"stopReason":"refusal","_meta":{"harn":{"terminal":{"kind":"natural"}}}}`, "FAILED", "refusal"},
		{`{"stopReason":"cancelled","_meta":{"harn":{"terminal":{"kind":"natural"}}}}`, "CANCELED", ""},
		{`{"stopReason":"cancelled","_meta":{"harn":{"terminal":{"kind":"user_cancelled","owner":"user"}}}}`, "CANCELED", ""},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"user_cancelled","owner":"user"}}}}`, "CANCELED", ""},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"runtime_error","reason":"uncaught throw"}}}}`, "FAILED", "runtime_error"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"provider_error"}}}}`, "FAILED", "provider_error"},
		{`{"stopReason":"max_turn_requests","_meta":{"harn":{"terminal":{"kind":"policy_budget"}}}}`, "FAILED", "policy_budget"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"policy_guardrail"}}}}`, "FAILED", "policy_guardrail"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"unknown"}}}}`, "FAILED", "unknown"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"moonwalk"}}}}`, "FAILED", "moonwalk"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{}}}}`, "FAILED", "unknown"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":7}}}`, "FAILED", "unknown"},
		{`{"stopReason":"end_turn","_meta":{"harn":{"terminal":{"kind":"suspended"}}}}`, "", ""},
	} {
		log := `{"at":"2026-01-01T00:00:00Z","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}` + "\n" +
			`{"at":"2026-01-01T00:00:01Z","frame":{"jsonrpc":"2.0","id":1,"result":` + test.result + `}}`
		o := plain()
		o.TaskID, o.WorkspaceRef, o.Tier = "t", "w", "act_auto"
		l, err := record.Read(strings.NewReader(log), o, record.FormFrames)
		if test.state == "" {
			if !errors.Is(err, record.ErrNotEnded) {
				t.Errorf("%s: %v", test.result, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.result, err)
			continue
		}
		code := ""
		if l.Draft.Lifecycle.Failure != nil {
			code = fmt.Sprint(l.Draft.Lifecycle.Failure["code"])
		}
		if l.Draft.Lifecycle.FinalState != test.state || code != test.code {
			t.Errorf("%s: %s %q", test.result, l.Draft.Lifecycle.FinalState, code)
		}
	}
}

// TestHostCalls verifies that a call that the host makes is listed, including its writes.
func TestHostCalls(t *testing.T) {
	for _, test := range []struct{ params, result, call, writes, bound string }{
		{`{"name":"workspace.write_text","args":{"path":"a.txt","content":"x"}}`, `"result":{"written":true}`, "workspace.write_text succeeded", "a.txt", "no"},
		{`{"name":"workspace.write_text","args":{"path":"a.txt","content":"x"}}`, `"result":null`, "workspace.write_text succeeded", "a.txt", "no"},
		{`{"name":"workspace.write_text","args":{"path":"a.txt","content":"x"}}`, `"result":{"written":false}`, "workspace.write_text succeeded", "", "no"},
		{`{"name":"workspace.write_text","args":{"path":"a.txt"}}`, `"error":{"code":1,"message":"disk full"}`, "workspace.write_text failed", "", "yes"},
		{`{"name":"notes.save","args":{"path":"n.txt"}}`, `"result":{"written":true}`, "notes.save succeeded", "n.txt", "no"},
		{`{"name":"notes.save","args":{"text":"n"}}`, `"result":{"written":true}`, "notes.save succeeded", "", "yes"},
		{`{"name":"tap.open"}`, `"result":{}`, "tap.open succeeded", "", "yes"},
		{`{"name":"workspace.read_text","args":{"path":"a.txt"}}`, `"result":{"content":"x"}`, "workspace.read_text succeeded", "", "no"},
		{`{"name":"project.mcp_config","args":{}}`, `"result":[]`, "", "", "no"},
		{`{"args":{}}`, `"result":[]`, "", "", "yes"},
	} {
		l, err := overBridge(`{"jsonrpc":"2.0","id":9,"method":"host/call","params":`+test.params+`}`, `{"jsonrpc":"2.0","id":9,`+test.result+`}`)
		if err != nil {
			t.Errorf("%s: %v", test.params, err)
			continue
		}
		var calls, writes []string
		for _, c := range l.Draft.SideEffects.ToolCalls {
			calls = append(calls, c.Tool+" "+c.Status)
		}
		for _, w := range l.Draft.SideEffects.FSWrites {
			writes = append(writes, w.Path)
		}
		bound := map[bool]string{true: "yes", false: "no"}[named(l.Draft, "unreported")["/side_effects/fs_writes"]]
		if strings.Join(calls, ",") != test.call || strings.Join(writes, ",") != test.writes || bound != test.bound {
			t.Errorf("%s, %s: %q %q, unreported: %s", test.params, test.result, calls, writes, bound)
		}
	}
}

// TestCompositions verifies that the calls in a snippet are listed, regardless of the channel that
// reports them, and that the draft does not claim that they had no effects.
func TestCompositions(t *testing.T) {
	call := `"runId":"c1","toolCallId":"c1:0","toolName":"write_file","operationIndex":0,"annotations":{"kind":"edit"},"requestedSideEffectLevel":"workspace_write","rawInput":{"path":"a.txt"}`
	result := `"runId":"c1","toolCallId":"c1:0","toolName":"write_file","status":"completed","rawOutput":{"ok":true},"executor":"harn_builtin"`
	for name, frame := range map[string]func(kind, body string) string{
		"agent event": func(kind, body string) string {
			return `{"jsonrpc":"2.0","method":"_harn/agentEvent","params":{"sessionId":"s","kind":"` + kind + `",` + body + `}}`
		},
		"update": func(kind, body string) string {
			return updateLine(`"sessionUpdate":"` + kind + `","_meta":{"harn":{` + body + `}}`)
		},
		"bare update": func(kind, body string) string { return updateLine(`"sessionUpdate":"` + kind + `",` + body) },
	} {
		l, err := overBridge(frame("composition_start", `"runId":"c1"`), frame("composition_child_call", call), frame("composition_child_result", result), frame("composition_finish", `"runId":"c1"`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := l.Draft.SideEffects.ToolCalls
		if len(got) != 1 || got[0].Tool != "write_file" || got[0].Status != "succeeded" || got[0].InputHash.IsZero() || got[0].OutputHash.IsZero() || got[0].Metadata["run_id"] != "c1" {
			t.Errorf("%s: %+v", name, got)
		}
		if !named(l.Draft, "unreported")["/side_effects/fs_writes"] || l.Draft.Metadata["ignored_records"] != nil {
			t.Errorf("%s: %v", name, l.Draft.Metadata)
		}

		// A result without a call is listed as a call, and so is a call without a result.
		for _, lines := range [][]string{{frame("composition_child_result", result)}, {frame("composition_child_call", call)}} {
			if l, err := overBridge(lines...); err != nil || len(l.Draft.SideEffects.ToolCalls) != 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAbbreviatedDigests verifies that an event with an abbreviated digest is accepted, and that
// the corresponding member is unreported.
func TestAbbreviatedDigests(t *testing.T) {
	full := "sha256:" + strings.Repeat("3a7b", 16)
	for _, test := range []struct{ kind, payload, unreported string }{
		{"tool.completed", `{"tool_call_id":"c","fs_writes":[{"path":"p","before_sha256":"3a7b…"}]}`, "/side_effects/fs_writes/0/before_sha256"},
		{"tool.completed", `{"tool_call_id":"c","fs_writes":[{"path":"p","after_sha256":"sha256:3a7b..."}]}`, "/side_effects/fs_writes/0/after_sha256"},
		{"tool.completed", `{"tool_call_id":"c","input_sha256":"3A7B…f00d"}`, "/side_effects/tool_calls/0/input_hash"},
		{"tool.completed", `{"tool_call_id":"c","output_sha256":"3a7b…"}`, "/side_effects/tool_calls/0/output_hash"},
		{"artifact.created", `{"artifact_id":"a","kind":"file","sha256":"3a7b…"}`, "/final_artifacts/0/sha256"},
	} {
		l, err := record.Read(strings.NewReader(string(text(1, 1, "task.started", `{}`))+"\n"+string(text(2, 2, test.kind, test.payload))+"\n"+string(text(3, 3, "task.completed", `{}`))), plain(), record.FormUnknown)
		if err != nil || !named(l.Draft, "unreported")[test.unreported] {
			t.Errorf("%s: %v", test.payload, err)
		}
	}

	// A digest is kept only if it matches the abbreviation.
	for short, kept := range map[string]bool{"3a7b…": true, "3a7b…3a7b": true, "3a7c…": false, "3a7b…00": false} {
		l, err := record.Read(strings.NewReader(string(text(1, 1, "task.started", `{}`))+"\n"+
			string(text(2, 2, "tool.requested", `{"tool_call_id":"c","input_sha256":"`+full+`"}`))+"\n"+
			string(text(3, 3, "tool.completed", `{"tool_call_id":"c","input_sha256":"`+short+`"}`))+"\n"+string(text(4, 4, "task.completed", `{}`))), plain(), record.FormUnknown)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Draft.SideEffects.ToolCalls[0].InputHash.String() == full; got != kept || named(l.Draft, "unreported")["/side_effects/tool_calls/0/input_hash"] == kept {
			t.Errorf("%s: %v, %v", short, got, l.Draft.Metadata["unreported"])
		}
	}

	// Abbreviated digests are also accepted in a file preview and in an artifact that are reported
	// over a bridge.
	l, err := overBridge(
		updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"edit","kind":"edit","content":[{"type":"diff","path":"p","oldText":"a","newText":"b","_meta":{"harn":{"permission_preview":{"preimageSha256":"3a7b…"}}}}]`),
		updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`),
		updateLine(`"sessionUpdate":"artifact","artifactId":"a","kind":"file","sha256":"3a7b…"`),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/side_effects/fs_writes/0/before_sha256", "/final_artifacts/0/sha256"} {
		if !named(l.Draft, "unreported")[at] {
			t.Errorf("%s is not unreported: %v", at, l.Draft.Metadata)
		}
	}
	if w := l.Draft.SideEffects.FSWrites; len(w) != 1 || w[0].Operation != "modify" || !w[0].AfterSHA256.IsZero() {
		t.Errorf("%+v", w)
	}
}

// TestWorkerStates verifies that each state of a worker is recorded, and that joining a worker that
// has ended does not reopen it.
func TestWorkerStates(t *testing.T) {
	states := map[string]string{"running": "accepted", "progressed": "accepted", "awaiting_input": "accepted", "suspended": "accepted",
		"completed": "completed", "failed": "failed", "stopped": "failed", "cancelled": "failed"}
	var lines []string
	for _, state := range slices.Sorted(maps.Keys(states)) {
		lines = append(lines, updateLine(`"sessionUpdate":"worker_update","_meta":{"harn":{"workerId":"`+state+`","event":"WorkerProgressed","status":"`+state+`"}}`),
			updateLine(`"sessionUpdate":"worker_update","_meta":{"harn":{"workerId":"`+state+`","event":"WorkerJoined"}}`))
	}
	l, err := overBridge(lines...)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Draft.SideEffects.A2AHandoffs) != len(states) {
		t.Errorf("%+v", l.Draft.SideEffects.A2AHandoffs)
	}
	for _, h := range l.Draft.SideEffects.A2AHandoffs {
		if h.Status != states[h.TaskID] {
			t.Errorf("%s: %s", h.TaskID, h.Status)
		}
	}
}

// TestUnreadContent verifies that unknown content blocks and kinds of spans are counted, and that
// the sums are then lower bounds.
func TestUnreadContent(t *testing.T) {
	for line, want := range map[string]string{
		updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"read","status":"completed","content":[{"type":"content"},{"type":"moonwalk"},{}]`): "map[session/update tool_call content :1 session/update tool_call content moonwalk:1]",
		`{"at":"2026-01-01T00:00:01Z","event":"span.completed","payload":{"kind":"moonwalk","path":"a.txt"}}`:                                                           "map[span kind moonwalk:1]",
	} {
		l, err := overBridge(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(l.Draft.Metadata["ignored_records"]); got != want || !named(l.Draft, "at_least")["/side_effects/fs_writes"] {
			t.Errorf("%s: unread are %s, at least %v", line, got, l.Draft.Metadata["at_least"])
		}
	}
}

// TestUnstatedActions verifies that the affected values are lower bounds if the type of a frame
// does not describe its action. The cases are a read-only call with a diff, an approved call
// without an update, a call that is named only in a frame without an event, and artifacts without
// IDs.
func TestUnstatedActions(t *testing.T) {
	const permission = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"p","title":"rm"},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}`
	answer := func(option string) string {
		return `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}`
	}
	agent := func(members string) string {
		return `{"jsonrpc":"2.0","method":"_harn/agentEvent","params":{"sessionId":"s",` + members + `}}`
	}
	call := func(kind, content string) string {
		return updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"` + kind + `","status":"completed","content":[` + content + `]`)
	}
	const diff, terminal, words = `{"type":"diff","path":"a.txt","oldText":null,"newText":"x"}`, `{"type":"terminal","terminalId":"t1"}`, `{"type":"content","content":{"type":"text","text":"x"}}`
	stated := updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"p","status":"completed"`)
	for _, test := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a read with a diff", []string{call("read", diff)}, "map[session/update tool_call read with diff:1]"},
		{"a thought with a terminal", []string{call("think", terminal)}, "map[session/update tool_call think with terminal:1]"},
		{"a diff before the kind", []string{updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[` + diff + `]`), updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"search","status":"completed"`)},
			"map[session/update tool_call_update search with diff:1]"},
		{"a read with words", []string{call("read", words)}, "<nil>"},
		{"an edit with a diff", []string{call("edit", diff)}, "<nil>"},
		{"an approved call without an update", []string{permission, answer("yes")}, "map[approved call without an update:1]"},
		{"an approved call with an update", []string{permission, answer("yes"), stated}, "<nil>"},
		{"a denied call", []string{permission, answer("no")}, "<nil>"},
		{"an audit of a call", []string{agent(`"kind":"tool_call_audit","toolCallId":"x"`)}, "map[_harn/agentEvent tool_call_audit of a call without an update:1]"},
		{"an audit of a call that is stated", []string{agent(`"kind":"tool_call_audit","toolCallId":"p"`), stated}, "<nil>"},
		{"a batch of calls", []string{agent(`"kind":"tool_batch_disposition","calls":[{"id":"x"},{"tool_call_id":"y"},"z"]`)}, "map[_harn/agentEvent tool_batch_disposition of a call without an update:3]"},
		{"a batch of calls without IDs", []string{agent(`"kind":"tool_batch_disposition","toolCalls":[{"name":"rm"}]`)}, "map[_harn/agentEvent tool_batch_disposition call without an ID:1]"},
		{"a batch of another form", []string{agent(`"kind":"tool_batch_disposition","toolCalls":{"x":1}`)}, "map[_harn/agentEvent tool_batch_disposition toolCalls:1]"},
		{"a number of calls", []string{agent(`"kind":"tool_batch_disposition","calls":3`)}, "<nil>"},
		{"artifacts as strings", []string{updateLine(`"sessionUpdate":"composition_finish","artifacts":["a.txt"]`)}, "map[session/update composition_finish artifacts:1]"},
		{"artifacts as an object", []string{updateLine(`"sessionUpdate":"composition_finish","artifacts":{"id":"a"}`)}, "map[session/update composition_finish artifacts:1]"},
	} {
		l, err := overBridge(test.lines...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		floors := named(l.Draft, "at_least")
		bound := floors["/side_effects/fs_writes"] && floors["/side_effects/tool_calls"] && floors["/final_artifacts"]
		if got := fmt.Sprint(l.Draft.Metadata["ignored_records"]); got != test.want || bound != (test.want != "<nil>") {
			t.Errorf("%s: unread are %s, want %s; at least %v", test.name, got, test.want, l.Draft.Metadata["at_least"])
		}
	}
}

// TestFrameOrEvent verifies that a line that contains both a frame and an event is rejected.
func TestFrameOrEvent(t *testing.T) {
	for _, line := range []string{
		`{"at":"2026-01-01T00:00:01Z","frame":{"jsonrpc":"2.0","method":"agent/idle"},"event":"span.completed","payload":{"kind":"fs","path":"a"}}`,
		`{"jsonrpc":"2.0","method":"agent/idle","event":"span.completed","payload":{"kind":"fs","path":"a"}}`,
	} {
		if _, err := overBridge(line); err == nil || !strings.Contains(err.Error(), "found both") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
