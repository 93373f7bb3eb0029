package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// text returns an event for the task t. The additional members are added to the default members or
// replace them.
func text(id, sequence int, kind, payload string, more ...string) []byte {
	task, session := "t", "s"
	extra := ""
	for _, m := range more {
		switch name, value, _ := strings.Cut(m, ":"); name {
		case "task":
			task = value
		case "session":
			session = value
		default:
			extra += "," + m
		}
	}
	return fmt.Appendf(nil, `{"id":"%d","object":"event","event":%q,"resource":{"object":"task","id":%q},"created_at":"2026-01-01T00:00:%02dZ","sequence":%d,"session_id":%q,"workspace_id":"w","payload":%s%s}`,
		id, kind, task, id%60, sequence, session, payload, extra)
}

func plain() record.Options {
	return record.Options{Issuer: receipt.Issuer{ID: "i"}, Tier: "act_auto"}
}

// TestRefused verifies the errors that end a recording, with their codes and indexes. Afterward,
// events must be rejected, and no draft must be available.
func TestRefused(t *testing.T) {
	start := text(1, 1, "task.started", `{}`)
	tests := []struct {
		name    string
		code    event.Code
		pointer string
		events  [][]byte
	}{
		{"no JSON", event.CodeMalformed, "", [][]byte{[]byte(`{"id":`)}},
		{"duplicate names", event.CodeMalformed, "", [][]byte{[]byte(`{"id":"1","id":"2"}`)}},
		{"no object", event.CodeMalformed, "", [][]byte{[]byte(`[]`)}},
		{"no id", event.CodeMalformed, "", [][]byte{[]byte(`{"event":"task.started"}`)}},
		{"number as id", event.CodeMalformed, "/id", [][]byte{[]byte(`{"event":"task.started","id":1}`)}},
		{"another object", event.CodeMalformed, "/object", [][]byte{[]byte(`{"event":"task.started","id":"1","object":"task"}`)}},
		{"no sequence", event.CodeMalformed, "", [][]byte{[]byte(`{"event":"task.started","id":"1","resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:00:00Z","payload":{}}`)}},
		{"negative sequence", event.CodeMalformed, "/sequence", [][]byte{text(1, -1, "task.started", `{}`)}},
		{"no time", event.CodeMalformed, "", [][]byte{[]byte(`{"event":"task.started","id":"1","resource":{"object":"task","id":"t"},"sequence":1,"payload":{}}`)}},
		{"payload is a list", event.CodeMalformed, "", [][]byte{text(1, 1, "task.started", `[]`)}},
		{"tier", event.CodePayload, "/payload/autonomy_tier", [][]byte{text(1, 1, "task.started", `{"autonomy_tier":"root"}`)}},
		{"same id", event.CodeConflict, "/id", [][]byte{start, text(1, 2, "agent.message", `{}`)}},
		{"out of order", event.CodeOrder, "/sequence", [][]byte{start, text(2, 2, "agent.message", `{}`), text(3, 2, "agent.message", `{}`)}},
		{"gap", event.CodeGap, "/sequence", [][]byte{start, text(2, 3, "agent.message", `{}`)}},
		{"gap at the start", event.CodeGap, "/sequence", [][]byte{text(1, 2, "task.started", `{}`)}},
		{"another task", event.CodeOtherTask, "/task_id", [][]byte{start, text(2, 2, "agent.message", `{}`, `"task_id":"u"`)}},
		{"completed at once", event.CodeTransition, "/event", [][]byte{text(1, 1, "task.submitted", `{}`), text(2, 2, "task.completed", `{}`)}},
		{"ended twice", event.CodeAfterEnd, "/event", [][]byte{start, text(2, 2, "task.canceled", `{}`), text(3, 3, "task.completed", `{}`)}},
		{"a cost behind the end", event.CodeAfterEnd, "/event", [][]byte{start, text(2, 2, "task.completed", `{}`), text(3, 3, "span.completed", `{"kind":"llm","provider":"p","model":"m"}`)}},
		{"working behind the end", event.CodeAfterEnd, "/event", [][]byte{start, text(2, 2, "task.completed", `{}`), text(3, 3, "task.status_changed", `{"status":"WORKING"}`)}},
		{"two currencies", event.CodeCurrency, "/payload/cost", [][]byte{start, text(2, 2, "span.completed", `{"provider":"p","cost":1}`), text(3, 3, "span.completed", `{"provider":"p","cost":{"amount":1,"currency":"EUR"}}`)}},
		{"negative cost", event.CodePayload, "/payload/cost", [][]byte{start, text(2, 2, "span.completed", `{"provider":"p","cost":-1}`)}},
		{"long id", event.CodeLimit, "/payload/tool_call_id", [][]byte{start, text(2, 2, "tool.requested", `{"tool_call_id":"`+strings.Repeat("x", event.MaxText+1)+`"}`)}},
		{"large failure", event.CodeLimit, "/payload/failure", [][]byte{start, text(2, 2, "task.failed", `{"failure":{"m":"`+strings.Repeat("x", event.MaxFailure)+`"}}`)}},
		{"many tokens", event.CodeLimit, "/payload", [][]byte{start, text(2, 2, "span.completed", `{"provider":"p","input_tokens":9007199254740991}`), text(3, 3, "span.completed", `{"provider":"p","input_tokens":1}`)}},
		{"too many tokens", event.CodePayload, "/payload/input_tokens", [][]byte{start, text(2, 2, "span.completed", `{"provider":"p","input_tokens":9007199254740992}`)}},
		{"no call", event.CodePayload, "/payload", [][]byte{start, text(2, 2, "tool.requested", `{}`)}},
		{"a digest", event.CodePayload, "/payload/sha256", [][]byte{start, text(2, 2, "agent.memory_read", `{"memory_id":"m","sha256":"sha256:12"}`)}},
		{"a write", event.CodePayload, "/payload/fs_writes/0/operation", [][]byte{start, text(2, 2, "tool.completed", `{"tool_call_id":"c","fs_writes":[{"path":"p","operation":"shred"}]}`)}},
		{"a host", event.CodePayload, "/payload", [][]byte{start, text(2, 2, "span.completed", `{"kind":"http"}`)}},
		{"a delta", event.CodePayload, "/payload/operation", [][]byte{start, text(2, 2, "replay.event_replayed", `{"override_key":"llm:1","operation":"move"}`)}},
		{"a failure", event.CodePayload, "/payload/failure", [][]byte{start, text(2, 2, "task.failed", `{"failure":"bad"}`)}},
		{"an actor", event.CodePayload, "/payload/actor", [][]byte{start, text(2, 2, "user.cancel_requested", `{"actor":7}`)}},
		{"reviewers that are no list", event.CodePayload, "/payload/reviewers", [][]byte{start, text(2, 2, "tool.approved", `{"approval_id":"a","reviewers":"robin"}`)}},
		{"paths that are no list", event.CodePayload, "/payload/declared_paths", [][]byte{start, text(2, 2, "tool.approval_required", `{"approval_id":"a","declared_paths":"src"}`)}},
		{"a path that is no text", event.CodePayload, "/payload/declared_paths/0", [][]byte{start, text(2, 2, "tool.approval_required", `{"approval_id":"a","declared_paths":[7]}`)}},
		{"a host of a span that sends nothing", event.CodePayload, "/payload/host", [][]byte{start, text(2, 2, "span.completed", `{"kind":"agent","host":7}`)}},
		{"a second that no minute has", event.CodePayload, "/payload/deadline", [][]byte{start, text(2, 2, "tool.approval_required", `{"approval_id":"a","deadline":"2026-04-25T19:16:60Z"}`)}},
		{"null as sequence", event.CodeMalformed, "", [][]byte{[]byte(`{"event":"task.started","id":"1","resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:00:00Z","sequence":null,"payload":{}}`)}},
		{"no time yet", event.CodeMalformed, "/created_at", [][]byte{[]byte(`{"event":"task.started","id":"1","resource":{"object":"task","id":"t"},"created_at":"0001-01-01T00:00:00Z","sequence":1,"payload":{}}`)}},
		{"session of another task", event.CodeMalformed, "/session_id", [][]byte{start, []byte(`{"event":"user.message","id":"2","resource":{"object":"task","id":"u"},"created_at":"2026-01-01T00:00:00Z","sequence":1,"session_id":7,"payload":{}}`)}},
		{"a replay that is a text", event.CodeMalformed, "/replay", [][]byte{text(1, 1, "task.started", `{}`, `"replay":"r"`)}},
		{"an approval of nothing", event.CodePayload, "/payload", [][]byte{start, text(2, 2, "tool.approved", `{}`)}},
	}
	for _, test := range tests {
		r, err := record.New(plain())
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range test.events {
			err := r.Add(e)
			if i < len(test.events)-1 {
				if err != nil {
					t.Errorf("%s: event %d: %v", test.name, i+1, err)
				}
				continue
			}
			var refused *event.Error
			if !errors.As(err, &refused) || refused.Code != test.code || refused.Pointer != test.pointer || refused.Index != len(test.events) {
				t.Errorf("%s: %#v, want %s at %q", test.name, err, test.code, test.pointer)
			}
			before := r.Counts()
			if again := r.Add(text(9, 9, "task.started", `{}`)); !errors.Is(again, err) || r.Counts().Events != before.Events {
				t.Errorf("%s: then %v", test.name, again)
			}
			if d, final := r.Draft(); d != nil || !errors.Is(final, err) {
				t.Errorf("%s: a draft, %v", test.name, final)
			}
		}
	}
}

