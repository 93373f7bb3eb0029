package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

const (
	refusal = `"content":"The user doesn't want to proceed with this tool use. The tool use was rejected","is_error":true`
	runsMCP = `"type":"progress","toolUseID":%q,"data":{"type":"mcp_progress","status":%q}`
)

// TestRefusedMCP verifies how the refusal of an MCP tool is recorded. It is a denied approval if
// the log shows that the call never ran, a failure if the log shows that the call ran, and
// otherwise unreported.
func TestRefusedMCP(t *testing.T) {
	const refusedBesides = `"Error: The user doesn't want to proceed with this tool use."`
	ran := func(id, status string) string { return fmt.Sprintf(runsMCP, id, status) }
	kind := func(denial string) string {
		return answers("1", refusal, refusedBesides) + `,"toolDenialKind":"` + denial + `"`
	}
	for name, test := range map[string]struct {
		lines    []string
		want     string // expected status of the call
		approval int
		consumed int64
		most     bool // whether the count of calls may include a call that was not made
	}{
		"no line states which calls ran":        {[]string{answers("1", refusal, refusedBesides)}, "unanswered", 0, 1, true},
		"another call ran":                      {[]string{ran("2", "started"), answers("1", refusal, refusedBesides)}, "denied", 1, 0, false},
		"it ran":                                {[]string{ran("1", "started"), answers("1", refusal, refusedBesides)}, "failed", 0, 1, false},
		"another ran, and a line is unreadable": {[]string{ran("2", "started"), answers("1", refusal, refusedBesides), `"type":`}, "unanswered", 0, 1, true},
		"another ran, and progress is unread":   {[]string{ran("2", "started"), `"type":"progress","data":{"type":"new"}`, answers("1", refusal, refusedBesides)}, "unanswered", 0, 1, true},
		"another ran later":                     {[]string{answers("1", refusal, refusedBesides), ran("2", "started")}, "denied", 1, 0, false},
		"in short words":                        {[]string{ran("2", "started"), answers("1", refusal, `"User rejected tool use"`)}, "denied", 1, 0, false},
		"a person, by its kind":                 {[]string{kind("user-rejected")}, "denied", 1, 0, false},
		"no person, by its kind":                {[]string{ran("1", "started"), kind("automode-unavailable")}, "denied", 0, 0, false},
		"an error":                              {[]string{ran("2", "started"), answers("1", `"content":"no such issue","is_error":true`, `"Error: no such issue"`)}, "failed", 0, 1, false},
	} {
		r := recorded(t, transcript(append([]string{asks("1", "mcp__tracker__close", `{}`)}, test.lines...)...))
		if got := r.status(0); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		denied := 0
		for _, a := range r.Approvals {
			if a.Decision == "denied" {
				denied++
			}
		}
		if denied != test.approval {
			t.Errorf("%s: approvals %+v", name, r.Approvals)
		}
		if n := *r.AutonomyBudget.Consumed.ToolCalls; n != test.consumed {
			t.Errorf("%s: %d calls consumed", name, n)
		}
		most, _ := r.meta["at_most"].([]any)
		if slices.Contains(most, any("/autonomy_budget/consumed/tool_calls")) != test.most {
			t.Errorf("%s: at most %v", name, most)
		}
	}
}

