package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A call is one call of a tool, as all events that name its id describe it.
type call struct {
	id, tool    string
	arguments   arguments
	output      output
	outcome     string // succeeded, failed or canceled; "" while nothing tells of an end
	byRuntime   bool   // the runtime told an end, not the transcript alone
	executed    bool   // an event says so
	denied      bool
	rejection   string // the category by which it was never dispatched; "" when none was told
	category    string
	outcomes    bool // two ends were told
	names       bool // two names were
	gate        gate // what the questions about it came to; when the draft is made
	server      string
	outputURI   string
	material    bool   // it has a place among the materials
	wrote, sent origin // whose reports tell of files, and of the network
	meta        receipt.Object
	differ      map[string]bool // members of meta of which two values were told
}

// An output is what a call returned.
type output struct {
	digest    canon.Digest
	byRuntime bool // from a tool.* event, not from the transcript, which may cut it
	differ    bool
}

// tell notes an output. The runtime's comes before the transcript's, then the first.
func (o *output) tell(d canon.Digest, byRuntime bool) {
	switch {
	case d.IsZero():
	case o.digest.IsZero() || byRuntime && !o.byRuntime:
		o.digest, o.byRuntime = d, byRuntime
	case byRuntime == o.byRuntime && d != o.digest:
		o.differ = true
	}
}

// Categories of errors that say more than that a call failed.
const (
	categoryDenied   = "permission_denied"
	categoryCanceled = "cancelled"
	categoryAborted  = "parse_aborted"
	categoryLoop     = "rejected_loop"
	categorySchema   = "schema_validation"
)

// call returns the call that an event names and reads what any event may say of it.
func (r *run) call(e *event.Event) *call {
	id := e.Required(e.Payload, "tool_call_id")
	c, fresh := r.calls.entry(id)
	if fresh {
		r.Room(e)
		c.id, c.meta = id, receipt.Object{}
	}

	// Of two names the first is kept; that they differ is told.
	p := e.Payload
	name := e.Text(p, "name")
	c.names = c.names || name != "" && c.tool != "" && name != c.tool
	first(&c.tool, name)
	c.describe(e)

	for _, name := range []string{"duration_ms", "execution_duration_ms"} {
		if n := e.OptionalCount(p, name); n != nil {
			c.meta[name] = *n
		}
	}

	// Only what ran has a time of execution.
	c.executed = c.executed || e.Flag(p, "executed") || e.Count(p, "execution_duration_ms") > 0
	first(&r.policy, e.Text(p, "policy_ref"))
	r.serve(e, c)
	return c
}

// describe notes who runs a call, and under what.
func (c *call) describe(e *event.Event) {
	for _, name := range []string{"executor", "kind", "mutation_scope", "run_id", "worker_id", "raw_status"} {
		c.note(name, e.Text(e.Payload, name))
	}
}

// note keeps a detail. The last value counts.
func (c *call) note(name, value string) {
	if value == "" {
		return
	}
	if have, told := c.meta[name].(string); told && name != "raw_status" && disagree(name, have, value) {
		if c.differ == nil {
			c.differ = map[string]bool{}
		}
		c.differ[name] = true
	}
	c.meta[name] = value
}

// disagree reports whether two values of a detail cannot both be. A call is of the kind
// other until something tells which.
func disagree(name, a, b string) bool {
	return a != b && !(name == "kind" && (a == "other" || b == "other"))
}

// told is a detail that the call has, and "" where anything tells another.
func (c *call) told(name string) string {
	value, _ := c.meta[name].(string)
	if c.differ[name] || c.gate.differ[name] || c.gate.notes[name] != "" && disagree(name, value, c.gate.notes[name]) {
		return ""
	}
	return value
}

// unclear reports whether a detail is told in two ways.
func (c *call) unclear() bool {
	for _, name := range [...]string{"executor", "kind", "mutation_scope", "run_id", "worker_id"} {
		if c.meta[name] != nil && c.told(name) == "" {
			return true
		}
	}
	return false
}

// serve notes the MCP server that runs a call. What it returns is a material of
// the replay, in the place where the server was first named.
func (r *run) serve(e *event.Event, c *call) {
	first(&c.outputURI, e.Text(e.Payload, "output_uri"))
	server := e.Text(e.Payload, "server")
	if server == "" {
		return
	}

	first(&c.server, server)
	c.note("server", c.server)
	if !c.material {
		c.material = true
		r.materials.add(material{call: c})
		r.Charge(e, e.Root, len("mcp::")+len(c.server)+len(c.id))
		r.Room(e)
	}
}

