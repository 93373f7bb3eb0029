package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

func frameOptions() record.Options {
	return record.Options{Issuer: receipt.Issuer{ID: "i"}, TaskID: "t", SessionID: "s", WorkspaceRef: "w", Tier: "act_auto"}
}

const (
	beginning = `{"at":"2026-01-01T00:00:00Z","event":"task.started","payload":{}}`
	ending    = `{"at":"2026-01-01T00:00:09Z","event":"task.completed","payload":{}}`
)

// overBridge records lines that occur between the start and the end of a task.
func overBridge(lines ...string) (*record.Log, error) {
	all := append([]string{beginning}, lines...)
	return record.Read(strings.NewReader(strings.Join(append(all, ending), "\n")), frameOptions(), record.FormFrames)
}

func mustBridge(t *testing.T, lines ...string) *receipt.Draft {
	t.Helper()
	l, err := overBridge(lines...)
	if err != nil {
		t.Fatal(err)
	}
	return l.Draft
}

func updateLine(members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + members + `}}}`
}

// TestDialects verifies that equivalent frames in all dialects produce the same draft.
func TestDialects(t *testing.T) {
	sum := canon.Sum([]byte("old")).String()[7:]
	call := updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"edit","kind":"edit","rawInput":{"n":1}`)
	ask := func(toolCall, more string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{` + toolCall + `}` + more + `}}`
	}
	answer := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	const request = `{"id":"a","action":"act","approvers_required":1}`
	want := ""
	for name, lines := range map[string][]string{
		"A, legacy answer": {call, ask(`"toolCallId":"c","toolName":"edit","rawInput":{"n":1}`, `,"approvalRequest":`+request+`,"mutation":{"session_id":"m"}`), answer(`{"granted":true}`),
			updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":1,"executor":"host_bridge","durationMs":5,"changedPaths":["p"],"mutationStatus":"applied"`)},
		"B": {call, ask(`"toolCallId":"c","toolName":"edit","rawInput":{"n":1}`, `,"approvalRequest":`+request), answer(`{"outcome":{"outcome":"selected"}}`),
			updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":1,"executor":"host_bridge","durationMs":5,"changedPaths":["p"]`)},
		"B, a string": {call, ask(`"toolCallId":"c","toolName":"edit","rawInput":{"n":1}`, `,"approvalRequest":`+request), answer(`{"outcome":"allow"}`),
			updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":1,"executor":"host_bridge","durationMs":5,"changedPaths":["p"]`)},
		"C": {call, ask(`"toolCallId":"c","title":"edit","rawInput":{"n":1},"_meta":{"harn":{"toolName":"edit","approvalRequest":`+request+`}}`, `,"options":[{"optionId":"o","kind":"allow_once"}]`), answer(`{"outcome":{"outcome":"selected","optionId":"o"}}`),
			updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":1,"executor":"wrong","_meta":{"harn":{"executor":"host_bridge","durationMs":5,"changedPaths":["p"]}}`)},
	} {
		got := asJSON(t, mustBridge(t, lines...))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: another draft\n%s", name, differ(got, want))
		}
	}
	for _, part := range []string{`"decision":"approved"`, `"approval_id":"a"`, `"executor":"host_bridge"`, `"path":"p"`} {
		if !strings.Contains(want, part) {
			t.Errorf("no %s in %s", part, want)
		}
	}
	// The digests in a diff refer to files only if the strings in the diff are entire files.
	for old, whole := range map[string]bool{"old": true, "ol": false} {
		d := mustBridge(t, call, ask(`"toolCallId":"c","content":[{"type":"diff","path":"p","oldText":"`+old+`","newText":"new","_meta":{"harn":{"permission_preview":{"preimageSha256":"`+sum+`"}}}}]`, ""),
			updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`))
		w := d.SideEffects.FSWrites[0]
		if w.BeforeSHA256.Digest != canon.Sum([]byte("old")) || (w.AfterSHA256.Digest == canon.Sum([]byte("new"))) != whole || w.AfterSHA256.IsZero() == whole {
			t.Errorf("%+v", w)
		}
	}
}

// TestRewrittenPreview verifies that a preview is ignored if the approver changed the arguments.
// Unknown members of a file are omitted from the draft.
func TestRewrittenPreview(t *testing.T) {
	for answer, want := range map[string]string{
		`{"granted":true}`:                   `{"after_sha256":"` + canon.Sum([]byte("new")).String() + `","before_sha256":null,"operation":"create","path":"p"}`,
		`{"granted":true,"args":{"n":2}}`:    `{"operation":"modify","path":"p"}`,
		`{"outcome":"allow","args":{"n":2}}`: `{"operation":"modify","path":"p"}`,
	} {
		d := mustBridge(t, updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"edit","kind":"edit","rawInput":{"n":1}`),
			`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","content":[{"type":"diff","path":"p","oldText":null,"newText":"new"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"result":`+answer+`}`, updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`))
		if got := asJSON(t, d); !strings.Contains(got, `"fs_writes":[`+want+`]`) || d.Approvals[0].Decision != "approved" {
			t.Errorf("%s: %s", answer, got)
		}
	}
}

// TestFrameCalls verifies the entry that results from the updates for one call.
func TestFrameCalls(t *testing.T) {
	open := func(more string) string {
		return updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n"` + more)
	}
	upd := func(more string) string {
		return updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c"` + more)
	}
	tests := []struct {
		name, want string
		lines      []string
	}{
		{"completed at once", "succeeded", []string{open(`,"status":"completed","rawOutput":1`)}},
		{"only updates", "succeeded", []string{upd(`,"title":"n","rawInput":{}`), upd(`,"status":"completed"`)}},
		{"failed", "failed", []string{open(``), upd(`,"status":"failed","error":"secret"`)}},
		{"cancelled", "canceled", []string{open(``), upd(`,"status":"failed","errorCategory":"cancelled"`)}},
		{"denied before it ran", "canceled", []string{open(``), upd(`,"status":"failed","errorCategory":"permission_denied"`)}},
		{"denied while it ran", "failed", []string{open(``), upd(`,"status":"in_progress"`), upd(`,"status":"failed","errorCategory":"permission_denied"`)}},
		{"denied after it ran", "failed", []string{open(``), upd(`,"status":"failed","errorCategory":"permission_denied","executionDurationMs":3`)}},
		{"never ended", "canceled", []string{open(``)}},
		{"null status", "canceled", []string{open(``), upd(`,"status":null,"title":null`)}},
		{"a candidate that stayed one", "", []string{open(`,"parsing":true`)}},
		{"a candidate that was dropped", "", []string{open(`,"parsing":true`), upd(`,"parsing":false,"status":"failed","errorCategory":"parse_aborted"`)}},
		{"a candidate that was promoted", "succeeded", []string{open(`,"parsing":true`), upd(`,"parsing":false,"status":"pending","rawInput":{}`), upd(`,"status":"completed"`)}},
		{"rejected", "", []string{open(``), upd(`,"status":"failed","errorCategory":"rejected_loop"`)}},
	}
	for _, test := range tests {
		l, err := overBridge(test.lines...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := ""
		for _, c := range l.Draft.SideEffects.ToolCalls {
			got += c.Status
		}
		if got != test.want || strings.Contains(asJSON(t, l.Draft), "secret") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	for name, test := range map[string]struct{ want, kind, more string }{
		"delete":      {"delete p", "delete", `,"changedPaths":["p"]`},
		"move":        {"delete p, create q", "move", `,"locations":[{"path":"p"},{"path":"q"}]`},
		"not applied": {"", "edit", `,"changedPaths":["p"],"mutationStatus":"not_applied"`},
		"unchanged":   {"", "edit", `,"changedPaths":["p"],"mutationStatus":"unchanged"`},
		"execute":     {"", "execute", `,"changedPaths":["p"]`},
		"applied":     {"modify p", "execute", `,"changedPaths":["p"],"mutationStatus":"applied"`},
		"create":      {"create p", "edit", `,"content":[{"type":"diff","path":"p","oldText":null,"newText":"x"}]`},
		"locations":   {"modify p", "edit", `,"locations":[{"path":"p","line":3}]`},
	} {
		d := mustBridge(t, open(`,"kind":"`+test.kind+`"`), upd(`,"status":"completed"`+test.more))
		var got []string
		for _, w := range d.SideEffects.FSWrites {
			got = append(got, w.Operation+" "+w.Path)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestPermissions verifies the decisions that result from answers over a bridge.
func TestPermissions(t *testing.T) {
	ask := func(id any, call string) string {
		return fmt.Sprintf(`{"at":"2026-01-01T00:00:01Z","from":"agent","frame":{"jsonrpc":"2.0","id":%v,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":%q,"title":"n","rawInput":{"n":1}}}}}`, id, call)
	}
	reply := func(id any, body string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,%s}`, id, body) }
	decisions := func(lines ...string) string {
		var got []string
		for _, a := range mustBridge(t, lines...).Approvals {
			got = append(got, a.ApprovalID+" "+a.Decision)
		}
		return strings.Join(got, ", ")
	}
	for want, lines := range map[string][]string{
		"a approved":                          {`{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"approval_request":{"id":"a","action":"act"}}}`, strings.Replace(ask(1, "c"), `"title"`, `"approvalRequest":{"id":"a"},"title"`, 1), reply(1, `"result":{"granted":true}`)},
		"e approved":                          {ask(1, "e"), reply(1, `"result":{"granted":true}`)},
		"e denied":                            {ask(1, "e"), reply(1, `"error":{"code":-32601,"message":"method not found"}`)},
		"c timeout":                           {ask(1, "c")},
		"c approved, d denied":                {ask(1, "c"), ask(2, "d"), reply(2, `"result":{}`), reply(1, `"result":{"granted":true}`)},
		"c#2 approved, c denied, c#3 timeout": {ask(1, "c#2"), reply(1, `"result":{"granted":true}`), ask(2, "c"), reply(2, `"result":{"granted":false}`), ask(3, "c")},
		"c denied, c#2 timeout, c#2#2 approved": {ask(1, "c"), reply(1, `"result":{"granted":false}`), ask(2, "c"), `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"c#2","approval_request":{"id":"c#2","action":"act"}}}`,
			`{"jsonrpc":"2.0","method":"harn.hitl.respond","params":{"request_id":"c#2","approved":true}}`},
		"c denied, c#2 approved":   {ask(1, "c"), reply(1, `"result":{"granted":false}`), ask(1, "c"), reply(1, `"result":{"granted":true}`)},
		"c timeout, d approved":    {ask(1, "c"), ask(`"1"`, "d"), reply(`"1"`, `"result":{"granted":true}`)},
		"c denied, d timeout":      {ask(1, "c"), ask(2, "d"), reply(1, `"result":{"outcome":{"outcome":"selected","optionId":"x"}}`), reply(7, `"result":{"granted":true}`)},
		"d timeout, c approved":    {ask(2, "d"), ask(1, "c"), reply(1, `"result":{"granted":true}`), reply(1, `"result":{"granted":false}`)},
		"c approved":               {ask(1, "c"), ask(2, "c"), reply(1, `"result":{"granted":true}`), reply(2, `"result":{"granted":true}`)},
		"c denied":                 {ask(1, "c"), ask(2, "c"), reply(1, `"result":{"granted":true}`), reply(2, `"result":{"granted":false}`)},
		"c timeout, d timeout":     {ask(1, "c"), ask(2, "d"), `{"at":"2026-01-01T00:00:02Z","from":"agent","frame":{"jsonrpc":"2.0","id":1,"result":{"granted":true}}}`},
		"c approved, d#x approved": {ask(1, "c"), `{"jsonrpc":"2.0","id":1,"method":"tool_search/query","params":{}}`, reply(1, `"result":{"granted":true}`), ask(3, "d#x"), reply(3, `"result":{"granted":true}`)},
	} {
		if got := decisions(lines...); got != want {
			t.Errorf("%s: %q", got, want)
		}
	}
	d := mustBridge(t, updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"n","rawInput":{"n":1}`), ask(1, "c"), reply(1, `"result":{"granted":true,"args":{"n":2}}`), updateLine(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`))
	if c := d.SideEffects.ToolCalls[0]; c.InputHash != canon.Sum([]byte(`{"n":2}`)) || c.Metadata["requested_input_hash"] != canon.Sum([]byte(`{"n":1}`)).String() {
		t.Errorf("%+v", c)
	}
}

// TestDurableApprovals verifies all forms of hitl frames, including frames that are not approvals.
func TestDurableApprovals(t *testing.T) {
	requested := `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"a","approval_request":{"id":"a","action":"act"}}}`
	respond := func(members string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"harn.hitl.respond","params":{"request_id":"a",` + members + `}}`
	}
	resolved := func(members string) string {
		return updateLine(`"sessionUpdate":"hitl_resolved","requestId":"a",` + members)
	}
	for line, want := range map[string]string{
		respond(`"approved":true,"reviewer":"u"`):      "approved",
		respond(`"accepted":true,"reviewer":"u"`):      "approved",
		respond(`"approved":true,"accepted":false`):    "denied",
		respond(`"approved":"true","reviewer":"u"`):    "denied",
		respond(`"approved":1`):                        "denied",
		respond(`"approved":false`):                    "denied",
		respond(`"answer":"yes, approved"`):            "timeout",
		resolved(`"approved":true,"reviewer":"u"`):     "approved",
		resolved(`"approved":false,"reviewer":"u"`):    "denied",
		resolved(`"status":"ok"`):                      "denied",
		resolved(`"_meta":{"harn":{"approved":1}}`):    "denied",
		resolved(`"_meta":{"harn":{"accepted":true}}`): "approved",
	} {
		got := mustBridge(t, requested, line).Approvals
		if len(got) != 1 || got[0].Decision != want {
			t.Errorf("%s: %+v, want %s", line, got, want)
		}
	}
	if got := mustBridge(t, `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"q","question":"which bed?"}}`, updateLine(`"sessionUpdate":"hitl_resolved","requestId":"q","answer":"oak"`)).Approvals; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRefusedAnswers verifies that an answer that the runtime refused has no effect, and that
// earlier events do not depend on an answer that may still be refused.
func TestRefusedAnswers(t *testing.T) {
	requested := `{"jsonrpc":"2.0","method":"harn.hitl.requested","params":{"request_id":"a","approval_request":{"id":"a","action":"act"}}}`
	respond := func(id int, members string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"harn.hitl.respond","params":{"request_id":"a",%s}}`, id, members)
	}
	said := func(id int, what string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, id, what) }
	yes, no, refused, taken := `"approved":true,"reviewer":"u"`, `"approved":false,"reviewer":"u"`, `"error":{"code":-32000,"message":"not a reviewer"}`, `"result":{}`
	resolved := updateLine(`"sessionUpdate":"hitl_resolved","requestId":"a","approved":true,"reviewer":"v"`)
	const at = `{"at":"2026-01-01T00:00:02Z","event":"hitl.approval_approved","payload":{"request_id":"a","actor":"v"}}`
	for name, test := range map[string]struct {
		want  string
		lines []string
	}{
		"refused":                     {"timeout by host", []string{respond(1, yes), said(1, refused)}},
		"a denial that was refused":   {"approved by v", []string{respond(1, no), said(1, refused), resolved}},
		"taken":                       {"approved by u", []string{respond(1, yes), said(1, taken)}},
		"taken, with no error":        {"approved by u", []string{respond(1, yes), said(1, taken+`,"error":null`)}},
		"refused, and then taken":     {"approved by v", []string{respond(1, yes), said(1, refused), respond(2, `"approved":true,"reviewer":"v"`), said(2, taken)}},
		"taken behind others":         {"approved by u", []string{respond(1, yes), updateLine(`"sessionUpdate":"plan"`), respond(2, no), said(2, refused), said(1, taken)}},
		"resolved before anything":    {"approved by u", []string{respond(1, yes), resolved, said(1, taken)}},
		"decided before anything":     {"approved by u", []string{respond(1, yes), at}},
		"nothing was said":            {"denied by u", []string{respond(1, no), respond(2, yes)}},
		"a notification is not heard": {"approved by u", []string{strings.Replace(respond(1, yes), `"id":1,`, "", 1)}},
	} {
		got := mustBridge(t, append([]string{requested}, test.lines...)...).Approvals
		if len(got) != 1 || got[0].Decision+" by "+got[0].Actor != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

// TestLoad verifies that the earlier turns of a loaded session are not part of the task.
func TestLoad(t *testing.T) {
	const load = `{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"s"}}`
	const loaded = `{"jsonrpc":"2.0","id":7,"result":null}`
	const prompt = `{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"s"}}`
	call := func(id string) string {
		return updateLine(`"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"n","status":"completed"`)
	}
	for name, test := range map[string]struct {
		want  string
		lines []string
	}{
		"loaded":           {"new", []string{load, call("old"), loaded, prompt, call("new")}},
		"not yet loaded":   {"new", []string{load, call("old"), prompt, call("new")}},
		"not loaded":       {"new", []string{load, `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`, call("new")}},
		"nobody will tell": {"new", []string{strings.Replace(load, `"id":7,`, "", 1), call("new")}},
	} {
		l, err := overBridge(test.lines...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		calls := l.Draft.SideEffects.ToolCalls
		if len(calls) != 1 || calls[0].CallID != test.want {
			t.Errorf("%s: %+v", name, calls)
		}
		if want := strings.Count(strings.Join(test.lines, ""), `"old"`); l.Counts.Frames.Replayed != want {
			t.Errorf("%s: %d were passed over, want %d", name, l.Counts.Frames.Replayed, want)
		}
	}
}