// TestDenials verifies that only a refusal by a person is recorded as a denied approval, even if the
// line states that the user rejected the call.
func TestDenials(t *testing.T) {
	const rule = `,"toolDenialKind":"user-rejected","permissionDecision":{"decision":"reject","source":`
	for name, test := range map[string]struct {
		line     string
		want     string // expected status of the call
		approval int
		consumed int64
	}{
		"a person":                  {rule + `"user_reject"}`, "denied", 1, 0},
		"no rule allows the call":   {rule + `"config","reasonCode":"bashMiss:no-rule-match"}`, "denied", 0, 0},
		"a rule that a person set":  {rule + `"user_reject","reasonType":"rule"}`, "denied", 0, 0},
		"a hook":                    {rule + `"hook"}`, "denied", 0, 0},
		"a rule, by its kind":       {`,"toolDenialKind":"permission-rule"`, "denied", 0, 0},
		"nobody was asked":          {`,"toolDenialKind":"user-rejected"`, "denied", 0, 0},
		"interrupted":               {`,"toolDenialKind":"interrupted"`, "canceled", 0, 1},
		"canceled":                  {`,"toolDenialKind":"cancelled"`, "canceled", 0, 1},
		"after the call was made":   {`,"toolDenialKind":"permission-rule","toolDenialAfterRun":true`, "failed", 0, 1},
		"accepted, and interrupted": {`,"toolDenialKind":"user-rejected","permissionDecision":{"decision":"accept","source":"user_temporary"}`, "canceled", 0, 1},
		"accepted, and then failed": {`,"permissionDecision":{"decision":"accept","source":"config"}`, "failed", 0, 1},
	} {
		r := recorded(t, transcript(asks("1", "Bash", `{"command":"date"}`), answers("1", `"content":"This command requires approval","is_error":true`, `"Error: This command requires approval"`)+test.line))
		denied := len(r.Approvals)
		if got, n := r.status(0), *r.AutonomyBudget.Consumed.ToolCalls; got != test.want || denied != test.approval || n != test.consumed {
			t.Errorf("%s: %s, %d approvals, %d calls consumed; want %s, %d, %d", name, got, denied, n, test.want, test.approval, test.consumed)
		}
	}
}

// TestDenialsOfTools verifies that a call that was executed is not recorded as refused, although the
// data from the tool, or the text for the model, states a refusal.
func TestDenialsOfTools(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"data of a tool":          {answers("1", `"content":"ok"`, `{"toolDenialKind":"user-rejected"}`), "succeeded"},
		"data of a refusal":       {answers("1", refusal, `{"toolDenialKind":"user-rejected"}`), "denied"},
		"after the call was made": {answers("1", refusal, `"User rejected tool use"`) + `,"toolDenialKind":"user-rejected","toolDenialAfterRun":true`, "failed"},
	} {
		r := recorded(t, transcript(asks("1", "StructuredOutput", `{}`), test.line))
		if got := r.status(0); got != test.want || (len(r.Approvals) > 0) != (got == "denied") {
			t.Errorf("%s: %s, approvals %+v; want %s", name, got, r.Approvals, test.want)
		}
	}
}

// TestHarmlessRecords verifies that records that state no action do not make the receipt incomplete.
func TestHarmlessRecords(t *testing.T) {
	lines := []string{said}
	for _, kind := range []string{"api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state", "file-history-delta", "tools-used"} {
		lines = append(lines, `"type":"`+kind+`"`)
	}
	for _, kind := range []string{"date", "environment", "model", "prompt_snapshot", "remote_session_change", "session_context", "silent_turn_reminder"} {
		lines = append(lines, `"type":"attachment","attachment":{"type":"`+kind+`"}`)
	}
	r := recorded(t, transcript(lines...))
	if n := len(lines) - 1; n != 14 || r.meta["ignored_records"] != nil || r.floor["/side_effects/tool_calls"] {
		t.Errorf("%d records: ignored %v, at least %v", n, r.meta["ignored_records"], r.floor)
	}
}

// TestCompactionTokens verifies that the token counts are lower bounds if the file of a compaction is
// absent, and exact if it is present.
func TestCompactionTokens(t *testing.T) {
	session := transcript(said, `"type":"system","subtype":"compact_boundary"`)
	own := strings.ReplaceAll(transcript(strings.ReplaceAll(said, `"id":"`, `"id":"c`)), `"cwd"`, `"isSidechain":true,"agentId":"acompact-1","cwd"`)
	lines := func(log string) []string { return strings.Split(strings.TrimSpace(log), "\n") }
	if r := toldOf(t, lines(session)); !r.floor["/autonomy_budget/consumed/input_tokens"] || !r.floor["/cost/provider_breakdown"] {
		t.Errorf("without the file: at least %v", r.floor)
	}
	if r := toldOf(t, lines(session), lines(own)); r.floor["/autonomy_budget/consumed/input_tokens"] {
		t.Errorf("with the file: at least %v", r.floor)
	}
}

