package source_test

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// facts describes the content of a log, as computed by code outside this module.
type facts struct {
	Source string
	File   struct {
		Name   string
		Bytes  int64
		SHA256 string
		Plain  int64 `json:"uncompressed_bytes"`
		Lines  int64
	}
	Unknown     map[string]int64 `json:"unknown_records"`
	Unreadable  int64            `json:"unreadable_lines"`
	Session     *string          `json:"session_id"`
	First, Last *string
	FirstTime   *string `json:"first_time"`
	LastTime    *string `json:"last_time"`
	Model       *string `json:"chosen_model"`
	Models      map[string]modelFacts
	Tokens      *modelFacts
	MainThread  *modelFacts                             `json:"main_thread_tokens"`
	Nested      *struct{ Models map[string]modelFacts } `json:"nested_agent_tokens"`
	OwnKnown    *bool                                   `json:"own_tokens_known"`
	Cost        *struct{ Amount string }
	Calls       []callFacts
	Network     struct {
		Hosts    map[string]int `json:"web_fetch_hosts"`
		Searches int            `json:"web_searches"`
	}
	Writes     []writeFacts
	Applied    []writeFacts // writes that the program itself reports as applied; nil if it does not report them
	Continuity *struct {
		Pairs, Held, Broken, Unchecked int64
		List                           []struct {
			From string `json:"from_call"`
			To   string `json:"to_call"`
		} `json:"broken_pairs"`
	}
	Handoffs  []handoffFacts
	Decisions []any
	secondFacts
	End    *string
	family familyFacts
}

// secondFacts contains the facts that the second reader adds.
type secondFacts struct {
	Reader    int
	ToolCalls struct {
		Denied   int
		Siblings int `json:"failed_because_a_sibling_failed"`
	} `json:"tool_calls"`
	WithAgents *modelFacts           `json:"tokens_with_agents"`
	Both       map[string]modelFacts `json:"models_with_agents"`
	Agents     *struct {
		Total, Writes int
		ByTool        map[string]int `json:"by_tool"`
	} `json:"agent_progress_calls"`
	NotRun       []string `json:"not_run"`
	PullRequests []struct {
		URL string
	} `json:"pull_requests"`
	Results []struct {
		Subtype *string
		IsError *bool `json:"is_error"`
	}
	Items   map[string]int64 // items in a paginated history, counted by type
	Prompts *int64
	EndSign string `json:"end_sign"`

	// The remaining fields apply to agents whose logs package kind recognizes.
	Approvals []struct {
		Call     string `json:"call_id"`
		Decision string
	}
	Granted *int   `json:"approvals_granted"`
	AtLeast *int64 `json:"output_tokens_at_least"`
}

// newer reports whether one of these agents wrote the log.
func (f *facts) newer() bool {
	return !strings.HasPrefix(f.Source, "claude-") && !strings.HasPrefix(f.Source, "codex-") && f.Source != "otlp-json"
}

// familyFacts contains the facts about several logs that form a single task.
type familyFacts struct {
	Family []struct {
		Calls int `json:"tool_calls"`
	}
	Models  map[string]modelFacts
	Tokens  *modelFacts
	Writes  int
	Without []string `json:"agents_without_a_file"`
}

type modelFacts struct {
	Total  *int64 `json:"input_total"`
	Input  *int64
	Tokens *int64 `json:"input_tokens"`
	Fresh  *int64 `json:"input_uncached"`
	Read   *int64 `json:"cache_read"`
	Write  *int64 `json:"cache_creation"`
	Output *int64
	Out    *int64 `json:"output_tokens"`
	Floor  bool   `json:"output_is_lower_bound"`

	// These names are used by Codex and in spans.
	Cached    *int64 `json:"cached_input_tokens"`
	Written   *int64 `json:"cache_write_input_tokens"`
	Reasoning *int64 `json:"reasoning"`
	Thought   *int64 `json:"reasoning_output_tokens"`
}

// parts returns the parts of the input and output that are stated separately, indexed by their
// names in receipts. A value is nil if the part is not stated.
func (m modelFacts) parts() map[string]*int64 {
	return map[string]*int64{
		"cache_read_input_tokens": cmp.Or(m.Read, m.Cached), "cache_creation_input_tokens": cmp.Or(m.Write, m.Written),
		"reasoning_output_tokens": cmp.Or(m.Reasoning, m.Thought),
	}
}