// TestFramesRefused verifies the errors that end a recording of frames, and the indexes in these
// errors.
func TestFramesRefused(t *testing.T) {
	for name, test := range map[string]struct {
		code  event.Code
		lines []string
	}{
		"not JSON-RPC":             {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z","frame":{"method":"x"}}`}},
		"a batch":                  {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z","frame":[]}`}},
		"no session":               {event.CodePayload, []string{`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`}},
		"no kind":                  {event.CodePayload, []string{updateLine(``)}},
		"no call":                  {event.CodePayload, []string{updateLine(`"sessionUpdate":"tool_call","title":"x"`)}},
		"no title":                 {event.CodePayload, []string{updateLine(`"sessionUpdate":"tool_call","toolCallId":"x"`)}},
		"no worker":                {event.CodePayload, []string{updateLine(`"sessionUpdate":"worker_update","status":"running"`)}},
		"no result":                {event.CodeMalformed, []string{`{"jsonrpc":"2.0","id":1}`}},
		"no such sender":           {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z","from":"nobody","frame":{}}`}},
		"the agent approves":       {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z","from":"agent","frame":{"jsonrpc":"2.0","id":1,"method":"harn.hitl.respond","params":{"request_id":"a","approved":true}}}`}},
		"the client resolves":      {event.CodeMalformed, []string{strings.Replace(updateLine(`"sessionUpdate":"hitl_resolved","requestId":"a","approved":true`), `{"jsonrpc"`, `{"at":"2026-01-01T00:00:00Z","from":"client","frame":{"jsonrpc"`, 1) + "}"}},
		"an answer behind the end": {event.CodeAfterEnd, []string{`{"at":"2026-01-01T00:00:09Z","event":"task.completed","payload":{}}`, `{"jsonrpc":"2.0","id":1,"method":"harn.hitl.respond","params":{"request_id":"a","approved":true}}`}},
		"no frame":                 {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z"}`}},
		"an event":                 {event.CodeTwoFormats, []string{string(text(1, 1, "task.started", `{}`))}},
		"no JSON":                  {event.CodeMalformed, []string{`{"at":`}},
		"payload":                  {event.CodeMalformed, []string{`{"at":"2026-01-01T00:00:00Z","event":"agent.message","payload":1}`}},
		"a refused event":          {event.CodePayload, []string{`{"at":"2026-01-01T00:00:00Z","event":"agent.memory_read","payload":{}}`}},
		"two could have it": {event.CodeAmbiguous, []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"d"}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"granted":true}}`}},
		"none could have it": {event.CodeAmbiguous, []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`}},
	} {
		_, err := overBridge(test.lines...)
		var refused *event.Error
		var line *event.LineError
		if !errors.As(err, &refused) || refused.Code != test.code || !errors.As(err, &line) || line.Line != len(test.lines)+1 || refused.Index != line.Line {
			t.Errorf("%s: %v (%#v)", name, err, refused)
		}
	}
	f, err := record.NewFrames(frameOptions())
	if err != nil {
		t.Fatal(err)
	}
	var refused *event.Error
	err = f.Add(time.Time{}, bridge.SenderUnknown, []byte(updateLine(`"sessionUpdate":"tool_call","toolCallId":"x","title":"t"`)))
	if !errors.As(err, &refused) || refused.Code != event.CodeTime {
		t.Errorf("%v", err)
	}
	if _, final := f.Draft(); !errors.Is(final, err) || !errors.Is(f.Event(time.Now(), "task.started", []byte(`{}`)), err) || !errors.Is(f.Add(time.Now(), "", nil), err) {
		t.Error("the error is not final")
	}
	o := frameOptions()
	o.TaskID = ""
	if _, err := record.NewFrames(o); err == nil {
		t.Error("frames of no task are recorded")
	}
	lost := errors.New("disk full")
	o = frameOptions()
	o.Keep = func([]byte) error { return lost }
	if f, err = record.NewFrames(o); err != nil {
		t.Fatal(err)
	}
	if err := f.Event(time.Now(), "task.failed", []byte(`{}`)); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
	if d, err := f.Draft(); d != nil || !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

// TestFrameCounts verifies that skipped frames are counted.
func TestFrameCounts(t *testing.T) {
	l, err := overBridge(
		updateLine(`"sessionUpdate":"plan"`),
		updateLine(`"sessionUpdate":"moonwalk"`),
		`{"jsonrpc":"2.0","method":"x/moonwalk"}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":{"sessionId":"other","toolCall":{"toolCallId":"c"}}}`,
		`{"jsonrpc":"2.0","id":4,"result":{"granted":true}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	c := l.Counts
	if c.Frames.All != 7 || c.Frames.Silent != 2 || c.Frames.Unknown != 2 || c.Frames.OtherSessions != 2 || c.Frames.Unmatched != 1 || c.Events != 3 || len(l.Draft.Approvals) != 0 || l.Lines != 9 {
		t.Errorf("%+v", c)
	}
	if got := fmt.Sprint(l.Draft.Metadata["ignored_records"]); got != "map[session/update moonwalk:1 x/moonwalk:1]" {
		t.Errorf("unread are %s", got)
	}
}

// TestLongLine verifies that the length of a line is limited by canon.MaxBytes, and not by the size
// of a buffer.
func TestLongLine(t *testing.T) {
	long := string(text(1, 1, "task.started", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`))
	l, err := record.Read(strings.NewReader(long+"\r\n\n"+string(text(2, 2, "task.completed", `{}`))), plain(), record.FormUnknown)
	if err != nil || l.Lines != 2 {
		t.Errorf("%v", err)
	}
	_, err = record.Read(strings.NewReader(`{"x":"`+strings.Repeat("x", canon.MaxBytes)+`"}`), plain(), record.FormUnknown)
	var refused *event.Error
	if !errors.As(err, &refused) || refused.Code != event.CodeLimit {
		t.Errorf("%v", err)
	}
}

// TestReadFails verifies that a read error is returned as an error of the input.
func TestReadFails(t *testing.T) {
	broken := errors.New("cable")
	if l, err := record.Read(&failing{text(1, 1, "task.started", `{}`), broken}, plain(), record.FormUnknown); !errors.Is(err, broken) || l != nil {
		t.Errorf("%v", err)
	}
}

type failing struct {
	data []byte
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, f.err
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}