// TestCommandChanges verifies that the files that changed while a command ran are recorded, without
// their content, and that a file that a call wrote is recorded once.
func TestCommandChanges(t *testing.T) {
	r := recorded(t, transcript(
		asks("1", "Write", `{"file_path":"/w/a","content":"a"}`), answers("1", `"content":"ok"`, `{"type":"create","filePath":"/w/a","content":"a","structuredPatch":[]}`),
		asks("2", "Bash", `{"command":"make"}`), answers("2", `"content":"ok"`, `{"stdout":"","bashEditDiff":{"files":[],"moreFiles":0,"changedFiles":["/w/a","/w/b"]}}`)))
	w := r.SideEffects.FSWrites
	if len(w) != 2 || w[0].Path != "a" || w[1].Path != "b" || !r.untold["/side_effects/fs_writes/1/after_sha256"] || !r.untold["/side_effects/fs_writes/1/operation"] || !r.untold["/side_effects/fs_writes"] {
		t.Errorf("writes %+v, unreported %v", w, r.untold)
	}
}

// TestNotRun verifies that a call that was skipped because another call failed is recorded as
// canceled and is not counted as consumed.
func TestNotRun(t *testing.T) {
	r := recorded(t, transcript(
		asks("1", "Bash", `{"command":"false"}`), asks("2", "Bash", `{"command":"true"}`),
		answers("1", `"content":"Exit code 1","is_error":true`, `"Error: Exit code 1"`),
		answers("2", `"content":"<tool_use_error>Sibling tool call errored</tool_use_error>","is_error":true`, `"Error: Sibling tool call errored"`)))
	calls := r.SideEffects.ToolCalls
	if calls[0].Status != "failed" || asText(t, calls[0].Metadata["exit_code"]) != "1" || calls[1].Status != "canceled" || calls[1].Metadata["exit_code"] != nil {
		t.Errorf("%+v", calls)
	}
	if n := *r.AutonomyBudget.Consumed.ToolCalls; n != 1 {
		t.Errorf("%d calls consumed", n)
	}
}

// TestRelayedCalls verifies that an agent's calls are counted once if the session repeats them in
// its own log. If the agent's own file is available, it takes precedence.
func TestRelayedCalls(t *testing.T) {
	relayed := func(line string) string {
		return `"type":"progress","data":{"type":"agent_progress","agentId":"a1","message":{` + line + `}}`
	}
	writes := asks("w", "Write", `{"file_path":"/w/b","content":"b\n"}`)
	wrote := answers("w", `"content":"ok"`, `{"type":"create","filePath":"/w/b","content":"b\n","structuredPatch":[]}`)
	plain := answers("w", `"content":"ok"`, `null`)
	given := asks("t", "Task", `{"subagent_type":"Explore"}`)
	back := func(calls int) string {
		return answers("t", `"content":"done"`, fmt.Sprintf(`{"agentId":"a1","status":"completed","totalToolUseCount":%d}`, calls))
	}

	session := transcript(given, relayed(writes), relayed(plain), back(1))
	r := recorded(t, session)
	if n := len(r.SideEffects.ToolCalls); n != 2 || r.SideEffects.ToolCalls[1].Metadata["worker_id"] != "a1" {
		t.Fatalf("%d calls: %+v", n, r.SideEffects.ToolCalls)
	}
	if r.floor["/side_effects/tool_calls"] || !r.floor["/autonomy_budget/consumed/output_tokens"] {
		t.Errorf("at least %v", r.floor)
	}
	if w := r.SideEffects.FSWrites; len(w) != 1 || w[0].Path != "b" || !r.untold["/side_effects/fs_writes/0/before_sha256"] {
		t.Errorf("writes %+v", w)
	}
	if r := recorded(t, transcript(given, relayed(writes), relayed(plain), back(2))); !r.floor["/side_effects/tool_calls"] {
		t.Error("one of two calls is listed as if it were all")
	}

	own := strings.ReplaceAll(transcript(writes, wrote), `"cwd"`, `"isSidechain":true,"agentId":"a1","cwd"`)
	for name, logs := range map[string][2]string{"session first": {session, own}, "agent first": {own, session}} {
		r := toldOf(t, strings.Split(strings.TrimSpace(logs[0]), "\n"), strings.Split(strings.TrimSpace(logs[1]), "\n"))
		if w := r.SideEffects.FSWrites; len(r.SideEffects.ToolCalls) != 2 || len(w) != 1 || !w[0].BeforeSHA256.Null || w[0].AfterSHA256.String() != canon.Sum([]byte("b\n")).String() {
			t.Errorf("%s: %d calls, %+v", name, len(r.SideEffects.ToolCalls), w)
		}
	}
}

