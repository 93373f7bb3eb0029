package record_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A line represents an event in a log: its kind, its payload, and members of its envelope.
type line struct {
	kind, payload string
	more          []string
}

func said(kind, payload string, more ...string) line { return line{kind, payload, more} }

// told records lines that occur between the start and the end of the task t.
func told(o record.Options, lines ...line) (string, error) {
	r, err := record.New(o)
	if err != nil {
		return "", err
	}
	lines = append([]line{said("task.started", `{}`)}, lines...)
	for i, l := range append(lines, said("task.completed", `{}`)) {
		if err := r.Add(text(i+1, i+1, l.kind, l.payload, l.more...)); err != nil {
			return "", err
		}
	}
	d, err := r.Draft()
	if err != nil {
		return "", err
	}
	out, err := record.JSON(d)
	return string(out), err
}

// has verifies that a draft contains each of the given strings or, if a string starts with "!",
// that it does not contain the rest of that string.
func has(t *testing.T, name, draft string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if part, not := strings.CutPrefix(want, "!"); strings.Contains(draft, part) == not {
			t.Errorf("%s: want %s in\n%s", name, want, draft)
		}
	}
}

func sum(value string) string { return canon.Sum([]byte(value)).String() }

// TestWhatRanIsTold verifies that a call that ran remains in the draft, regardless of other events.
func TestWhatRanIsTold(t *testing.T) {
	const effects = `"fs_writes":[{"path":"p","operation":"create"}],"network_egress":[{"host":"h"}]`
	const listed, wrote, sent = `"tool_calls":[{"call_id":"c"`, `"path":"p"`, `"destination":"h"`
	rejected := `"contradictions":[{"at":"/side_effects/tool_calls/0","what":"executed_and_rejected"}`
	for _, category := range []string{"rejected_loop", "parse_aborted"} {
		never := said("tool.failed", `{"tool_call_id":"c","error_category":"`+category+`"}`)
		for _, test := range []struct {
			name  string
			lines []line
			wants []string
		}{
			{"behind its end", []line{said("tool.completed", `{"tool_call_id":"c",`+effects+`}`), never}, []string{listed, wrote, sent, `"status":"succeeded"`, `"tool_calls":1`, rejected, `!not_dispatched`}},
			{"before its end", []line{never, said("tool.completed", `{"tool_call_id":"c",`+effects+`}`)}, []string{listed, wrote, sent, `"status":"succeeded"`, rejected}},
			{"executed", []line{said("tool.failed", `{"tool_call_id":"c","executed":true,"error_category":"`+category+`",`+effects+`}`)}, []string{listed, wrote, sent, `"status":"failed"`, `"tool_calls":1`, rejected, `!not_dispatched`}},
			{"it says what it wrote", []line{said("tool.failed", `{"tool_call_id":"c","error_category":"`+category+`",`+effects+`}`)}, []string{listed, wrote, `"status":"failed"`, rejected}},
			{"it took time", []line{said("tool.failed", `{"tool_call_id":"c","execution_duration_ms":3,"error_category":"`+category+`"}`)}, []string{listed, `"status":"failed"`, rejected}},
			{"a span saw it", []line{said("span.completed", `{"kind":"http","host":"h","tool_call_id":"c"}`), never}, []string{listed, sent, rejected}},
			{"it had failed before", []line{said("tool.failed", `{"tool_call_id":"c"}`), never}, []string{listed, `"status":"failed"`, rejected}},
			{"never", []line{said("tool.requested", `{"tool_call_id":"c"}`), never}, []string{`!"call_id"`, `"not_dispatched":1`, `"tool_calls":0`, `!contradictions`}},
			{"never, as the agent was told", []line{never, said("agent.tool_result", `{"tool_call_id":"c","is_error":true,"output":"no"}`)}, []string{`!"call_id"`, `"not_dispatched":1`}},
		} {
			got, err := told(plain(), test.lines...)
			if err != nil {
				t.Fatal(err)
			}
			has(t, category+", "+test.name, got, test.wants...)
		}
	}
}

