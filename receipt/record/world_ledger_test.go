package record_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// The tests that use a world compare the draft of a task with its log. A log is generated together
// with a ledger, which lists the facts. The generator uses only the rules on the protocol's pages.
// The draft of the log is then compared with the ledger, member by member, without using the
// recorder.
//
// A world consists of episodes, each of which has lines and facts. The lines of all episodes are
// mixed, but the lines of each episode keep their order.

// A ledger combines the facts of all episodes.
type ledger struct {
	calls     []calledTool
	dropped   int // calls that were never dispatched and therefore have no entry
	aborted   int // calls that appear only in a model's text; the draft may also count these as dropped
	approvals []answered
	writes    []written
	hosts     []string
	unclear   int // hosts in URLs that parsers interpret differently
	spent     spent
	models    []usedModel
	results   map[string]string // digest of the last version, by artifact
	handoffs  map[string]string // last status, by task
	overrides []string          // override keys
	said      []string          // messages from a model for which the log contains no digest
	unread    map[string]int    // number of unknown lines, by type
	messages  []string          // messages sent to a client, which may be answers from a model
}

// A calledTool is a single call of a tool, with its arguments and result.
type calledTool struct {
	id, tool string   // id is "" if it was not recorded
	status   []string // any of these statuses is correct
	input    any      // the arguments with which the call ran; nil if not recorded
	output   any
	ran      bool
	differs  bool // whether the arguments differ from the approved ones
	open     bool // it never ended
}

// answered is a question with its answer. The actor "" stands for anyone who is not a person in the
// log.
type answered struct{ id, decision, actor string }

// written is a file that was written.
type written struct{ path, operation string }

// spent is the total cost in thousandths. A part of the cost may be unrecorded.
type spent struct {
	thousandths   int64
	told, untold  bool
	input, output int64
	tokens        bool
}

// A usedModel is a model that was called. Its fields are empty if the log does not record them.
type usedModel struct{ provider, model string }

// An episode is an occurrence in a task.
type episode struct {
	name   string
	rows   []row
	facts  func(*ledger, finish)
	refuse refusal
}

// A refusal specifies whether the recorder may or must reject a log that contains an episode.
type refusal int

const (
	never  refusal = iota // the log is complete, so it must be accepted
	may                   // the log contradicts itself, so it may be rejected
	always                // any draft could be false, so the log must be rejected
)

// A finish is the way in which a task ends.
type finish string

const (
	completed finish = "task.completed"
	failed    finish = "task.failed"
	canceled  finish = "task.canceled"
)

// A row represents a line in a log. If an event belongs to another task or session, the envelope
// contains the ID of that task or session.
type row struct {
	key      float64 // position among the lines of all episodes
	event    string
	payload  members
	envelope members
	from     string  // sender of a frame
	frame    members // nil if the row is an event
}

type members = map[string]any

// A world is a task with its episodes.
type world struct {
	seed     uint64
	episodes []*episode
	end      finish
	bridge   bool // the log contains frames, which do not record models
}

// ledger returns the facts of all episodes.
func (w *world) ledger() *ledger {
	l := &ledger{results: map[string]string{}, handoffs: map[string]string{}}
	for _, e := range w.episodes {
		if e.facts != nil {
			e.facts(l, w.end)
		}
	}
	if w.bridge && len(l.models) == 0 {
		l.models = []usedModel{{}}
	}
	if w.bridge && !l.spent.told {
		l.spent.untold = true
	}
	return l
}

// refusal returns the strictest refusal among the episodes.
func (w *world) refusal() refusal {
	r := never
	for _, e := range w.episodes {
		r = max(r, e.refuse)
	}
	return r
}