// TestInferredEnd verifies that the end of a turn ends the task, even if only a Stop hook shows the
// end of the turn. The end of the task must be marked as inferred.
func TestInferredEnd(t *testing.T) {
	const hook = `"type":"progress","data":{"type":"hook_progress","hookEvent":"Stop","hookName":"Stop","command":"x"}`
	stopped := strings.Replace(said, `"content"`, `"stop_reason":"end_turn","content"`, 1)
	for name, test := range map[string]struct {
		lines    []string
		state    string
		inferred bool
	}{
		"Stop hook":                       {[]string{said, hook}, "SUCCEEDED", true},
		"end_turn":                        {[]string{stopped}, "SUCCEEDED", true},
		"Stop hook, and the turn goes on": {[]string{said, hook, said}, "", false},
		"another hook":                    {[]string{said, strings.ReplaceAll(hook, "Stop", "PostToolUse")}, "", false},
		"interrupted":                     {[]string{said, `"type":"user","message":{"role":"user","content":"[Request interrupted by user]"}`}, "CANCELED", false},
	} {
		r := recorded(t, transcript(test.lines...))
		state := r.Lifecycle.FinalState
		if r.untold["/lifecycle/final_state"] {
			state = ""
		}
		inferred, _ := r.meta["inferred"].([]any)
		if is := slices.Contains(inferred, any("/lifecycle/final_state")); state != test.state || is != test.inferred {
			t.Errorf("%s: %q, inferred %v", name, state, inferred)
		}
	}
}

// TestPublished verifies that links to pull requests and web pages are recorded as artifacts, once
// per URL.
func TestPublished(t *testing.T) {
	const pr, page = `"type":"pr-link","prNumber":7,"prUrl":"https://github.com/a/b/pull/7","prRepository":"a/b"`, `"type":"frame-link","path":"/w/a.html","frameUrl":"https://pages.example/x","title":"t"`
	r := recorded(t, transcript(said, pr, pr, page))
	if a := r.FinalArtifacts; len(a) != 2 || a[0].Kind != "pull_request" || a[0].URI != "https://github.com/a/b/pull/7" || a[1].Kind != "page" {
		t.Errorf("%+v", a)
	}
	if e := r.SideEffects.NetworkEgress; len(e) != 1 || e[0].Destination != "pages.example" {
		t.Errorf("%+v", e)
	}
	if r.meta["ignored_records"] != nil {
		t.Errorf("ignored %v", r.meta["ignored_records"])
	}
}

// TestGitActions verifies that git actions are taken from members of the log. Words in a command
// must be marked as such and have no effect.
func TestGitActions(t *testing.T) {
	r := recorded(t, transcript(
		asks("1", "Bash", `{"command":"git commit -m x && git push --force && go test ./..."}`),
		answers("1", `"content":"ok"`, `{"stdout":"ok","gitOperation":{"commit":{"sha":"7ac622f4","kind":"committed"},"branch":{"ref":"a","action":"rebased"}}}`)))
	m := r.SideEffects.ToolCalls[0].Metadata
	if got := asText(t, m["git_actions"]); got != `["commit","branch_rebased"]` {
		t.Errorf("git actions %s", got)
	}
	if got := asText(t, m["read_from_command"]); got != `{"git":["commit","force_push"],"tests":["go test"]}` {
		t.Errorf("read from the command: %s", got)
	}
}