func (m modelFacts) input() *int64 {
	for _, n := range []*int64{m.Total, m.Tokens, m.Input} {
		if n != nil {
			return n
		}
	}
	return nil
}

func (m modelFacts) output() *int64 {
	if m.Output != nil {
		return m.Output
	}
	return m.Out
}

type callFacts struct {
	ID     string `json:"call_id"`
	Tool   string
	Status string
	Turn   int
	Server string
	Name   string `json:"server_tool"`
}

type writeFacts struct {
	Path, Operation string
	Before, After   *string
	BeforeSHA       *string `json:"before_sha256"`
	AfterSHA        *string `json:"after_sha256"`
	BeforeKnown     bool    `json:"before_known"`
	AfterKnown      bool    `json:"after_known"`
	Call            string  `json:"call_id"`
}

type handoffFacts struct {
	Agent  string `json:"target_agent"`
	ID     string `json:"agent_id"`
	Child  string `json:"session_id"`
	Path   string `json:"trajectory_path"`
	Call   string `json:"call_id"`
	Status string
	Kind   string
}

// TestFacts verifies that the draft for every public log matches the facts exactly.
func TestFacts(t *testing.T) {
	for dir, least := range map[string]int{"sources": 40, "sources-2": 28} {
		factsIn(t, vectors.Dir(t, dir), least)
	}
}

func factsIn(t *testing.T, dir string, least int) {
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".expected.json") || strings.HasSuffix(name, "family.expected.json") || strings.Contains(name, "/framework-") {
			return err
		}
		var f facts
		readJSON(t, name, &f)
		if !reads(f.Source) {
			return nil
		}
		n++
		rel, _ := filepath.Rel(dir, name)
		t.Run(strings.TrimSuffix(filepath.ToSlash(rel), ".expected.json"), func(t *testing.T) {
			check(t, f, draftOf(t, filepath.Join(filepath.Dir(name), f.File.Name)))
		})
		return nil
	})
	if err != nil || n < least {
		t.Errorf("%d logs, expected at least %d: %v", n, least, err)
	}
}

func reads(kind string) bool {
	return slices.Contains(source.Names(), kind)
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(name, err)
	}
}

func options() source.Options {
	return source.Options{Options: record.Options{Issuer: receipt.Issuer{ID: "tester"}}}
}

// draftOf records the given files as one task.
func draftOf(t *testing.T, files ...string) *receipt.Draft {
	t.Helper()
	var in []source.Input
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sum := sha256.New()
		plain, packed, done, err := unpack.Plain(bufio.NewReader(io.TeeReader(f, sum)), unpack.Options{}, new(int64))
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		log := source.Input{Name: filepath.Base(name), Reader: plain}
		if packed {
			log.Sum = func() (canon.Digest, int64) { return canon.Digest(sum.Sum(nil)), 0 }
		}
		in = append(in, log)
	}
	log, err := source.Read(in, options())
	if err != nil {
		t.Fatal(err)
	}
	return log.Draft
}

// told contains a draft, its JSON form, and its unreported locations.
type told struct {
	*receipt.Draft
	untold, floor map[string]bool
	meta          map[string]any
}

func read(t *testing.T, d *receipt.Draft) told {
	t.Helper()
	text, err := json.Marshal(d.Metadata)
	meta := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string) map[string]bool {
		all := map[string]bool{}
		list, _ := meta[name].([]any)
		for _, at := range list {
			all[at.(string)] = true
		}
		return all
	}
	return told{d, set("unreported"), set("at_least"), meta}
}

func check(t *testing.T, f facts, d *receipt.Draft) {
	r := read(t, d)
	r.names(t, f)
	r.times(t, f)
	r.calls(t, f)
	r.tokens(t, f)
	r.writes(t, f)
	r.records(t, f)
	r.end(t, f)
	r.handoffs(t, f)
	r.second(t, f)
	r.approvals(t, f)
}

