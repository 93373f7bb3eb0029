package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

const asked = `{"approval_id":"a","tool_call_id":"c","name":"tool","action":"act","input":{"n":1}}`

// TestApprovals verifies the decision that results from the events for one approval.
func TestApprovals(t *testing.T) {
	o := plainOptions(t)
	quorum := func(n int) string {
		return fmt.Sprintf(`{"approval_id":"a","tool_call_id":"c","name":"tool","approvers_required":%d}`, n)
	}
	yes := func(who string) string {
		return fmt.Sprintf(`{"approval_id":"a","tool_call_id":"c","decision":"approved","actor":%q}`, who)
	}
	const no = `{"approval_id":"a","tool_call_id":"c","decision":"denied","actor":"n"}`
	tests := []struct {
		name, decision, actor string
		events                []string
	}{
		{"approved", event.Approved, "u", []string{"tool.approval_required", asked, "tool.approved", yes("u")}},
		{"not asked for", event.Approved, "u", []string{"tool.approved", yes("u")}},
		{"confirmed only", event.Approved, "u", []string{"tool.approval_required", asked, "user.tool_confirmation", yes("u")}},
		{"confirmed and approved", event.Approved, "u", []string{"tool.approval_required", asked, "user.tool_confirmation", yes("u"), "tool.approved", `{"approval_id":"a"}`}},
		{"confirmed by nobody", event.Approved, "host", []string{"user.tool_confirmation", `{"approval_id":"a","decision":"approved"}`}},
		{"two of two by nobody", event.TimedOut, "host", []string{"tool.approval_required", quorum(2), "tool.approved", `{"approval_id":"a"}`}},
		{"nobody named", event.Approved, "host", []string{"tool.approved", `{"approval_id":"a"}`}},
		{"by a policy", event.Approved, "policy:p", []string{"tool.approved", `{"approval_id":"a","policy_ref":"p"}`}},
		{"actor with an id", event.Approved, "u", []string{"tool.approved", `{"approval_id":"a","actor":{"id":"u","type":"user"}}`}},
		{"denied", event.Denied, "n", []string{"tool.approval_required", asked, "tool.denied", no}},
		{"denied by a policy", event.Denied, "policy:p", []string{"tool.denied", `{"approval_id":"a","policy_ref":"p"}`}},
		{"denied, with another word", event.Denied, "n", []string{"tool.denied", `{"approval_id":"a","decision":"approved","actor":"n"}`}},
		{"canceled", event.Canceled, "n", []string{"tool.denied", `{"approval_id":"a","decision":"cancelled","actor":"n"}`}},
		{"timed out", event.TimedOut, "host", []string{"tool.denied", `{"approval_id":"a","decision":"timeout"}`}},
		{"pending", event.TimedOut, "host", []string{"tool.approval_required", asked}},
		{"pending when canceled", event.Canceled, "host", []string{"tool.approval_required", asked, "task.canceled", `{}`}},
		{"pending when failed", event.TimedOut, "host", []string{"tool.approval_required", asked, "task.failed", `{}`}},
		{"approved with an unknown word", event.Denied, "u", []string{"tool.approved", `{"approval_id":"a","decision":"sure","actor":"u"}`}},
		{"approved with a number", event.Denied, "u", []string{"tool.approved", `{"approval_id":"a","decision":1,"actor":"u"}`}},
		{"confirmed without a word", event.Denied, "u", []string{"user.tool_confirmation", `{"approval_id":"a","actor":"u"}`}},
		{"confirmed with true", event.Denied, "u", []string{"user.tool_confirmation", `{"approval_id":"a","decision":true,"actor":"u"}`}},
		{"approved, and that it is not", event.Denied, "u", []string{"tool.approved", `{"approval_id":"a","approved":false,"actor":"u"}`}},
		{"accepted, with a word", event.Denied, "u", []string{"hitl.escalation_accepted", `{"request_id":"a","accepted":"no","actor":"u"}`}},
		{"approved, and that it is", event.Approved, "u", []string{"hitl.approval_approved", `{"request_id":"a","approved":true,"actor":"u"}`}},
		{"confirmed, and that it is not", event.Denied, "u", []string{"user.tool_confirmation", `{"approval_id":"a","decision":"approved","approved":false,"actor":"u"}`}},
		{"approved for another call", event.Denied, "u", []string{"tool.approval_required", asked, "tool.approved", `{"approval_id":"a","tool_call_id":"d","actor":"u"}`}},
		{"approved for the call of the second question", event.Approved, "u", []string{"tool.approval_required", asked, "tool.approval_required", `{"approval_id":"a","tool_call_id":"d"}`, "tool.approved", `{"approval_id":"a","tool_call_id":"d","actor":"u"}`}},
		{"denied, then approved", event.Denied, "n", []string{"tool.denied", no, "tool.approved", yes("u")}},
		{"approved, then denied", event.Denied, "n", []string{"tool.approved", yes("u"), "tool.denied", no}},
		{"confirmed, then denied", event.Denied, "n", []string{"user.tool_confirmation", yes("u"), "tool.denied", no}},
		{"refused by the user, approved by the runtime", event.Denied, "n", []string{"user.tool_confirmation", no, "tool.approved", yes("u")}},
		{"timed out, then approved", event.TimedOut, "host", []string{"hitl.approval_requested", asked, "hitl.timeout", `{"request_id":"a"}`, "tool.approved", yes("u")}},
		{"two of two", event.Approved, "u", []string{"tool.approval_required", quorum(2), "user.tool_confirmation", yes("u"), "user.tool_confirmation", yes("v")}},
		{"two of two, the second too late", event.TimedOut, "u", []string{"tool.approval_required", `{"approval_id":"a","approvers_required":2,"deadline":"2026-01-01T00:00:03Z"}`, "user.tool_confirmation", yes("u"), "user.tool_confirmation", yes("v")}},
		{"two of two, the second too late, asked again", event.TimedOut, "u", []string{"tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:03Z"}`, "tool.approved", yes("u"), "tool.approval_required", quorum(2), "tool.approved", yes("v")}},
		{"two of two in time, and a third", event.Approved, "u", []string{"tool.approval_required", `{"approval_id":"a","approvers_required":2,"deadline":"2026-01-01T00:00:04Z"}`, "user.tool_confirmation", yes("u"), "user.tool_confirmation", yes("v"), "user.tool_confirmation", yes("w")}},
		{"one of two", event.TimedOut, "host", []string{"tool.approval_required", quorum(2), "user.tool_confirmation", yes("u")}},
		{"one of two, twice", event.TimedOut, "host", []string{"tool.approval_required", quorum(2), "user.tool_confirmation", yes("u"), "user.tool_confirmation", yes("u")}},
		{"one of two, approved all the same", event.TimedOut, "host", []string{"tool.approval_required", quorum(2), "user.tool_confirmation", yes("u"), "tool.approved", yes("u")}},
		{"two of two, and one against", event.Denied, "n", []string{"tool.approval_required", quorum(2), "user.tool_confirmation", yes("u"), "user.tool_confirmation", no, "tool.approved", yes("v")}},
		{"in time", event.Approved, "u", []string{"tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:03Z"}`, "tool.approved", yes("u")}},
		{"asked again, for more", event.TimedOut, "host", []string{"tool.approval_required", asked, "tool.approval_required", quorum(2), "tool.approved", yes("u")}},
		{"asked again, for less", event.TimedOut, "host", []string{"tool.approval_required", quorum(2), "tool.approval_required", asked, "tool.approved", yes("u")}},
		{"asked again, with a deadline", event.TimedOut, "u", []string{"tool.approval_required", asked, "tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:03Z"}`, "tool.approved", yes("u")}},
		{"asked again, with a later deadline", event.TimedOut, "u", []string{"tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:03Z"}`, "tool.approval_required", `{"approval_id":"a","deadline":"2027-01-01T00:00:00Z"}`, "tool.approved", yes("u")}},
		{"answered too late before it was asked", event.TimedOut, "u", []string{"tool.approved", yes("u"), "tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:01Z"}`}},
		{"approved by the call's id", event.Approved, "u", []string{"tool.approval_required", asked, "tool.approved", `{"tool_call_id":"c","actor":"u"}`}},
		{"timed out by the call's id", event.TimedOut, "host", []string{"tool.approval_required", asked, "hitl.timeout", `{"tool_call_id":"c"}`, "tool.approved", yes("u")}},
		{"denied by the call's id", event.Denied, "n", []string{"tool.approval_required", asked, "user.tool_confirmation", `{"tool_call_id":"c","decision":"denied","actor":"n"}`, "tool.approved", yes("u")}},
		{"too late", event.TimedOut, "u", []string{"tool.approval_required", `{"approval_id":"a","deadline":"2026-01-01T00:00:02Z"}`, "tool.approved", yes("u")}},
	}
	for _, test := range tests {
		d, err := record(t, o, test.events...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if len(d.Approvals) != 1 || d.Approvals[0].Decision != test.decision || d.Approvals[0].Actor != test.actor {
			t.Errorf("%s: %+v, want %s by %s", test.name, d.Approvals, test.decision, test.actor)
		}
	}
}

// TestTwoOfOneCall verifies that an answer that names only the call belongs to the last question
// about that call.
func TestTwoOfOneCall(t *testing.T) {
	d := mustRecord(t, plainOptions(t), "tool.approval_required", `{"approval_id":"a","tool_call_id":"c"}`, "tool.approval_required", `{"approval_id":"b","tool_call_id":"c"}`,
		"tool.approved", `{"approval_id":"a","tool_call_id":"c"}`, "tool.denied", `{"tool_call_id":"c"}`)
	if len(d.Approvals) != 2 || d.Approvals[0].Decision != event.Approved || d.Approvals[1].Decision != event.Denied {
		t.Errorf("%+v", d.Approvals)
	}
}

// TestReviewers verifies that the sender of a decision is not counted as a reviewer.
func TestReviewers(t *testing.T) {
	o := plainOptions(t)
	const required = `{"approval_id":"a","approvers_required":2}`
	for name, test := range map[string]struct {
		decision, actor string
		pairs           []string // if an entry has the form "kind actor", the envelope contains the actor
	}{
		"one, and the runtime":          {event.TimedOut, "host", []string{"tool.approval_required", required, "tool.approved runtime", `{"approval_id":"a","reviewers":["u"]}`}},
		"one confirms, and it tells":    {event.TimedOut, "host", []string{"tool.approval_required", required, "user.tool_confirmation u", `{"approval_id":"a","decision":"approved"}`, "tool.approved runtime", `{"approval_id":"a"}`}},
		"two confirm":                   {event.Approved, "u", []string{"tool.approval_required", required, "user.tool_confirmation u", `{"approval_id":"a","decision":"approved"}`, "user.tool_confirmation v", `{"approval_id":"a","decision":"approved"}`}},
		"two are named":                 {event.Approved, "u", []string{"tool.approval_required", required, "tool.approved runtime", `{"approval_id":"a","reviewers":["u","v"]}`}},
		"nobody else is named":          {event.Approved, "u", []string{"tool.approved u", `{"approval_id":"a"}`}},
		"denied by who tells of it":     {event.Denied, "u", []string{"tool.denied u", `{"approval_id":"a"}`}},
		"the payload before the sender": {event.Approved, "u", []string{"tool.approved runtime", `{"approval_id":"a","actor":"u"}`}},
	} {
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		pairs := append(append([]string{"task.started", "{}"}, test.pairs...), "task.completed", "{}")
		for i := 0; i < len(pairs); i += 2 {
			kind, actor, _ := strings.Cut(pairs[i], " ")
			text := strings.Replace(string(eventText(i/2+1, kind, pairs[i+1])), "{", fmt.Sprintf(`{"actor":%q,`, actor), 1)
			if err := r.Add([]byte(text)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		d, err := r.Draft()
		if err != nil {
			t.Fatal(err)
		}
		if a := d.Approvals[0]; a.Decision != test.decision || a.Actor != test.actor {
			t.Errorf("%s: %s by %s, want %s by %s", name, a.Decision, a.Actor, test.decision, test.actor)
		}
	}
}

// TestEvidence verifies that the hash covers the payloads of the question and the answer, and that
// a user's answer takes precedence over the runtime's decision as evidence.
func TestEvidence(t *testing.T) {
	o := plainOptions(t)
	const answer, other, decision = `{"approval_id":"a","decision":"approved","actor":"u"}`, `{"actor":"v","approval_id":"a","decision":"approved"}`, `{"approval_id":"a"}`
	for want, events := range map[string][]string{
		`{"request":` + asked + `,"response":` + answer + `}`:                   {"tool.approval_required", asked, "user.tool_confirmation", answer, "tool.approved", decision},
		`{"request": ` + asked + `,"response":` + answer + `}`:                  {"tool.approval_required", asked, "tool.approved", decision, "user.tool_confirmation", answer},
		`{"request":` + asked + `,"response":` + decision + `}`:                 {"tool.approval_required", asked, "tool.approved", decision},
		`{"request":` + asked + `,"response":[` + answer + `,` + other + `]}`:   {"tool.approval_required", asked, "user.tool_confirmation", answer, "user.tool_confirmation", other},
		`{"request":null,"response":` + answer + `}`:                            {"user.tool_confirmation", answer},
		`{"request":` + asked + `,"response":null}`:                             {"tool.approval_required", asked},
		`{"response":null,"request":` + strings.TrimSuffix(asked, "}") + `}}  `: {"tool.approval_required", asked, "tool.approval_required", `{"approval_id":"a","action":"another"}`},
	} {
		doc, err := canon.Parse([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustRecord(t, o, events...).Approvals[0].EvidenceHash; got != doc.Digest() {
			t.Errorf("%q: %s, want that of %s", events, got, want)
		}
	}
}

// TestCalls verifies the entry that results from the events for one call.
func TestCalls(t *testing.T) {
	o := plainOptions(t)
	const open = `{"tool_call_id":"c","name":"tool","input":{"n":1}}`
	before, after := canon.Sum([]byte(`{"n":1}`)), canon.Sum([]byte(`{"n":2}`))
	tests := []struct {
		name, status string
		dispatched   int64
		meta         string
		input        canon.Digest
		events       []string
	}{
		{"succeeded", "succeeded", 1, ``, before, []string{"tool.requested", open, "tool.completed", `{"tool_call_id":"c"}`}},
		{"told twice", "succeeded", 1, ``, before, []string{"agent.tool_use", open, "tool.requested", open, "tool.completed", `{"tool_call_id":"c"}`, "agent.tool_result", `{"tool_call_id":"c","status":"ok"}`}},
		{"one says it failed", "failed", 1, ``, before, []string{"agent.tool_use", open, "tool.completed", `{"tool_call_id":"c"}`, "agent.tool_result", `{"tool_call_id":"c","is_error":true}`}},
		{"failed first", "failed", 1, ``, before, []string{"agent.tool_use", open, "tool.failed", `{"tool_call_id":"c"}`, "agent.tool_result", `{"tool_call_id":"c"}`}},
		{"an unknown status", "failed", 1, `"raw_status":"sort of"`, before, []string{"tool.requested", open, "agent.tool_result", `{"tool_call_id":"c","status":"sort of"}`}},
		{"canceled", "canceled", 1, `"error_category":"cancelled"`, before, []string{"tool.requested", open, "tool.failed", `{"tool_call_id":"c","error_category":"cancelled"}`}},
		{"incomplete", "canceled", 1, `"incomplete":true`, before, []string{"tool.requested", open}},
		{"waits for approval", "canceled", 0, `"incomplete":true`, before, []string{"tool.requested", open, "tool.approval_required", `{"tool_call_id":"c"}`}},
		{"denied", "canceled", 0, `"error_category":"permission_denied"`, before, []string{"tool.requested", open, "tool.denied", `{"tool_call_id":"c"}`}},
		{"denied and failed", "canceled", 0, `"error_category":"permission_denied"`, before, []string{"tool.requested", open, "tool.denied", `{"tool_call_id":"c"}`, "tool.failed", `{"tool_call_id":"c","error_category":"permission_denied"}`}},
		{"denied while it ran", "failed", 1, `"error_category":"permission_denied"`, before, []string{"tool.requested", open, "tool.failed", `{"tool_call_id":"c","error_category":"permission_denied","executed":true}`}},
		{"denied by the user", "canceled", 0, `"error_category":"permission_denied"`, before, []string{"tool.requested", open, "user.tool_confirmation", `{"tool_call_id":"c","decision":"no"}`}},
		{"denied, and done all the same", "succeeded", 1, ``, before, []string{"tool.requested", open, "tool.denied", `{"tool_call_id":"c"}`, "tool.completed", `{"tool_call_id":"c"}`}},
		{"denied before it was opened", "canceled", 0, `"error_category":"permission_denied"`, before, []string{"tool.approval_required", asked, "tool.denied", `{"approval_id":"a"}`}},
		{"arguments changed", "succeeded", 1, `"requested_input_hash":"` + before.String() + `"`, after, []string{"tool.requested", open, "tool.approved", `{"tool_call_id":"c","args":{"n":2}}`, "tool.completed", `{"tool_call_id":"c"}`}},
		{"arguments changed before it was opened", "canceled", 1, `"incomplete":true,"requested_input_hash":"` + before.String() + `"`, after, []string{"tool.approval_required", asked, "tool.approved", `{"approval_id":"a","args":{"n":2}}`}},
		{"arguments changed, and told as they were", "succeeded", 1, `"approved_input_hash":"` + after.String() + `"`, before, []string{"tool.requested", open, "tool.approved", `{"tool_call_id":"c","args":{"n":2}}`, "agent.tool_use", open, "tool.completed", `{"tool_call_id":"c","input":{"n":1}}`}},
		{"arguments came in parts", "succeeded", 1, ``, after, []string{"tool.requested", open, "tool.requested", `{"tool_call_id":"c","input":{"n":2}}`, "tool.completed", `{"tool_call_id":"c","input":{"n":2}}`}},
		{"input by digest", "succeeded", 1, ``, after, []string{"tool.requested", `{"tool_call_id":"c","name":"tool","input_sha256":"` + strings.ToUpper(after.String()[7:]) + `"}`, "tool.completed", `{"tool_call_id":"c"}`}},
	}
	for _, test := range tests {
		d, err := record(t, o, test.events...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		c := d.SideEffects.ToolCalls[0]
		meta := ""
		if c.Metadata != nil {
			text, err := json.Marshal(c.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			text, err = canon.Transform(text)
			if err != nil {
				t.Fatal(err)
			}
			meta = strings.Trim(string(text), "{}")
		}
		if c.Status != test.status || *d.AutonomyBudget.Consumed.ToolCalls != test.dispatched || meta != test.meta || c.InputHash != test.input || c.Tool != "tool" {
			t.Errorf("%s: %+v, %d dispatched, want %s %s %d", test.name, c, *d.AutonomyBudget.Consumed.ToolCalls, test.status, test.meta, test.dispatched)
		}
	}
	for _, category := range []string{"parse_aborted", "rejected_loop"} {
		d := mustRecord(t, o, "tool.requested", open, "tool.failed", `{"tool_call_id":"c","error_category":"`+category+`"}`)
		if len(d.SideEffects.ToolCalls) != 0 || *d.AutonomyBudget.Consumed.ToolCalls != 0 || d.Metadata["not_dispatched"] != 1.0 {
			t.Errorf("%s: %+v %v", category, d.SideEffects.ToolCalls, d.Metadata)
		}
	}
	d := mustRecord(t, o, "agent.tool_result", `{"tool_call_id":"c","output":"cut"}`, "tool.completed", `{"tool_call_id":"c","output":"whole"}`, "agent.tool_result", `{"tool_call_id":"c","output":"cut again"}`)
	if c := d.SideEffects.ToolCalls[0]; c.OutputHash != canon.Sum([]byte(`"whole"`)) || c.Tool != "unknown" {
		t.Errorf("%+v", c)
	}
}

// TestEffects verifies that an effect is listed only once, regardless of how many sources record
// it.
func TestEffects(t *testing.T) {
	o := plainOptions(t)
	o.WorkspaceRoot = "/home/u/garden/"
	const span, tool = `{"kind":"fs","tool_call_id":"c","path":"a","operation":"modify"}`, `{"tool_call_id":"c","name":"n","fs_writes":[{"path":"b","operation":"create"}],"network_egress":[{"url":"https://u:p@h.example/x?key=1"}]}`
	for name, test := range map[string]struct{ want, sent string }{
		"span.completed " + span: {"modify a", ""},
		"span.completed " + span + "\ntool.completed " + tool + "\nspan.completed " + `{"kind":"http","tool_call_id":"c","host":"h.example","bytes_sent":1}`:     {"modify a, create b", "h.example n"},
		"artifact.created " + `{"artifact_id":"x","kind":"file","applied":true,"path":"c","operation":"create","tool_call_id":"c"}` + "\nspan.completed " + span: {"create c, modify a", ""},
		"span.completed " + `{"kind":"fs","path":"a","operation":"read"}`:                                                                                        {"", ""},
		"span.failed " + span: {"", ""},
		"span.failed " + `{"kind":"http","name":"ping","url":"HTTP://H.Example:80/"}`:                                                     {"", "h.example ping"},
		"span.completed " + `{"kind":"fs","path":"new","from":"old","operation":"rename"}`:                                                {"delete old, create new", ""},
		"span.completed " + `{"kind":"fs","path":"/home/u/garden/src/../a"}`:                                                              {"modify a", ""},
		"span.completed " + `{"kind":"fs","path":"/home/u/garden-shed/a"}`:                                                                {"modify (outside 1: below home)", ""},
		"span.completed " + `{"kind":"fs","path":"../a"}`:                                                                                 {"modify (outside 1: below home)", ""},
		"span.completed " + `{"kind":"fs","path":"C:\\a"}`:                                                                                {"modify (outside 1: elsewhere)", ""},
		"agent.mcp_tool_use " + `{"tool_call_id":"c","name":"n","server":"s","url":"https://mcp.example/v1"}`:                             {"", "mcp.example n"},
		"agent.tool_result " + tool + "\ntool.completed " + tool:                                                                          {"create b", "h.example n"},
		"tool.completed " + tool + "\nagent.tool_result " + tool:                                                                          {"create b", "h.example n"},
		"tool.completed " + tool + "\ntool.completed " + tool:                                                                             {"create b", "h.example n"},
		"tool.completed " + tool + "\ntool.failed " + `{"tool_call_id":"c","fs_writes":[{"path":"b","operation":"create"},{"path":"d"}]}`: {"create b, modify d", "h.example n"},
		"tool.completed " + `{"tool_call_id":"c","name":"n","network_egress":[{"host":"h"},{"host":"h"}]}`:                                {"", "h n, h n"},
		"agent.mcp_tool_use " + `{"tool_call_id":"c","name":"n","server":"s","url":"https://mcp.example/v1"}` + "\ntool.completed " + `{"tool_call_id":"c","network_egress":[{"host":"mcp.example","bytes_sent":7}]}`: {"", "mcp.example n"},
		"agent.mcp_tool_use " + `{"tool_call_id":"c","name":"n","server":"s"}`: {"", ""},
	} {
		var pairs []string
		for line := range strings.SplitSeq(name, "\n") {
			kind, payload, _ := strings.Cut(line, " ")
			pairs = append(pairs, kind, payload)
		}
		d := mustRecord(t, o, pairs...)
		var wrote, sent []string
		for _, w := range d.SideEffects.FSWrites {
			wrote = append(wrote, w.Operation+" "+w.Path)
		}
		for _, s := range d.SideEffects.NetworkEgress {
			sent = append(sent, s.Destination+" "+s.Purpose)
		}
		if strings.Join(wrote, ", ") != test.want || strings.Join(sent, ", ") != test.sent {
			t.Errorf("%s: %q %q, want %q %q", name, wrote, sent, test.want, test.sent)
		}
		if strings.Contains(test.want, "(outside ") != (len(d.Redactions) == 1) {
			t.Errorf("%s: redactions %+v", name, d.Redactions)
		}
	}
}

// TestMoney verifies that sums are exact for every spelling of the amounts.
func TestMoney(t *testing.T) {
	sum := func(texts ...string) float64 {
		total := new(event.Money)
		for _, s := range texts {
			m, ok := event.ParseMoney(s)
			if !ok {
				t.Fatalf("%q is refused", s)
			}
			total.Plus(m)
		}
		return total.Float()
	}
	if got := sum("0.1", "0.2"); got != 0.3 {
		t.Errorf("0.1 + 0.2 = %v", got)
	}
	var many []string
	for range 1000 {
		many = append(many, "0.001")
	}
	if got := sum(many...); got != 1 {
		t.Errorf("1000 × 0.001 = %v", got)
	}
	for text, want := range map[string]float64{"0": 0, "0.0e5": 0, "1e2": 100, "1E+2": 100, "12.50": 12.5, "1e-40": 1e-40, "999999999999999": 999999999999999, "0.00012300000000000001": 0.00012300000000000001, "100e-2": 1} {
		if got := sum(text); got != want {
			t.Errorf("%s = %v", text, got)
		}
	}
	for _, text := range []string{"", "-1", "-0", "+1", "1.", ".5", "1e", "1e16", "1000000000000000", "1e-41", "0x1", "NaN", "Infinity", "1_0", "1e999999999999", "1,5", "٣"} {
		if m, ok := event.ParseMoney(text); ok {
			t.Errorf("%q is %v", text, m.Float())
		}
	}
}

// TestCosts verifies that costs are listed by provider and model, in the order in which they first
// appear.
func TestCosts(t *testing.T) {
	d := mustRecord(t, plainOptions(t),
		"span.completed", `{"kind":"llm","provider":"p","model":"m","cost":0.1,"input_tokens":1}`,
		"span.completed", `{"kind":"llm","provider":"q","model":"m","cost":"0.7"}`,
		"span.failed", `{"kind":"llm","provider":"p","model":"m","cost":{"amount":0.2,"currency":"USD"},"output_tokens":2}`,
		"span.completed", `{"kind":"search","provider":"q","cost":0.05}`)
	text, err := JSON(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"cost":{"currency":"USD","provider_breakdown":[{"amount":0.3,"input_tokens":1,"model":"m","output_tokens":2,"provider":"p"},{"amount":0.7,"model":"m","provider":"q"},{"amount":0.05,"provider":"q"}],"total":1.05}`
	if !strings.Contains(string(text), want) {
		t.Errorf("%s", text)
	}
	d = mustRecord(t, plainOptions(t), "span.completed", `{"kind":"llm","provider":"p","model":"m","cost":{"amount":1,"currency":"EUR"}}`)
	if d.Cost.Currency != "EUR" || d.AutonomyBudget.Consumed.USD != nil {
		t.Errorf("%+v %+v", d.Cost, d.AutonomyBudget)
	}
}

