package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// responded is the response to a request.
func responded(t testing.TB, result string) *Message {
	t.Helper()
	m, fault := parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`))
	if fault != nil {
		t.Fatal(fault)
	}
	return m
}

// params are those of a message.
func params(t testing.TB, text string) canon.Node {
	t.Helper()
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

func encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// same compares what was read with what was to be read.
func same(t *testing.T, name string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, expected %+v", name, got, want)
	}
}

// TestIdle: the waits grow to two seconds and stay there, and whatever wakes the daemon
// makes the next one short again.
func TestIdle(t *testing.T) {
	now := time.Date(2026, 4, 25, 19, 17, 2, 0, time.UTC)
	var d Daemon
	if d.Left(now) != 0 {
		t.Error("it waits before it was told to")
	}
	for i, want := range []string{
		`{"iteration":0,"backoff_ms":100}`, `{"iteration":1,"backoff_ms":500}`, `{"iteration":2,"backoff_ms":1000}`,
		`{"iteration":3,"backoff_ms":2000}`, `{"iteration":4,"backoff_ms":2000}`, `{"iteration":5,"backoff_ms":2000}`,
	} {
		var told Idle
		d, told = d.Wait(now, int64(i))
		same(t, "told", encode(t, told), want)
		whole := time.Duration(told.BackoffMS) * time.Millisecond
		for after, left := range map[time.Duration]time.Duration{
			0: whole, whole / 4: whole - whole/4, whole - 1: 1, whole: 0, time.Hour: 0,
			-time.Hour: whole, // the clock was set back
		} {
			same(t, fmt.Sprintf("%d: left after %v", i, after), d.Left(now.Add(after)), left)
		}
		now = now.Add(whole)
	}

	for _, method := range []string{"agent/resume", "user_message", "session/input", "agent/user_message", "session/inject"} {
		woken, yes := d.Heard(method)
		next, told := woken.Wait(now, 9)
		if !yes || woken.Left(now) != 0 || told.BackoffMS != 100 || next.Left(now) != 100*time.Millisecond {
			t.Errorf("%s: %v, %+v", method, yes, told)
		}
	}
	for _, method := range []string{"skills/update", "agent/idle", "session/update", "session/cancel", ""} {
		if same, yes := d.Heard(method); yes || same != d {
			t.Errorf("%s woke it", method)
		}
	}
}

func TestParseIdle(t *testing.T) {
	for text, want := range map[string]Idle{
		`{"iteration":3,"backoff_ms":1000}`:                        {3, 1000},
		`{"_meta":{"harn":{"iteration":0,"backoff_ms":100}}}`:      {0, 100},
		`{"iteration":3.0,"backoff_ms":1e3,"later":{"more":true}}`: {3, 1000},
	} {
		got, err := ParseIdle(params(t, text))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"iteration":3}`, `{"backoff_ms":100}`, `{"iteration":null,"backoff_ms":100}`, `{"iteration":-1,"backoff_ms":100}`,
		`{"iteration":1.5,"backoff_ms":100}`, `{"iteration":"3","backoff_ms":100}`, `{"iteration":1e300,"backoff_ms":100}`} {
		got, err := ParseIdle(params(t, text))
		if _, is := errors.AsType[*ShapeError](err); !is || got != (Idle{}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestUserMessages: three modes, in the words of each dialect.
func TestUserMessages(t *testing.T) {
	for _, test := range []struct {
		method, params string
		mode           Mode
		content        string
	}{
		{"user_message", `{"content":"stop","mode":"interrupt_immediate"}`, Interrupt, `"stop"`},
		{"session/input", `{"content":"stop","mode":"interrupt"}`, Interrupt, `"stop"`},
		{"agent/user_message", `{"content":"left","mode":"finish_step"}`, FinishStep, `"left"`},
		{"user_message", `{"content":"left","mode":"after_current_operation"}`, FinishStep, `"left"`},
		{"user_message", `{"content":"later","mode":"wait_for_completion"}`, WhenDone, `"later"`},
		{"user_message", `{"content":"later"}`, WhenDone, `"later"`},
		{"user_message", `{"content":"later","mode":"at once, please"}`, WhenDone, `"later"`},
		{"user_message", `{"content":"later","mode":7}`, WhenDone, `"later"`},
		{"session/inject", `{"sessionId":"s","mode":"steer","content":[{"type":"text","text":"left"}]}`, FinishStep, `[{"text":"left","type":"text"}]`},
		{"session/inject", `{"sessionId":"s","mode":"queue","content":"later"}`, WhenDone, `"later"`},
		{"session/inject", `{"sessionId":"s","mode":"interrupt_immediate","content":"stop"}`, Interrupt, `"stop"`},
		{"session/inject", `{"sessionId":"s","_meta":{"harn":{"mode":"steer","content":"left"}},"mode":"queue"}`, FinishStep, `"left"`},
	} {
		m, err := ParseUserMessage(test.method, params(t, test.params))
		if err != nil || m.Mode != test.mode || string(m.Content) != test.content {
			t.Errorf("%s: %+v, %v", test.params, m, err)
		}
	}
	for _, text := range []string{`{}`, `{"content":""}`, `{"content":[]}`, `{"content":null}`, `{"content":1}`, `{"content":{}}`, `["hello"]`} {
		if m, err := ParseUserMessage("user_message", params(t, text)); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
	if _, err := ParseUserMessage("agent/resume", params(t, `{"content":"x"}`)); err == nil {
		t.Error("agent/resume says nothing")
	}
	same(t, "accepted", encode(t, Accept("msg_1")), `{"messageId":"msg_1","status":"accepted"}`)
}

// TestInbox: each mode is heard where it may be, in the order in which users spoke, and
// none is lost.
func TestInbox(t *testing.T) {
	var b Inbox
	for i, mode := range []Mode{WhenDone, FinishStep, Interrupt, WhenDone, Interrupt, FinishStep} {
		var err error
		if b, err = b.Put(UserMessage{mode, json.RawMessage(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	said := func(b Inbox) (all string) {
		for _, m := range b {
			all += string(m.Content)
		}
		return all
	}
	for mode, want := range map[Mode][2]string{Interrupt: {"24", "0135"}, FinishStep: {"1245", "03"}, WhenDone: {"012345", ""}} {
		heard, left := b.Take(mode)
		if said(heard) != want[0] || said(left) != want[1] || said(b) != "012345" {
			t.Errorf("%d: %s, %s, %s", mode, said(heard), said(left), said(b))
		}
	}
	var err error
	for range MaxInbox + 1 {
		b, err = b.Put(UserMessage{})
	}
	if !errors.Is(err, ErrInboxFull) || len(b) != MaxInbox {
		t.Errorf("%d, %v", len(b), err)
	}
}

// TestSearch: of what the host finds only candidates count, each once, at most twenty; and
// a host that fails finds nothing and says why.
func TestSearch(t *testing.T) {
	s := Search{"semantic", "deploy a new service version", []string{"deploy_service", "rollback_service", "query_metrics"}}
	same(t, "request", encode(t, s), `{"strategy":"semantic","query":"deploy a new service version","candidates":["deploy_service","rollback_service","query_metrics"]}`)
	for strategy, remote := range map[string]bool{"semantic": true, "host": true, "bm25": false, "regex": false, "hybrid": false, "": false} {
		same(t, strategy, Search{Strategy: strategy}.Remote(), remote)
	}

	for result, want := range map[string]Found{
		`{"tool_names":["deploy_service","rollback_service"],"diagnostic":"matched by vector similarity"}`: {Names: s.Candidates[:2], Diagnostic: "matched by vector similarity"},
		`{"result":{"tool_names":["deploy_service"],"diagnostic":"d"}}`:                                    {Names: s.Candidates[:1], Diagnostic: "d"},
		`{"tool_names":["rm_rf","deploy_service","rm_rf",7,"deploy_service"]}`:                             {Names: s.Candidates[:1], Unknown: 2},
		`{"tool_names":[]}`:               {Names: []string{}},
		`{}`:                              {Names: []string{}, Diagnostic: "the host could not search: its answer has no tool_names"},
		`["deploy_service"]`:              {Names: []string{}, Diagnostic: "the host could not search: its answer has no tool_names"},
		`{"result":["deploy_service"]}`:   {Names: []string{}, Diagnostic: "the host could not search: its answer has no tool_names"},
		`{"tool_names":"deploy_service"}`: {Names: []string{}, Diagnostic: "the host could not search: its answer has no tool_names"},
		`null`:                            {Names: []string{}, Diagnostic: "the host could not search: its answer has no tool_names"},
	} {
		same(t, result, s.Find(responded(t, result), nil), want)
	}
	same(t, "an error", s.Find(nil, &Error{-32603, "the index is being built"}), Found{Names: []string{}, Diagnostic: `the host could not search: "the index is being built" (-32603)`})
	same(t, "nobody there", s.Find(nil, ErrHungUp), Found{Names: []string{}, Diagnostic: "the host could not search: " + ErrHungUp.Error()})
	same(t, "what the model gets", encode(t, s.Find(nil, ErrHungUp)), `{"tool_names":[],"diagnostic":"the host could not search: `+ErrHungUp.Error()+`"}`)

	many := Search{Strategy: "host"}
	for n := range 30 {
		many.Candidates = append(many.Candidates, fmt.Sprint("tool_", n))
	}
	found := many.Find(responded(t, `{"tool_names":`+encode(t, many.Candidates)+`}`), nil)
	if !slices.Equal(found.Names, many.Candidates[:MaxFound]) || found.LeftOff != 10 {
		t.Errorf("%+v", found)
	}
}

// TestTools: three shapes and the names of older hosts come to exactly four members.
func TestTools(t *testing.T) {
	const (
		read = `{"name":"Read","description":"Read a file","schema":{"type":"object"},"deprecated":false}`
		edit = `{"name":"Edit","description":"Apply an edit","schema":{"type":"object"},"deprecated":true}`
		bare = `{"name":"Read","description":"","schema":null,"deprecated":false}`
	)
	for result, want := range map[string]string{
		`{"tools":[` + read + `,` + edit + `]}`: `[` + read + `,` + edit + `]`,
		`[` + read + `]`:                        `[` + read + `]`,
		`{"result":{"tools":[` + read + `]}}`:   `[` + read + `]`,
		`{"tools":[{"name":"Edit","short_description":"Apply an edit","input_schema":{"type":"object"},"deprecated":true}]}`:          `[` + edit + `]`,
		`{"tools":[{"name":"Edit","short_description":"Apply an edit","parameters":{"type":"object"},"deprecated":true}]}`:            `[` + edit + `]`,
		`{"tools":[{"name":"Read","description":"Read a file","short_description":"no","schema":{"type":"object"},"parameters":{}}]}`: `[` + read + `]`,
		`[{"name":"Read"}]`: `[` + bare + `]`,
		`[{"name":"Read","description":null,"schema":null,"deprecated":null,"extra":1}]`:             `[` + bare + `]`,
		`[{"name":"Read","description":7,"schema":"any","deprecated":"yes"}]`:                        `[` + bare + `]`,
		`[{"name":"Read","description":"Read a file","schema":null,"parameters":{"type":"object"}}]`: `[` + read + `]`,
		`{"tools":[]}`: `[]`,
		`[]`:           `[]`,
	} {
		tools, err := ParseTools(responded(t, result))
		if got := encode(t, tools); err != nil || got != want {
			t.Errorf("%s: %s, %v", result, got, err)
		}
	}
	for _, result := range []string{
		`null`, `"Read"`, `{}`, `{"tools":{}}`, `{"tools":null}`, `{"result":{}}`, `[7]`, `["Read"]`, `[null]`, `[{}]`, `[{"name":""}]`, `[{"name":7}]`,
		`{"tools":[` + read + `,{"description":"missing name"}]}`,
	} {
		tools, err := ParseTools(responded(t, result))
		if shape, is := errors.AsType[*ShapeError](err); !is || shape.Method != "host/tools/list" || tools != nil {
			t.Errorf("%s: %+v, %v", result, tools, err)
		}
	}
	same(t, "call", encode(t, Invoke("Read", map[string]string{"path": "a"}, "")), `{"name":"Read","args":{"path":"a"}}`)

	for err, want := range map[error]string{
		&Error{CodeRejected, "no"}:      "permission_denied",
		&Error{CodeInternal, "no"}:      "host_bridge_error",
		ErrHungUp:                       "host_bridge_error",
		context.DeadlineExceeded:        "timeout",
		context.Canceled:                "cancelled",
		errors.New("permission_denied"): "unknown",
	} {
		same(t, err.Error(), CategoryOf(fmt.Errorf("call: %w", err)), want)
	}
}

func TestSkills(t *testing.T) {
	refs := []SkillRef{{"deploy", "deploy", "Ship it", "host"}, {"acme/ops/review", "review", "Code review", "host"}}
	array := encode(t, refs)
	for _, result := range []string{array, `{"skills":` + array + `}`, `{"result":{"skills":` + array + `}}`} {
		got, err := ParseSkills(responded(t, result))
		if err != nil || !slices.Equal(got, refs) {
			t.Errorf("%s: %+v, %v", result, got, err)
		}
	}
	got, err := ParseSkills(responded(t, `[{"id":"a"},{"name":"b"}]`))
	if err != nil || !slices.Equal(got, []SkillRef{{ID: "a", Name: "a"}, {ID: "b", Name: "b"}}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, result := range []string{`null`, `{}`, `{"skills":{}}`, `["deploy"]`, `[{"description":"x"}]`} {
		if got, err := ParseSkills(responded(t, result)); err == nil || got != nil {
			t.Errorf("%s: %+v", result, got)
		}
	}
}

// TestSkill: the manifest, or the same beside the name.
func TestSkill(t *testing.T) {
	want := Skill{"deploy", "Ship it", "# Deploy runbook\n...", "when releasing", []string{"bash", "git"}, []string{"infra/**"}, "claude-opus-4-7"}
	const manifest = `"when_to_use":"when releasing","allowed_tools":["bash","git"],"paths":["infra/**"],"model":"claude-opus-4-7"`
	for _, result := range []string{
		`{"name":"deploy","description":"Ship it","body":"# Deploy runbook\n...","manifest":{` + manifest + `}}`,
		`{"name":"deploy","description":"Ship it","body":"# Deploy runbook\n...",` + manifest + `}`,
		`{"name":"deploy","description":"Ship it","body":"# Deploy runbook\n...","manifest":{"allowed_tools":["bash","git"],"model":null},"when_to_use":"when releasing","allowed_tools":["all"],"paths":["infra/**"],"model":"claude-opus-4-7"}`,
	} {
		got, err := ParseSkill(responded(t, result))
		if err != nil {
			t.Fatal(err)
		}
		same(t, result, got, want)
	}
	for result, restricted := range map[string]bool{`{"name":"a"}`: false, `{"name":"a","allowed_tools":null}`: false, `{"name":"a","allowed_tools":[]}`: true} {
		s, err := ParseSkill(responded(t, result))
		if err != nil || (s.AllowedTools != nil) != restricted || len(s.AllowedTools) != 0 {
			t.Errorf("%s: %+v, %v", result, s, err)
		}
	}
	for _, result := range []string{`null`, `{}`, `[]`, `{"name":""}`, `{"body":"x"}`, `{"name":"a","allowed_tools":"bash"}`} {
		if s, err := ParseSkill(responded(t, result)); err == nil {
			t.Errorf("%s: %+v", result, s)
		}
	}
}

// TestCatalogue: what the host updates while it is asked is asked for again.
func TestCatalogue(t *testing.T) {
	var c Catalogue
	if !c.Stale() {
		t.Error("nothing was read yet")
	}
	refs := []SkillRef{{ID: "deploy", Name: "deploy"}}
	if c = c.Listed(c, refs); c.Stale() || !slices.Equal(c.Skills, refs) {
		t.Errorf("%+v", c)
	}
	if c = c.Updated().Updated(); !c.Stale() || !slices.Equal(c.Skills, refs) { // until the next iteration
		t.Errorf("%+v", c)
	}
	asked := c
	c = c.Updated() // while the host lists
	if c = c.Listed(asked, nil); !c.Stale() {
		t.Error("an update was lost")
	}
	if c = c.Listed(c, nil); c.Stale() || c.Skills != nil {
		t.Errorf("%+v", c)
	}
}

// TestMatch: the host's word about candidates, in four shapes; without one the runtime's own.
func TestMatch(t *testing.T) {
	m := Matching{"host", "Ship the new release to production", []string{"infra/terraform/cluster.tf"}, []Candidate{
		{"review", "Review existing code for correctness", "User asks to review/audit", []string{}},
		{"ship", "Ship a production release", "User says ship/release/deploy", []string{"infra/**", "Dockerfile"}},
	}}
	same(t, "request", encode(t, m), `{"strategy":"host","prompt":"Ship the new release to production","working_files":["infra/terraform/cluster.tf"],"candidates":[`+
		`{"name":"review","description":"Review existing code for correctness","when_to_use":"User asks to review/audit","paths":[]},`+
		`{"name":"ship","description":"Ship a production release","when_to_use":"User says ship/release/deploy","paths":["infra/**","Dockerfile"]}]}`)

	told := []Match{{"ship", 0.92, "matched by embedding similarity"}}
	const ship = `{"name":"ship","score":0.92,"reason":"matched by embedding similarity"}`
	for result, want := range map[string][]Match{
		`{"matches":[` + ship + `]}`: told, `[` + ship + `]`: told, `{"skills":[` + ship + `]}`: told, `{"result":{"matches":[` + ship + `]}}`: told,
		`{"matches":[{"name":"ship"}]}`:                                                      {{"ship", 1, "host match"}},
		`{"matches":[{"name":"ship","score":null,"reason":null}]}`:                           {{"ship", 1, "host match"}},
		`[{"name":"ship","score":0},` + `{"name":"review","score":2},{"name":"other"},{},7]`: {{"review", 2, "host match"}, {"ship", 0, "host match"}},
		`[{"name":"ship"},{"name":"review"}]`:                                                {{"ship", 1, "host match"}, {"review", 1, "host match"}},
		`[{"name":"ship"},{"name":"ship","score":9}]`:                                        {{"ship", 1, "host match"}},
		`[{"name":"ship","score":-1},{"name":"review","score":"high"}]`:                      nil,
		`[]`: nil,
	} {
		got, why := m.Match(responded(t, result), nil)
		if why != nil {
			t.Errorf("%s: %v", result, why)
		}
		same(t, result, got, want)
	}

	own := []Match{{"ship", 5, "words and paths"}}
	for _, result := range []string{`null`, `{}`, `"ship"`, `{"matches":{}}`} {
		got, why := m.Match(responded(t, result), nil)
		if _, is := errors.AsType[*ShapeError](why); !is {
			t.Errorf("%s: %v", result, why)
		}
		same(t, result, got, own)
	}
	got, why := m.Match(nil, &Error{CodeMethodNotFound, "what?"})
	if why == nil {
		t.Error("nobody was told why")
	}
	same(t, "an error", got, own)
}

func TestPaths(t *testing.T) {
	for pattern, files := range map[string][2]string{ // that are, and are not
		"infra/**":       {"infra/terraform/cluster.tf infra/a infra", "infrax/a a/infra/b"},
		"**/*.go":        {"a.go a/b/c.go", "a.gox a/go"},
		"Dockerfile":     {"Dockerfile", "a/Dockerfile dockerfile"},
		"a/**/b/**/c":    {"a/b/c a/x/b/y/z/c", "a/c a/b/x"},
		"src/*/main.go":  {"src/x/main.go", "src/main.go src/x/y/main.go"},
		"**":             {"a a/b", ""},
		"[":              {"", "[ a"},
		"**/a/**/a/**/b": {"a/a/b x/a/y/a/z/b", "a/b b"},
	} {
		for i, list := range files {
			for file := range strings.FieldsSeq(list) {
				if matchesAny([]string{pattern}, file) != (i == 0) {
					t.Errorf("%s: %s", pattern, file)
				}
			}
		}
	}

	// A pattern is the host's: it may be made to take long.
	hard := strings.Repeat("**/a/", 200) + "b"
	start := time.Now()
	if matchesAny([]string{hard}, strings.Repeat("a/", 2000)+"c") || time.Since(start) > 2*time.Second {
		t.Errorf("it took %v", time.Since(start))
	}
}
