package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// codexTurn returns the rollout of a session that begins with one turn. Each line has a later time
// than the line before it.
func codexTurn(policy string, lines ...string) string {
	var b strings.Builder
	for i, line := range append([]string{
		`"session_meta","payload":{"id":"s","cwd":"/w"}`,
		`"event_msg","payload":{"type":"task_started","turn_id":"t1"}`,
		`"turn_context","payload":{"turn_id":"t1","cwd":"/w","model":"m","approval_policy":"` + policy + `","approvals_reviewer":"user"}`,
	}, lines...) {
		fmt.Fprintf(&b, `{"timestamp":"2026-01-01T00:00:%02dZ","ordinal":%d,"type":%s}`+"\n", i, i, line)
	}
	return b.String()
}

// These are lines of rollouts from 0.171.
const (
	settings = `"event_msg","payload":{"type":"thread_settings_applied","thread_id":"s","thread_settings":{"model":"m","approval_policy":"on-request"}}`
	complete = `"event_msg","payload":{"type":"task_complete","turn_id":"t1"}`
	goal     = `"response_item","payload":{"type":"function_call_output","id":"fco_0","name":"goal_objective","namespace":"agent","output":"win"}`
)

// codexCall returns the line in which the model calls a tool, and codexOutput returns the line with
// the output.
func codexCall(tool string) string {
	return `"response_item","payload":{"type":"function_call","call_id":"c1","name":"` + tool + `","arguments":"{\"cmd\":\"make\"}"}`
}

func codexOutput(output string) string {
	return fmt.Sprintf(`"response_item","payload":{"type":"function_call_output","call_id":"c1","output":%q}`, output)
}

// TestCommandsThatDidNotRun verifies that Codex's own errors determine the outcome of a call that
// had no effect. The same text from a command or an MCP server has no meaning.
func TestCommandsThatDidNotRun(t *testing.T) {
	const refused = `exec_command failed: CreateProcess { message: "Rejected(\"rejected by user\")" }`
	for name, c := range map[string]struct{ policy, tool, output, want string }{
		"a person refuses":    {"untrusted", "exec_command", refused, "denied 1"},
		"no person is asked":  {"never", "exec_command", refused, "denied 0"},
		"no such directory":   {"untrusted", "exec_command", `exec_command failed: CreateProcess { message: "Rejected(\"No such file or directory\")" }`, "failed 0"},
		"no such process":     {"untrusted", "write_stdin", "write_stdin failed: Unknown process id 99", "failed 0"},
		"the policy is never": {"never", "exec_command", "approval policy is Never; reject command — you cannot ask", "denied 0"},
		"an unknown tool":     {"never", "update_plan", "unsupported call: update_plan", "failed 0"},
		"a missing image":     {"never", "view_image", "unable to locate image at `/w/a.png`", "failed 0"},
		"interrupted":         {"never", "exec_command", "Wall time: 2.1 seconds\naborted by user", "canceled 0"},
		"text of a command":   {"never", "exec_command", "Chunk ID: 1\nWall time: 2.1 seconds\nOutput:\naborted by user", "unknown 0"},
		"text of a script":    {"never", "exec", refused, "unknown 0"},
		"text of a server":    {"never", "mcp__x__exec_command", refused, "unknown 0"},
		"text about a tool":   {"never", "exec", "unsupported call: update_plan", "unknown 0"},
	} {
		r := recorded(t, codexTurn(c.policy, codexCall(c.tool), codexOutput(c.output), complete))
		if got := fmt.Sprint(r.status(0), " ", len(r.Approvals)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestInterruptedCommand verifies that a command that a person interrupted is canceled, although
// Codex records that it failed.
func TestInterruptedCommand(t *testing.T) {
	r := recorded(t, codexTurn("never", codexCall("exec_command"), codexOutput("Wall time: 2.1 seconds\naborted by user"),
		`"event_msg","payload":{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}`,
		`"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"CommandExecution","id":"c1","command":["bash","-lc","make"],"status":"failed","exit_code":-1,"duration":{"secs":3,"nanos":0}}}`))
	if got := r.status(0); got != "canceled" || r.SideEffects.ToolCalls[0].Metadata["duration_ms"] == nil {
		t.Errorf("%s, %v", got, r.SideEffects.ToolCalls[0].Metadata)
	}
}

// TestSettings verifies that settings that Codex writes when it reopens a session neither extend
// the last turn nor belong to it. Data that Codex passes to the model, but that is not the output
// of a call, must not make lists incomplete.
func TestSettings(t *testing.T) {
	ended := codexTurn("on-request", settings, goal, codexCall("exec_command"), codexOutput("Exit code: 0\nOutput:\n"), complete)
	opened := ended + strings.Replace(codexTurn("", settings), "00:00:03", "09:00:00", 1)
	opened = ended + opened[strings.LastIndex(opened[:len(opened)-1], "\n")+1:]

	r := recorded(t, opened)
	if ms := r.AutonomyBudget.Consumed.WallTimeMS; ms == nil || *ms != 7000 || r.meta["ignored_records"] != nil || r.floor["/side_effects/tool_calls"] {
		t.Errorf("%s ms, ignored %v, at least: %v", show(ms), r.meta["ignored_records"], r.floor)
	}

	// The task has the same lines before and after the session is opened again.
	var spans []string
	for _, text := range []string{ended, opened} {
		logs := []*outlined{outline(t, "s.jsonl", []byte(text))}
		for _, task := range tasks(logs, true) {
			spans = append(spans, task.Last.String()+linesOf(logs, task)["s.jsonl"])
		}
	}
	if len(spans) != 2 || spans[0] != spans[1] {
		t.Errorf("the task differs: %q", spans)
	}
}

// TestReview verifies that a review is one task, which ends with the turn around the review, and
// that a command of the user is not a call.
func TestReview(t *testing.T) {
	const (
		entered  = `"event_msg","payload":{"type":"item_completed","turn_id":"t2","item":{"type":"EnteredReviewMode","id":"i1","target":{"type":"uncommittedChanges"}}}`
		inner    = `"event_msg","payload":{"type":"task_started","turn_id":"t3","turn_attribution":{"turn_id":"t3","parent_turn_id":"t2"}}`
		exited   = `"event_msg","payload":{"type":"item_completed","turn_id":"t2","item":{"type":"ExitedReviewMode","id":"i2","review_output":{}}}`
		reviewed = `"event_msg","payload":{"type":"task_complete","turn_id":"t2"}`
		typed    = `"event_msg","payload":{"type":"item_completed","turn_id":"t3","item":{"type":"CommandExecution","id":"i3","command":["ls"],"source":"user_shell","status":"completed","exit_code":0}}`
	)
	logs := []*outlined{outline(t, "s.jsonl", []byte(codexTurn("never", complete, entered, inner, exited, typed, reviewed)))}
	var got []string
	for _, task := range tasks(logs, true) {
		d := taskDraft(t, logs, task)
		got = append(got, fmt.Sprint(task.ID, " ", d.Lifecycle.FinalState, " ", len(d.SideEffects.A2AHandoffs), " ", len(d.SideEffects.ToolCalls), " ", asText(t, d.Metadata["ignored_records"])))
	}
	want := "s.task-t1 SUCCEEDED 0 0 null, s.task-t2 SUCCEEDED 1 0 null"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
