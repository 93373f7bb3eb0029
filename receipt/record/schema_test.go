package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

// An eventSchema is the JSON Schema for events, which can be searched by kind.
type eventSchema struct {
	*schemas.Schema
	root canon.Node
}

func newEventSchema(t testing.TB) eventSchema {
	t.Helper()
	compiled, err := schemas.Compile("event")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return eventSchema{compiled, doc.Root()}
}

// payloads returns the payload members of each kind in the schema.
func (s eventSchema) payloads() map[string][]string {
	all := map[string][]string{}
	for _, rule := range s.root.Member("allOf").Elements() {
		then := rule.Member("then").Member("properties").Member("payload")
		def := strings.TrimPrefix(then.Member("$ref").String(), "#/$defs/")
		if !rule.Member("$comment").IsZero() { // this condition applies to kinds that have several forms
			continue
		}

		var members []string
		for name := range s.root.Member("$defs").Member(def).Member("properties").Members() {
			members = append(members, name.String())
		}
		of := rule.Member("if").Member("properties").Member("event")
		for _, kind := range of.Member("enum").Elements() {
			all[kind.String()] = members
		}
		if one := of.Member("const"); !one.IsZero() {
			all[one.String()] = members
		}
	}
	return all
}

// problems returns the pointers in the schema errors for a line.
func (s eventSchema) problems(t testing.TB, line []byte) (at []string) {
	t.Helper()
	doc, err := canon.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for _, p := range s.Check(doc.Root()).Problems {
		at = append(at, p.Pointer)
	}
	return at
}

// TestSchemaHasTheKinds verifies that the schema describes exactly the kinds and members that the
// recorder reads.
func TestSchemaHasTheKinds(t *testing.T) {
	described, read := newEventSchema(t).payloads(), record.KindMembers()
	if len(read) < 60 {
		t.Fatalf("%d kinds", len(read))
	}
	for _, kind := range record.Tables()["events"] {
		if applied := kind[1] != ""; applied != (len(described[kind[0]]) > 0) {
			t.Errorf("%s: the schema has\n%q, and the receipt %q", kind[0], described[kind[0]], kind[1])
		}
	}
	for kind, members := range read {
		if !slices.Equal(slices.Sorted(slices.Values(described[kind])), members) {
			t.Errorf("%s: the schema has\n%q, read are\n%q", kind, described[kind], members)
		}
	}
	for kind := range described {
		if _, ok := read[kind]; !ok {
			t.Errorf("the schema describes %s, which nothing reads", kind)
		}
	}
}

