package record

import (
	"cmp"
	"maps"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// calls contains the calls of the task by ID.
type calls struct {
	event.List[call]
	effects *effects // recorded effects of the calls
}

// Error categories, which explain why a call failed or was not executed.
const (
	categoryDenied   = "permission_denied"
	categoryCanceled = "cancelled"
	categoryAborted  = "parse_aborted"
	categoryLoop     = "rejected_loop"
	categorySchema   = "schema_validation"
	categorySibling  = "sibling_failed" // another call in the message failed, so this call was not executed
	categoryUnrun    = "not_started"    // the model requested the call, but the turn ended before it was executed
)

// neverRan reports whether a category means that the call was not executed, unless other events
// show the opposite.
func neverRan(category string) bool {
	return category == categoryDenied || category == categorySibling || category == categoryUnrun
}

// named returns the call to which an event refers, and records the details that every kind of call
// event may contain.
func (s *calls) named(r *run, e *event.Event) *call {
	id := e.Required(e.Payload, "tool_call_id")
	c, fresh := s.Entry(id)
	if fresh {
		r.Room(e)
		c.id, c.meta = id, receipt.Object{}
	}

	// The first name is kept. A second name is recorded as a contradiction.
	p := e.Payload
	name := e.Text(p, "name")
	c.names = c.names || name != "" && c.tool != "" && name != c.tool
	first(&c.tool, name)
	c.describe(e)

	for _, name := range []string{"duration_ms", "execution_duration_ms", "exit_code"} {
		if n := e.OptionalCount(p, name); n != nil {
			c.meta[name] = *n
		}
	}

	c.acted(r, e)

	c.abbreviate(e)

	// Only an executed call has an execution time.
	c.executed = c.executed || e.Flag(p, "executed") || e.Count(p, "execution_duration_ms") > 0
	first(&r.ids.policy, e.Text(p, "policy_ref"))
	c.serve(r, e)
	return c
}

// toolRequested opens a call. If the event records that the call is being executed, the arguments
// in the event are the arguments of the execution.
func toolRequested(r *run, e *event.Event) {
	c := r.calls.named(r, e)
	input := e.Content(e.Payload, "input")
	if e.Flag(e.Payload, "executed") {
		c.arguments.run(input, true)
	}
	c.arguments.ask(input)
}

func mcpToolUse(r *run, e *event.Event) {
	e.Required(e.Payload, "server")
	toolRequested(r, e)

	c := r.calls.ByID[e.Text(e.Payload, "tool_call_id")]
	at := e.Text(e.Payload, "url")
	if e.Err == nil && at != "" && (e.Flag(e.Payload, "remote") || event.IsHTTP(at)) {
		host, clear := event.HostOf(at)
		r.effects.sent(r, e, egress{destination: host, unclear: !clear, purpose: c.tool, call: c.id, by: fromRequest})
	}
}

// toolStatuses maps the status in the result of a tool to an outcome; "" stands for a missing
// status. Any other word, such as "error", is a failure.
func toolStatuses() event.Words {
	return event.NewWords(
		"", "succeeded", "success", "succeeded", "succeeded", "succeeded", "completed", "succeeded", "ok", "succeeded",
		"canceled", "canceled", "cancelled", "canceled", unreported, "succeeded",
	)
}

// unreported is the status of a call that returned without a recorded status.
const unreported = "unreported"

func toolCompleted(r *run, e *event.Event) {
	status := e.Text(e.Payload, "status")
	outcome := toolStatuses().Meaning(status, "failed")
	if e.Flag(e.Payload, "is_error") {
		outcome = "failed"
	}
	c := r.calls.close(r, e, outcome)

	// A word that means nothing more than failure is not recorded.
	if !toolStatuses().Has(status) && status != "error" && status != "failed" && status != "failure" {
		c.notes.note("raw_status", status)
	}
}

func toolFailed(r *run, e *event.Event) { r.calls.close(r, e, "failed") }

// close ends a call. Both an agent.tool_result and a tool.completed may record the end, and a
// failure in either of them is kept. A rejection before dispatch is not an end of the execution.
func (s *calls) close(r *run, e *event.Event, outcome string) *call {
	c := s.named(r, e)
	byRuntime := e.Kind == "tool.completed" || e.Kind == "tool.failed"

	// A call that was not dispatched was rejected, so it did not fail.
	category := e.Text(e.Payload, "error_category")
	never := category == categoryAborted || category == categoryLoop
	if never {
		first(&c.rejection, category)
	} else {
		first(&c.category, category)
	}

	// Some sources record the arguments only with the result.
	input := e.Content(e.Payload, "input")
	if c.arguments.asked.IsZero() && c.arguments.changed.IsZero() {
		c.arguments.asked = input
	}

	c.arguments.run(input, byRuntime)
	c.output.tell(e, byRuntime)
	r.effects.report(r, e, c, byRuntime)

	// A call that was not dispatched has no end, and a canceled call did not fail.
	switch {
	case outcome == "failed" && never && !e.Flag(e.Payload, "executed"):
		return c
	case outcome == "failed" && (category == categoryCanceled || category == "" && c.category == categoryCanceled):
		outcome = "canceled"
	}

	c.byRuntime = c.byRuntime || byRuntime
	c.end(outcome, outcome != "succeeded" || e.Text(e.Payload, "status") != unreported)
	return c
}

// ran reports whether an event records or implies that a call was executed.
func (s *calls) ran(c *call) bool {
	return c.executed || c.outcome == "succeeded" || s.effects.observed[c.id]
}

// dropped reports whether a call was never dispatched: an event contains a rejection, no event
// shows that the call was executed, and the runtime recorded no other end. An end that only the
// transcript records is ignored, unless it is a success.
func (s *calls) dropped(c *call) bool {
	return c.rejection != "" && !s.ran(c) && !(c.outcome != "" && c.byRuntime)
}

// unsent reports whether a call never reached its tool.
func (s *calls) unsent(c *call) bool {
	return !s.ran(c) && (s.dropped(c) || c.denied || c.category == categorySchema || neverRan(c.category))
}

// closed reports whether the source records the end of a call. A denial counts as an end.
func (s *calls) closed(c *call) bool { return c.outcome != "" || s.unsent(c) }

// status returns the status for the receipt. A call that was denied or not executed is canceled,
// unless an event records that it was nevertheless executed.
func (s *calls) status(c *call) string {
	switch {
	case c.outcome == "failed" && neverRan(c.category) && !s.ran(c):
		return "canceled"
	case c.outcome != "":
		return c.outcome
	case c.rejection != "": // the call was executed, and no other end is recorded
		return "failed"
	}
	return "canceled"
}

// dispatched reports whether a call was passed to its tool.
func (s *calls) dispatched(c *call, pending map[string]bool) bool {
	switch {
	case s.ran(c):
		return true
	case c.denied || neverRan(c.category):
		return false
	}
	return c.outcome != "" || !pending[c.id]
}

// listed returns the calls for the receipt and the position of each call by ID.
func (s *calls) listed() (calls []*call, at map[string]string) {
	at = map[string]string{}
	for _, c := range s.Order {
		if !s.dropped(c) {
			at[c.id] = indexed("/side_effects/tool_calls", len(calls))
			calls = append(calls, c)
		}
	}
	return calls, at
}

// entries returns the calls for the receipt.
func (s *calls) entries(t *telling) []receipt.ToolCall {
	list := []receipt.ToolCall{}
	calls, at := s.listed()
	for _, c := range calls {
		entry := s.told(t, at[c.id], c)
		s.judge(t, at[c.id], c, &entry)
		if len(entry.Metadata) == 0 {
			entry.Metadata = nil
		}
		list = append(list, entry)
	}
	return list
}

// told returns the entry for a call in the receipt, without the contradictions or details that the
// method judge adds.
func (s *calls) told(t *telling, at string, c *call) receipt.ToolCall {
	meta := receipt.Object{}
	maps.Copy(meta, c.meta)
	for name, value := range c.notes.values {
		meta[name] = value
	}

	// The listed input is the input with which the call was executed. If the requested input
	// differs, the metadata contains it.
	input := c.arguments.last()
	for _, asked := range []canon.Digest{c.arguments.asked, c.arguments.requested} {
		if !asked.IsZero() && asked != input {
			meta["requested_input_hash"] = asked.String()
		}
	}

	output := c.output.digest
	for i, d := range [...]*canon.Digest{&input, &output} {
		if short := c.short[i]; short != "" && !event.Abbreviates(short, *d) {
			*d = canon.Digest{}
			t.untold(at + [...]string{"/input_hash", "/output_hash"}[i])
		}
	}

	// If no end was recorded, other evidence may explain why.
	category := c.category
	switch {
	case c.outcome == "" && c.rejection != "":
		category = c.rejection
	case c.outcome == "" && c.denied && !s.ran(c):
		first(&category, categoryDenied)
	case c.outcome == "":
		meta["incomplete"] = true
		t.untold(at + "/status")
	case c.unknown:
		t.untold(at + "/status")
	}

	if category != "" {
		meta["error_category"] = category
	}
	return receipt.ToolCall{
		Tool: t.name(at+"/tool", c.tool, "unknown"), CallID: c.id, Status: s.status(c), InputHash: input, OutputHash: output, Metadata: meta,
	}
}

// judge adds contradictions, and details from questions, to the entry of a call.
func (s *calls) judge(t *telling, at string, c *call, entry *receipt.ToolCall) {
	// All conflicting statements are listed.
	ran, g := s.ran(c), c.gate
	for what, is := range map[string]bool{
		rejectedYetRan: c.rejection != "", outcomesDiffer: c.outcomes, namesDiffer: c.names, detailsDiffer: c.unclear(),
		inputsDiffer: c.arguments.differ, outputsDiffer: c.output.differ,
		deniedYetRan: ran && g.refused && !g.approved, undecidedYetRan: ran && g.open && !g.approved && !g.refused,
	} {
		if is {
			t.contradicts(at, what)
		}
	}

	// These details are from questions, and were not recorded in any event of the call itself.
	if len(g.declared) > 0 {
		entry.Metadata["declared_paths"] = g.declared
	}
	for name, value := range g.notes.values {
		if _, told := entry.Metadata[name]; !told {
			entry.Metadata[name] = value
		}
	}

	// The call succeeded with a scope that allows writes, but no event records a write.
	scope, _ := entry.Metadata["mutation_scope"].(string)
	if entry.Status == "succeeded" && scope != "" && scope != "read_only" && !s.effects.wrote[c.id] {
		entry.Metadata["writes_undeclared"] = true
	}

	// An approval covers a call only with specific arguments.
	if begun := ran || c.outcome != "" && !s.unsent(c); begun && !g.allows(entry.InputHash) {
		entry.Metadata["approved_input_hash"] = g.inputs[len(g.inputs)-1].String()
		t.differ = append(t.differ, at)
	}
}

// tellsPart reports whether a call may have had effects that the log does not record.
func (s *calls) tellsPart(told func(*call) bool) bool {
	for _, c := range s.Order {
		if !s.unsent(c) && !told(c) {
			return true
		}
	}
	return false
}

// openFor adds a call that is named only in an approval.
func (s *calls) openFor(r *run, e *event.Event, a *approval) *call {
	c, _ := s.Entry(a.call)
	r.Room(e)
	c.id, c.tool, c.arguments.asked, c.meta = a.call, cmp.Or(a.tool, a.action), a.input, receipt.Object{}
	return c
}

// unrecorded reports whether a call may have returned data that is not among the materials.
func (s *calls) unrecorded() bool {
	for _, c := range s.Order {
		if !s.unsent(c) && (!c.material || c.outcome == "") {
			return true
		}
	}
	return false
}
