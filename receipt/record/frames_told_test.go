package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// prompted records frames that occur between a prompt and its end, with the given options.
func prompted(o record.Options, lines ...string) (string, error) {
	all := append([]string{`{"at":"2026-01-01T00:00:00Z","from":"client","frame":{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"dig"}]}}}`}, lines...)
	all = append(all, `{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}`)
	l, err := record.Read(strings.NewReader(strings.Join(all, "\n")), o, record.FormFrames)
	if err != nil {
		return "", err
	}
	text, err := record.JSON(l.Draft)
	return string(text), err
}

func mustPrompted(t *testing.T, lines ...string) string {
	t.Helper()
	got, err := prompted(frameOptions(), lines...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFramesTellWhatRan verifies that the rules for events apply to all frames.
func TestFramesTellWhatRan(t *testing.T) {
	call := func(more string) string {
		return updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n"` + more)
	}
	upd := func(more string) string {
		return updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c"` + more)
	}
	ask := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"n","rawInput":{"n":1}}}}`
	yes := func(more string) string { return `{"jsonrpc":"2.0","id":1,"result":{"granted":true` + more + `}}` }
	a, b := `,"rawInput":{"n":1}`, `,"rawInput":{"n":2}`
	for _, test := range []struct {
		name  string
		lines []string
		wants []string
	}{
		{"begun by its first frame, then rejected", []string{call(`,"status":"in_progress"`), upd(`,"status":"failed","errorCategory":"rejected_loop"`)}, []string{`"call_id":"c"`, `"status":"failed"`, `executed_and_rejected`, `"tool_calls":1`}},
		{"begun by its first frame, then denied", []string{call(`,"status":"in_progress"`), upd(`,"status":"failed","errorCategory":"permission_denied"`)}, []string{`"status":"failed"`}},
		{"begun, and never ended", []string{call(`,"status":"in_progress"`)}, []string{`"incomplete":true`, `"/side_effects/tool_calls/0/status"`, `!at_most`}},
		{"a candidate that had run", []string{call(`,"parsing":true`), upd(`,"status":"failed","errorCategory":"parse_aborted","executionDurationMs":4`)}, []string{`"call_id":"c"`, `executed_and_rejected`}},
		{"a candidate that ended", []string{call(`,"parsing":true`), upd(`,"status":"completed"`)}, []string{`"call_id":"c"`, `"tool":"n"`}},
		{"failed, and applied", []string{call(`,"kind":"edit"`), upd(`,"status":"failed","mutationStatus":"applied","changedPaths":["p"]`)}, []string{`"status":"failed"`, `"fs_writes":[{"operation":"modify","path":"p"}]`}},
		{"aborted, and applied", []string{call(`,"kind":"edit"`), upd(`,"status":"failed","errorCategory":"parse_aborted","mutationStatus":"applied","changedPaths":["p"]`)}, []string{`"path":"p"`, `executed_and_rejected`}},
		{"failed, and nobody tells", []string{call(`,"kind":"edit","locations":[{"path":"p"}]`), upd(`,"status":"failed"`)}, []string{`"fs_writes":[]`, `"/side_effects/fs_writes"`}},
		{"completed, and nobody knows", []string{call(`,"kind":"edit","locations":[{"path":"p"}]`), upd(`,"status":"completed","mutationStatus":"unknown"`)}, []string{`"fs_writes":[]`, `"/side_effects/fs_writes"`}},
		{"unchanged", []string{call(`,"kind":"edit","locations":[{"path":"p"}]`), upd(`,"status":"completed","mutationStatus":"unchanged"`)}, []string{`"fs_writes":[]`, `!/side_effects/fs_writes"`}},
		{"created, by another name", []string{call(`,"kind":"edit","content":[{"type":"diff","path":"./p","oldText":null,"newText":"x"}]`), upd(`,"status":"completed","changedPaths":["p"]`)}, []string{`"fs_writes":[{"after_sha256":"` + sum(`x`) + `","before_sha256":null,"operation":"create","path":"p"}]`}},
		{"a status of its own", []string{call(``), upd(`,"status":"cancelled"`)}, []string{`"raw_status":"cancelled"`, `"/side_effects/tool_calls/0/status"`}},
		{"denied while it ran", []string{call(``), ask, `{"jsonrpc":"2.0","id":1,"result":{"granted":false}}`, upd(`,"status":"in_progress"`)}, []string{`"what":"executed_and_denied"`, `"incomplete":true`, `"/side_effects/tool_calls/0/status"`}},
		{"a shell", []string{call(`,"kind":"execute"`), upd(`,"status":"completed"`)}, []string{`"/side_effects/fs_writes","/side_effects/network_egress"`}},
		{"approved B, ran A", []string{call(a), ask, yes(`,"args":{"n":2}`), upd(`,"status":"completed"` + a)}, []string{`"input_hash":"` + sum(`{"n":1}`), `"arguments_differ_from_approved":["/side_effects/tool_calls/0"]`}},
		{"approved B, began with A", []string{call(a), ask, yes(`,"args":{"n":2}`), upd(`,"status":"in_progress"` + a), upd(`,"status":"completed"`)}, []string{`"input_hash":"` + sum(`{"n":1}`), `arguments_differ`}},
		{"approved A, ran B", []string{call(a), ask, yes(``), upd(`,"status":"completed"` + b)}, []string{`"input_hash":"` + sum(`{"n":2}`), `arguments_differ`}},
		{"approved A, ran A", []string{call(a), ask, yes(``), upd(`,"status":"in_progress"`), upd(`,"status":"completed"` + a)}, []string{`!arguments_differ`, `!requested_input_hash`}},
		{"fetched from a host that readers do not agree on", []string{call(`,"kind":"fetch","rawInput":{"url":"http://good\\@evil/"}`), upd(`,"status":"completed"`)}, []string{`"destination":"unknown"`, `/network_egress/0/destination`}},
		{"fetch that never was", []string{call(`,"kind":"fetch","rawInput":{"url":"http://h/"}`), upd(`,"status":"failed","errorCategory":"schema_validation"`)}, []string{`"network_egress":[]`, `!/side_effects/network_egress`}},
		{"fetch that was cancelled", []string{call(`,"kind":"fetch","rawInput":{"url":"http://h/"}`), upd(`,"status":"failed","errorCategory":"cancelled"`)}, []string{`"network_egress":[]`, `"/side_effects/network_egress"`}},
		{"fetch that was cancelled on its way", []string{call(`,"kind":"fetch","status":"in_progress","rawInput":{"url":"http://h/"}`), upd(`,"status":"failed","errorCategory":"cancelled"`)}, []string{`"destination":"h"`}},
		{"a tool of the host", []string{`{"jsonrpc":"2.0","id":5,"method":"builtin_call","params":{"name":"read","args":{"n":1}}}`, `{"jsonrpc":"2.0","id":5,"result":"text"}`},
			[]string{`{"call_id":"builtin:5","input_hash":"` + sum(`{"n":1}`) + `","metadata":{"executor":"host_bridge"},"output_hash":"` + sum(`"text"`) + `","status":"succeeded","tool":"read"}`}},
		{"a tool of the host that failed", []string{`{"jsonrpc":"2.0","id":"5","method":"builtin_call","params":{"name":"read"}}`, `{"jsonrpc":"2.0","id":"5","error":{"code":1}}`, `{"jsonrpc":"2.0","id":"5","method":"builtin_call","params":{"name":"read"}}`},
			[]string{`"call_id":"builtin:5"`, `"status":"failed"`, `"call_id":"builtin:5#2"`, `"incomplete":true`}},
		{"what a question announces", []string{call(``), `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"mutation":{"mutation_scope":"apply_workspace","run_id":"r","worker_id":"w"},"declaredPaths":["a"]}}`, yes(``), upd(`,"status":"completed"`)},
			[]string{`"declared_paths":["a"]`, `"mutation_scope":"apply_workspace"`, `"run_id":"r"`, `"worker_id":"w"`, `"writes_undeclared":true`, `"fs_writes":[]`}},
	} {
		has(t, test.name, mustPrompted(t, test.lines...), test.wants...)
	}
}