// approvals compares the decisions in the draft with the facts. Only the logs of Copilot CLI state
// that a person approved something.
func (r told) approvals(t *testing.T, f facts) {
	var got, want []string
	for _, a := range r.Approvals {
		if f.Approvals != nil || a.Decision == "approved" {
			got = append(got, a.ApprovalID+" "+a.Decision)
		}
	}
	for _, a := range f.Approvals {
		want = append(want, a.Call+" "+a.Decision)
	}
	if !slices.Equal(got, want) {
		t.Errorf("approvals %q, want %q", got, want)
	}
	if f.Decisions == nil && f.Approvals == nil && !r.untold["/approvals"] {
		t.Error("/approvals is not unreported")
	}
}

// second compares the draft with the facts that the second reader adds.
func (r told) second(t *testing.T, f facts) {
	if f.Reader != 2 {
		return
	}
	about, _ := r.meta["source"].(map[string]any)
	if f.Prompts != nil {
		*f.Prompts += f.Items["UserMessage"]
		prompts, _ := about["prompts"].(map[string]any)
		if n, _ := prompts["count"].(float64); int64(n) != *f.Prompts || !strings.HasPrefix(fmt.Sprint(prompts["sha256"]), "sha256:") {
			t.Errorf("prompts %v, want %d", prompts, *f.Prompts)
		}
	}

	var got, want []string
	for _, a := range r.FinalArtifacts {
		got = append(got, a.Kind+" "+a.URI)
	}
	for _, p := range f.PullRequests {
		want = append(want, "pull_request "+p.URL)
	}
	if !slices.Equal(got, want) {
		t.Errorf("artifacts %q, want %q", got, want)
	}

	inferred, _ := r.meta["inferred"].([]any)
	turn := f.EndSign == "end_turn" || f.EndSign == "system" || f.EndSign == "stop_hook" || f.newer() && f.End != nil && *f.End == "turn_ended"
	if is := slices.Contains(inferred, any("/lifecycle/final_state")); is != turn {
		t.Errorf("the end is inferred: %v, by %q", is, f.EndSign)
	}
	denied := 0
	for _, a := range r.Approvals {
		if a.Decision == "denied" {
			denied++
		}
	}
	if f.ToolCalls.Denied != denied {
		t.Errorf("%d denied approvals, want %d", denied, f.ToolCalls.Denied)
	}
}

func (r told) names(t *testing.T, f facts) {
	if got := r.Identifiers.SessionID; f.Session != nil && got != *f.Session || f.Session == nil != r.untold["/identifiers/session_id"] {
		t.Errorf("session %q", got)
	}
	model := r.ModelRoute.ChosenModel.Model
	if f.Model != nil && model != *f.Model || (f.Model == nil) != (r.untold["/model_route/chosen_model"] || r.untold["/model_route/chosen_model/model"]) {
		t.Errorf("model %q", model)
	}
	digest := "sha256:" + f.File.SHA256
	if !slices.ContainsFunc(r.ReplayInput.Materials, func(m receipt.Material) bool { return m.Kind == "event_log" && m.SHA256.String() == digest }) {
		t.Errorf("the digest of the log is none of the materials")
	}
}

func (r told) times(t *testing.T, f facts) {
	if f.FirstTime == nil {
		if !r.untold["/lifecycle/started_at"] || !r.untold["/lifecycle/completed_at"] {
			t.Error("times that no line records are not unreported")
		}
		return
	}
	for _, x := range []struct {
		got  receipt.Time
		want string
	}{{r.Lifecycle.StartedAt, *f.FirstTime}, {r.Lifecycle.CompletedAt, *f.LastTime}} {
		want, err := time.Parse(time.RFC3339Nano, x.want)
		if err != nil || !x.got.Equal(want.Truncate(time.Millisecond)) {
			t.Errorf("time %s, want %s: %v", x.got, x.want, err)
		}
	}
}

// status returns the outcome of a call in the vocabulary of the facts.
func (r told) status(i int) string {
	c := r.SideEffects.ToolCalls[i]
	untold := r.untold[fmt.Sprintf("/side_effects/tool_calls/%d/status", i)]
	switch {
	case c.Metadata["incomplete"] == true && untold:
		return "unanswered"
	case untold:
		return "unknown"
	case c.Metadata["error_category"] == "permission_denied":
		return "denied"
	}
	return c.Status
}

