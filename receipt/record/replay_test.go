package record_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// TestReplayHasNoDeeds verifies that events repeated from another task contribute only materials
// and times, and that only the replay's own actions are listed.
func TestReplayHasNoDeeds(t *testing.T) {
	const source = `"replayed":true,"replay":{"source_task_id":"x","replay_task_id":"t","original_event_id":"e","mode":"exact"`
	digest := strings.Repeat("a", 64)
	started := said("replay.started", `{"source_task_id":"x","mode":"exact","source_log_sha256":"`+digest+`","source_log_uri":"log://x","source_log_events":9}`)
	deeds := func(more ...string) []line {
		return []line{
			said("task.submitted", `{"autonomy_tier":"shadow"}`, append(more, `"created":1`)...),
			said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":{"amount":0.5,"currency":"EUR"},"input_tokens":60,"output_tokens":40,"response":"r"}`, more...),
			said("agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"srv","url":"https://mcp.example/"}`, more...),
			said("tool.completed", `{"tool_call_id":"c","output":1,"fs_writes":[{"path":"p","operation":"create"}],"network_egress":[{"host":"h"}]}`, more...),
			said("tool.approved", `{"approval_id":"a","actor":"u"}`, more...),
			said("agent.handoff", `{"target_agent":"g","task_id":"k"}`, more...),
			said("artifact.created", `{"artifact_id":"f","applied":true,"path":"q"}`, more...),
			said("agent.memory_write", `{"memory_id":"m"}`, more...),
			said("task.completed", `{}`, more...),
		}
	}
	completed := said("replay.completed", `{}`)
	none := []string{
		`"approvals":[]`, `"cost":{"currency":"USD","provider_breakdown":[],"total":0}`, `"side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]}`,
		`"consumed":{"input_tokens":0,"output_tokens":0,"tool_calls":0,"usd":0,"wall_time_ms":0}`, `"final_artifacts":[]`, `!memory_writes`, `!"unreported"`, `"subject":{"id":"t","object":"replay_segment"}`,
		`{"content_type":"application/jsonl","id":"event_log:x","kind":"event_log","metadata":{"events":9},"sha256":"sha256:` + digest + `","uri":"log://x"}`,
		`"id":"llm:main:1"`, `"id":"mcp:srv:c"`, `"start_tier":"act_auto"`,
		`"completed_at":"2026-01-01T00:00:11Z","created_at":"2026-01-01T00:00:03Z"`, // of the source's events, not the replay's own
	}
	for name, lines := range map[string][]line{
		"with their marks":           deeds(source + "}"),
		"marked as replayed alone":   deeds(`"replayed":true`),
		"by the event they are":      deeds(`"replay":{"replay_task_id":"t","original_event_id":"e"}`),
		"under the name of the task": deeds(source+"}", `"task_id":"x"`),
	} {
		got, err := told(plain(), append(append([]line{started}, lines...), completed)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		has(t, name, got, none...)
		has(t, name, got, `"determinism":"byte_deterministic"`)
	}

	l, err := overBridge(`{"at":"2026-01-01T00:00:01Z","event":"replay.started","payload":{"source_task_id":"x"}}`,
		`{"at":"2026-01-01T00:00:02Z","event":"tool.completed","payload":{"tool_call_id":"c"},"replayed":true,"replay":{"source_task_id":"x"}}`,
		`{"at":"2026-01-01T00:00:03Z","event":"tool.completed","payload":{"tool_call_id":"d"}}`)
	if err != nil {
		t.Fatal(err)
	}
	has(t, "beside frames", asJSON(t, l.Draft), `!"call_id":"c"`, `"call_id":"d"`)

	got, err := told(plain(), said("replay.started", `{"source_task_id":"x"}`), said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":0.25,"input_tokens":1,"output_tokens":2,"response":"r"}`), said("tool.completed", `{"tool_call_id":"c","name":"n"}`))
	if err != nil {
		t.Fatal(err)
	}
	has(t, "anew", got, `"total":0.25`, `"call_id":"c"`, `"consumed":{"input_tokens":1,"output_tokens":2,"tool_calls":1,"usd":0.25,"wall_time_ms":0}`,
		`{"content_type":"application/jsonl","id":"event_log:x","kind":"event_log","metadata":{"unavailable":true}}`, `"determinism":"best_effort"`)

	// A repeated delivery of a task's own events is not a replay.
	got, err = told(plain(), said("tool.completed", `{"tool_call_id":"c","name":"n"}`, `"replayed":true,"replay":{"source_task_id":"t"}`))
	if err != nil {
		t.Fatal(err)
	}
	has(t, "delivered", got, `"call_id":"c"`, `"object":"task"`)

	var refused *event.Error
	for name, l := range map[string]line{
		"told again":       said("tool.completed", `{"tool_call_id":"c"}`, source+"}"),
		"a substitution":   said("replay.event_replayed", `{"override_key":"llm:main:1"}`),
		"an event of it":   said("replay.event_replayed", `{}`),
		"of another event": said("agent.message", `{}`, `"replay":{"original_event_id":"e"}`),
	} {
		if _, err := told(plain(), l); !errors.As(err, &refused) || refused.Code != event.CodeReplay || refused.Index != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeltas verifies that there is one delta for each override, and that a digest is a value,
// null, or omitted.
func TestDeltas(t *testing.T) {
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	started := said("replay.started", `{"source_task_id":"x"}`)
	span := func(replay string) line {
		return said("span.completed", `{"kind":"llm","provider":"p","model":"m","response":"r"}`, `"replayed":true,"replay":{"source_task_id":"x",`+replay+`}`)
	}
	swap := func(members string) line { return said("replay.event_replayed", `{`+members+`}`) }
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"on any event", []line{span(`"override_key":"llm:main:1","original_event_id":"e","receipt_delta_id":"d"`)},
			[]string{`"deltas":[{"delta_id":"d","event_id":"e","operation":"replace","override_key":"llm:main:1","path":"/replay_input/materials/llm:main:1"}]`, `"metadata":{"override_key":"llm:main:1"}`}},
		{"told twice", []line{swap(`"override_key":"llm:main:1","event_id":"e","before_sha256":"` + one + `"`), span(`"override_key":"llm:main:1","original_event_id":"f"`), swap(`"override_key":"llm:main:1","after_sha256":"` + two + `"`)},
			[]string{`"deltas":[{"after_sha256":"sha256:` + two + `","before_sha256":"sha256:` + one + `","delta_id":"delta_llm_main_1","event_id":"e","operation":"replace","override_key":"llm:main:1","path":"/replay_input/materials/llm:main:1"}]`}},
		{"null", []line{swap(`"override_key":"llm:main:1","operation":"replace","before_sha256":null,"after_sha256":"` + two + `"`)}, []string{`"before_sha256":null`}},
		{"added", []line{swap(`"override_key":"mcp:s:c","operation":"add","after_sha256":"` + two + `"`)}, []string{`"before_sha256":null`}},
		{"removed", []line{swap(`"override_key":"mcp:s:c","operation":"remove","before_sha256":"` + one + `"`)}, []string{`"after_sha256":null`}},
		{"unknown", []line{swap(`"override_key":"mcp:s:c"`)}, []string{`!before_sha256`, `!after_sha256`}},
		{"a secret by its key", []line{swap(`"override_key":"secret:k","operation":"add","after_sha256":"` + two + `"`)}, []string{`!before_sha256`, `!after_sha256`, `"path":"/replay_input/overrides/secret:k"`}},
		{"a secret by its kind", []line{swap(`"override_key":"host:vault:1","kind":"secret_value","before_sha256":"` + one + `","after_sha256":"` + two + `"`)}, []string{`!before_sha256`, `!after_sha256`}},
		{"a time of the task", []line{swap(`"override_key":"time:started_at","value":"2026-01-01T09:00:00Z"`)}, []string{`"path":"/lifecycle/started_at"`, `"started_at":"2026-01-01T09:00:00Z"`}},
		{"another time", []line{swap(`"override_key":"time:lunch"`)}, []string{`"path":"/replay_input/overrides/time:lunch"`}},
	} {
		got, err := told(plain(), append([]line{started}, test.lines...)...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, got, test.wants...)
	}
	var refused *event.Error
	for name, lines := range map[string][]line{
		"two results":    {swap(`"override_key":"k","after_sha256":"` + one + `"`), swap(`"override_key":"k","after_sha256":"` + two + `"`)},
		"two events":     {swap(`"override_key":"k","event_id":"e"`), swap(`"override_key":"k","event_id":"f"`)},
		"two deltas":     {swap(`"override_key":"k","delta_id":"e"`), span(`"override_key":"k","receipt_delta_id":"f"`)},
		"two with an id": {swap(`"override_key":"llm:a:b"`), swap(`"override_key":"llm:a_b"`)},
		"there, and not": {swap(`"override_key":"k","before_sha256":null`), swap(`"override_key":"k","before_sha256":"` + one + `"`)},
	} {
		if _, err := told(plain(), append([]line{started}, lines...)...); !errors.As(err, &refused) || refused.Code != event.CodeReplay {
			t.Errorf("%s: %v", name, err)
		}
	}
}