// TestEveryWord verifies that sessions that differ in one word have different digests, regardless
// of how the text is divided into chunks. A draft that does not cover a model's answer must not
// claim that a replay is exact.
func TestEveryWord(t *testing.T) {
	digest := func(lines ...string) string {
		t.Helper()
		_, after, _ := strings.Cut(mustPrompted(t, lines...), `"kind":"event_log"`)
		_, after, _ = strings.Cut(after, `"sha256":"`)
		return after[:71]
	}
	chunk := func(kind, text string) string {
		return updateLine(`"sessionUpdate":"` + kind + `","content":{"type":"text","text":"` + text + `"}`)
	}
	const m = "agent_message_chunk"
	whole := digest(chunk(m, `hello \"wörld\"`))
	for name, lines := range map[string][]string{
		"in chunks":            {chunk(m, `hel`), chunk(m, `lo \"w`), chunk(m, `örld\"`)},
		"with silence between": {chunk(m, `hello `), updateLine(`"sessionUpdate":"log"`), chunk(m, `\"wörld\"`)},
	} {
		if digest(lines...) != whole {
			t.Errorf("%s: another digest", name)
		}
	}
	seen := map[string]string{whole: "whole"}
	block := func(b string) string { return updateLine(`"sessionUpdate":"` + m + `","content":` + b) }
	call := updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n"`)
	upd := func(more string) string {
		return updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"` + more)
	}
	for name, lines := range map[string][]string{
		"nothing":          nil,
		"another word":     {chunk(m, `hello \"world\"`)},
		"another role":     {chunk("user_message_chunk", `hello \"wörld\"`)},
		"a thought":        {chunk("agent_thought_chunk", `hello \"wörld\"`)},
		"another thought":  {chunk("agent_thought_chunk", `hello`)},
		"two messages":     {updateLine(`"sessionUpdate":"` + m + `","messageId":"1","content":{"type":"text","text":"hello "}`), updateLine(`"sessionUpdate":"` + m + `","messageId":"2","content":{"type":"text","text":"\"wörld\""}`)},
		"an image":         {block(`{"type":"image","data":"AA=="}`)},
		"another image":    {block(`{"type":"image","data":"AB=="}`)},
		"annotated":        {block(`{"type":"text","text":"hello \"wörld\"","annotations":{"priority":1}}`)},
		"a plan":           {updateLine(`"sessionUpdate":"plan","entries":[{"content":"a"}]`)},
		"another plan":     {updateLine(`"sessionUpdate":"plan","entries":[{"content":"b"}]`)},
		"a call":           {call, upd(``)},
		"an error":         {call, upd(`,"error":"a"`)},
		"another error":    {call, upd(`,"error":"b"`)},
		"a content":        {call, upd(`,"content":[{"type":"content","content":{"type":"text","text":"a"}}]`)},
		"another content":  {call, upd(`,"content":[{"type":"content","content":{"type":"text","text":"b"}}]`)},
		"never ended":      {updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n","content":[{"type":"content","content":1}]`)},
		"never ended, too": {updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n","content":[{"type":"content","content":2}]`)},
		"an injection":     {`{"jsonrpc":"2.0","method":"session/inject","params":{"sessionId":"s","text":"a"}}`},
		"another":          {`{"jsonrpc":"2.0","method":"session/inject","params":{"sessionId":"s","text":"b"}}`},
		"a question":       {`{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"q","question":"a"}}`},
		"another question": {`{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"q","question":"b"}}`},
		"an answer":        {`{"jsonrpc":"2.0","id":3,"method":"harn.hitl.respond","params":{"request_id":"q","answer":"a"}}`},
		"another answer":   {`{"jsonrpc":"2.0","id":3,"method":"harn.hitl.respond","params":{"request_id":"q","answer":"b"}}`},
		"resolved":         {updateLine(`"sessionUpdate":"hitl_resolved","requestId":"q","answer":"a"`)},
		"resolved so":      {updateLine(`"sessionUpdate":"hitl_resolved","requestId":"q","answer":"b"`)},
	} {
		got := digest(lines...)
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[got] = name
	}
	one, err := prompted(frameOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := frameOptions()
	l, err := record.Read(strings.NewReader(`{"at":"2026-01-01T00:00:00Z","from":"client","frame":{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"dug"}]}}}
{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}`), o, record.FormFrames)
	if err != nil || strings.Contains(one, l.Draft.ReplayInput.Materials[0].SHA256.String()) {
		t.Errorf("two prompts have one digest: %v", err)
	}
	has(t, "nothing was said", one, `"determinism":"byte_deterministic"`)
	has(t, "a message", mustPrompted(t, chunk(m, `hello`)), `"determinism":"best_effort"`)
	has(t, "a thought", mustPrompted(t, chunk("agent_thought_chunk", `hello`)), `"determinism":"best_effort"`, `!hello`)

	// The digest of the content can be reproduced from the text.
	var log strings.Builder
	o.Keep = func(line []byte) error { log.Write(line); return nil }
	if _, err := prompted(o, chunk(m, `he`), chunk(m, `llo`), block(`{"type":"image","data":"AA=="}`), chunk(m, `!`)); err != nil {
		t.Fatal(err)
	}
	want := canon.Sum([]byte(`[{"text":"hello","type":"text"},{"data":"AA==","type":"image"},{"text":"!","type":"text"}]`)).String()
	prompt := canon.Sum([]byte(`[{"text":"dig","type":"text"}]`)).String()
	has(t, "the log", log.String(), `"payload":{"content_sha256":"`+want+`"}`, `"payload":{"content_sha256":"`+prompt+`"}`, `!hello`)
}

// TestReportedCost verifies that the agent's last report determines the cost.
func TestReportedCost(t *testing.T) {
	usage := func(cost string) string {
		return updateLine(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":` + cost)
	}
	last := usage(`{"amount":0.045,"currency":"USD"}`)
	has(t, "the last", mustPrompted(t, usage(`{"amount":0.01,"currency":"USD"}`), last), `"total":0.045`, `"usd":0.045`, `!"/cost/total"`, `"/model_route/chosen_model"`, `!no model call was made`)
	has(t, "euros", mustPrompted(t, usage(`{"amount":1,"currency":"EUR"}`)), `"currency":"EUR"`, `"total":1`, `!"usd"`)
	has(t, "null", mustPrompted(t, usage(`null`)), `"/cost/total"`)
	if a, b := mustPrompted(t, last), mustPrompted(t, usage(`{"amount":0.046,"currency":"USD"}`)); a == b || strings.Count(a+b, `"total":0.045`) != 1 {
		t.Errorf("two costs:\n%s\n%s", a, b)
	}
	load := []string{`{"at":"2026-01-01T00:00:00Z","frame":{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"s"}}}`, `{"jsonrpc":"2.0","id":7,"result":null}`,
		`{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"s"}}`, last, `{"jsonrpc":"2.0","id":8,"result":{"stopReason":"end_turn"}}`}
	for name, test := range map[string]struct {
		lines []string
		wants []string
	}{
		"a session that was loaded":         {load, []string{`"total":0.045`, `"at_most":["/autonomy_budget/consumed/usd","/cost/total"]`}},
		"one whose cost before it was told": {append([]string{load[0], usage(`{"amount":0.04,"currency":"USD"}`)}, load[1:]...), []string{`"total":0.005`, `!at_most`}},
	} {
		l, err := record.Read(strings.NewReader(strings.Join(test.lines, "\n")), frameOptions(), record.FormFrames)
		if err != nil {
			t.Fatal(err)
		}
		has(t, name, asJSON(t, l.Draft), test.wants...)
	}
}

// TestLoadWhileRunning verifies updates that arrive while a running session is loaded. An update
// must either refer to a known object and be recorded, or be refused as ambiguous.
func TestLoadWhileRunning(t *testing.T) {
	const load, loaded = `{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","id":7,"result":null}`
	call := func(id, more string) string {
		return updateLine(`"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"n"` + more)
	}
	for name, lines := range map[string][]string{
		"a known call ends":                {call("c", ``), load, call("c", `,"status":"completed"`), loaded},
		"and there is no response":         {call("c", ``), load, call("c", `,"status":"completed"`)},
		"it is told again":                 {call("c", `,"status":"completed"`), load, call("c", `,"status":"completed"`), loaded},
		"a call behind it":                 {load, loaded, call("c", `,"status":"completed"`)},
		"a load of which nothing is heard": {call("c", `,"status":"completed"`), load},
	} {
		has(t, name, mustPrompted(t, lines...), `"tool_calls":[{"call_id":"c"`, `"status":"succeeded"`)
	}
	var refused *event.Error
	for name, lines := range map[string][]string{
		"another call":             {load, call("c", `,"status":"completed"`), loaded},
		"and there is no response": {load, call("c", `,"status":"completed"`)},
		"an artifact":              {load, updateLine(`"sessionUpdate":"artifact","artifactId":"a"`), loaded},
	} {
		if _, err := prompted(frameOptions(), lines...); !errors.As(err, &refused) || refused.Code != event.CodeAmbiguous {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := overBridge(load, call("c", `,"status":"completed"`)); !errors.As(err, &refused) || refused.Code != event.CodeAmbiguous {
		t.Errorf("neither a response nor a prompt: %v", err)
	}
	if _, err := overBridge(call("a", ``), load, call("c", `,"status":"completed"`), loaded); !errors.As(err, &refused) || refused.Code != event.CodeAmbiguous {
		t.Errorf("at work, by the events: %v", err)
	}
}

// TestWhoAnswers verifies that an answer applies only to the question in its own session, and that
// an answer is ignored if the runtime refuses it at any time.
func TestWhoAnswers(t *testing.T) {
	asked := `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"sessionId":"s","request_id":"a","approval_request":{"id":"a","action":"act"}}}`
	respond := func(id int, of, who string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"harn.hitl.respond","params":{"request_id":"a",%s"approved":true,"reviewer":%q}}`, id, of, who)
	}
	resolved := updateLine(`"sessionUpdate":"hitl_resolved","requestId":"a","approved":true,"reviewer":"v"`)
	const refusal = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not a reviewer"}}`
	for name, test := range map[string]struct {
		lines []string
		wants []string
	}{
		"another session":               {[]string{asked, respond(1, `"sessionId":"x",`, "u")}, []string{`"decision":"timeout"`, `!"u"`}},
		"another session, its own way":  {[]string{asked, respond(1, `"session_id":"x",`, "u")}, []string{`"decision":"timeout"`, `!"u"`}},
		"another session, under _meta":  {[]string{asked, respond(1, `"_meta":{"harn":{"session_id":"x"}},`, "u")}, []string{`"decision":"timeout"`, `!"u"`}},
		"refused behind the resolution": {[]string{asked, respond(1, ``, "u"), resolved, refusal}, []string{`"decision":"approved"`, `"actor":"v"`, `!"u"`}},
		"refused behind an event":       {[]string{asked, respond(1, ``, "u"), `{"at":"2026-01-01T00:00:02Z","event":"hitl.approval_approved","payload":{"request_id":"a","actor":"v"}}`, refusal}, []string{`"decision":"approved"`, `"actor":"v"`}},
	} {
		has(t, name, mustPrompted(t, test.lines...), test.wants...)
	}
	var refused *event.Error
	lines := strings.Join([]string{beginning, asked, respond(1, ``, "u"), ending, refusal}, "\n")
	if _, err := record.Read(strings.NewReader(lines), frameOptions(), record.FormFrames); !errors.As(err, &refused) || refused.Code != event.CodeAfterEnd {
		t.Errorf("refused after the end: %v", err)
	}
	o := frameOptions()
	o.SessionID = ""
	if _, err := prompted(o, strings.ReplaceAll(resolved, `"s"`, `"x"`)); !errors.As(err, &refused) || refused.Code != event.CodeSession {
		t.Errorf("two sessions: %v", err)
	}
	if got, err := prompted(o, asked, resolved); err != nil || !strings.Contains(got, `"session_id":"s"`) {
		t.Errorf("one session: %v", err)
	}
}