func (r told) calls(t *testing.T, f facts) {
	want, got := map[string]string{}, map[string]string{}
	agents, notRun := map[string]int{}, 0
	for i, c := range f.Calls {
		id := c.ID
		if c.Turn > 1 {
			id = fmt.Sprintf("turn_%d/%s", c.Turn, c.ID)
		}
		tool := c.Tool
		if c.Name != "" && !strings.HasPrefix(tool, "mcp__") {
			tool = c.Name
		}
		if id == "" {
			id = fmt.Sprint("#", i)
		}
		want[id] = tool + " " + c.Status
	}
	searches := 0
	for i, c := range r.SideEffects.ToolCalls {
		if _, listed := want[c.CallID]; !listed && c.Tool == "web_search" && f.Source == "codex-rollout" { // the network facts cover these calls
			searches++
			continue
		}
		status := r.status(i)
		if want[c.CallID] == "" && c.Metadata["worker_id"] != nil { // the call was made by an agent that has no file
			agents[c.Tool]++
			continue
		}
		if c.Metadata["error_category"] == "sibling_failed" {
			if notRun++; status != "canceled" || f.Reader == 2 && !slices.Contains(f.NotRun, c.CallID) {
				t.Errorf("%s: %s, and it was not run", c.CallID, status)
			}
			status = "failed" // the facts contain the error instead
		}
		got[c.CallID] = c.Tool + " " + status
	}
	r.agents(t, f, agents)
	if f.ToolCalls.Siblings != notRun {
		t.Errorf("%d calls were not run, want %d", notRun, f.ToolCalls.Siblings)
	}
	if n := *r.AutonomyBudget.Consumed.ToolCalls; f.Agents != nil && n != int64(len(f.Calls)+f.Agents.Total-f.ToolCalls.Denied-notRun) {
		t.Errorf("%d calls are consumed", n)
	}
	if !maps.Equal(got, want) {
		t.Errorf("calls\n%v\nwant\n%v", got, want)
	}
	r.network(t, f, searches)
}

// network compares the hosts in a rollout, and the searches for which no call is listed.
func (r told) network(t *testing.T, f facts, searches int) {
	if f.Source != "codex-rollout" || f.Network.Hosts == nil {
		return
	}
	got, sum := map[string]int{}, f.Network.Searches
	for _, e := range r.SideEffects.NetworkEgress {
		if e.Purpose == "web_search" || e.Purpose == "web.search" {
			got[e.Destination]++
		}
	}
	for _, n := range f.Network.Hosts {
		sum += n
	}
	if f.Network.Searches == 0 && !maps.Equal(got, f.Network.Hosts) || searches > sum {
		t.Errorf("network %v, want %v; %d searches", got, f.Network, searches)
	}
}

// agents compares the calls that a session repeats for agents that have no separate files.
func (r told) agents(t *testing.T, f facts, got map[string]int) {
	t.Helper()
	switch {
	case f.Agents != nil && !maps.Equal(got, f.Agents.ByTool):
		t.Errorf("calls of agents %v, want %v", got, f.Agents.ByTool)
	case f.Agents == nil && f.Nested == nil && len(got) > 0:
		t.Errorf("calls of agents %v that no line repeats", got)
	}
}

