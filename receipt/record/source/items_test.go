package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// codexLines returns lines of a rollout with paginated history, at intervals of one second.
func codexLines(payloads ...string) (lines []string) {
	for i, p := range payloads {
		kind, payload, _ := strings.Cut(p, " ")
		lines = append(lines, fmt.Sprintf(`{"timestamp":"2026-04-25T10:00:%02dZ","ordinal":%d,"type":%q,"payload":%s}`, i, i, kind, payload))
	}
	return lines
}

const (
	codexMeta    = `session_meta {"id":"th","cwd":"/srv/p","model_provider":"openai","history_mode":"paginated"}`
	codexBegins  = `event_msg {"type":"task_started","turn_id":"t1"}`
	codexAsks    = `turn_context {"turn_id":"t1","cwd":"/srv/p","approval_policy":"on-request","approvals_reviewer":"user","model":"m"}`
	codexNever   = `turn_context {"turn_id":"t1","cwd":"/srv/p","approval_policy":"never","model":"m"}`
	codexWrapper = `response_item {"type":"custom_tool_call","call_id":"w1","name":"exec","input":"x"}`
	codexWrapped = `response_item {"type":"custom_tool_call_output","call_id":"w1","output":"done"}`
)

// codexItem returns a line that reports that an item is complete.
func codexItem(item string) string {
	return `event_msg {"type":"item_completed","thread_id":"th","turn_id":"t1","item":` + item + `}`
}

// TestItems verifies that each type of item leads to a call with the correct outcome and effects.
func TestItems(t *testing.T) {
	for name, c := range map[string]struct{ item, call, status, more string }{
		"command":          {`{"type":"CommandExecution","id":"i","command":["ls"],"status":"completed","exit_code":0}`, "command", "succeeded", ""},
		"failed command":   {`{"type":"commandExecution","id":"i","command":["ls"],"status":"completed","exit_code":2}`, "command", "failed", ""},
		"declined command": {`{"type":"CommandExecution","id":"i","command":["ls"],"status":"declined","exit_code":null}`, "command", "denied", ""},
		"files":            {`{"type":"FileChange","id":"i","status":"completed","changes":{"/srv/p/a":{"type":"add","content":"x"},"/srv/p/b":{"type":"update","unified_diff":"","move_path":"/srv/p/c"}}}`, "file_change", "succeeded", "create a, delete b, create c"},
		"files of a list":  {`{"type":"FileChange","id":"i","status":"completed","changes":[{"path":"/srv/p/a","kind":"delete"}]}`, "file_change", "succeeded", "delete a"},
		"failed files":     {`{"type":"FileChange","id":"i","status":"failed","changes":{"/srv/p/a":{"type":"add","content":"x"}}}`, "file_change", "failed", ""},
		"MCP":              {`{"type":"McpToolCall","id":"i","server":"s","tool":"get","arguments":{},"status":"completed","result":{"content":[]}}`, "get", "succeeded", ""},
		"MCP error":        {`{"type":"McpToolCall","id":"i","server":"s","tool":"get","status":"completed","result":{"content":[],"isError":true}}`, "get", "failed", ""},
		"search":           {`{"type":"WebSearch","id":"i","query":"q","action":{"type":"search"}}`, "web_search", "unknown", "to unknown"},
		"page":             {`{"type":"Extension","kind":"web.search","id":"i","query":"q","action":{"type":"openPage","url":"https://go.dev/x"}}`, "web.search", "unknown", "to go.dev"},
		"extension":        {`{"type":"Extension","kind":"calendar.add","id":"i","status":"completed"}`, "calendar.add", "succeeded", ""},
		"dynamic tool":     {`{"type":"DynamicToolCall","id":"i","tool":"deploy","arguments":{},"success":false}`, "deploy", "failed", ""},
		"image seen":       {`{"type":"ImageView","id":"i","path":"/srv/p/x.png"}`, "view_image", "unknown", ""},
		"memory":           {`{"type":"MemoryMutation","id":"i"}`, "memory_mutation", "unknown", ""},
		"image made":       {`{"type":"ImageGeneration","id":"i","status":"completed","saved_path":"/srv/p/x.png"}`, "image_generation", "succeeded", "? x.png"},
		"agent":            {`{"type":"SubAgentActivity","id":"i","kind":"started","agent_thread_id":"th2","agent_path":"reviewer"}`, "sub_agent_activity", "unknown", "work for reviewer"},
		"agents":           {`{"type":"CollabAgentToolCall","id":"i","tool":"spawnAgent","receiver_thread_ids":["th2"],"status":"completed"}`, "spawnAgent", "succeeded", "work for ?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := toldOf(t, codexLines(codexMeta, codexBegins, codexAsks, codexItem(c.item), `event_msg {"type":"task_complete","turn_id":"t1"}`))
			if len(r.SideEffects.ToolCalls) != 1 || r.SideEffects.ToolCalls[0].Tool != c.call || r.status(0) != c.status {
				t.Fatalf("calls %s, want %s %s", asText(t, r.SideEffects.ToolCalls), c.call, c.status)
			}
			if got := r.did(); got != c.more {
				t.Errorf("%q, want %q", got, c.more)
			}
			if ignored := r.meta["ignored_records"]; ignored != nil {
				t.Errorf("not read: %v", ignored)
			}
			if denied := len(r.Approvals) == 1 && r.Approvals[0].Decision == "denied"; denied != (c.status == "denied") {
				t.Errorf("approvals %+v", r.Approvals)
			}
		})
	}
}