// TestWhatRanWith verifies that a call has the input with which it ran, that an approval has the
// input that was approved, and that the draft reports any difference between the two inputs.
func TestWhatRanWith(t *testing.T) {
	const (
		a, b, c  = `{"n":1}`, `{"n":2}`, `{"n":3}`
		differs  = `"arguments_differ_from_approved":["/side_effects/tool_calls/0"]`
		question = `{"approval_id":"q","tool_call_id":"c","input":` + a + `}`
	)
	ask := func(input string) line {
		return said("tool.requested", `{"tool_call_id":"c","name":"n","input":`+input+`}`)
	}
	done := func(more string) line { return said("tool.completed", `{"tool_call_id":"c"`+more+`}`) }
	yes := func(more string) line {
		return said("tool.approved", `{"approval_id":"q","tool_call_id":"c","actor":"u"`+more+`}`)
	}
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"approved B, ran A", []line{ask(a), yes(`,"args":` + b), done(`,"input":` + a)}, []string{`"input_hash":"` + sum(a), `"approved_input_hash":"` + sum(b), differs}},
		{"approved B, told nothing more", []line{ask(a), yes(`,"args":` + b), done(``)}, []string{`"input_hash":"` + sum(b), `"requested_input_hash":"` + sum(a), `!arguments_differ`}},
		{"approved A, ran C", []line{ask(a), said("tool.approval_required", question), yes(``), done(`,"input":` + c)}, []string{`"input_hash":"` + sum(c), `"approved_input_hash":"` + sum(a), differs}},
		{"approved A, asked for C, ran", []line{ask(a), said("tool.approval_required", question), yes(``), ask(c), done(``)}, []string{`"input_hash":"` + sum(c), differs}},
		{"approved without arguments, ran C", []line{ask(a), yes(``), done(`,"input":` + c)}, []string{differs, `"approved_input_hash":"` + sum(a)}},
		{"approved A, ran A", []line{ask(a), said("tool.approval_required", question), yes(``), done(`,"input":` + a)}, []string{`!arguments_differ`, `!approved_input_hash`}},
		{"approved C the second time", []line{ask(a), yes(``), ask(c), said("tool.approval_required", `{"approval_id":"q2","tool_call_id":"c","input":`+c+`}`), said("tool.approved", `{"approval_id":"q2","actor":"u"}`), done(``)}, []string{`!arguments_differ`}},
		{"denied", []line{ask(a), said("tool.approval_required", question), said("tool.denied", `{"approval_id":"q","actor":"u"}`), ask(c)}, []string{`!arguments_differ`, `"status":"canceled"`}},
		{"the runtime before the transcript", []line{ask(a), said("agent.tool_result", `{"tool_call_id":"c","input":`+b+`}`), done(`,"input":` + c)}, []string{`"input_hash":"` + sum(c), `"what":"inputs_differ"`}},
		{"running", []line{ask(a), yes(`,"args":` + b), said("tool.requested", `{"tool_call_id":"c","executed":true,"input":`+c+`}`), done(``)}, []string{`"input_hash":"` + sum(c), differs}},
		{"denied, and ran", []line{ask(a), said("tool.denied", `{"approval_id":"q","tool_call_id":"c"}`), done(``)}, []string{`"what":"executed_and_denied"`, `"status":"succeeded"`}},
		{"not answered, and ran", []line{ask(a), said("tool.approval_required", question), done(``)}, []string{`"what":"executed_and_undecided"`, `"decision":"timeout"`, `"/approvals/0/decision"`}},
		{"answered twice", []line{yes(``), said("tool.denied", `{"approval_id":"q","actor":"v"}`)}, []string{`"decision":"denied"`, `"what":"answers_differ"`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatal(err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestSourcesAreJoined verifies that a call's own report does not hide other records, and that
// several records of the same action become a single entry with all details.
func TestSourcesAreJoined(t *testing.T) {
	digest := strings.Repeat("1", 64)
	report := func(more string) line { return said("tool.completed", `{"tool_call_id":"c","name":"n",`+more+`}`) }
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"another host", []line{said("span.completed", `{"kind":"http","tool_call_id":"c","host":"evil"}`), report(`"network_egress":[{"host":"good"}]`)},
			[]string{`"network_egress":[{"destination":"evil","purpose":"n"},{"destination":"good","purpose":"n"}]`, `{"at":"/side_effects/network_egress/0","what":"not_in_report"}`}},
		{"no host at all", []line{report(`"network_egress":[]`), said("span.completed", `{"kind":"http","tool_call_id":"c","host":"evil"}`)},
			[]string{`"destination":"evil"`, `"what":"not_in_report"`}},
		{"the same host", []line{said("span.completed", `{"kind":"http","tool_call_id":"c","host":"good","bytes_sent":7}`), report(`"network_egress":[{"host":"good"}]`)},
			[]string{`"network_egress":[{"bytes_sent":7,"destination":"good","purpose":"n"}]`, `!contradictions`}},
		{"two spans", []line{said("span.completed", `{"kind":"http","tool_call_id":"c","host":"h"}`), said("span.completed", `{"kind":"http","tool_call_id":"c","host":"h"}`), report(`"network_egress":[{"host":"h"}]`)},
			[]string{`"network_egress":[{"destination":"h","purpose":"n"},{"destination":"h","purpose":"n"}]`}},
		{"the transcript's writes", []line{said("agent.tool_result", `{"tool_call_id":"c","fs_writes":[{"path":"a","operation":"create"}]}`), report(`"fs_writes":[{"path":"b","operation":"create"}]`)},
			[]string{`"path":"a"`, `"path":"b"`, `{"at":"/side_effects/fs_writes/0","what":"not_in_report"}`, `{"at":"/side_effects/fs_writes/1","what":"not_in_report"}`}},
		{"a write told in parts", []line{said("span.completed", `{"kind":"fs","tool_call_id":"c","path":"./a","after_sha256":"`+digest+`"}`), report(`"fs_writes":[{"path":"a","operation":"modify"}]`)},
			[]string{`"fs_writes":[{"after_sha256":"sha256:` + digest + `","operation":"modify","path":"a"}]`, `!contradictions`, `!/operation"`}},
		{"a write of which little is told", []line{report(`"fs_writes":[{"path":"a"}]`)}, []string{`"/side_effects/fs_writes/0/operation"`}},
		{"the server of a call", []line{said("agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s","url":"https://mcp.example/"}`), report(`"network_egress":[{"host":"good"}]`)},
			[]string{`"destination":"mcp.example"`, `"destination":"good"`}},
		{"the server of a call that was denied", []line{said("agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s","url":"https://mcp.example/"}`), said("tool.denied", `{"tool_call_id":"c"}`)},
			[]string{`"network_egress":[]`}},
		{"the server of a call that nobody ended", []line{said("agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s","url":"https://mcp.example/"}`)},
			[]string{`"/side_effects/network_egress/0"`, `"/side_effects/tool_calls/0/status"`}},
		{"a host that readers do not agree on", []line{said("span.completed", `{"kind":"http","name":"n","url":"http://good\\@evil/"}`)},
			[]string{`"destination":"unknown"`, `"unreported":["/cost/total","/model_route/chosen_model","/side_effects/network_egress/0/destination"]`}},
		{"up by backslashes", []line{report(`"fs_writes":[{"path":"src\\..\\..\\x","operation":"modify"},{"path":"a\\b/../../c","operation":"modify"},{"path":"src\\x","operation":"modify"}]`)},
			[]string{`"path":"(outside 1: elsewhere)"},{"operation":"modify","path":"(outside 2: elsewhere)"},{"operation":"modify","path":"src\\x"}`}},
		{"two names", []line{said("tool.requested", `{"tool_call_id":"c","name":"m"}`), report(`"output":1`)}, []string{`"tool":"m"`, `"what":"names_differ"`}},
		{"two ends", []line{said("tool.failed", `{"tool_call_id":"c"}`), report(`"output":1`)}, []string{`"status":"failed"`, `"what":"outcomes_differ"`}},
		{"two ends, and one does not tell how", []line{said("tool.failed", `{"tool_call_id":"c"}`), said("agent.tool_result", `{"tool_call_id":"c","status":"unreported"}`)}, []string{`"status":"failed"`, `!outcomes_differ`, `!/status"`}},
		{"two ends, and the first does not tell how", []line{said("agent.tool_result", `{"tool_call_id":"c","status":"unreported"}`), said("tool.failed", `{"tool_call_id":"c"}`)}, []string{`"status":"failed"`, `!outcomes_differ`, `!/status"`}},
		{"an error, and no word for it", []line{said("agent.tool_result", `{"tool_call_id":"c","status":"unreported","is_error":true}`)}, []string{`"status":"failed"`, `!/status"`}},
		{"two outputs", []line{report(`"output":1`), report(`"output":2`)}, []string{`"output_hash":"` + sum(`1`), `"what":"outputs_differ"`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatal(err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestAbsentIsNotZero verifies that values that were not reported are listed as unreported.
func TestAbsentIsNotZero(t *testing.T) {
	llm := func(more string) line {
		return said("span.completed", `{"kind":"llm","provider":"p","model":"m"`+more+`}`)
	}
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"no model", nil, []string{`"unreported":["/cost/total","/model_route/chosen_model"]`, `!no model call was made`}},
		{"a call without cost", []line{llm(`,"input_tokens":3`)}, []string{`"amount":0`, `"unreported":["/cost/provider_breakdown/0/amount","/cost/total"]`, `!"usd"`, `!"output_tokens"`}},
		{"a call that cost nothing", []line{llm(`,"cost":0`)}, []string{`"usd":0`, `!unreported`}},
		{"one with, one without", []line{llm(`,"cost":0.5,"output_tokens":1`), llm(``)}, []string{`"total":0.5`,
			`"at_least":["/autonomy_budget/consumed/output_tokens","/autonomy_budget/consumed/usd","/cost/provider_breakdown/0/amount","/cost/provider_breakdown/0/output_tokens","/cost/total"]`}},
		{"a call that began", []line{said("span.started", `{"kind":"llm","provider":"p","model":"m"}`)}, []string{`"chosen_model":{"model":"m","provider":"p"}`, `"/cost/total"`, `"determinism":"best_effort"`, `!no model`}},
		{"a call that began without a name", []line{said("span.started", `{"kind":"LLM"}`)}, []string{`"/model_route/chosen_model/model","/model_route/chosen_model/provider"`}},
		{"a call that began and ended", []line{said("span.started", `{"kind":"llm"}`, `"span_id":"1"`), said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":1,"response":1}`, `"span_id":"1"`)}, []string{`"model":"m"`, `!unreported`, `"determinism":"byte_deterministic"`}},
		{"another that began", []line{said("span.started", `{"kind":"llm"}`, `"span_id":"1"`), said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":1,"response":1}`, `"span_id":"2"`)}, []string{`"at_least":["/autonomy_budget/consumed/usd","/cost/total"]`, `"determinism":"best_effort"`}},
		{"in capitals", []line{said("span.completed", `{"kind":"LLM","provider":"p","model":"m","cost":0.5}`)}, []string{`"chosen_model":{"model":"m","provider":"p"}`, `"llm:main:1"`}},
		{"by another word", []line{said("span.completed", `{"kind":"chat","provider":"p","model":"m","cost":0.5}`)}, []string{`"chosen_model":{"model":"m","provider":"p"}`, `"llm:main:1"`}},
		{"the cost of files", []line{said("span.completed", `{"kind":"fs","path":"p","operation":"read","cost":0.25}`)}, []string{`"total":0.25`, `"/cost/provider_breakdown/0/provider"`}},
		{"the cost of a tool", []line{said("span.completed", `{"kind":"tool","cost":0.25}`)}, []string{`"total":0.25`, `"at_least":["/autonomy_budget/consumed/usd","/cost/total"]`}},
		{"a model that spoke", []line{said("agent.message", `{"text":"hello"}`)}, []string{`"determinism":"best_effort"`}},
		{"a call of which nothing is told", []line{said("tool.completed", `{"tool_call_id":"c"}`)}, []string{`"tool":"unknown"`, `"/side_effects/fs_writes","/side_effects/network_egress","/side_effects/tool_calls/0/tool"]`}},
		{"a call that read", []line{said("tool.completed", `{"tool_call_id":"c","name":"n","kind":"read"}`)}, []string{`!side_effects/`}},
		{"a call that says all", []line{said("tool.completed", `{"tool_call_id":"c","name":"n","fs_writes":[],"network_egress":[]}`)}, []string{`!side_effects/`}},
		{"a list that may have more", []line{said("tool.completed", `{"tool_call_id":"c","name":"n"}`), said("tool.completed", `{"tool_call_id":"d","name":"n","fs_writes":[{"path":"p","operation":"create"}]}`)}, []string{`"at_least":["/side_effects/fs_writes"]`, `"unreported":["/cost/total","/model_route/chosen_model","/side_effects/fs_writes",`}},
		{"a transmission that began", []line{said("span.started", `{"kind":"http","host":"h"}`)}, []string{`"/side_effects/network_egress"`}},
		{"a write that failed", []line{said("span.failed", `{"kind":"fs","path":"p","operation":"modify"}`)}, []string{`"/side_effects/fs_writes"`, `"fs_writes":[]`}},
		{"work that was given away", []line{said("agent.handoff", `{"task_id":"x"}`)}, []string{`"/side_effects/a2a_handoffs/0/status","/side_effects/a2a_handoffs/0/target_agent"`}},
		{"a scope that allows writes", []line{said("tool.completed", `{"tool_call_id":"c","name":"n","mutation_scope":"apply_workspace"}`)}, []string{`"writes_undeclared":true`}},
		{"a scope that allows none", []line{said("tool.completed", `{"tool_call_id":"c","name":"n","mutation_scope":"read_only"}`)}, []string{`!writes_undeclared`, `!/side_effects/fs_writes"`}},
		{"a scope, and a write", []line{said("tool.completed", `{"tool_call_id":"c","name":"n","mutation_scope":"apply_workspace","fs_writes":[{"path":"p"}]}`)}, []string{`!writes_undeclared`}},
		{"what was announced", []line{said("tool.approval_required", `{"tool_call_id":"c","declared_paths":["a","../b"],"mutation_scope":"apply_workspace","run_id":"r","worker_id":"w"}`), said("tool.approved", `{"tool_call_id":"c","actor":"u"}`), said("tool.completed", `{"tool_call_id":"c","name":"n"}`)},
			[]string{`"declared_paths":["a","(outside the workspace)"],"mutation_scope":"apply_workspace","run_id":"r","worker_id":"w","writes_undeclared":true`, `"fs_writes":[]`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestAccount verifies that the reported cost of the session is combined with the costs of its
// calls.
func TestAccount(t *testing.T) {
	usage := func(cost, more string) line { return said("span.updated", `{"kind":"usage","cost":`+cost+more+`}`) }
	call := said("span.completed", `{"kind":"llm","provider":"p","model":"m","cost":0.03}`)
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"the last counts", []line{usage(`0.01`, ``), usage(`{"amount":0.045,"currency":"USD"}`, ``)}, []string{`"cost":{"currency":"USD","provider_breakdown":[{"amount":0.045,"provider":"unknown"}],"total":0.045}`, `"usd":0.045`, `"unreported":["/cost/provider_breakdown/0/provider","/model_route/chosen_model"]`}},
		{"what was spent before", []line{usage(`0.01`, `,"earlier":true`), usage(`0.045`, ``)}, []string{`"total":0.035`, `!at_most`}},
		{"what was spent before is not told", []line{usage(`0.045`, `,"loaded":true`)}, []string{`"total":0.045`, `"at_most":["/autonomy_budget/consumed/usd","/cost/total"]`}},
		{"it shrinks", []line{usage(`0.05`, ``), usage(`0.045`, ``)}, []string{`"total":0.045`, `"what":"cost_shrank"`}},
		{"the same", []line{call, usage(`0.03`, ``)}, []string{`"total":0.03`, `!contradictions`, `!at_least`}},
		{"more than the calls", []line{call, usage(`0.045`, ``)}, []string{`{"amount":0.03,"model":"m","provider":"p"},{"amount":0.015,"provider":"unknown"}`, `"total":0.045`, `"what":"costs_differ"`}},
		{"less than the calls", []line{usage(`0.01`, ``), call}, []string{`"total":0.03`, `"what":"costs_differ"`}},
		{"no cost", []line{said("span.updated", `{"kind":"usage","used":5,"size":9}`)}, []string{`"/cost/total"`}},
	} {
		got, err := told(plain(), test.lines...)
		if err != nil {
			t.Fatal(err)
		}
		has(t, test.name, got, test.wants...)
	}
	var refused *event.Error
	if _, err := told(plain(), call, usage(`{"amount":1,"currency":"EUR"}`, ``)); !errors.As(err, &refused) || refused.Code != event.CodeCurrency {
		t.Errorf("%v", err)
	}
}

// TestWhoDecided verifies that an approval has the actor that the event records.
func TestWhoDecided(t *testing.T) {
	ask := said("tool.approval_required", `{"approval_id":"a","name":"n"}`)
	yes := func(members string, more ...string) line {
		return said("user.tool_confirmation", `{"approval_id":"a","actor":"u",`+members+`}`, more...)
	}
	elsewhere := plain()
	elsewhere.SessionID = "s"
	for _, test := range []struct {
		name  string
		lines []line
		wants []string
	}{
		{"approved is true", []line{ask, yes(`"approved":true`)}, []string{`"actor":"u","approval_id":"a","decided_at":"2026-01-01T00:00:03Z","decision":"approved"`, `!/approvals`}},
		{"accepted is true", []line{ask, yes(`"accepted":true`)}, []string{`"decision":"approved"`}},
		{"they differ", []line{ask, yes(`"approved":true,"accepted":false`)}, []string{`"decision":"denied"`, `!/approvals`}},
		{"approved is false", []line{ask, yes(`"approved":false`)}, []string{`"decision":"denied"`, `!/approvals`}},
		{"no word", []line{ask, yes(`"reason":"hm"`)}, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{"an unknown word", []line{ask, yes(`"decision":"sure"`)}, []string{`"decision":"denied"`, `"/approvals/0/decision"`, `"raw_decision":"sure"`}},
		{"a word that says no", []line{ask, yes(`"decision":"rejected"`)}, []string{`"decision":"denied"`, `!/approvals`}},
		{"nobody", []line{ask, said("tool.approved", `{"approval_id":"a"}`)}, []string{`"decision":"approved"`, `"actor":"host"`, `"/approvals/0/actor"`}},
		{"another session", []line{ask, yes(`"approved":true,"session_id":"x"`)}, []string{`"decision":"timeout"`, `"what":"answered_from_another_session"`}},
		{"another session, the runtime", []line{ask, said("tool.approved", `{"approval_id":"a","actor":"u","session_id":"x"}`)}, []string{`"decision":"timeout"`, `"what":"answered_from_another_session"`}},
		{"another session, by the envelope", []line{ask, yes(`"approved":true`, "session:x")}, []string{`"decision":"timeout"`, `"what":"answered_from_another_session"`}},
	} {
		got, err := told(elsewhere, test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, got, test.wants...)
	}
}

// TestSessions verifies that only one session is recorded, and that the caller must select the
// session if there are several. An event without a task belongs to the task of the session that is
// named in the event.
func TestSessions(t *testing.T) {
	var refused *event.Error
	if _, err := told(plain(), said("tool.approved", `{"approval_id":"a"}`, "session:x")); !errors.As(err, &refused) || refused.Code != event.CodeSession {
		t.Errorf("%v", err)
	}
	scoped := func(id, session string) []byte {
		return []byte(`{"id":"` + id + `","event":"session.compacted","resource":{"object":"session","id":"` + session + `"},"created_at":"2026-01-01T00:00:00Z","sequence":` + id + `,"session_id":"` + session + `","payload":{"snapshot_asset_id":"of_` + session + id + `"}}`)
	}
	branch := []byte(`{"id":"b1","event":"branch.created","resource":{"object":"branch","id":"b"},"created_at":"2026-01-01T00:00:00Z","sequence":1,"session_id":"s","payload":{"branch_id":"b"}}`)
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range [][]byte{branch, scoped("11", "x"), scoped("12", "s"), text(1, 1, "task.started", `{}`), scoped("13", "s"), scoped("14", "x"), text(2, 2, "task.completed", `{}`), scoped("15", "s")} {
		if err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	d, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	has(t, "sessions", asJSON(t, d), `"id":"of_s12"`, `"id":"of_s13"`, `!of_s15`, `!of_x`, `"branch_id":"b"`)
	if c := r.Counts(); c.Events != 5 || c.OtherTasks != 3 {
		t.Errorf("%+v", c)
	}
}