// mixed returns the lines of all episodes in log order.
func (w *world) mixed() []row {
	var all []row
	for _, e := range w.episodes {
		all = append(all, e.rows...)
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	return all
}

func (w *world) String() string {
	var names []string
	for _, e := range w.episodes {
		names = append(names, e.name)
	}
	return fmt.Sprintf("seed %d, %s: %s", w.seed, w.end, strings.Join(names, "; "))
}

// shrunk returns the world without the episodes that are not needed to reproduce a fault.
func (w *world) shrunk(fault func(*world) string) *world {
	small := w
	for i := 0; i < len(small.episodes); {
		less := &world{seed: w.seed, end: w.end, bridge: w.bridge, episodes: slices.Delete(slices.Clone(small.episodes), i, i+1)}
		if fault(less) == "" {
			i++
			continue
		}
		small = less
	}
	return small
}

// An author creates the episodes of a world. It never uses a name twice in a world.
type author struct {
	*rand.Rand
	count    int
	requests int  // number of the agent's requests; the client counts separately
	priced   bool // whether the log already records the cost of the session
}

func (a *author) name(of string) string {
	a.count++
	return of + strconv.Itoa(a.count)
}

func (a *author) chance(percent int) bool { return a.IntN(100) < percent }

func oneOf[T any](a *author, list ...T) T { return list[a.IntN(len(list))] }

// value returns a JSON value that is different in each call.
func (a *author) value() any {
	n := a.name("")
	return oneOf[any](a, n, members{"n": n}, []any{n, nil, true}, members{"path": "p" + n, "deep": members{"a": []any{1.5, n}}})
}

// place assigns positions in the log to the lines of an episode.
func (a *author) place(e *episode) *episode {
	keys := make([]float64, len(e.rows))
	for i := range keys {
		keys[i] = a.Float64()
	}
	slices.Sort(keys)
	for i := range e.rows {
		e.rows[i].key = keys[i]
	}
	return e
}

func digestOf(value any) canon.Digest {
	if value == nil {
		return canon.Digest{}
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if text, err = canon.Transform(text); err != nil {
		panic(err)
	}
	return canon.Sum(text)
}

// compare returns the differences between a draft and a ledger.
func (l *ledger) compare(d *receipt.Draft) (faults []string) {
	c := &comparison{d: d, untold: pointers(d, "unreported"), partly: pointers(d, "at_least"), differ: pointers(d, "arguments_differ_from_approved")}
	c.calls(l)
	c.approvals(l)
	c.sideEffects(l)
	c.cost(l)
	c.rest(l)
	c.unread(l)
	return c.faults
}

// unread verifies that unknown lines are counted, and that the affected values are lower bounds.
func (c *comparison) unread(l *ledger) {
	counted, _ := c.d.Metadata["ignored_records"].(map[string]any)
	want := map[string]any{}
	for kind, n := range l.unread {
		want[kind] = float64(n)
	}
	if !maps.Equal(counted, want) && len(counted)+len(want) > 0 {
		c.fault("unread are %v, expected %v", counted, want)
	}
	for _, at := range []string{"/side_effects/tool_calls", "/side_effects/fs_writes", "/approvals", "/autonomy_budget/consumed/tool_calls"} {
		if len(want) > 0 && !c.partly[at] {
			c.fault("a line was not read, and %s is no lower bound", at)
		}
	}
}

// ignores returns the fact that an unknown line, which may have recorded a cost, was ignored.
func ignores(kind string) func(*ledger, finish) {
	return func(l *ledger, _ finish) {
		if l.unread == nil {
			l.unread = map[string]int{}
		}
		l.unread[kind]++
		l.spent.untold = true
	}
}

type comparison struct {
	d      *receipt.Draft
	untold map[string]bool // values that the draft lists as unreported
	partly map[string]bool // values that the draft lists as lower bounds
	differ map[string]bool // calls that the draft lists as executed with arguments that were not approved
	faults []string
}

func (c *comparison) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// pointers returns the pointers in a list in the metadata.
func pointers(d *receipt.Draft, name string) map[string]bool {
	all := map[string]bool{}
	list, _ := d.Metadata[name].([]any)
	for _, at := range list {
		all[fmt.Sprint(at)] = true
	}
	return all
}

func (c *comparison) calls(l *ledger) {
	have := map[string]int{}
	for i, call := range c.d.SideEffects.ToolCalls {
		if _, twice := have[call.CallID]; twice {
			c.fault("call %s is listed twice", call.CallID)
		}
		have[call.CallID] = i
	}
	ran := int64(0)
	for _, want := range l.calls {
		if want.ran {
			ran++
		}
		if want.id == "" {
			i := slices.IndexFunc(c.d.SideEffects.ToolCalls, func(call receipt.ToolCall) bool { return call.Tool == want.tool })
			if i >= 0 {
				want.id = c.d.SideEffects.ToolCalls[i].CallID
			}
		}
		got, ok := have[want.id]
		if !ok {
			c.fault("call %s of %s is not listed; it ran: %v", want.id, want.tool, want.ran)
			continue
		}
		delete(have, want.id)
		c.call(want, c.d.SideEffects.ToolCalls[got], c.differ["/side_effects/tool_calls/"+strconv.Itoa(got)])
	}
	for id := range have {
		c.fault("call %s is listed, and nobody made it", id)
	}
	if n := c.d.AutonomyBudget.Consumed.ToolCalls; n != nil && (*n < ran || *n > int64(len(l.calls))) {
		c.fault("%d calls were dispatched, %d ran and %d were made", *n, ran, len(l.calls))
	}
	if n, _ := c.d.Metadata["not_dispatched"].(float64); int(n) < l.dropped || int(n) > l.dropped+l.aborted {
		c.fault("%v calls were not dispatched, expected %d", n, l.dropped)
	}
}

func (c *comparison) call(want calledTool, got receipt.ToolCall, differs bool) {
	if got.Tool != want.tool {
		c.fault("call %s is of %q, expected %q", want.id, got.Tool, want.tool)
	}
	if !slices.Contains(want.status, got.Status) {
		c.fault("call %s: %s, expected %s", want.id, got.Status, strings.Join(want.status, " or "))
	}
	if got.InputHash != digestOf(want.input) {
		c.fault("call %s: the input hash is not that of %v, which ran", want.id, want.input)
	}
	if got.OutputHash != digestOf(want.output) {
		c.fault("call %s: the output hash is not that of %v", want.id, want.output)
	}
	if want.differs != differs {
		c.fault("call %s: that other arguments ran than were approved is %v, the draft states %v", want.id, want.differs, differs)
	}
	if incomplete := got.Metadata["incomplete"] == true; incomplete != want.open {
		c.fault("call %s: incomplete is %v, expected %v", want.id, incomplete, want.open)
	}
}

func (c *comparison) approvals(l *ledger) {
	have := map[string]receipt.Approval{}
	for _, a := range c.d.Approvals {
		if _, twice := have[a.ApprovalID]; twice {
			c.fault("approval %s is listed twice", a.ApprovalID)
		}
		have[a.ApprovalID] = a
	}
	for _, want := range l.approvals {
		got, ok := have[want.id]
		if !ok {
			c.fault("approval %s is not listed", want.id)
			continue
		}
		delete(have, want.id)
		if got.Decision != want.decision {
			c.fault("approval %s: %s, expected %s", want.id, got.Decision, want.decision)
		}
		if want.actor != "" && got.Actor != want.actor || want.actor == "" && got.Actor != "host" {
			c.fault("approval %s by %q, expected %q", want.id, got.Actor, cmp.Or(want.actor, "host"))
		}
	}
	for id := range have {
		c.fault("approval %s is listed, and nobody asked for it", id)
	}
}

func (c *comparison) sideEffects(l *ledger) {
	var writes []written
	for _, w := range c.d.SideEffects.FSWrites {
		if label := outsideLabel.FindString(w.Path); label != "" {
			w.Path = beyond
		}
		writes = append(writes, written{w.Path, w.Operation})
	}
	less := func(a, b written) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.operation, b.operation))
	}
	want := slices.SortedFunc(slices.Values(l.writes), less)
	if slices.SortFunc(writes, less); !slices.Equal(writes, want) {
		c.fault("writes %v, expected %v", writes, want)
	}
	hosts, unclear := map[string]bool{}, 0
	for i, s := range c.d.SideEffects.NetworkEgress {
		if c.untold["/side_effects/network_egress/"+strconv.Itoa(i)+"/destination"] {
			unclear++
			continue
		}
		hosts[s.Destination] = true
	}
	if unclear != l.unclear {
		c.fault("%d destinations are listed as unreported, expected %d", unclear, l.unclear)
	}
	if got, want := slices.Sorted(maps.Keys(hosts)), sortedSet(l.hosts); !slices.Equal(got, want) {
		c.fault("hosts %v, expected %v", got, want)
	}
	handoffs := map[string]string{}
	for _, h := range c.d.SideEffects.A2AHandoffs {
		handoffs[h.TaskID] = h.Status
	}
	if !maps.Equal(handoffs, l.handoffs) {
		c.fault("handoffs %v, expected %v", handoffs, l.handoffs)
	}
}

