package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// A stage is a harness that can replay the tasks for which it has logs.
type stage struct {
	owners map[string]serve.Owner
	logs   map[string][]byte
	fail   error           // returned instead of a replay
	gate   <-chan struct{} // if not nil, a replay starts only after this channel is closed

	mu    sync.Mutex
	began []serve.ReplayQuery
}

func (s *stage) Owner(_ context.Context, task string) (serve.Owner, error) {
	owner, ok := s.owners[task]
	if !ok {
		return owner, fmt.Errorf("the task %q: %w", task, ledger.ErrNotFound)
	}
	return owner, nil
}

func (s *stage) Replay(ctx context.Context, q serve.ReplayQuery) (string, error) {
	s.mu.Lock()
	s.began = append(s.began, q)
	n := len(s.began)
	s.mu.Unlock()
	if s.gate != nil {
		<-s.gate
	}
	if s.fail != nil {
		return "", s.fail
	}

	log, err := replay.ReadLog(bytes.NewReader(s.logs[q.Task]), q.Task)
	if err != nil {
		return "", err
	}
	plan, err := replay.NewPlan(ctx, log, q.Request, nil)
	if err != nil {
		return "", err
	}
	if missing := plan.Unavailable(); missing != nil {
		return "", missing
	}
	return fmt.Sprint("task_replay_", n), nil
}

func (s *stage) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.began)
}

// taskLog returns the log of a task. The parameter answer is a member of the payload of a model's
// answer.
func taskLog(task, answer string) []byte {
	var b bytes.Buffer
	for i, e := range []string{`"task.started","payload":{}`, `"span.completed","payload":{"kind":"llm","provider":"p","model":"m",` + answer + `}`, `"task.completed","payload":{"checkpoint_id":"cp_1"}`} {
		fmt.Fprintf(&b, `{"id":"e%d","event":%s,"resource":{"object":"task","id":%q},"created_at":"2026-01-01T00:00:0%dZ","sequence":%[1]d,"session_id":"s","workspace_id":"w"}`+"\n", i+1, e, task, i)
	}
	return b.Bytes()
}

// staged returns the options for a server that can replay the task t in the workspace w.
func staged(t testing.TB) (serve.Options, *stage) {
	t.Helper()
	s := &stage{
		owners: map[string]serve.Owner{"t": {Stream: chain.Stream{Issuer: "harness_1", Workspace: "w", Tenant: "a", HasTenant: true}, Session: "s"}},
		logs:   map[string][]byte{"t": taskLog("t", `"response":{"text":"look"}`)},
	}
	o := options(t)
	o.Replay = s
	return o, s
}

// replayOf posts a request to replay a task.
func (h *host) replayOf(task, body string, headers ...string) reply {
	h.t.Helper()
	return h.post("/v1/tasks/"+task+"/replay", "application/json", []byte(body), append(version(), headers...)...)
}

const oneSwap = `{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":{"text":"approved"}}}}`

