package source_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// transcript returns the lines of a transcript, at intervals of one second.
func transcript(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, `{"sessionId":"s","timestamp":"2026-01-01T00:00:%02dZ","cwd":"/w",%s}`+"\n", i, line)
	}
	return b.String()
}

func asks(id, name, input string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"role":"assistant","id":"m_%s","model":"claude-x","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}],"usage":{"input_tokens":1,"output_tokens":1}}`, id, id, name, input)
}

func answers(id, result, besides string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,%s}]},"toolUseResult":%s`, id, result, besides)
}

const said = `"type":"assistant","message":{"role":"assistant","id":"m_1","model":"claude-x","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`

func recorded(t *testing.T, log string) told {
	t.Helper()
	d := tryRead(t, []byte(log))
	if d == nil {
		t.Fatalf("not read: %s", log)
	}
	return read(t, d)
}

// TestEdits verifies that the digests of an edit are recorded if replaying the edit produces the
// same text as its patch.
func TestEdits(t *testing.T) {
	sum := func(text string) string { return canon.Sum([]byte(text)).String() }
	for name, test := range map[string]struct{ tool, besides, before, after string }{
		"a text": {"Edit", `{"originalFile":"a\nb\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b","+c"]}]}`, sum("a\nb\n"), sum("a\nc\n")},
		"a text that is taken out, with the line end behind it": {"Edit", `{"originalFile":"a\nb\nc\n","oldString":"b","newString":"","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b"," c"]}]}`, sum("a\nb\nc\n"), sum("a\nc\n")},
		"a text that ends with a line end":                      {"Edit", `{"originalFile":"a\nb\nc\n","oldString":"b\n","newString":"","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b"," c"]}]}`, sum("a\nb\nc\n"), sum("a\nc\n")},
		"the first of two":                                      {"Edit", `{"originalFile":"b\nb\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-b","+c"," b"]}]}`, sum("b\nb\n"), sum("c\nb\n")},
		"all of two":                                            {"Edit", `{"originalFile":"b\nb\n","oldString":"b","newString":"c","replaceAll":true,"structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-b","-b","+c","+c"]}]}`, sum("b\nb\n"), sum("c\nc\n")},
		"tabs that are shown as spaces":                         {"Edit", `{"originalFile":"\tb\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-  b","+  c"]}]}`, sum("\tb\n"), sum("\tc\n")},
		"two in turn":                                           {"MultiEdit", `{"originalFileContents":"a\n","edits":[{"old_string":"a","new_string":"b"},{"old_string":"b","new_string":"c"}],"structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-a","+c"]}]}`, sum("a\n"), sum("c\n")},
		"a patch that leads elsewhere":                          {"Edit", `{"originalFile":"a\nb\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b","+d"]}]}`, "", ""},
		"a patch of another place":                              {"Edit", `{"originalFile":"a\nb\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":2,"newStart":2,"lines":[" a","-b","+c"]}]}`, "", ""},
		"a patch that leaves a change out":                      {"Edit", `{"originalFile":"b\nx\nb\n","oldString":"b","newString":"c","replaceAll":true,"structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-b","+c"]}]}`, "", ""},
		"no patch":                                              {"Edit", `{"originalFile":"b","oldString":"b","newString":"c"}`, "", ""},
		"a text that was not there":                             {"Edit", `{"originalFile":"a","oldString":"b","newString":"c","structuredPatch":[]}`, "", ""},
		"nothing of before":                                     {"Edit", `{"oldString":"b","newString":"c","structuredPatch":[]}`, "", ""},
		"what a person changed":                                 {"Edit", `{"userModified":true,"originalFile":"b\n","oldString":"b","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-b","+c"]}]}`, sum("b\n"), ""},
		"a file that is written anew":                           {"Write", `{"type":"update","originalFile":"a\n","content":"b\n","structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-a","+b"]}]}`, sum("a\n"), sum("b\n")},
		"a last line that loses its end":                        {"Edit", `{"originalFile":"a\nb\n","oldString":"b\n","newString":"c","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b","+c","\\ No newline at end of file"]}]}`, sum("a\nb\n"), sum("a\nc")},
		"a last line that gains its end":                        {"Edit", `{"originalFile":"a\nb","oldString":"b","newString":"b\n","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a","-b","\\ No newline at end of file","+b"]}]}`, sum("a\nb"), sum("a\nb\n")},
		"a last line whose end no hunk shows":                   {"Edit", `{"originalFile":"a\nb","oldString":"b","newString":"b\n","structuredPatch":[{"oldStart":1,"newStart":1,"lines":[" a"," b"]}]}`, "", ""},
		"a notebook":                                            {"NotebookEdit", `{"notebook_path":"/w/a","new_source":"2","cell_id":"c1","edit_mode":"replace","error":"","original_file":"{\"cells\":[1]}","updated_file":"{\"cells\":[2]}"}`, sum(`{"cells":[1]}`), sum(`{"cells":[2]}`)},
		"a notebook, as older versions tell it":                 {"NotebookEdit", `{"new_source":"2","cell_type":"code","language":"python","edit_mode":"replace","cell_id":"c1","error":""}`, "", ""},
		"a notebook of which nothing of after is told":          {"NotebookEdit", `{"notebook_path":"/w/a","original_file":"{}","updated_file":""}`, "", ""},
		"a file of which nothing of before is told":             {"Write", `{"type":"update","content":"b\n","structuredPatch":[]}`, "", sum("b\n")},
	} {
		log := transcript(asks("1", test.tool, `{"file_path":"/w/a"}`), answers("1", `"content":"ok"`, test.besides))
		r := recorded(t, log)
		claimsNothing(t, []byte(log), r.Draft)
		w := r.SideEffects.FSWrites[0]
		if got := w.BeforeSHA256.String(); got != test.before && !(test.before == "" && w.BeforeSHA256.IsZero()) {
			t.Errorf("%s: before %s, want %s", name, got, test.before)
		}
		if got := w.AfterSHA256.String(); got != test.after && !(test.after == "" && w.AfterSHA256.IsZero()) {
			t.Errorf("%s: after %s, want %s", name, got, test.after)
		}
		if untold := r.untold["/side_effects/fs_writes/0/before_sha256"] && r.untold["/side_effects/fs_writes/0/after_sha256"]; test.before+test.after == "" && !untold {
			t.Errorf("%s: its content is not unreported: %v", name, r.untold)
		}
		if w.Path != "a" || w.Operation != "modify" {
			t.Errorf("%s: %+v", name, w)
		}
	}

	failed := recorded(t, transcript(asks("1", "NotebookEdit", `{"notebook_path":"/w/a"}`), answers("1", `"content":"no such cell"`, `{"notebook_path":"/w/a","error":"no such cell","original_file":"{}","updated_file":"{}"}`)))
	if failed.SideEffects.ToolCalls[0].Status != "failed" || len(failed.SideEffects.FSWrites) != 0 {
		t.Errorf("a notebook that was not edited: %+v", failed.SideEffects)
	}
	made := recorded(t, transcript(asks("1", "Write", `{"file_path":"/w/a"}`), answers("1", `"content":"ok"`, `{"type":"create","content":"b\n","structuredPatch":[]}`))).SideEffects.FSWrites[0]
	if made.Operation != "create" || !made.BeforeSHA256.Null || made.AfterSHA256.String() != sum("b\n") {
		t.Errorf("a new file: %+v", made)
	}
}

// TestEnds verifies that only the last lines of a session determine how it ended.
func TestEnds(t *testing.T) {
	const interrupted = `"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}`
	const over = `"type":"system","subtype":"turn_duration"`
	stopped := strings.Replace(said, `"content"`, `"stop_reason":"end_turn","content"`, 1)
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":                            {[]string{said}, ""},
		"stopped":                            {[]string{stopped}, "SUCCEEDED"},
		"a turn is over":                     {[]string{said, over}, "SUCCEEDED"},
		"a turn is over, and goes on":        {[]string{said, over, said}, ""},
		"stopped, and goes on":               {[]string{stopped, said}, ""},
		"interrupted":                        {[]string{said, interrupted}, "CANCELED"},
		"interrupted, and goes on":           {[]string{said, interrupted, said}, ""},
		"interrupted, and goes on to an end": {[]string{said, interrupted, stopped}, "SUCCEEDED"},
		"over, then interrupted":             {[]string{said, over, interrupted}, "CANCELED"},
		"what no model wrote":                {[]string{said, interrupted, strings.Replace(said, "claude-x", "<synthetic>", 1)}, "CANCELED"},
	} {
		r := recorded(t, transcript(test.lines...))
		got := r.Lifecycle.FinalState
		if r.untold["/lifecycle/final_state"] {
			got = ""
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestRepeated verifies that, of several lines about a message, the line with the most output is
// used, regardless of its position. Copies in another session must not be counted again.
func TestRepeated(t *testing.T) {
	line := func(output int) string {
		return strings.Replace(said, `"output_tokens":1`, fmt.Sprintf(`"output_tokens":%d`, output), 1)
	}
	log := transcript(line(3), line(9), line(5))
	log += strings.ReplaceAll(log, `"sessionId":"s"`, `"sessionId":"later"`)
	r := recorded(t, log)
	if c := r.AutonomyBudget.Consumed; *c.InputTokens != 1 || *c.OutputTokens != 9 || !r.floor["/autonomy_budget/consumed/output_tokens"] {
		t.Errorf("%d and %d tokens", *c.InputTokens, *c.OutputTokens)
	}
	if n := len(r.Cost.ProviderBreakdown); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// TestCalls verifies that only the line with the result of a call determines the outcome of the
// call.
func TestCalls(t *testing.T) {
	for name, test := range map[string]struct{ result, besides, want, category string }{
		"returned":          {`"content":"x"`, `null`, "succeeded", ""},
		"failed":            {`"content":"x","is_error":true`, `"Error: x"`, "failed", ""},
		"refused":           {`"content":"The user doesn't want to proceed with this tool use.","is_error":true`, `"User rejected tool use"`, "canceled", ""},
		"refused by a rule": {`"content":"x was blocked.","is_error":true`, `null`, "failed", ""},
		"stopped":           {`"content":"[Request interrupted by user for tool use]","is_error":true`, `null`, "canceled", ""},
		"never run":         {`"content":"<tool_use_error>Sibling tool call errored</tool_use_error>","is_error":true`, `null`, "canceled", "sibling_failed"},
	} {
		r := recorded(t, transcript(asks("1", "WebFetch", `{"url":"https://u:p@Example.com/a?b=c"}`), answers("1", test.result, test.besides)))
		c := r.SideEffects.ToolCalls[0]
		if category, _ := c.Metadata["error_category"].(string); c.Status != test.want || test.category != "" && category != test.category || r.untold["/side_effects/tool_calls/0/status"] {
			t.Errorf("%s: %+v", name, c)
		}

		// A failed call may have sent data, but a call that never ran did not.
		hosts := len(r.SideEffects.NetworkEgress)
		switch name {
		case "returned":
			if hosts != 1 || r.untold["/side_effects/network_egress/0"] || r.SideEffects.NetworkEgress[0].Destination != "example.com" {
				t.Errorf("%s: %+v", name, r.SideEffects.NetworkEgress)
			}
		case "failed", "refused by a rule", "stopped":
			if hosts != 1 || !r.untold["/side_effects/network_egress/0"] {
				t.Errorf("%s: %+v, %v", name, r.SideEffects.NetworkEgress, r.untold)
			}
		default:
			if hosts != 0 {
				t.Errorf("%s: %+v", name, r.SideEffects.NetworkEgress)
			}
		}
		if approvals := len(r.Approvals); approvals != map[bool]int{true: 1}[name == "refused"] {
			t.Errorf("%s: %d approvals", name, approvals)
		}
	}
}

// TestLines verifies that invalid lines and lines that are too long are counted but not read.
func TestLines(t *testing.T) {
	half := strings.Replace(asks("1", "Bash", `{"command":"x\ud83d"}`), `"output_tokens":1`, `"output_tokens":5`, 1)
	r := recorded(t, "\ufeff"+transcript(half)+"{broken\r\n\r\n")
	about := r.meta["source"].(map[string]any)
	if about["repaired_lines"] != 1.0 || about["unreadable_lines"] != 1.0 || *r.AutonomyBudget.Consumed.OutputTokens != 5 {
		t.Errorf("%v, %d tokens", about, *r.AutonomyBudget.Consumed.OutputTokens)
	}
	if !r.SideEffects.ToolCalls[0].InputHash.IsZero() {
		t.Error("a digest of a line that was repaired")
	}
	if whole := recorded(t, transcript(strings.Replace(half, `\ud83d`, `\ud83d\ude00`, 1))); whole.SideEffects.ToolCalls[0].InputHash.IsZero() || whole.meta["source"].(map[string]any)["repaired_lines"] != nil {
		t.Error("a complete character is handled as an incomplete one")
	}

	long := io.MultiReader(strings.NewReader(transcript(said)+`{"type":"user","x":"`), io.LimitReader(endless{}, 64<<20), strings.NewReader("\"}\n"+transcript(asks("1", "Bash", `{}`))))
	log, err := source.Read([]source.Input{{Name: "x", Reader: long}}, options())
	if err != nil || log.Passed.Overlong != 1 || len(log.Draft.SideEffects.ToolCalls) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// fileLines returns the lines in a file.
func fileLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestAgents verifies that the work of an agent is unreported if the agent's log is missing.
func TestAgents(t *testing.T) {
	session := slices.DeleteFunc(fileLines(t, "testdata/session.jsonl"), func(line string) bool { return strings.Contains(line, "new-kind-of-record") })
	alone, both := toldOf(t, session), toldOf(t, session, fileLines(t, "testdata/agent-a1b2.jsonl"))
	for _, at := range []string{"/side_effects/tool_calls", "/autonomy_budget/consumed/input_tokens"} {
		if !alone.floor[at] || both.floor[at] {
			t.Errorf("%s is at least what is told: %v alone, %v with the agent's", at, alone.floor[at], both.floor[at])
		}
	}
	if task := draftOf(t, "testdata/agent-a1b2.jsonl").Identifiers.TaskID; task != alone.Identifiers.TaskID+".agent-a1b2" {
		t.Errorf("the task of an agent alone is %s", task)
	}
	if a, b := len(alone.SideEffects.ToolCalls), len(both.SideEffects.ToolCalls); b != a+1 {
		t.Errorf("%d and %d calls", a, b)
	}
}

// TestTimes verifies that the start and the end of a stream are unreported, because few of its
// lines have times, and that only the result determines the duration.
func TestTimes(t *testing.T) {
	const stamped = `{"type":"user","session_id":"s","timestamp":"2026-01-01T00:00:0%dZ","message":{}}` + "\n"
	log := fmt.Sprintf(stamped+stamped, 1, 5)
	for name, test := range map[string]struct {
		log  string
		wall int64
	}{"without a result": {log, -1}, "with one": {log + `{"type":"result","session_id":"s","subtype":"success","duration_ms":9000}`, 9000}} {
		r := recorded(t, test.log)
		if !r.untold["/lifecycle/started_at"] || !r.untold["/lifecycle/completed_at"] {
			t.Errorf("%s: times are recorded: %v", name, r.untold)
		}
		if wall := r.AutonomyBudget.Consumed.WallTimeMS; (wall == nil) != (test.wall < 0) || wall != nil && *wall != test.wall {
			t.Errorf("%s: %s ms", name, show(wall))
		}
	}
}

// TestOutputs verifies that the lines that Codex writes before the output of a command determine
// how the command ended.
func TestOutputs(t *testing.T) {
	for output, want := range map[string]string{
		`"Exit code: 0\nOutput:\nx"`:                                       "succeeded",
		`"Exit code: 2\nOutput:\nx"`:                                       "failed",
		`"Chunk ID: 1\nProcess exited with code 1\nOutput:\nExit code: 0"`: "failed",
		`"Wall time: 1\nOutput:\nExit code: 0"`:                            "unreported",
		`"Exit code: none"`:                                                "unreported",
		`"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"`:              "failed",
		`"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"`:              "succeeded",
		`"{\"exit_code\":0}"`:                                              "unreported",
		`{"content":"x","success":false}`:                                  "failed",
		`{"content":"Exit code: 0"}`:                                       "succeeded",
		`[{"type":"input_text","text":"Exit code: 3\nOutput:\n"},{"type":"input_text","text":"Exit code: 0"}]`: "failed",
		`[{"type":"output_text","text":"Done!"}]`:                                                              "unreported",
		`[]`:                              "unreported",
		`"x"`:                             "unreported",
		`""`:                              "unreported",
		`"exec command rejected by user"`: "canceled",
		`"aborted by user after 3s"`:      "canceled",
	} {
		line := func(payload string) string {
			return `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":` + payload + "}\n"
		}
		r := recorded(t, line(`{"type":"function_call","name":"shell","call_id":"1","arguments":"{}"}`)+line(`{"type":"function_call_output","call_id":"1","output":`+output+`}`))
		got := r.SideEffects.ToolCalls[0].Status
		if r.untold["/side_effects/tool_calls/0/status"] {
			got = "unreported"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", output, got, want)
		}
	}
}

// TestBetween verifies that two spans are separate model calls if there is a tool or an agent
// between them.
func TestBetween(t *testing.T) {
	span := func(id, parent, operation string, tokens int) string {
		return fmt.Sprintf(`{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000%s","parentSpanId":"00000000000000%s","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":%q}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":%d}}]}`, id, parent, operation, tokens)
	}
	for between, want := range map[string]int64{"execute_tool": 107, "invoke_agent": 107, "chain": 7, "chat": 7} {
		tokens := 0
		if between == "chat" {
			tokens = 50
		}
		log := `{"resourceSpans":[{"scopeSpans":[{"spans":[` + span("a1", "", "chat", 100) + "," + span("a3", "a2", "chat", 7) + "," +
			strings.Replace(span("a2", "a1", between, tokens), `"intValue":0`, `"other":0`, 1) + `]}]}]}`
		log = strings.Replace(log, `"parentSpanId":"00000000000000"`, `"parentSpanId":""`, 1)
		if got := recorded(t, log).AutonomyBudget.Consumed.InputTokens; got == nil || *got != want {
			t.Errorf("%s: %s tokens, want %d", between, show(got), want)
		}
	}
}

// TestNameless verifies that calls and messages without IDs are counted, and that the lists are
// marked as incomplete.
func TestNameless(t *testing.T) {
	const call = `"type":"assistant","message":{"role":"assistant","model":"m","content":[{"type":"tool_use","name":"Bash","input":{}}],"usage":{"input_tokens":3,"output_tokens":5}}`
	const calls, tokens = "/side_effects/tool_calls", "/autonomy_budget/consumed/input_tokens"
	for name, test := range map[string]struct {
		log     string
		untold  []string
		counted string
	}{
		"transcript":                 {transcript(call), []string{calls, tokens}, `{"calls_without_an_id":1,"messages_without_an_id":1}`},
		"stream":                     {`{"session_id":"s",` + call + "}\n", []string{calls, tokens}, `{"calls_without_an_id":1,"messages_without_an_id":1}`},
		"stream that has an account": {`{"session_id":"s",` + call + "}\n" + accounted, []string{calls}, `{"calls_without_an_id":1}`},
		"stream of a refusal":        {began + "\n" + `{"type":"result","subtype":"success","session_id":"s","permission_denials":[{"tool_name":"Bash","tool_use_id":"t9"}]}`, []string{calls}, `{"denials_without_call":1}`},
		"rollout":                    {rollout + "\n" + response(`{"type":"function_call","name":"shell","arguments":"{}"}`), []string{calls}, `{"calls_without_an_id":1}`},
		"exec":                       {`{"type":"turn.started"}` + "\n" + `{"type":"item.completed","item":{"type":"command_execution","status":"completed"}}`, []string{calls}, `{"calls_without_an_id":1}`},
	} {
		r := recorded(t, test.log)
		for _, at := range test.untold {
			if !r.floor[at] {
				t.Errorf("%s: %s is recorded as if it were complete", name, at)
			}
		}
		if got := asText(t, r.meta["source"].(map[string]any)["counted"]); got != test.counted {
			t.Errorf("%s: counted %s, want %s", name, got, test.counted)
		}
		if slices.Contains(test.untold, tokens) != r.floor[tokens] {
			t.Errorf("%s: tokens at least: %v", name, r.floor[tokens])
		}
	}
}

// TestHooks verifies that hook runs are counted by name, regardless of how many lines report a run,
// and that the commands of hooks are not copied.
func TestHooks(t *testing.T) {
	progress := func(name string) string {
		return `"type":"progress","data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"` + name + `","command":"fmt --key s3cr3t"}`
	}
	attached := func(kind, name string) string {
		return `"type":"attachment","attachment":{"type":"` + kind + `","hookEvent":"PostToolUse","hookName":"` + name + `","toolUseID":"t","command":"fmt --key s3cr3t"}`
	}
	const summary = `"type":"system","subtype":"stop_hook_summary","hookCount":2,"hookInfos":[{"command":"a"},{"command":"b"}]`
	for name, test := range map[string]struct {
		lines []string
		hooks string
	}{
		"as they go":      {[]string{progress("PostToolUse:Edit"), progress("PostToolUse:Edit")}, `{"PostToolUse:Edit":2}`},
		"as they ended":   {[]string{attached("hook_success", "PostToolUse:Edit"), attached("hook_non_blocking_error", "PostToolUse:Edit"), attached("hook_additional_context", "PostToolUse:Edit")}, `{"PostToolUse:Edit":2}`},
		"in both ways":    {[]string{progress("PostToolUse:Edit"), attached("hook_success", "PostToolUse:Edit")}, `{"PostToolUse:Edit":1}`},
		"at the end":      {[]string{summary}, `{"Stop":2}`},
		"at the end, too": {[]string{progress("Stop"), progress("Stop"), summary}, `{"Stop":2}`},
		"told again":      {[]string{progress("Stop") + `,"uuid":"a"`, progress("Stop") + `,"uuid":"b"`, progress("Stop") + `,"uuid":"a"`}, `{"Stop":2}`},
		"none":            {[]string{said, attached("skill_listing", "x"), strings.Replace(summary, ":2", ":-2", 1)}, "null"},
	} {
		r := recorded(t, transcript(test.lines...))
		if got := asText(t, r.meta["source"].(map[string]any)["hooks"]); got != test.hooks {
			t.Errorf("%s: %s, want %s", name, got, test.hooks)
		}
		if strings.Contains(asText(t, r.Draft), "s3cr3t") {
			t.Errorf("%s: the command of the hook is copied", name)
		}
	}
}