func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

func (c *comparison) cost(l *ledger) {
	amount := strconv.FormatInt(l.spent.thousandths/1000, 10) + "." + fmt.Sprintf("%03d", l.spent.thousandths%1000)
	want, err := strconv.ParseFloat(amount, 64)
	if err != nil {
		panic(err)
	}
	missing := c.untold["/cost/total"] || c.untold["/cost"]
	if c.d.Cost.Total != want {
		c.fault("cost %v, expected %s", c.d.Cost.Total, amount)
	}
	if l.spent.untold && !missing && !c.partly["/cost/total"] {
		c.fault("some of the cost was not recorded, but the draft does not state so")
	}
	if c.partly["/cost/total"] && !l.spent.untold && len(l.models) > 0 {
		c.fault("all of the cost was recorded, but the draft states that it is more")
	}
	if missing && l.spent.told && !l.spent.untold && len(l.models) > 0 {
		c.fault("all of the cost was recorded, but metadata.unreported has /cost/total")
	}
	if in := c.d.AutonomyBudget.Consumed.InputTokens; l.spent.tokens && (in == nil || *in != l.spent.input) {
		c.fault("the input tokens are not %d", l.spent.input)
	}
	if out := c.d.AutonomyBudget.Consumed.OutputTokens; l.spent.tokens && (out == nil || *out != l.spent.output) {
		c.fault("the output tokens are not %d", l.spent.output)
	}
	if in := c.d.AutonomyBudget.Consumed.InputTokens; !l.spent.tokens && in != nil && !c.untold["/autonomy_budget/consumed/input_tokens"] {
		c.fault("%d input tokens, which were not recorded", *in)
	}
}