// probes returns valid and invalid values for members of every type.
func probes() []string {
	digest := `"sha256:` + strings.Repeat("0a", 32) + `"`
	return []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `1e2`, `9007199254740991`, `9007199254740993`, `1e400`, `""`, `"x"`, `"create"`, `"rename"`, `"add"`, `"act_auto"`,
		`"WORKING"`, `"0.10"`, `"1e3"`, `"-1"`, `"1."`, `"2026-04-25T19:16:08Z"`, `"2026-04-25T19:16:60Z"`, `"2026-04-25"`, digest, strings.ToUpper(digest), digest[8:], `"` + digest[8:],
		`"` + strings.Repeat("x", 4096) + `"`, `"` + strings.Repeat("x", 4097) + `"`, `[]`, `[null]`, `["x"]`, `[1]`, `[{}]`, `{}`, `{"id":"x"}`, `{"id":1}`, `{"object":1}`,
		`{"usd":1}`, `{"usd":"x"}`, `{"tool_calls":-1}`, `{"amount":1}`, `{"amount":"1","currency":"EUR"}`, `{"amount":1,"currency":"eur"}`, `{"amount":1,"currency":""}`, `{"currency":"EUR"}`, `{"amount":null}`,
		`[{"path":"a"}]`, `[{"path":""}]`, `[{"path":"a","operation":"x"}]`, `[{"path":"a","operation":"rename"}]`, `[{"path":"a","operation":"rename","from":"b"}]`, `[{"path":"a","before_sha256":1}]`,
		`[{"host":"a"}]`, `[{"url":"","destination":"a","bytes_sent":1}]`, `[{"host":"","url":null}]`, `[{"host":"a","bytes_sent":"1"}]`,
		`[{"reviewer":"a","signed_at":"b","signature":"c"}]`, `[{"reviewer":"a","signed_at":"","signature":"c"}]`,
		`{"chosen_model":{"provider":"a","model":"b"}}`, `{"chosen_model":{"provider":"a"}}`, `{"chosen_model":null}`, `{"alternatives_considered":[{"provider":"a","model":"b","version":1}]}`, `{"alternatives_considered":[null]}`,
		`{"alternatives_considered":[{"provider":"a","model":"b"}],"route_policy_reason":"c"}`, `{"route_policy_reason":1}`,
		`["/cost"]`, `["cost"]`, `{"provider":1}`, `{"a":1}`, `{"a":"b"}`, `{"a":null}`, `{"hooks":{"x":-1}}`, `{"versions":"1"}`, `{"versions":["1"]}`, `{"pairs":"1"}`, `{"changed_outside":[{"path":1}]}`,
		`[{"name":1}]`, `[{"cut":1}]`, `[{"sha256":"x"}]`, `[{"bytes":"1"}]`, `[{"lines":"1"}]`, `[{"unreadable_lines":"1"}]`, `[{"repaired_lines":"1"}]`, `[{"overlong_lines":"1"}]`,
		`{"held":"1"}`, `{"broken":"1"}`, `{"unchecked":"1"}`, `{"changed_outside":[{"from_call":1}]}`, `{"changed_outside":[{"to_call":1}]}`, `{"sessions":"1"}`, `{"git_branches":"1"}`, `{"git_commit":1}`, `{"hooks":[]}`, `{"counted":[]}`,
		`{"tool_calls":"1"}`, `{"input_tokens":"1"}`, `{"output_tokens":"1"}`, `{"wall_time_ms":"1"}`, `{"approvers_required":"2"}`, `{"action":1}`, `{"chosen_model":{"provider":"a","model":"b","reason":1}}`,
		`[{"path":"a","operation":1}]`, `[{"path":"a","operation":"rename","from":1}]`, `[{"path":"a","before_sha256":"x"}]`, `[{"path":"a","after_sha256":"x"}]`, `[{"host":1}]`, `[{"host":"a","url":1}]`, `[{"host":"a","destination":1}]`, `[{"host":"a","purpose":1}]`, `[{"host":"a","purpose":"x","announced":true}]`,
		`[{"name":"x","sha256":"` + digest[8:], `[{"name":"x","sha256":` + digest + `,"bytes":1,"cut":true}]`, `{"git_commit":"x","sessions":["x"]}`, `{"changed_outside":[{"path":"x","from_call":"x","to_call":"x"}]}`,
		`[{"lines":-1}]`, `[{"host":"a","announced":1}]`,
		`{"approvers_required":-1}`, `{"deadline":"x"}`, `{"approvers_required":2,"deadline":"2026-04-25T19:16:08Z","args":5}`,
	}
}

// needed returns a payload with the given members and the required members of a kind, including the
// members on which another member depends.
func needed(kind string, with ...string) string {
	members := map[string]string{}
	for i := 0; i+1 < len(with); i += 2 {
		members[with[i]] = with[i+1]
	}
	add := func(name, value string) {
		if _, ok := members[name]; !ok {
			members[name] = value
		}
	}
	switch {
	case strings.HasPrefix(kind, "tool."), kind == "agent.tool_use", kind == "agent.tool_result", strings.HasPrefix(kind, "hitl."), kind == "user.tool_confirmation":
		add("tool_call_id", `"c"`)
	case kind == "agent.mcp_tool_use":
		add("tool_call_id", `"c"`)
		add("server", `"s"`)
	case kind == "agent.handoff":
		add("task_id", `"other"`)
	case kind == "agent.memory_read":
		add("memory_id", `"m"`)
	case kind == "task.status_changed":
		add("status", `"WORKING"`)
	case strings.HasPrefix(kind, "artifact."), kind == "agent.memory_write":
		add("artifact_id", `"a"`)
	case kind == "source.read":
		add("kind", `"transcript"`)
	case kind == "replay.event_replayed":
		add("override_key", `"llm:main:1"`)
	}
	if _, applied := members["applied"]; applied {
		add("path", `"p"`)
	}
	var text []string
	for name, value := range members {
		text = append(text, fmt.Sprintf("%q:%s", name, value))
	}
	slices.Sort(text)
	return "{" + strings.Join(text, ",") + "}"
}