// TestPrompts verifies that each prompt is counted once, and that the prompts have a single digest
// that covers their text.
func TestPrompts(t *testing.T) {
	prompt := func(id, words string) string {
		return `"type":"user","uuid":"` + id + `","message":{"role":"user","content":"` + words + `"}`
	}
	r := recorded(t, transcript(prompt("1", "do it"), said, prompt("2", "again"), prompt("1", "do it"), answers("9", `"content":"x"`, `null`)))
	about, _ := r.meta["source"].(map[string]any)
	want := `{"count":2,"sha256":"` + canon.Sum([]byte(`["do it","again"]`)).String() + `"}`
	if got := asText(t, about["prompts"]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestExecutionFile verifies that an array of the lines of a stream is read in the same way as the
// lines themselves, regardless of whitespace.
func TestExecutionFile(t *testing.T) {
	lines := []string{began, spoke, accounted}
	want := asText(t, toldOf(t, lines).SideEffects)
	for name, text := range map[string]string{
		"one line":         "[" + strings.Join(lines, ",") + "]\n",
		"lines":            "[\n" + strings.Join(lines, ",\n") + "\n]",
		"spread":           "[\n " + strings.Join(strings.Split(strings.Join(lines, ",\n"), ","), ",\n  ") + "\n]\n",
		"another is first": "[\n" + spoke + "," + began + "," + accounted + "]",
	} {
		if k := source.Sight([]byte(text)).Kind; k != claudeAction {
			t.Errorf("%s: recognized as %q", name, k)
			continue
		}
		r := recorded(t, text)
		if got := asText(t, r.SideEffects); got != want || *r.AutonomyBudget.Consumed.InputTokens != 100 || r.Lifecycle.FinalState != "SUCCEEDED" {
			t.Errorf("%s: %s, %+v", name, got, r.AutonomyBudget)
		}
	}
}

// TestWorkspaceNames verifies that projects with the same name in different places have different
// workspaces, and that worktrees share their repository's workspace.
func TestWorkspaceNames(t *testing.T) {
	at := func(dir string) string {
		return recorded(t, strings.ReplaceAll(transcript(said), `"cwd":"/w"`, fmt.Sprintf(`"cwd":%q`, dir))).Identifiers.WorkspaceRef
	}
	for _, x := range []struct {
		a, b string
		same bool
	}{
		{"/home/me/work/app", "/home/me/play/app", false},
		{"/home/me/work/app", "/home/me/work/app/", true},
		{"/home/me/work/app", "/home/me/work/app/.worktrees/1", true},
		{"/home/me/work/app/.claude/worktrees/x", "/home/me/work/app/.worktrees/1", true},
		{"/home/me/play/app/.worktrees/1", "/home/me/work/app/.worktrees/1", false},
		{`D:\work\app`, `d:\work\app`, true},
	} {
		a, b := at(x.a), at(x.b)
		if (a == b) != x.same || !strings.HasPrefix(a, "app.") || strings.Contains(a, "work") {
			t.Errorf("%s is %s, %s is %s", x.a, a, x.b, b)
		}
	}
	if got := at("app"); got != "app" {
		t.Errorf("a name alone is %s", got)
	}
}

// TestRelayedAnswer verifies that the answer to an agent's call belongs to the task that made the
// call, even if a person requested something else in the meantime.
func TestRelayedAnswer(t *testing.T) {
	relayed := func(line string) string {
		return `"type":"progress","data":{"type":"agent_progress","agentId":"a1","message":{` + line + `}}`
	}
	prompt := func(id string) string {
		return `"type":"user","uuid":"` + id + `","message":{"role":"user","content":"go on"}`
	}
	log := transcript(prompt("p1"), asks("t", "Task", `{"subagent_type":"Explore"}`), relayed(asks("w", "Bash", `{"command":"ls"}`)), prompt("p2"), relayed(answers("w", `"content":"ok"`, `null`)), said)
	o, err := source.Survey(source.Input{Name: "s.jsonl", Reader: strings.NewReader(log)}, "")
	if err != nil {
		t.Fatal(err)
	}
	tasks := source.Tasks([]*source.Outline{o}, true)
	if len(tasks) != 2 {
		t.Fatalf("%d tasks", len(tasks))
	}
	var text strings.Builder
	for _, s := range tasks[1].Parts[0].Spans {
		text.WriteString(log[s.From:s.Until])
	}
	if strings.Contains(text.String(), "tool_result") {
		t.Errorf("the second task has the answer: %s", text.String())
	}
}
