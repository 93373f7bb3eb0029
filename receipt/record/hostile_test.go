package record_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestSpanEndsTwice verifies that a span is recorded as one action, regardless of how often its end
// is recorded. If the ends differ, all of them are listed, but the resulting numbers are only
// bounds.
func TestSpanEndsTwice(t *testing.T) {
	span := func(kind, payload string) line { return said(kind, payload, `"span_id":"1"`) }
	llm := func(more string) string { return `{"kind":"llm","provider":"p","model":"m"` + more + `}` }
	full := llm(`,"cost":0.5,"input_tokens":3,"output_tokens":1,"response":1`)
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"in the same words", []line{span("span.completed", full), span("span.completed", full)},
			[]string{`"total":0.5`, `"input_tokens":3`, `"usd":0.5`, `!llm:main:2`, `!at_most`, `!contradictions`, `"determinism":"byte_deterministic"`}},
		{"in other words", []line{span("span.completed", full), span("span.completed", llm(`,"cost":0.75,"input_tokens":4,"output_tokens":1,"response":2`))},
			[]string{`"total":1.25`, `"at_most":["/autonomy_budget/consumed/input_tokens","/autonomy_budget/consumed/output_tokens","/autonomy_budget/consumed/usd","/cost/provider_breakdown/0/amount","/cost/provider_breakdown/0/input_tokens","/cost/provider_breakdown/0/output_tokens","/cost/total"]`,
				`{"at":"/cost/total","what":"span_ended_twice"}`, `"determinism":"best_effort"`}},
		{"of another model", []line{span("span.completed", full), span("span.completed", `{"kind":"llm","provider":"p","model":"n","cost":0.75}`)},
			[]string{`"/cost/provider_breakdown/0/amount"`, `"/cost/provider_breakdown/1/amount"`, `"what":"span_ended_twice"`}},
		{"completed and failed", []line{span("span.completed", full), span("span.failed", full)}, []string{`"total":1`, `"what":"span_ended_twice"`}},
		{"two spans", []line{span("span.completed", full), said("span.completed", full, `"span_id":"2"`)}, []string{`"total":1`, `!at_most`, `!contradictions`}},
		{"without an id", []line{said("span.completed", full), said("span.completed", full)}, []string{`"total":1`, `!at_most`}},
		{"of a host", []line{span("span.completed", `{"kind":"http","host":"h","name":"n"}`), span("span.completed", `{"kind":"http","host":"h","name":"n"}`)},
			[]string{`"network_egress":[{"destination":"h","purpose":"n"}]`}},
		{"of two hosts", []line{span("span.completed", `{"kind":"http","host":"h","name":"n"}`), span("span.completed", `{"kind":"http","host":"g","name":"n"}`)},
			[]string{`{"destination":"h","purpose":"n"},{"destination":"g","purpose":"n"}`, `{"at":"/side_effects/network_egress/1","what":"span_ended_twice"}`}},
		{"of two files", []line{span("span.completed", `{"kind":"fs","path":"a","operation":"create"}`), span("span.completed", `{"kind":"fs","path":"b","operation":"create"}`)},
			[]string{`"path":"a"`, `"path":"b"`, `{"at":"/side_effects/fs_writes/1","what":"span_ended_twice"}`}},
		{"the account of a session", []line{span("span.updated", `{"kind":"usage","cost":1}`), span("span.updated", `{"kind":"usage","cost":2}`), span("span.completed", `{"kind":"usage","cost":3}`)},
			[]string{`"total":3`, `!contradictions`}},
		{"its account is more", []line{span("span.completed", full), span("span.completed", llm(`,"cost":0.75`)), said("span.updated", `{"kind":"usage","cost":2}`)},
			[]string{`"total":2`, `!"/cost/total"]`, `"/cost/provider_breakdown/0/amount"`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestWholeAndPart verifies that the cost of an agent, a task, or a turn is treated as possibly
// including the costs of its calls.
func TestWholeAndPart(t *testing.T) {
	cost := func(kind string) line { return said("span.completed", `{"kind":"`+kind+`","cost":0.5}`) }
	both := `"at_most":["/autonomy_budget/consumed/usd","/cost/provider_breakdown/0/amount","/cost/total"]`
	for _, test := range []struct {
		kinds []string
		wants []string
	}{
		{[]string{"turn"}, []string{`"total":0.5`, `!at_most`}},
		{[]string{"turn", "turn"}, []string{`"total":1`, `!at_most`}},
		{[]string{"turn", "tool"}, []string{`"total":1`, both}},
		{[]string{"agent", "agent"}, []string{`"total":1`, both}},
		{[]string{"agent", "turn"}, []string{`"total":1`, both}},
		{[]string{"tool", "http"}, []string{`"total":1`, `!at_most`}},
	} {
		var lines []line
		for _, kind := range test.kinds {
			if l := cost(kind); kind != "http" {
				lines = append(lines, l)
			} else {
				lines = append(lines, said("span.completed", `{"kind":"http","host":"h","cost":0.5}`))
			}
		}
		got, err := told(plain(), lines...)
		if err != nil {
			t.Fatal(err)
		}
		has(t, test.kinds[0], got, test.wants...)
	}
	got, err := told(plain(), cost("agent"), said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":0.5}`))
	if err != nil {
		t.Fatal(err)
	}
	has(t, "agent and model", got, `"total":1`, both)
}

// TestToldInTwoWays verifies that contradictory records do not lead to definite claims.
func TestToldInTwoWays(t *testing.T) {
	done := func(more string) line {
		return said("tool.completed", `{"tool_call_id":"c","name":"n"`+more+`}`)
	}
	ask := func(more string) line {
		return said("tool.approval_required", `{"approval_id":"a","tool_call_id":"c","name":"n"`+more+`}`)
	}
	const details, writes, sends = `{"at":"/side_effects/tool_calls/0","what":"details_differ"}`, `"/side_effects/fs_writes"`, `"/side_effects/network_egress"`
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"scopes", []line{said("tool.requested", `{"tool_call_id":"c","mutation_scope":"apply_workspace"}`), done(`,"mutation_scope":"read_only"`)}, []string{details, writes}},
		{"kinds", []line{said("tool.requested", `{"tool_call_id":"c","kind":"edit"}`), done(`,"kind":"read"`)}, []string{details, writes, sends}},
		{"a kind that was not known yet", []line{said("tool.requested", `{"tool_call_id":"c","kind":"other"}`), done(`,"kind":"read"`)}, []string{`!contradictions`, `!` + writes}},
		{"a kind and a scope", []line{done(`,"kind":"edit","mutation_scope":"read_only"`)}, []string{writes}},
		{"the scope of the question", []line{ask(`,"mutation_scope":"apply_workspace"`), said("tool.approved", `{"approval_id":"a","actor":"u"}`), done(`,"mutation_scope":"read_only"`)}, []string{details, writes}},
		{"the scope of a question that is asked again", []line{ask(`,"mutation_scope":"apply_workspace"`), ask(`,"mutation_scope":"read_only"`), said("tool.approved", `{"approval_id":"a","actor":"u"}`), done(`,"mutation_scope":"read_only"`)}, []string{details, writes}},
		{"the kind of the question alone", []line{ask(`,"kind":"read"`), said("tool.approved", `{"approval_id":"a","actor":"u"}`), done(``)}, []string{`!contradictions`, writes, sends}},
		{"executors", []line{done(`,"executor":"host_bridge"`), said("agent.tool_result", `{"tool_call_id":"c","executor":"harn_builtin"}`)}, []string{details}},

		{"arguments of an approval", []line{ask(`,"input":1`), said("user.tool_confirmation", `{"approval_id":"a","actor":"u","approved":true,"args":2}`), said("tool.approved", `{"approval_id":"a","args":3}`), done(`,"input":2`)},
			[]string{`{"at":"/approvals/0","what":"inputs_differ"}`, `"arguments_differ_from_approved":["/side_effects/tool_calls/0"]`}},
		{"other agents of one task", []line{said("agent.handoff", `{"task_id":"x","target_agent":"b","status":"completed"}`), said("agent.handoff", `{"task_id":"x","target_agent":"d","status":"completed"}`)},
			[]string{`"target_agent":"b"`, `{"at":"/side_effects/a2a_handoffs/0","what":"names_differ"}`}},

		{"an artifact that was redacted", []line{said("artifact.created", `{"artifact_id":"p","kind":"file","uri":"file:///secret"}`), said("artifact.redacted", `{"artifact_id":"p"}`), said("artifact.linked", `{"artifact_id":"p","uri":"file:///secret"}`)},
			[]string{`!file:///secret`, `"field":"/final_artifacts/0/uri"`}},
		{"another version of it", []line{said("artifact.redacted", `{"artifact_id":"p"}`), said("artifact.updated", `{"artifact_id":"p","kind":"file","uri":"file:///new"}`)}, []string{`file:///new`, `!/final_artifacts/0/uri`}},

		{"an account, and no model", []line{said("span.updated", `{"kind":"usage","cost":1}`)}, []string{`"determinism":"best_effort"`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestRefusedOrders verifies that a log has no draft if no draft could be true.
func TestRefusedOrders(t *testing.T) {
	span := said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":0.5}`, `"replayed":true`)
	replay := said("replay.started", `{"source_task_id":"x"}`)
	for _, test := range []struct {
		name  string
		lines []line
		code  event.Code // "" if the lines are accepted
	}{
		{"marked before the replay", []line{span, replay}, event.CodeReplay},
		{"marked, and no replay", []line{span}, ""},
		{"marked behind it", []line{replay, span}, ""},
		{"two sources", []line{replay, said("replay.started", `{"source_task_id":"y"}`)}, event.CodeReplay},
		{"two modes", []line{replay, said("replay.started", `{"source_task_id":"x","mode":"exact"}`), said("replay.started", `{"mode":"with_overrides"}`)}, event.CodeReplay},
		{"one replay, told in parts", []line{replay, said("replay.started", `{"source_task_id":"x","mode":"exact"}`)}, ""},
	} {
		_, err := told(plain(), test.lines...)
		var refused *event.Error
		if errors.As(err, &refused); err != nil && refused == nil || refused == nil != (test.code == "") || refused != nil && refused.Code != test.code {
			t.Errorf("%s: %v", test.name, err)
		}
	}

	got := draft(t, plain(), text(1, 1, "task.started", `{}`), bytes.Replace(text(2, 2, "task.completed", `{}`), []byte(`"workspace_id":"w"`), []byte(`"workspace_id":"v"`), 1))
	has(t, "workspaces", got, `"workspace_ref":"w"`, `{"at":"/identifiers/workspace_ref","what":"names_differ"}`)

	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(text(1, 1, "task.submitted", `{"autonomy_tier":"shadow"}`)); err != nil {
		t.Fatal(err)
	}
	var refused *event.Error
	if err := r.Add(text(2, 2, "task.submitted", `{"autonomy_tier":"act_auto","autonomy_budget":{"usd":1000}}`)); !errors.As(err, &refused) || refused.Code != event.CodeTransition {
		t.Errorf("submitted twice: %v", err)
	}
}
