package record_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/redact"
)

// once returns the draft for a task that has a single event between its start and its end.
func once(t *testing.T, o record.Options, kind, payload string, more ...string) string {
	t.Helper()
	return draft(t, o, text(1, 1, "task.started", `{}`), text(2, 2, kind, payload, more...), text(3, 3, "task.completed", `{}`))
}

// TestCenturies verifies that the duration of a task is correct even if it exceeds the range of a
// Duration.
func TestCenturies(t *testing.T) {
	for from, want := range map[string]string{"0001": "63902822401000", "1700": "10287561601000", "2026": "1000"} {
		started := bytes.Replace(text(1, 1, "task.started", `{}`), []byte("2026"), []byte(from), 1)
		if got := draft(t, plain(), started, text(2, 2, "task.completed", `{}`)); !strings.Contains(got, `"wall_time_ms":`+want+"}") {
			t.Errorf("from %s: no %s in %s", from, want, got)
		}
	}
}

// TestMembers verifies how single members affect the draft, grouped by the affected part.
func TestMembers(t *testing.T) {
	long := strings.Repeat("é", 2000)
	for _, test := range []struct{ kind, payload, want string }{
		{"agent.memory_write", `{"artifact_id":"a","kind":"note","sha256":"` + strings.Repeat("AB", 32) + `"}`, `"final_artifacts":[{"artifact_id":"a","kind":"note","sha256":"sha256:` + strings.Repeat("ab", 32) + `"}]`},
		{"agent.memory_write", `{"memory_id":"m"}`, `"memory_writes":1`},
		{"artifact.created", `{"artifact_id":"a"}`, `"kind":"unknown"`},
		{"artifact.redacted", `{"artifact_id":"a","kind":"file","sha256":"` + strings.Repeat("0", 63) + `1"}`, `"redactions":[{"field":"/final_artifacts/0/uri","reason":"artifact redacted"}]`},
		{"agent.reasoning_summary", `{"withheld":false,"text":"secret thought"}`, `"redactions":[]`},
		{"branch.created", `{"branch_id":"b"}`, `"branch_id":"b"`},
		{"session.compacted", `{}`, `"materials":[{"content_type":"application/jsonl","id":"event_log:t","kind":"event_log","metadata":{"events":3},`},
		{"agent.handoff", `{"target_agent":"a","task_id":"x","status":"strange"}`, `"a2a_handoffs":[{"status":"accepted","target_agent":"a","task_id":"x"}]`},
		{"agent.handoff", `{"target_agent":"a","task_id":"x","status":"stopped","receipt_id":"r"}`, `"a2a_handoffs":[{"receipt_id":"r","status":"failed","target_agent":"a","task_id":"x"}]`},
		{"span.completed", `{"kind":"llm","provider":"p","model":"m","model_route":{"chosen_model":{"provider":"q","model":"n"},"alternatives_considered":[{"provider":"p","model":"m"}],"route_policy_reason":"cheap"}}`,
			`"model_route":{"alternatives_considered":[{"model":"m","provider":"p"}],"chosen_model":{"model":"n","provider":"q"},"route_policy_reason":"cheap"}`},
		{"span.completed", `{"kind":"llm","provider":"p","model":"m"}`, `"route_policy_reason":"the first model that was called"`},
		{"span.completed", `{"kind":"http","host":"h","purpose":"` + long + `"}`, `"purpose":"` + strings.Repeat("é", 512) + `…"`},
		{"task.started", `{"autonomy_tier":"suggest"}`, `"trust":{"end_tier":"suggest","start_tier":"act_auto"}`},
	} {
		if got := once(t, plain(), test.kind, test.payload); !strings.Contains(got, test.want) {
			t.Errorf("%s %.60s: no %s in\n%s", test.kind, test.payload, test.want, got)
		}
	}
	got := draft(t, plain(), text(1, 1, "task.started", `{}`), text(2, 2, "replay.started", `{"source_task_id":"x"}`),
		text(3, 3, "replay.event_replayed", `{}`, `"replay":{"override_key":"llm:1","original_event_id":"e","receipt_delta_id":"d"}`),
		text(4, 4, "replay.event_replayed", `{"override_key":"host:fs/read:1","operation":"add"}`), text(5, 5, "task.completed", `{}`))
	for _, want := range []string{
		`{"delta_id":"d","event_id":"e","operation":"replace","override_key":"llm:1","path":"/replay_input/materials/llm:1"}`, `"path":"/replay_input/materials/host:fs~1read:1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	got = once(t, plain(), "replay.started", `{}`, `"replay":{"source_task_id":"x","mode":"exact"}`)
	if !strings.Contains(got, `"replay_mode":"exact","source_task_id":"x"`) || !strings.Contains(got, `"subject":{"id":"t","object":"replay_segment"}`) {
		t.Error(got)
	}
}

// TestMaterialsOnce verifies that a repeated material is listed only once, and that materials with
// the same ID but different contents get different IDs.
func TestMaterialsOnce(t *testing.T) {
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	got := draft(t, plain(), text(1, 1, "task.started", `{}`),
		text(2, 2, "agent.memory_read", `{"memory_id":"m","sha256":"`+one+`"}`), text(3, 3, "agent.memory_read", `{"memory_id":"m","sha256":"`+one+`"}`),
		text(4, 4, "agent.memory_read", `{"memory_id":"m","sha256":"`+two+`"}`), text(5, 5, "agent.memory_read", `{"memory_id":"m","sha256":"`+one+`"}`),
		text(6, 6, "agent.memory_read", `{"memory_id":"m","sha256":"`+two+`"}`), text(7, 7, "task.completed", `{}`))
	if strings.Count(got, `"host:memory:m"`) != 1 || strings.Count(got, `"host:memory:m#2"`) != 1 || strings.Count(got, `host_fact`) != 2 {
		t.Error(got)
	}
}

// TestFailure verifies that the failure in the draft contains neither hidden reasoning nor a value
// that a receipt cannot represent.
func TestFailure(t *testing.T) {
	fail := func(failure string) (string, error) {
		r, err := record.New(plain())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Add(text(1, 1, "task.failed", `{"failure":`+failure+`}`)); err != nil {
			return "", err
		}
		d, err := r.Draft()
		if err != nil {
			return "", err
		}
		return asJSON(t, d), nil
	}
	for failure, want := range map[string]string{
		`{"code":"x","details":[1,null,true,"s",{"a":0.5}]}`: `"failure":{"code":"x","details":[1,null,true,"s",{"a":0.5}]}`,
		`{"n":9007199254740993}`:                             `"failure":{"n":"9007199254740992"}`,
		`{"n":1e300}`:                                        `"failure":{"n":"1e+300"}`,
		`{"private_reasoning":"t","a":{"chain_of_thought":"t"},"b":[{"type":"thoughts"}]}`: `"failure":{"a":{},"b":[null]}`,
		`null`: `"failure":null`,
	} {
		got, err := fail(failure)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v\n%s", failure, err, got)
		}
		if strings.Contains(failure, "thought") && !strings.Contains(got, `"redactions":[{"field":"/lifecycle/failure/a/chain_of_thought","reason":"hidden reasoning"},{"field":"/lifecycle/failure/b/0","reason":"hidden reasoning"},{"field":"/lifecycle/failure/private_reasoning","reason":"hidden reasoning"}]`) {
			t.Error(got)
		}
	}
	var refused *event.Error
	if _, err := fail(`{"a":` + strings.Repeat(`[`, 120) + strings.Repeat(`]`, 120) + `}`); !errors.As(err, &refused) || refused.Code != event.CodeLimit {
		t.Errorf("%v", err)
	}
}

// TestOptions verifies that options take precedence over events.
func TestOptions(t *testing.T) {
	o := record.Options{
		Issuer: receipt.Issuer{ID: "i", Kind: "agent"}, ReceiptID: "r", IssuedAt: time.Date(2026, 1, 2, 3, 4, 5, 6789e5, time.FixedZone("", 3600)), WorkspaceRef: "w2", SessionID: "s2",
		TenantID: "n2", PersonaRef: "p2", PolicyRef: "y2", Tier: "shadow", LogURI: "log://t",
	}
	got := draft(t, o, text(1, 1, "task.submitted", `{"workspace_ref":"w1","tenant_id":"n1","persona_id":"p1","policy_ref":"y1","branch_id":"b1"}`, `"trace_id":"t1"`), text(2, 2, "task.failed", `{}`))
	for _, want := range []string{
		`"identifiers":{"branch_id":"b1","persona_ref":"p2","session_id":"s2","task_id":"t","tenant_id":"n2","trace_id":"t1","workspace_ref":"w2"}`,
		`"issued_at":"2026-01-02T02:04:05.678Z"`, `"issuer":{"id":"i","kind":"agent"}`, `"receipt_id":"r"`, `"trust":{"end_tier":"shadow","policy_ref":"y2","start_tier":"shadow"}`, `"uri":"log://t"`,
		`"completed_at":"2026-01-01T00:00:02Z","created_at":"2026-01-01T00:00:01Z","failure":null,"final_state":"FAILED","started_at":"2026-01-01T00:00:02Z"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	bad := plain()
	bad.PersonaRef = "\xff"
	r, err := record.New(bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.failed", `{}`)); err != nil {
		t.Fatal(err)
	}
	var invalid *receipt.InvalidError
	if d, err := r.Draft(); d != nil || !errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
}

// TestLogDigest verifies that the digest in the draft covers the canonical form of each event,
// followed by a line feed.
func TestLogDigest(t *testing.T) {
	var log []byte
	s := scenarios()[0]
	for _, line := range s.lines(t) {
		doc, err := canon.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if log = append(doc.AppendCanonical(log), '\n'); doc.Root().Member("event").String() == "task.completed" {
			break
		}
	}
	l := read(t, s.options(), s.read(t, ".jsonl"), record.FormEvents)
	if got := l.Draft.ReplayInput.Materials[0]; got.SHA256 != canon.Sum(log) || got.Kind != "event_log" {
		t.Errorf("%+v", got)
	}
}

// TestChat verifies that a suspended turn of a chat has one receipt after it ends.
func TestChat(t *testing.T) {
	events := [][]byte{
		text(1, 1, "task.submitted", `{"autonomy_tier":"act_with_approval"}`), text(2, 2, "task.started", `{}`),
		text(3, 3, "artifact.created", `{"artifact_id":"reply_1","kind":"message","sha256":"`+strings.Repeat("a", 64)+`"}`),
		text(4, 4, "tool.approval_required", `{"approval_id":"approval-001","action":"send_email"}`), text(5, 5, "task.input_required", `{}`),
	}
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Draft(); !errors.Is(err, record.ErrNotEnded) {
		t.Errorf("a suspended turn: %v", err)
	}
	for end, want := range map[string]string{
		`task.completed {}`: `"lifecycle":{"completed_at":"2026-01-01T00:00:08Z","created_at":"2026-01-01T00:00:01Z","failure":null,"final_state":"SUCCEEDED","started_at":"2026-01-01T00:00:02Z"}`,
		`task.failed {"failure":{"code":"provider_unavailable","message":"retryable_transient"}}`: `"failure":{"code":"provider_unavailable","message":"retryable_transient"},"final_state":"FAILED"`,
	} {
		kind, payload, _ := strings.Cut(end, " ")
		got := draft(t, plain(), append(events[:5:5], text(6, 6, "tool.approved", `{"approval_id":"approval-001","actor":"user_bob"}`), text(7, 7, "task.started", `{}`), text(8, 8, kind, payload))...)
		for _, part := range []string{want, `"action":"send_email","actor":"user_bob","approval_id":"approval-001","decided_at":"2026-01-01T00:00:06Z","decision":"approved"`, `"artifact_id":"reply_1"`} {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %s in %s", end, part, got)
			}
		}
	}
}