// TestDeterminism verifies that a replay is exact only if all of its inputs have digests.
func TestDeterminism(t *testing.T) {
	o := plainOptions(t)
	const llm = `{"kind":"llm","provider":"p","model":"m","response":"r"}`
	for want, logs := range map[string][][]string{
		"byte_deterministic": {
			{},
			{"span.completed", llm},
			{"agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s"}`, "tool.completed", `{"tool_call_id":"c","output":1}`},
			{"tool.requested", `{"tool_call_id":"c","name":"n"}`, "tool.completed", `{"tool_call_id":"c","output":1}`},
			{"agent.memory_read", `{"memory_id":"m","sha256":"` + strings.Repeat("0a", 32) + `"}`},
			{"tool.requested", `{"tool_call_id":"c","name":"n"}`, "tool.denied", `{"tool_call_id":"c"}`},
		},
		"best_effort": {
			{"span.completed", `{"kind":"llm","provider":"p","model":"m"}`},
			{"agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s"}`, "tool.completed", `{"tool_call_id":"c"}`},
			{"agent.mcp_tool_use", `{"tool_call_id":"c","name":"n","server":"s"}`},
			{"tool.requested", `{"tool_call_id":"c","name":"n"}`, "tool.completed", `{"tool_call_id":"c"}`},
			{"agent.memory_read", `{"memory_id":"m"}`},
		},
		"unavailable": {{"span.completed", llm, "replay.failed", `{"message":"gone"}`}},
	} {
		for _, log := range logs {
			if got := mustRecord(t, o, log...).ReplayInput; got.Determinism != want || (want == "unavailable") != (got.UnavailableReason == "gone") {
				t.Errorf("%q: %+v, want %s", log, got, want)
			}
		}
	}
}