func (r told) tokens(t *testing.T, f facts) {
	if f.File.Name == "opencode-tool-calls.json" { // no line contains token counts, but the facts count them as 0
		f.Models, f.Tokens = nil, nil
	}
	models := maps.Clone(f.Models)
	if f.Both != nil {
		models = f.Both
	} else if f.Nested != nil {
		maps.Copy(models, f.Nested.Models)
	}
	for name, m := range models {
		if m.input() == nil && m.output() == nil {
			continue
		}
		i := slices.IndexFunc(r.Cost.ProviderBreakdown, func(p receipt.ProviderCost) bool { return p.Model == name })
		if i < 0 {
			t.Errorf("nothing is recorded about the model %s", name)
			continue
		}
		p, at := r.Cost.ProviderBreakdown[i], fmt.Sprintf("/cost/provider_breakdown/%d/output_tokens", i)
		same(t, name+" input", p.InputTokens, m.input())
		same(t, name+" output", p.OutputTokens, m.output())
		if r.floor[at] != m.Floor {
			t.Errorf("%s: output is a floor: %v", name, r.floor[at])
		}
		r.apart(t, name, m, p)
	}
	consumed := r.AutonomyBudget.Consumed
	switch {
	case f.OwnKnown != nil && !*f.OwnKnown:
		if !r.untold["/autonomy_budget/consumed/input_tokens"] {
			t.Error("tokens of only a fork are recorded")
		}
	case f.Tokens == nil:
		if consumed.InputTokens != nil && !r.floor["/autonomy_budget/consumed/input_tokens"] {
			t.Errorf("tokens %v that no line states", *consumed.InputTokens)
		}
		if m := f.MainThread; m != nil {
			sum := *m.Fresh + *m.Read + *m.Write
			same(t, "main thread input", consumed.InputTokens, &sum)
			same(t, "main thread output", consumed.OutputTokens, m.output())
			r.apart(t, "main thread", *m, r.Cost.ProviderBreakdown...)
		}
	case f.WithAgents != nil:
		same(t, "input", consumed.InputTokens, f.WithAgents.input())
		same(t, "output", consumed.OutputTokens, f.WithAgents.output())
		r.apart(t, "all", *f.WithAgents, r.Cost.ProviderBreakdown...)
	case f.Nested == nil:
		same(t, "input", consumed.InputTokens, f.Tokens.input())
		same(t, "output", consumed.OutputTokens, f.Tokens.output())
		r.apart(t, "all", *f.Tokens, r.Cost.ProviderBreakdown...)
	}
	switch amount := fmt.Sprint(r.Cost.Total); {
	case f.Cost == nil && !r.untold["/cost/total"]:
		t.Errorf("cost %s that no line states", amount)
	case f.Cost != nil && (!sameAmount(amount, f.Cost.Amount) || r.untold["/cost/total"] != (len(f.Unknown) > 0)): // an unread record may contain a cost
		t.Errorf("cost %s, want %s", amount, f.Cost.Amount)
	}
}

// sameAmount reports whether two decimals represent the same number in a receipt.
func sameAmount(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, wrong := strconv.ParseFloat(b, 64)
	return err == nil && wrong == nil && x == y
}

// apart compares the separately stated parts of the input and output with the facts. They must be
// complete, and must not contain anything that the facts do not contain.
func (r told) apart(t *testing.T, of string, want modelFacts, entries ...receipt.ProviderCost) {
	t.Helper()
	for name, n := range want.parts() {
		var got *int64
		for _, p := range entries {
			if part, err := strconv.ParseInt(asText(t, p.Metadata[name]), 10, 64); err == nil {
				sum := part
				if got != nil {
					sum += *got
				}
				got = &sum
			}
		}
		if got != nil || n != nil {
			same(t, of+" "+name, got, n)
		}
	}
}

func same(t *testing.T, what string, got, want *int64) {
	t.Helper()
	if got == nil || want == nil || *got != *want {
		t.Errorf("%s: %s, want %s", what, show(got), show(want))
	}
}

func show(n *int64) string {
	if n == nil {
		return "nothing"
	}
	return fmt.Sprint(*n)
}