// TestRedact verifies that a redaction policy removes secrets from a draft, because the recorder
// does not.
func TestRedact(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.failed", `{"failure":{"message":"git push with `+secret+` was refused"}}`)); err != nil {
		t.Fatal(err)
	}
	d, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	recorded := asJSON(t, d)
	policy, err := redact.Default().Compile()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	result, err := policy.Redact(doc, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(recorded, secret) || strings.Contains(string(result.Draft.Source()), secret) || !strings.Contains(string(result.Draft.Source()), "/lifecycle/failure/message") {
		t.Errorf("%s\n%s", recorded, result.Draft.Source())
	}
}

// TestErrorText verifies that errors contain the location, and quote only a bounded amount of
// untrusted text.
func TestErrorText(t *testing.T) {
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	err = r.Add(text(1, 1, "task."+strings.Repeat("\u202e", 100), `{"autonomy_tier":1}`))
	if err != nil {
		t.Fatal(err)
	}
	err = r.Add(text(2, 2, "task.started", `{"autonomy_tier":"\u001b[31m"}`))
	const want = `record: event 2, "task.started", id "2", at "/payload/autonomy_tier": payload: expected one of shadow, suggest, act_with_approval, act_auto`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	line := &event.LineError{Line: 7, Err: err}
	if line.Error() != "line 7: "+want {
		t.Error(line)
	}
	missing := &record.MissingError{Names: []string{"Tier", "SessionID"}}
	if missing.Error() != "record: missing from both the events and the options: Tier, SessionID" {
		t.Error(missing)
	}
	if r, err = record.New(plain()); err != nil {
		t.Fatal(err)
	}
	err = r.Add([]byte(`{"a":`))
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("%v", err)
	}
	if r, err = record.New(plain()); err != nil {
		t.Fatal(err)
	}
	err = r.Add(text(1, 5, strings.Repeat("é", 60), `{}`))
	if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), `"…`) {
		t.Errorf("%v", err)
	}
}