// TestReplay verifies that a replay is a separate task whose parent is the source.
func TestReplay(t *testing.T) {
	o, s := staged(t)
	h := start(t, o)
	for _, body := range []string{"", "{}", oneSwap} {
		got := h.replayOf("t", body)
		v := got.object(t)
		if got.status != http.StatusAccepted || v["object"] != "task" || v["id"] != fmt.Sprint("task_replay_", s.count()) || v["parent_task_id"] != "t" ||
			v["workspace_id"] != "w" || v["session_id"] != "s" || v["status"] != "SUBMITTED" || v["created_by"] != "anonymous" || v["created_at"] != "2026-11-01T12:00:00Z" {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	r := s.began[2]
	if r.Task != "t" || !r.Once.IsZero() || len(r.Request.Overrides) != 1 {
		t.Fatalf("%+v", r)
	}
	if value, ok := r.Request.Overrides[0].Digest(); !ok || value != canon.Sum([]byte(`{"text":"approved"}`)) {
		t.Errorf("%+v", r)
	}
	if got := h.do("POST", "/v1/tasks/t/replay", nil, version()...); got.status != http.StatusAccepted {
		t.Errorf("no body and no Content-Type: %d %s", got.status, got.body)
	}
	if got := h.replayOf("t", " \n"); got.status != http.StatusAccepted {
		t.Errorf("white space: %d %s", got.status, got.body)
	}

	// Discovery must list the capability if and only if the server has it.
	if got := h.get("/v1").object(t); fmt.Sprint(got["capabilities"]) != "map[receipts:false replay:true rest:true sse:false websocket:false]" {
		t.Error(got)
	}
	if got := h.get("/v1/agent-card").object(t); fmt.Sprint(got["capabilities"]) != "[replay]" {
		t.Error(got)
	}
	none := start(t, options(t))
	if got := none.get("/v1").object(t); fmt.Sprint(got["capabilities"]) != "map[receipts:false replay:false rest:true sse:false websocket:false]" {
		t.Error(got)
	}
	if got := none.replayOf("t", "nonsense"); got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestReplayRequests verifies that a request that violates a rule gets a 400 response that names
// the member, whether or not the task exists, and that no replay starts.
func TestReplayRequests(t *testing.T) {
	var list []struct{ Name, Request, Param string }
	text, err := os.ReadFile("../replay/testdata/bad_requests.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 40 {
		t.Fatalf("%d requests, %v", len(list), err)
	}
	const falsely = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	list = append(list,
		struct{ Name, Request, Param string }{"too deep", strings.Repeat("[", 2000), "body"},
		struct{ Name, Request, Param string }{"a false digest", strings.Replace(oneSwap, `"value"`, `"sha256":"`+falsely+`","value"`, 1), "override.llm:main:1.sha256"},
	)

	o, s := staged(t)
	h := start(t, o)
	for _, c := range list {
		for _, task := range []string{"t", "absent"} {
			got := h.replayOf(task, c.Request)
			if got.status != 400 || got.code() != "invalid_request" || got.param() != c.Param {
				t.Errorf("%s: %d %s, want the param %s", c.Name, got.status, got.body, c.Param)
			}
		}
	}
	if s.count() > 0 {
		t.Errorf("%d replays began", s.count())
	}
	if got := h.replayOf("t", `{"reason":"`+strings.Repeat("x", replay.MaxRequest)+`"}`); got.status != 413 || got.code() != "payload_too_large" {
		t.Errorf("too large: %d %s", got.status, got.body)
	}
	for _, media := range []string{"text/plain", "application/json; charset=utf-16"} {
		if got := h.post("/v1/tasks/t/replay", media, []byte("{}"), version()...); got.status != 415 {
			t.Errorf("%s: %d %s", media, got.status, got.body)
		}
	}
}

// TestReplayRefusals verifies the responses to errors from a harness.
func TestReplayRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		task, body string
		fail       error
		want       string // status, code, param
		details    string
	}{
		"an unknown task":          {task: "absent", want: "404 resource_not_found ", details: "{}"},
		"an unknown checkpoint":    {body: `{"mode":"from_checkpoint","checkpoint_id":"cp_9"}`, want: "404 resource_not_found checkpoint_id", details: `{"first_unavailable":{"id":"cp_9","object":"event"}}`},
		"an unknown event of one":  {body: `{"mode":"from_checkpoint","checkpoint_event_id":"e9"}`, want: "404 resource_not_found checkpoint_event_id", details: `{"first_unavailable":{"id":"e9","object":"event","original_event_id":"e9"}}`},
		"two checkpoints":          {body: `{"mode":"from_checkpoint","checkpoint_id":"cp_1","checkpoint_event_id":"e1"}`, want: "400 invalid_request checkpoint_event_id", details: "{}"},
		"another event":            {body: strings.Replace(oneSwap, `"value"`, `"event_id":"e1","value"`, 1), want: "400 invalid_request override.llm:main:1.event_id", details: "{}"},
		"an artifact that is gone": {body: strings.Replace(oneSwap, `"value":{"text":"approved"}`, `"artifact_id":"a_1"`, 1), want: "409 conflict ", details: `{"first_unavailable":{"id":"a_1","object":"artifact","override_key":"llm:main:1"}}`},
		"an answer that is gone":   {task: "digest", want: "409 conflict ", details: `{"first_unavailable":{"id":"llm:main:1","object":"host_dependency","original_event_id":"e2","override_key":"llm:main:1"}}`},
		"a replay":                 {fail: fmt.Errorf("of t: %w", replay.ErrReplay), want: "409 conflict ", details: "{}"},
		"a task that goes on":      {fail: record.ErrNotEnded, want: "409 conflict ", details: "{}"},
		"a log that is gone":       {fail: serve.ErrLogGone, want: "410 cursor_expired ", details: "{}"},
		"a task that is gone":      {fail: ledger.ErrNotFound, want: "404 resource_not_found ", details: "{}"},
		"a digest of an artifact":  {fail: replay.Mismatch{Key: "llm:main:1"}, want: "400 invalid_request override.llm:main:1.sha256", details: "{}"},
		"a mistake":                {fail: errors.New("open /secret/path: no space"), want: "500 internal_error ", details: "{}"},
		"a log that is none":       {task: "broken", want: "500 internal_error ", details: "{}"},
		"a task of the same id":    {fail: errSame, want: "500 internal_error ", details: "{}"},
	} {
		o, s := staged(t)
		s.owners["digest"], s.owners["broken"] = s.owners["t"], s.owners["t"]
		s.logs["digest"], s.logs["broken"] = taskLog("digest", `"response_sha256":"`+strings.Repeat("0c", 32)+`"`), []byte("{}\n")
		s.fail = c.fail
		if c.fail == errSame {
			o.Replay = same{s}
		}
		task := c.task
		if task == "" {
			task = "t"
		}
		got := start(t, o).replayOf(task, c.body)
		var e struct {
			Error struct{ Details json.RawMessage }
		}
		if err := json.Unmarshal(got.body, &e); err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(got.status, " ", got.code(), " ", got.param()); text != c.want || string(e.Error.Details) != c.details {
			t.Errorf("%s: %s\nwant %s %s", name, got.body, c.want, c.details)
		}
		if bytes.Contains(got.body, []byte("/secret/path")) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

var errSame = errors.New("the id of the source is returned")

// A same value is a harness that returns the ID of the source as the ID of the replay.
type same struct{ *stage }

func (same) Replay(_ context.Context, q serve.ReplayQuery) (string, error) { return q.Task, nil }

// TestReplayNeedsItsScope verifies that the version, the key, the scope, and the reach are checked
// in this order, before the task is looked up. The response for a task outside the client's reach
// is the same as for an absent task.
func TestReplayNeedsItsScope(t *testing.T) {
	o, s := staged(t)
	lines, held := "", map[string]string{}
	for name, members := range map[string]string{
		"all": "", "replay": `,"scopes":["tasks:replay"]`, "read": `,"scopes":["receipts:read","receipts:verify"]`, "none": `,"scopes":[]`,
		"tenant a": `,"tenants":["a"]`, "tenant b": `,"tenants":["b"]`, "workspace w": `,"workspaces":["w"]`, "workspace v": `,"workspaces":["v"]`,
		"issuer": `,"issuers":["harness_1"]`, "other": `,"issuers":["harness_2"]`,
	} {
		key, line := narrowKey(t, strings.ReplaceAll(name, " ", "_"), members)
		lines, held[name] = lines+line, key
	}
	keys, err := serve.ParseAPIKeys([]byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	o.Auth, o.Public = keys, false
	h := start(t, o)

	for name, want := range map[string]int{"all": 202, "replay": 202, "read": 404, "none": 404, "tenant a": 202, "tenant b": 404, "workspace w": 202, "workspace v": 404, "issuer": 202, "other": 404} {
		before := s.count()
		bearer := []string{"Authorization", "Bearer " + held[name], "Idempotency-Key", "k"}
		got, absent := h.replayOf("t", oneSwap, bearer...), h.replayOf("absent", oneSwap, bearer...)
		if got.status != want || s.count()-before != map[int]int{202: 1}[want] {
			t.Errorf("%s: %d, %d began: %s", name, got.status, s.count()-before, got.body)
		}
		if want == 404 && plain(got) != plain(absent) {
			t.Errorf("%s: %s\nfor an absent log: %s", name, plain(got), plain(absent))
		}
		if want == 202 && got.object(t)["created_by"] != strings.ReplaceAll(name, " ", "_") {
			t.Errorf("%s: %s", name, got.body)
		}
	}

	before := s.count()
	for _, c := range []struct {
		want    string
		headers []string
	}{
		{"426 unsupported_protocol_version", nil},
		{"426 unsupported_protocol_version", []string{"Authorization", "Bearer " + held["all"]}},
		{"401 unauthenticated", version()},
		{"401 unauthenticated", append(version(), "Authorization", "Bearer rk_nonsense")},
	} {
		for _, task := range []string{"t", "absent"} {
			got := h.post("/v1/tasks/"+task+"/replay", "application/json", []byte("nonsense"), c.headers...)
			if text := fmt.Sprint(got.status, " ", got.code()); text != c.want {
				t.Errorf("%s: %s", text, got.body)
			}
		}
	}
	if got := h.do("PUT", "/v1/tasks/t/replay", nil, append(version(), "Authorization", "Bearer "+held["all"])...); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("%d %s", got.status, got.header)
	}
	if s.count() != before {
		t.Errorf("%d replays began", s.count()-before)
	}
}

// TestReplayOnce verifies that requests with the same key start only one replay, even if they
// arrive at the same time. The first request receives the task, as do all other requests within a
// day after the replay has started. Requests that arrive while the replay is being started receive
// a 202 response without the task.
func TestReplayOnce(t *testing.T) {
	var clock atomic.Int64
	o, s := staged(t)
	o.Now = func() time.Time { return noon().Add(time.Duration(clock.Load())) }
	gate := make(chan struct{})
	s.gate = gate
	mine, first := narrowKey(t, "mine", "")
	yours, second := narrowKey(t, "yours", "")
	keys, err := serve.ParseAPIKeys([]byte(first + second))
	if err != nil {
		t.Fatal(err)
	}
	o.Auth, o.Public = keys, false
	h := start(t, o)
	ask := func(secret, task, body, key string) reply {
		return h.replayOf(task, body, "Authorization", "Bearer "+secret, "Idempotency-Key", key)
	}

	answers := make(chan reply)
	spelled := strings.Replace(oneSwap, `{"text":"approved"}`, " {\"text\" : \"\\u0061pproved\"}", 1)
	for i := range 16 {
		go func() { answers <- ask(mine, "t", []string{oneSwap, spelled}[i%2], "k") }()
	}
	for s.count() == 0 {
		time.Sleep(time.Millisecond) // wait until one of the replays has started
	}
	if got := ask(mine, "t", "{}", "k"); got.status != 409 || got.code() != "idempotency_key_reused" {
		t.Errorf("another body meanwhile: %d %s", got.status, got.body)
	}
	close(gate)
	task := map[string]int{}
	for range 16 {
		got := <-answers
		if got.status != 202 {
			t.Errorf("%d %s", got.status, got.body)
		}
		if string(got.body) != inFlight || got.header.Get("Retry-After") == "" {
			task[string(got.body)]++
		}
	}
	if got := ask(mine, "t", spelled, "k"); len(task) != 1 || got.status != 202 || task[string(got.body)] == 0 {
		t.Errorf("%d %s, before that %v", got.status, got.body, task)
	}
	if s.count() != 1 || s.began[0].Once.IsZero() {
		t.Fatalf("%d replays began: %+v", s.count(), s.began)
	}

	s.owners["u"], s.logs["u"] = s.owners["t"], taskLog("u", `"response":1`)
	for i, c := range []struct {
		after           time.Duration
		secret, task    string
		body, key, want string
		began           int
	}{
		{0, mine, "t", oneSwap, "k", "202 ", 1},
		{0, mine, "%74", oneSwap, "k", "202 ", 1}, // the same task with an escaped ID
		{0, mine, "t", "{}", "k", "409 idempotency_key_reused", 1},
		{0, mine, "t", oneSwap, "K", "202 ", 2},
		{0, yours, "t", oneSwap, "k", "202 ", 3},
		{0, mine, "u", oneSwap, "k", "202 ", 4},
		{0, mine, "t", "", "empty", "202 ", 5},
		{0, mine, "t", "{}", "empty", "202 ", 5},
		{23 * time.Hour, mine, "t", oneSwap, "k", "202 ", 5},
		{25 * time.Hour, mine, "t", oneSwap, "k", "202 ", 6},
		{25 * time.Hour, mine, "t", "{}", "empty", "202 ", 7},
	} {
		clock.Store(int64(c.after))
		got := ask(c.secret, c.task, c.body, c.key)
		if text := fmt.Sprint(got.status, " ", got.code()); text != c.want || s.count() != c.began {
			t.Errorf("%d: %s, %d began: %s", i, text, s.count(), got.body)
		}
	}
	if a, b := s.began[0].Once, s.began[5].Once; a != b {
		t.Error("the same client, task and key have another name the day after")
	}
	for i, q := range s.began[1:5] {
		if q.Once == s.began[0].Once {
			t.Errorf("%d: another client, task or key has the same name", i+1)
		}
	}
}

const inFlight = `{"object":"request.in_flight"}` + "\n"

// TestReplayOnceFails verifies that, if a replay did not start, it can be retried with the same key
// and another body. After a 500, it is unknown whether the replay started, so it is not retried.
func TestReplayOnceFails(t *testing.T) {
	o, s := staged(t)
	h := start(t, o)
	try := func(body string, fail error, want string, began int) {
		t.Helper()
		s.fail = fail
		got := h.replayOf("t", body, "Idempotency-Key", "k")
		if text := fmt.Sprint(got.status, " ", got.code()); text != want || s.count() != began {
			t.Errorf("%s, want %s: %s; %d began, want %d", text, want, got.body, s.count(), began)
		}
	}
	try(oneSwap, record.ErrNotEnded, "409 conflict", 1)
	try("nonsense", nil, "400 invalid_request", 1)
	try("{}", nil, "202 ", 2)

	h = start(t, o)
	try("{}", errors.New("no disk"), "500 internal_error", 3)
	try("{}", nil, "500 internal_error", 3)
	try(oneSwap, nil, "409 idempotency_key_reused", 3)

	o.Replay = panics{s}
	h = start(t, o)
	try("{}", nil, "500 internal_error", 3)
	try("{}", nil, "500 internal_error", 3)
}

type panics struct{ *stage }

func (panics) Replay(context.Context, serve.ReplayQuery) (string, error) { panic("a mistake") }

// TestReplayForgetsNoneAtWork verifies that a replay in progress is not started again, regardless
// of how many other keys are used in the meantime.
func TestReplayForgetsNoneAtWork(t *testing.T) {
	o, s := staged(t)
	gate := make(chan struct{})
	slow := &slowFirst{stage: s, gate: gate}
	o.Replay = slow
	h := start(t, o)
	answers := make(chan reply)
	go func() { answers <- h.replayOf("t", "", "Idempotency-Key", "slow") }()
	for s.count() == 0 {
		time.Sleep(time.Millisecond) // wait until it has started
	}
	for i := range 1100 {
		h.replayOf("t", "", "Idempotency-Key", fmt.Sprint("k", i))
	}
	if got := h.replayOf("t", "", "Idempotency-Key", "slow"); got.status != 202 || string(got.body) != inFlight {
		t.Errorf("%d %s", got.status, got.body)
	}
	close(gate)
	if got := <-answers; got.status != 202 || s.count() != 1101 {
		t.Errorf("%d %s, %d began", got.status, got.body, s.count())
	}
}

// slowFirst delays the result of the first replay until a gate is closed.
type slowFirst struct {
	*stage
	gate <-chan struct{}
	once atomic.Bool
}

func (s *slowFirst) Replay(ctx context.Context, q serve.ReplayQuery) (string, error) {
	first := s.once.CompareAndSwap(false, true) // set before the replay is counted as started
	task, err := s.stage.Replay(ctx, q)
	if first {
		<-s.gate
	}
	return task, err
}

// TestReplaySecrets verifies that, regardless of the result, no response and no line of the log
// contains the replacement for a secret.
func TestReplaySecrets(t *testing.T) {
	const secret = "hunter2-8675309"
	var log logBuffer
	o, s := staged(t)
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := start(t, o)
	for _, override := range []string{
		`"secret:token":{"kind":"secret_value","value":"` + secret + `"}`,
		`"llm:main:1":{"kind":"secret_value","value":{"` + secret + `":"` + secret + `"}}`,
		`"llm:main:1":{"kind":"secret_value","event_id":"e1","value":"` + secret + `"}`,
		`"secret:token":{"kind":"secret_value","value":"` + secret + `","visibility":"public"}`,
		`"secret:token":{"kind":"secret_value","value":"` + secret + `","sha256":"` + secret + `"}`,
		`"secret:token":{"kind":"` + secret + `","value":"` + secret + `"}`,
		`"secret:token":{"kind":"secret_value","value":{"` + secret + `":1,"` + secret + `":1}}`,
		`"secret:token":{"kind":"secret_value","value":{"` + secret + `":9007199254740993}}`,
		`"secret:token":{"kind":"secret_value","value":"` + secret,
	} {
		for _, fail := range []error{nil, errors.New("no disk")} {
			s.fail = fail
			got := h.replayOf("t", `{"mode":"with_overrides","override":{`+override+`}}`, "Idempotency-Key", override[:12])
			if bytes.Contains(got.body, []byte(secret)) || strings.Contains(fmt.Sprint(got.header), secret) {
				t.Errorf("%s: %s", override, got.body)
			}
		}
	}
	if s.count() == 0 || strings.Contains(fmt.Sprintf("%v %+v", s.began[0], s.began[0].Request), secret) {
		t.Errorf("%+v", s.began)
	}
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, "/v1/tasks/{id}/replay") {
		t.Error(text)
	}
}