func (r told) writes(t *testing.T, f facts) {
	digest := func(known bool, sum *string) string {
		switch {
		case !known:
			return "?"
		case sum == nil:
			return "-"
		}
		return "sha256:" + *sum
	}
	var want, got []string
	writes := f.Writes
	if f.Applied != nil {
		writes = f.Applied
	}
	for _, w := range writes {
		want = append(want, fmt.Sprintf("%s %q %s %s", base(w.Path), w.Operation, digest(w.BeforeKnown, w.BeforeSHA), digest(w.AfterKnown, w.AfterSHA)))
	}
	for i, w := range r.SideEffects.FSWrites {
		name, op := base(w.Path), w.Operation
		if strings.HasPrefix(w.Path, "(outside ") && i < len(writes) {
			name = base(writes[i].Path)
		}
		if r.untold[fmt.Sprintf("/side_effects/fs_writes/%d/operation", i)] {
			op = ""
		}
		before := stateOf(w.BeforeSHA256)
		if r.untold[fmt.Sprintf("/side_effects/fs_writes/%d/before_sha256", i)] {
			before = "?"
		}
		got = append(got, fmt.Sprintf("%s %q %s %s", name, op, before, stateOf(w.AfterSHA256)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("writes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r.continuity(t, f)
}

// stateOf returns the content of a file as a digest, as "-" if there is no file, or as "?" if the
// content is unknown.
func stateOf(d receipt.OptionalDigest) string {
	switch {
	case !d.Digest.IsZero():
		return d.Digest.String()
	case d.Null:
		return "-"
	}
	return "?"
}

// base returns the last element of a path, regardless of the operating system.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

func (r told) continuity(t *testing.T, f facts) {
	c, _ := r.meta["write_continuity"].(map[string]any)
	if f.Continuity == nil || c == nil {
		if f.Continuity != nil && f.Continuity.Pairs+f.Continuity.Unchecked > 0 {
			t.Error("nothing is recorded about continuity")
		}
		return
	}
	for name, want := range map[string]int64{"pairs": f.Continuity.Pairs, "held": f.Continuity.Held, "broken": f.Continuity.Broken, "unchecked": f.Continuity.Unchecked} {
		if got, _ := c[name].(float64); int64(got) != want {
			t.Errorf("continuity: %s %v, want %d", name, c[name], want)
		}
	}
	var got, want []string
	list, _ := c["changed_outside"].([]any)
	for _, p := range list {
		pair := p.(map[string]any)
		got = append(got, fmt.Sprint(pair["from_call"], " ", pair["to_call"]))
	}
	for _, p := range f.Continuity.List {
		want = append(want, p.From+" "+p.To)
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("broken pairs\n%v\nwant\n%v", got, want)
	}
}

func (r told) records(t *testing.T, f facts) {
	got := map[string]int64{}
	ignored, _ := r.meta["ignored_records"].(map[string]any)
	for name, n := range ignored {
		got[name] = int64(n.(float64))
	}
	if !maps.Equal(got, f.Unknown) && len(got)+len(f.Unknown) > 0 {
		t.Errorf("unknown records %v, want %v", got, f.Unknown)
	}
	about, _ := r.meta["source"].(map[string]any)
	if n, _ := about["unreadable_lines"].(float64); int64(n) != f.Unreadable {
		t.Errorf("%v unreadable lines, want %d", n, f.Unreadable)
	}
	if about["kind"] != f.Source {
		t.Errorf("source %v, want %s", about["kind"], f.Source)
	}
}

func (r told) end(t *testing.T, f facts) {
	state := map[string]string{"turn_ended": "SUCCEEDED", "succeeded": "SUCCEEDED", "failed": "FAILED", "interrupted": "CANCELED"}
	switch {
	case f.Source == "otlp-json": // the facts do not contain an end
	case len(f.Results) == 1 && f.Results[0].Subtype == nil && f.Results[0].IsError == nil: // the facts call such a result a failure, but the log does not
		if !r.untold["/lifecycle/final_state"] {
			t.Errorf("%s, and the result states no end", r.Lifecycle.FinalState)
		}
	case f.End == nil && !r.untold["/lifecycle/final_state"]:
		t.Errorf("%s, and no line states how it ended", r.Lifecycle.FinalState)
	case f.End != nil && (r.untold["/lifecycle/final_state"] || state[*f.End] != r.Lifecycle.FinalState):
		t.Errorf("%s, want %s", r.Lifecycle.FinalState, *f.End)
	}
}

func (r told) handoffs(t *testing.T, f facts) {
	var got, want []string
	for i, h := range r.SideEffects.A2AHandoffs {
		id, status := h.TaskID, h.Status
		if r.untold[fmt.Sprintf("/side_effects/a2a_handoffs/%d/task_id", i)] {
			id = ""
		}
		if r.untold[fmt.Sprintf("/side_effects/a2a_handoffs/%d/status", i)] {
			status = ""
		}
		got = append(got, h.TargetAgent+" "+id+" "+status)
	}
	for _, h := range f.Handoffs {
		agent := h.Agent
		if agent == "" {
			agent = h.Kind
		}
		if f.Source == "atif" {
			agent = "unknown"
		}
		want = append(want, agent+" "+cmp.Or(h.Path, h.ID, h.Child)+" "+h.Status)
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("handoffs %v, want %v", got, want)
	}
}