// toolRequested opens a call. One that is told to run, runs with these arguments.
func toolRequested(r *run, e *event.Event) {
	c := r.call(e)
	input := e.Content(e.Payload, "input")
	if e.Flag(e.Payload, "executed") {
		c.arguments.run(input, true)
	}
	c.arguments.ask(input)
}

func mcpToolUse(r *run, e *event.Event) {
	e.Required(e.Payload, "server")
	toolRequested(r, e)

	c := r.calls.byID[e.Text(e.Payload, "tool_call_id")]
	at := e.Text(e.Payload, "url")
	if e.Err == nil && at != "" && (e.Flag(e.Payload, "remote") || event.IsHTTP(at)) {
		host, clear := event.HostOf(at)
		r.send(e, egress{destination: host, unclear: !clear, purpose: c.tool, call: c.id, by: fromRequest})
	}
}

// toolStatuses returns what the status of a tool's result means; "" is none at
// all. Any other, such as error, is a failure.
func toolStatuses() event.Words {
	return event.NewWords(
		"", "succeeded", "success", "succeeded", "succeeded", "succeeded", "completed", "succeeded", "ok", "succeeded",
		"canceled", "canceled", "cancelled", "canceled",
	)
}

func toolCompleted(r *run, e *event.Event) {
	status := e.Text(e.Payload, "status")
	outcome := toolStatuses().Meaning(status, "failed")
	if e.Flag(e.Payload, "is_error") {
		outcome = "failed"
	}
	c := r.close(e, outcome)
	if !toolStatuses().Has(status) && !toolFailures().Has(status) {
		c.note("raw_status", status)
	}
}

// toolFailures are words for a failure that say no more than that.
func toolFailures() event.Words {
	return event.NewWords("error", "failed", "failed", "failed", "failure", "failed")
}

func toolFailed(r *run, e *event.Event) { r.close(e, "failed") }

// close ends a call. Both an agent.tool_result and a tool.completed may say that it
// ended: a failure that either tells is kept. An end by which the call was never
// dispatched says nothing of what ran, and is not an end of it.
func (r *run) close(e *event.Event, outcome string) *call {
	c := r.call(e)
	byRuntime := e.Kind == "tool.completed" || e.Kind == "tool.failed"

	// A call that was not dispatched was rejected, and did not fail.
	category := e.Text(e.Payload, "error_category")
	never := category == categoryAborted || category == categoryLoop
	if never {
		first(&c.rejection, category)
	} else {
		first(&c.category, category)
	}

	// Some sources tell the arguments only with the result.
	input := e.Content(e.Payload, "input")
	if c.arguments.asked.IsZero() && c.arguments.changed.IsZero() {
		c.arguments.asked = input
	}

	c.arguments.run(input, byRuntime)
	c.output.tell(e.Content(e.Payload, "output"), byRuntime)
	r.report(e, c, byRuntime)

	// What was never dispatched has no end, and what was canceled did not fail.
	switch {
	case outcome == "failed" && never && !e.Flag(e.Payload, "executed"):
		return c
	case outcome == "failed" && (category == categoryCanceled || category == "" && c.category == categoryCanceled):
		outcome = "canceled"
	}

	c.byRuntime = c.byRuntime || byRuntime
	c.outcomes = c.outcomes || c.outcome != "" && c.outcome != outcome
	if c.outcome == "" || c.outcome == "succeeded" {
		c.outcome = outcome
	}

	return c
}

// ran reports whether something says that a call was executed.
func (r *run) ran(c *call) bool {
	return c.executed || c.outcome == "succeeded" || r.effects.observed[c.id]
}

// dropped reports whether a call was never dispatched: a line says so, and none that
// it ran or ended in another way. What the agent was told of it is not such a line.
func (r *run) dropped(c *call) bool {
	return c.rejection != "" && !r.ran(c) && !(c.outcome != "" && c.byRuntime)
}

// unsent reports whether a call did not get as far as its tool.
func (r *run) unsent(c *call) bool {
	return !r.ran(c) && (r.dropped(c) || c.denied || c.category == categoryDenied || c.category == categorySchema)
}