// recorded passes an event to the recorder of a task that was started, and returns the event.
func recorded(t testing.TB, kind, payload string) ([]byte, error) {
	t.Helper()
	r, err := record.New(plain())
	if err != nil {
		t.Fatal(err)
	}
	first := [][]byte{text(1, 1, "task.started", `{}`)}
	if kind == "task.submitted" || kind == "task.started" {
		first = nil
	}
	if strings.HasPrefix(kind, "replay.") && kind != "replay.started" {
		first = append(first, text(2, 2, "replay.started", `{"source_task_id":"source"}`))
	}
	for _, e := range first {
		if err := r.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	line := text(len(first)+1, len(first)+1, kind, payload)
	return line, r.Add(line)
}

// differs reports whether the recorder may reject values that the schema accepts, because the
// allowed states of a task depend on the previous state. Limits on bytes, digits, and memory are
// other differences, but the probes do not reach these limits.
func differs(kind, member string) bool { return kind == "task.status_changed" && member == "status" }

// beyondType reports whether the reader of a member rejects values that have the correct type, such
// as an empty name or an unknown word.
func beyondType(member string) bool {
	return slices.Contains([]string{
		"about", "artifact_id", "at_least", "autonomy_tier", "fs_writes", "ignored_records", "inferred", "kind", "memory_id", "network_egress", "operation", "server",
		"task_id", "tool_call_id", "unreported",
	}, member)
}

// TestSchemaAgrees verifies that the recorder and the schema refuse the same values, for each
// member of each kind and for every type. The type of the member alone must refuse the same values,
// too. By default, each member is tested with only some of the probes, but every probe is used.
// Objects and arrays are tested with all probes in the first kind that contains them.
func TestSchemaAgrees(t *testing.T) {
	s, tried, turn, part := newEventSchema(t), 0, 0, testsize.Of(20, 4, 1)
	least := 10_000 / part
	all, whole := probes(), map[string]bool{}
	nested := []string{"signatures", "approval_request", "autonomy_budget", "model_route", "fs_writes", "network_egress", "logs", "write_continuity", "about"} // each probe is intended for one of these members
	kinds := record.KindMembers()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, member := range kinds[kind] {
			turn++
			first := slices.Contains(nested, member) && !whole[member]
			whole[member] = true
			for i, value := range all {
				if (i+turn)%part != 0 && !first {
					continue
				}
				payload := needed(kind, member, value)
				if _, err := canon.Parse([]byte(payload)); err != nil {
					continue
				}
				tried++
				line, err := recorded(t, kind, payload)
				at := s.problems(t, line)
				var refused *event.Error
				if err != nil && !errors.As(err, &refused) {
					t.Fatal(err)
				}
				if (len(at) == 0) != (err == nil) && !differs(kind, member) {
					t.Errorf("%s: %.200s: does not fit at %q, recorded: %v", kind, payload, at, err)
				}

				doc, err := canon.Parse(line)
				if err != nil {
					t.Fatal(err)
				}
				err = record.Unfit(doc)
				if (len(at) == 0) != (err == nil) && (err != nil || !beyondType(member)) && !differs(kind, member) {
					t.Errorf("%s: %.200s: does not fit at %q, its type: %v", kind, payload, at, err)
				}
			}
		}
	}
	if tried < least {
		t.Errorf("%d tried", tried)
	}
}

// TestSchemaReadsLogs verifies that each line in a valid recording conforms to the schema.
func TestSchemaReadsLogs(t *testing.T) {
	s, lines := newEventSchema(t), 0
	for _, name := range scenarios() {
		for _, line := range name.lines(t) {
			if at := s.problems(t, line); len(at) > 0 {
				t.Errorf("%s: %q: %s", name.name, at, line)
			}
			lines++
		}
	}
	night, err := os.ReadFile("../../docs/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(night) {
		if at := s.problems(t, line); len(at) > 0 {
			t.Errorf("%q: %s", at, line)
		}
		lines++
	}
	if lines < 100 {
		t.Errorf("%d lines", lines)
	}
}

// FuzzEvent verifies that a valid log conforms to the schema, and that the recorder refuses every
// envelope that the schema refuses.
func FuzzEvent(f *testing.F) {
	s := newEventSchema(f)
	for _, name := range scenarios() {
		for _, line := range name.lines(f) {
			f.Add(string(line))
		}
	}
	for _, member := range []string{`"task_id":5`, `"session_id":[]`, `"replay":{"mode":1}`, `"replay":[]`, `"replayed":"yes"`, `"actor":[1]`, `"actor":{"id":1}`, `"sequence":null`, `"object":"x"`, `"span_id":{}`} {
		f.Add(strings.Replace(string(text(1, 1, "user.message", `{}`)), `"sequence":1`, member, 1))
		f.Add(`{` + member + `,"id":"1","event":"user.message","resource":{"object":"task","id":"task_1"},"created_at":"2026-01-01T00:00:00Z","sequence":1,"payload":{}}`)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := canon.Parse([]byte(line)); err != nil {
			return
		}
		r, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "i"}, Tier: "act_auto", WorkspaceRef: "w"})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Add([]byte(line))
		taken := r.Counts().Events > 0
		problems := s.problems(t, []byte(line))
		if err == nil && taken && len(problems) > 0 {
			t.Errorf("recorded, and does not fit at %q: %s", problems, line)
		}
		envelope := slices.ContainsFunc(problems, func(at string) bool { return !strings.HasPrefix(at, "/payload/") && at != "/payload" })
		var refused *event.Error
		if envelope && (!errors.As(err, &refused) || refused.Code != event.CodeMalformed && refused.Code != event.CodeLimit) {
			t.Errorf("does not fit at %q, and is recorded: %v, %s", problems, err, line)
		}
	})
}