// did returns the files, hosts, and other agents that a draft lists.
func (r told) did() string {
	var all []string
	for i, w := range r.SideEffects.FSWrites {
		if r.untold[fmt.Sprintf("/side_effects/fs_writes/%d/operation", i)] {
			w.Operation = "?"
		}
		all = append(all, w.Operation+" "+w.Path)
	}
	for _, e := range r.SideEffects.NetworkEgress {
		all = append(all, "to "+e.Destination)
	}
	for i, h := range r.SideEffects.A2AHandoffs {
		if r.untold[fmt.Sprintf("/side_effects/a2a_handoffs/%d/target_agent", i)] {
			h.TargetAgent = "?"
		}
		all = append(all, "work for "+h.TargetAgent)
	}
	return strings.Join(all, ", ")
}

// TestItemJoins verifies that an item with the ID of a model's call represents that call and takes
// precedence. A call that was made by the script of a running wrapper must have the wrapper as its
// parent.
func TestItemJoins(t *testing.T) {
	const call = `response_item {"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{}"}`
	const output = `response_item {"type":"function_call_output","call_id":"c1","output":"Process exited with code 0"}`
	failed := codexItem(`{"type":"CommandExecution","id":"c1","command":["x"],"status":"failed","exit_code":1}`)
	parents := func(r told) (all []string) {
		for i, c := range r.SideEffects.ToolCalls {
			all = append(all, fmt.Sprint(c.CallID, " ", c.Tool, " ", r.status(i), " ", c.Metadata["parent_call_id"]))
		}
		return all
	}
	inner := codexItem(`{"type":"CommandExecution","id":"exec-1","command":["x"],"status":"completed","exit_code":0}`)
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"the item counts":            {[]string{call, failed, output}, []string{"c1 exec_command failed <nil>"}},
		"the item is behind":         {[]string{call, output, failed}, []string{"c1 exec_command failed <nil>"}},
		"the item comes first":       {[]string{failed, call, output}, []string{"c1 exec_command failed <nil>"}},
		"within a script":            {[]string{codexWrapper, inner, codexWrapped}, []string{"w1 exec unknown <nil>", "exec-1 command succeeded w1"}},
		"behind a script":            {[]string{codexWrapper, codexWrapped, inner}, []string{"w1 exec unknown <nil>", "exec-1 command succeeded <nil>"}},
		"in the next turn":           {[]string{codexWrapper, `event_msg {"type":"task_started","turn_id":"t2"}`, inner}, []string{"w1 exec unanswered <nil>", "exec-1 command succeeded <nil>"}},
		"a call within a script":     {[]string{codexWrapper, call, failed, output, codexWrapped}, []string{"w1 exec unknown <nil>", "c1 exec_command failed <nil>"}},
		"an end event":               {[]string{`event_msg {"type":"exec_command_end","call_id":"c2","command":["x"],"exit_code":3}`}, []string{"c2 command failed <nil>"}},
		"nobody was asked":           {[]string{codexNever, strings.Replace(failed, `"failed"`, `"declined"`, 1)}, []string{"c1 command denied <nil>"}},
		"a patch that did not fit":   {[]string{`response_item {"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, `response_item {"type":"custom_tool_call_output","call_id":"p","output":"apply_patch verification failed: no"}`}, []string{"p apply_patch failed <nil>"}},
		"an MCP call by its end":     {[]string{`response_item {"type":"function_call","call_id":"m","name":"_get","namespace":"mcp__s","arguments":"{}"}`, `event_msg {"type":"mcp_tool_call_end","call_id":"m","invocation":{"server":"s","tool":"x.get"},"result":{"Err":"no"}}`, `response_item {"type":"function_call_output","call_id":"m","output":"no"}`}, []string{"m x.get failed <nil>"}},
		"an MCP call without an end": {[]string{`response_item {"type":"function_call","call_id":"m","name":"_get","namespace":"mcp__s","arguments":"{}"}`, `response_item {"type":"function_call_output","call_id":"m","output":"Process exited with code 0"}`}, []string{"m _get unknown <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := toldOf(t, codexLines(append([]string{codexMeta, codexBegins, codexAsks}, c.lines...)...))
			if got := parents(r); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.want))) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if strings.Contains(name, "nobody") && len(r.Approvals) > 0 {
				t.Errorf("a denial by a person: %+v", r.Approvals)
			}
		})
	}
}

// TestPatchesApplied verifies that the changes that were made take precedence over the changes that
// the model requested. If they affect different files, both are recorded, and the draft reports the
// contradiction.
func TestPatchesApplied(t *testing.T) {
	const asks = `response_item {"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: old.go\n*** End Patch"}`
	const output = `response_item {"type":"custom_tool_call_output","call_id":"p","output":"Exit code: 0\nOutput:\nSuccess"}`
	applied := func(changes string) told {
		return toldOf(t, codexLines(codexMeta, codexBegins, codexAsks, asks, `event_msg {"type":"patch_apply_end","call_id":"p","success":true,"changes":`+changes+`}`, output))
	}
	r := applied(`{"/srv/p/old.go":{"type":"delete","content":"package old\n"}}`)
	if got := r.did(); got != "delete old.go" || r.SideEffects.FSWrites[0].BeforeSHA256.Digest.IsZero() || r.untold["/side_effects/fs_writes"] {
		t.Errorf("%s, %s", got, asText(t, r.SideEffects.FSWrites))
	}
	if r.meta["contradictions"] != nil {
		t.Errorf("contradictions %v", r.meta["contradictions"])
	}
	r = applied(`{"/srv/p/other.go":{"type":"delete","content":"x"}}`)
	if got := r.did(); got != "delete other.go, delete old.go" || !strings.Contains(asText(t, r.meta["contradictions"]), "not_in_report") {
		t.Errorf("%s, %v", got, r.meta["contradictions"])
	}
}

// TestPaginatedTokens verifies a session's own usage if the log has only response records, and if
// the log begins with lines of the parent session or omits these lines.
func TestPaginatedTokens(t *testing.T) {
	count := func(n int) string {
		return fmt.Sprintf(`event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":%d}}}`, n, n)
	}
	record := func(n int) string {
		return fmt.Sprintf(`token_usage_record {"response_id":"r%d","usage":{"input_tokens":1,"output_tokens":1},"thread_token_usage":{"input_tokens":%d,"output_tokens":%d}}`, n, n, n)
	}
	child := func(more string) string {
		return `session_meta {"id":"child","cwd":"/srv/p",` + more + `}`
	}
	parent := codexLines(codexMeta, codexBegins, codexAsks, count(100), count(300))
	for name, c := range map[string]struct {
		logs [][]string
		want int64 // negative: unreported
	}{
		"records alone":             {[][]string{codexLines(codexMeta, codexBegins, record(10), record(30))}, 30},
		"records and counts":        {[][]string{codexLines(codexMeta, codexBegins, record(10), count(30), record(30))}, 30},
		"a base without its parent": {[][]string{codexLines(child(`"history_base":{"thread_id":"th","end_ordinal_exclusive":4}`), codexBegins, count(150))}, -1},
		"a base with its parent":    {[][]string{parent, codexLines(child(`"history_base":{"thread_id":"th","end_ordinal_exclusive":4}`), codexBegins, count(150))}, 350},
		"inherited lines":           {[][]string{codexLines(child(`"subagent_history_start_ordinal":3`), codexBegins, count(100), count(160))}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			r := toldOf(t, c.logs...)
			got := r.AutonomyBudget.Consumed.InputTokens
			switch {
			case c.want < 0 && !r.untold["/autonomy_budget/consumed/input_tokens"]:
				t.Errorf("%s are stated", show(got))
			case c.want >= 0:
				same(t, "input", got, &c.want)
			}
		})
	}
}

// TestInheritedLines verifies that the parent's calls at the beginning of a subagent's log are not
// attributed to the subagent.
func TestInheritedLines(t *testing.T) {
	item := func(id string) string {
		return codexItem(`{"type":"CommandExecution","id":"` + id + `","command":["x"],"status":"completed","exit_code":0}`)
	}
	r := toldOf(t, codexLines(strings.Replace(codexMeta, `"cwd"`, `"subagent_history_start_ordinal":2,"cwd"`, 1), item("parents"), item("own")))
	var ids []string
	for _, c := range r.SideEffects.ToolCalls {
		ids = append(ids, c.CallID)
	}
	if !slices.Equal(ids, []string{"own"}) || r.Lifecycle.StartedAt != (receipt.Time{}) && r.Lifecycle.StartedAt.Second() != 0 {
		t.Errorf("calls %v, from %s", ids, r.Lifecycle.StartedAt)
	}
}