// closed reports whether the source tells how a call ended: so does a denial.
func (r *run) closed(c *call) bool { return c.outcome != "" || r.unsent(c) }

// status is what the receipt says. A denied call that was not executed all the
// same is canceled.
func (r *run) status(c *call) string {
	switch {
	case c.outcome == "failed" && c.category == categoryDenied && !r.ran(c):
		return "canceled"
	case c.outcome != "":
		return c.outcome
	case c.rejection != "": // it ran, and this is all that tells of its end
		return "failed"
	}
	return "canceled"
}

// dispatched reports whether a call was given to its tool.
func (r *run) dispatched(c *call, pending map[string]bool) bool {
	switch {
	case r.ran(c):
		return true
	case c.denied || c.category == categoryDenied:
		return false
	}
	return c.outcome != "" || !pending[c.id]
}

// listed are the calls of the receipt, and where it has each.
func (r *run) listed() (calls []*call, at map[string]string) {
	at = map[string]string{}
	for _, c := range r.calls.order {
		if !r.dropped(c) {
			at[c.id] = indexed("/side_effects/tool_calls", len(calls))
			calls = append(calls, c)
		}
	}
	return calls, at
}

func (r *run) toolCalls(t *telling) []receipt.ToolCall {
	list := []receipt.ToolCall{}
	calls, at := r.listed()
	for _, c := range calls {
		entry := r.callEntry(t, at[c.id], c)
		r.judge(t, at[c.id], c, &entry)
		if len(entry.Metadata) == 0 {
			entry.Metadata = nil
		}
		list = append(list, entry)
	}
	return list
}

// callEntry is a call as the receipt has it.
func (r *run) callEntry(t *telling, at string, c *call) receipt.ToolCall {
	meta := receipt.Object{}
	for name, value := range c.meta {
		meta[name] = value
	}

	// The input is what it ran with. What was asked for otherwise is told, too.
	input := c.arguments.last()
	for _, asked := range []canon.Digest{c.arguments.asked, c.arguments.requested} {
		if !asked.IsZero() && asked != input {
			meta["requested_input_hash"] = asked.String()
		}
	}

	// Where no end was told, what else is known of the call says why it has none.
	category := c.category
	switch {
	case c.outcome == "" && c.rejection != "":
		category = c.rejection
	case c.outcome == "" && c.denied && !r.ran(c):
		first(&category, categoryDenied)
	case c.outcome == "":
		meta["incomplete"] = true
		t.untold(at + "/status")
	}

	if category != "" {
		meta["error_category"] = category
	}
	return receipt.ToolCall{
		Tool: t.name(at+"/tool", c.tool, "unknown"), CallID: c.id, Status: r.status(c), InputHash: input, OutputHash: c.output.digest, Metadata: meta,
	}
}

// judge compares what was said of a call.
func (r *run) judge(t *telling, at string, c *call, entry *receipt.ToolCall) {
	// Of lines that cannot all be true none is left out.
	ran, g := r.ran(c), c.gate
	for what, is := range map[string]bool{
		rejectedYetRan: c.rejection != "", outcomesDiffer: c.outcomes, namesDiffer: c.names, detailsDiffer: c.unclear(),
		inputsDiffer: c.arguments.differ, outputsDiffer: c.output.differ,
		deniedYetRan: ran && g.refused && !g.approved, undecidedYetRan: ran && g.open && !g.approved && !g.refused,
	} {
		if is {
			t.contradicts(at, what)
		}
	}

	// What the questions told of the call, and no line about the call itself.
	if len(g.declared) > 0 {
		entry.Metadata["declared_paths"] = g.declared
	}
	for name, value := range g.notes {
		if _, told := entry.Metadata[name]; !told {
			entry.Metadata[name] = value
		}
	}

	// A call whose scope allows writes succeeded, and nothing tells what it wrote.
	scope, _ := entry.Metadata["mutation_scope"].(string)
	if entry.Status == "succeeded" && scope != "" && scope != "read_only" && !r.effects.wrote[c.id] {
		entry.Metadata["writes_undeclared"] = true
	}

	// What was approved is the call with its arguments.
	if begun := ran || c.outcome != "" && !r.unsent(c); begun && !g.allows(entry.InputHash) {
		entry.Metadata["approved_input_hash"] = g.inputs[len(g.inputs)-1].String()
		t.differ = append(t.differ, at)
	}
}
