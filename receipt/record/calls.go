package record

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A call is one call of a tool, as all events that name its id describe it.
type call struct {
	id, tool          string
	input, output     canon.Digest
	requested         canon.Digest // the input before an approver changed it
	outcome           string       // succeeded, failed or canceled; "" while it runs
	outputByRuntime   bool         // the output is from a tool.* event, not from the transcript
	executed          bool
	denied            bool
	dropped           bool // never dispatched: no entry
	category          string
	server, outputURI string
	material          int // its place among the materials + 1; 0: none
	meta              receipt.Object
}

// Categories of errors that say more than that a call failed.
const (
	categoryDenied   = "permission_denied"
	categoryCanceled = "cancelled"
	categoryAborted  = "parse_aborted"
	categoryLoop     = "rejected_loop"
)

// call returns the call that an event names and reads what any event may say of
// it. The last input before the call ends counts: earlier ones were unfinished.
func (r *run) call(e *event) *call {
	id := e.required(e.payload, "tool_call_id")
	c, fresh := r.calls.entry(id)
	if fresh {
		r.room(e)
		c.id, c.meta = id, receipt.Object{}
	}
	p := e.payload
	first(&c.tool, e.text(p, "name"))
	if input := e.content(p, "input"); c.outcome == "" && !c.executed && (c.requested.IsZero() || input != c.requested) {
		last(&c.input, input) // but never back to what an approver changed
	}
	for _, name := range []string{"executor", "kind", "mutation_scope", "run_id", "worker_id"} {
		c.note(name, e.text(p, name))
	}
	for _, name := range []string{"duration_ms", "execution_duration_ms"} {
		if n := e.optionalCount(p, name); n != nil {
			c.meta[name] = *n
		}
	}
	c.executed = c.executed || e.flag(p, "executed") || e.count(p, "execution_duration_ms") > 0
	first(&r.policy, e.text(p, "policy_ref"))
	r.serve(e, c)
	return c
}

func (c *call) note(name, value string) {
	if value != "" {
		c.meta[name] = value
	}
}

// serve notes the MCP server that runs a call. What it returns is a material of
// the replay, in the place where the server was first named.
func (r *run) serve(e *event, c *call) {
	first(&c.outputURI, e.text(e.payload, "output_uri"))
	server := e.text(e.payload, "server")
	if server == "" {
		return
	}
	first(&c.server, server)
	c.note("server", c.server)
	if c.material == 0 {
		r.materials = append(r.materials, material{call: c})
		c.material = len(r.materials)
		r.charge(e, e.root, len("mcp::")+len(c.server)+len(c.id))
		r.room(e)
	}
}

func toolRequested(r *run, e *event) { r.call(e) }

func mcpToolUse(r *run, e *event) {
	e.required(e.payload, "server")
	c := r.call(e)
	at := e.text(e.payload, "url")
	if host := hostOf(at); host != "" && (e.flag(e.payload, "remote") || isHTTP(at)) {
		r.send(e, egress{destination: host, purpose: c.tool, call: c.id, origin: fromRequest})
	}
}

// A Word says what one spelling of a status or a decision means.
type Word struct{ Word, Means string }

// ToolStatuses returns what the status of a tool's result means; "" is none at
// all. Any other, such as error, is a failure.
func ToolStatuses() []Word {
	return []Word{
		{"", "succeeded"}, {"success", "succeeded"}, {"succeeded", "succeeded"}, {"completed", "succeeded"}, {"ok", "succeeded"},
		{"canceled", "canceled"}, {"cancelled", "canceled"},
	}
}

// meaning looks a word up.
func meaning(table []Word, word, otherwise string) string {
	for _, w := range table {
		if w.Word == word {
			return w.Means
		}
	}
	return otherwise
}

func toolCompleted(r *run, e *event) {
	outcome := meaning(ToolStatuses(), e.text(e.payload, "status"), "failed")
	if e.flag(e.payload, "is_error") {
		outcome = "failed"
	}
	r.close(e, outcome)
}

func toolFailed(r *run, e *event) { r.close(e, "failed") }

// close ends a call. Both an agent.tool_result and a tool.completed may say that
// it ended: a failure that either tells is kept, and the runtime's output comes
// before the transcript's.
func (r *run) close(e *event, outcome string) {
	c := r.call(e)
	first(&c.category, e.text(e.payload, "error_category"))
	switch {
	case c.category == categoryAborted || c.category == categoryLoop:
		if !c.dropped {
			r.notDispatched++
		}
		c.dropped = true
		return
	case outcome == "failed" && c.category == categoryCanceled:
		outcome = "canceled"
	}
	if c.outcome == "" || c.outcome == "succeeded" {
		c.outcome = outcome
	}
	c.note("error_category", c.category)
	runtime := e.kind == "tool.completed" || e.kind == "tool.failed"
	if output := e.content(e.payload, "output"); !output.IsZero() && (c.output.IsZero() || runtime && !c.outputByRuntime) {
		c.output, c.outputByRuntime = output, runtime
	}
	origin := fromResult
	if runtime {
		origin = fromTool
	}
	r.effects(e, c, origin)
}

// status is what the receipt says. A denied call that was not executed all the
// same is canceled.
func (c *call) status() string {
	switch {
	case c.outcome == "failed" && c.category == categoryDenied && !c.executed:
		return "canceled"
	case c.outcome != "":
		return c.outcome
	}
	return "canceled"
}

// dispatched reports whether a call was given to its tool.
func (c *call) dispatched(pending map[string]bool) bool {
	switch {
	case c.executed || c.outcome == "succeeded":
		return true
	case c.denied || c.category == categoryDenied:
		return false
	}
	return c.outcome != "" || !pending[c.id]
}

func (c *call) entry() receipt.ToolCall {
	meta := receipt.Object{}
	for name, value := range c.meta {
		meta[name] = value
	}
	if !c.requested.IsZero() && c.requested != c.input {
		meta["requested_input_hash"] = c.requested.String()
	}
	if c.outcome == "" && !c.denied {
		meta["incomplete"] = true
	}
	if c.denied && c.category == "" && c.outcome == "" {
		meta["error_category"] = categoryDenied
	}
	if len(meta) == 0 {
		meta = nil
	}
	return receipt.ToolCall{Tool: cmp.Or(c.tool, "unknown"), CallID: c.id, Status: c.status(), InputHash: c.input, OutputHash: c.output, Metadata: meta}
}