// TestPassedOver verifies that harmless events neither cause an error nor change the draft.
func TestPassedOver(t *testing.T) {
	whole := [][]byte{text(1, 1, "task.started", `{}`), text(2, 2, "agent.message", `{}`), text(3, 3, "task.completed", `{}`)}
	want := draft(t, plain(), whole...)
	o := plain()
	o.TaskID = "t"
	for name, events := range map[string][][]byte{
		"again":             {whole[0], whole[0], whole[1], whole[0], whole[1], whole[2], whole[2]},
		"again, replayed":   {whole[0], text(1, 1, "task.started", `{}`, `"replayed":true`, `"replay":{"source_task_id":"x"}`), whole[1], whole[2]},
		"of another task":   {whole[0], text(7, 1, "task.started", `{}`, "task:u"), whole[1], whole[2], text(8, 2, "task.failed", `{}`, "task:u")},
		"of no task":        {[]byte(`{"id":"0","event":"session.created","resource":{"object":"session","id":"s"},"created_at":"2026-01-01T00:00:00Z","sequence":9,"payload":{}}`), whole[0], whole[1], whole[2]},
		"late":              {whole[0], whole[1], whole[2], text(4, 4, "task.status_changed", `{"status":"COMPLETED"}`), text(5, 5, "session.closed", `{}`), text(6, 6, "agent.moonwalk", `{}`), text(7, 7, "user.cancel_requested", `{"actor":"a"}`), text(8, 8, "span.completed", `{"kind":"agent"}`)},
		"receipt":           {whole[0], whole[1], whole[2], text(4, 4, "receipt.issued", `{}`), text(5, 5, "receipt.verified", `{}`)},
		"members in a line": {[]byte(strings.ReplaceAll(string(whole[0]), ",", " ,\t")), whole[1], whole[2]},
	} {
		if got := draft(t, o, events...); got != want {
			t.Errorf("%s: another draft\n%s", name, differ(got, want))
		}
	}
	r, err := record.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range [][]byte{whole[0], whole[0], text(7, 1, "task.started", `{}`, "task:u"), whole[1], whole[2], text(4, 4, "receipt.issued", `{}`), text(5, 5, "session.closed", `{}`)} {
		if err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if c := r.Counts(); c.Events != 3 || c.Repeated != 1 || c.OtherTasks != 1 || c.Receipts != 1 || c.Late != 1 {
		t.Errorf("%+v", c)
	}
}

// TestSequences verifies that gaps in the sequence numbers of another resource are counted, and
// that a decrease is an error.
func TestSequences(t *testing.T) {
	session := func(id, sequence int) []byte {
		return fmt.Appendf(nil, `{"id":"s%d","event":"session.message_appended","resource":{"object":"session","id":"s"},"created_at":"2026-01-01T00:00:00Z","sequence":%d,"task_id":"t","payload":{}}`, id, sequence)
	}
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range [][]byte{text(1, 0, "task.started", `{}`), session(1, 17), session(2, 18), session(3, 25), text(2, 1, "agent.message", `{}`)} {
		if err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if c := r.Counts(); c.Gaps != 1 || c.Events != 5 {
		t.Errorf("%+v", c)
	}
	var refused *event.Error
	if err := r.Add(session(4, 20)); !errors.As(err, &refused) || refused.Code != event.CodeOrder {
		t.Errorf("%v", err)
	}
}

// TestNoDraft verifies the errors that are returned if a task has not ended or if values are
// missing.
func TestNoDraft(t *testing.T) {
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.started", `{}`)); err != nil {
		t.Fatal(err)
	}
	if d, err := r.Draft(); d != nil || !errors.Is(err, record.ErrNotEnded) || r.Ended() {
		t.Errorf("%v", err)
	}
	if err := r.Add(text(2, 2, "task.completed", `{}`)); err != nil || !r.Ended() {
		t.Fatal(err)
	}
	if _, err := r.Draft(); err != nil {
		t.Error(err)
	}
	bare := []byte(`{"id":"1","event":"task.canceled","resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:00:00Z","sequence":0,"payload":{}}`)
	r, err = record.New(record.Options{Issuer: receipt.Issuer{ID: "i"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(bare); err != nil {
		t.Fatal(err)
	}
	var missing *record.MissingError
	if _, err := r.Draft(); !errors.As(err, &missing) || strings.Join(missing.Names, " ") != "WorkspaceRef SessionID Tier" {
		t.Errorf("%v", err)
	}
	early := plain()
	early.IssuedAt = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if r, err = record.New(early); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.failed", `{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Draft(); err == nil || !strings.Contains(err.Error(), "before the end of the task") {
		t.Errorf("%v", err)
	}
	for _, o := range []record.Options{{}, {Issuer: receipt.Issuer{ID: "i", Kind: "robot"}}, {Issuer: receipt.Issuer{ID: "i"}, Tier: "root"}} {
		if r, err := record.New(o); err == nil || r != nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestEntriesAreBounded verifies that a hostile log cannot make a draft of unlimited size.
func TestEntriesAreBounded(t *testing.T) {
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	writes := strings.Repeat(`{"path":"p"},`, 4000) + `{"path":"p"}`
	for i := 1; ; i++ {
		kind, payload := "tool.completed", `{"tool_call_id":"c","fs_writes":[`+writes+`]}`
		if i == 1 {
			kind, payload = "task.started", `{}`
		}
		err := r.Add(text(i, i, kind, payload))
		var refused *event.Error
		if errors.As(err, &refused) {
			if refused.Code != event.CodeLimit || i < 10 {
				t.Errorf("event %d: %v", i, err)
			}
			return
		}
		if err != nil || i > 30 {
			t.Fatalf("event %d: %v", i, err)
		}
	}
}

// TestDraftIsTheCallers verifies that changes to one draft do not affect another draft.
func TestDraftIsTheCallers(t *testing.T) {
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.failed", `{"failure":{"code":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	first, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	want := asJSON(t, first)
	first.Lifecycle.Failure["code"], first.Metadata["hash_profile"] = "y", "z"
	second, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, second); got != want {
		t.Error(differ(got, want))
	}
}

// TestHostileSizes verifies that processing long lists does not take quadratic time, and that lists
// that exceed the limits are refused.
func TestHostileSizes(t *testing.T) {
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const n = 200_000
	for name, line := range map[string][]byte{
		"reviewers":  text(2, 2, "tool.approved", `{"approval_id":"a","reviewers":[`+list(n, `"r%d"`)+`]}`),
		"signatures": text(2, 2, "tool.approved", `{"approval_id":"a","signatures":[`+list(n, `{"reviewer":"%d","signed_at":"x","signature":"y"}`)+`]}`),
		"writes":     text(2, 2, "tool.completed", `{"tool_call_id":"c","fs_writes":[`+list(n, `{"path":"p%d"}`)+`]}`),
	} {
		r, err := record.New(plain())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Add(text(1, 1, "task.started", `{}`)); err != nil {
			t.Fatal(err)
		}
		var refused *event.Error
		if err := r.Add(line); !errors.As(err, &refused) || refused.Code != event.CodeLimit {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.started", `{"unknown":0,`+list(n, `"m%d":1`)+`}`)); err != nil || r.Counts().UnknownMembers != n+1 {
		t.Errorf("%v, %d", err, r.Counts().UnknownMembers)
	}
	diffs := `"content":[` + list(n/4, `{"type":"diff","path":"p%d"}`) + `]`
	if _, err := overBridge(updateLine(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t",` + diffs)); err == nil || !strings.Contains(err.Error(), "at most 4096 files") {
		t.Errorf("%.200v", err)
	}
	requests := make([]string, 20)
	for i := range requests {
		requests[i] = `{"jsonrpc":"2.0","id":1,"method":"host/tools/list"}`
	}
	if _, err := overBridge(requests...); err == nil || !strings.Contains(err.Error(), "ambiguous") {
		t.Errorf("%.200v", err)
	}
}