func (c *comparison) rest(l *ledger) {
	chosen := usedModel{c.d.ModelRoute.ChosenModel.Provider, c.d.ModelRoute.ChosenModel.Model}
	named := slices.ContainsFunc(l.models, func(m usedModel) bool { return m.provider != "" })
	switch {
	case named && !slices.Contains(l.models, chosen):
		c.fault("the model is %v, expected one of %v", chosen, l.models)
	case len(l.models) > 0 && !named && !c.untold["/model_route/chosen_model"] && !(c.untold["/model_route/chosen_model/model"] && c.untold["/model_route/chosen_model/provider"]):
		c.fault("an unrecorded model was called, and metadata.unreported has no /model_route/chosen_model: %v", chosen)
	case len(l.models) == 0 && chosen.provider != "none" && !c.untold["/model_route/chosen_model"]:
		c.fault("the model is %v, and none was called", chosen)
	}
	if len(l.models) > 0 && strings.Contains(c.d.ModelRoute.RoutePolicyReason, "no model call was made") {
		c.fault("a model was called, but the draft states: %s", c.d.ModelRoute.RoutePolicyReason)
	}
	said := l.said
	if !named {
		said = append(said, l.messages...)
	}
	if len(said) > 0 && c.d.ReplayInput.Determinism == "byte_deterministic" {
		c.fault("a model said %q, which is nowhere by its digest, but the draft states byte_deterministic", said[0])
	}
	results := map[string]string{}
	for _, a := range c.d.FinalArtifacts {
		results[a.ArtifactID] = a.SHA256.String()
	}
	if !maps.Equal(results, l.results) {
		c.fault("artifacts %v, expected %v", results, l.results)
	}
	var keys []string
	for _, d := range c.d.Deltas {
		keys = append(keys, d.OverrideKey)
	}
	if want := slices.Sorted(slices.Values(l.overrides)); !slices.Equal(keys, want) {
		c.fault("deltas %v, expected %v", keys, want)
	}
}
