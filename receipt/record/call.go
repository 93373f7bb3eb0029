package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A call is one tool call, combined from all events with its ID.
type call struct {
	id, tool    string
	arguments   arguments
	output      output
	outcome     string // succeeded, failed, or canceled; "" if no end was recorded
	byRuntime   bool   // the runtime, not only the transcript, recorded the end
	executed    bool   // an event records that the call was executed
	denied      bool
	judged      bool   // an end event records the status of the call
	unknown     bool   // the call returned, but no end event records its status
	rejection   string // the error category of a call that was not dispatched, or ""
	category    string
	outcomes    bool // two different ends were recorded
	names       bool // two different names were recorded
	gate        gate // questions about the call; set when the draft is created
	server      string
	outputURI   string
	material    bool      // the result is among the materials
	wrote, sent origin    // the sources that reported changes to files and network use
	short       [2]string // abbreviated digests of the input and the output, or ""
	notes       details
	meta        receipt.Object // the other details
}

// An output is the result of a call.
type output struct {
	digest    canon.Digest
	byRuntime bool // from a tool.* event, not from the transcript, whose text may be truncated
	differ    bool
	told      answer
}

// tell records an output. The output from the runtime takes precedence over the output in the
// transcript; otherwise, the first output is used.
func (o *output) tell(e *event.Event, byRuntime bool) {
	d := e.Content(e.Payload, "output")
	switch {
	case d.IsZero():
		if o.digest.IsZero() { // the call ended, but no output was recorded
			o.told = answerOf(e, canon.Node{})
		}
	case o.digest.IsZero() || byRuntime && !o.byRuntime:
		o.digest, o.byRuntime, o.told = d, byRuntime, answerOf(e, e.Payload.Member("output"))
	case byRuntime == o.byRuntime && d != o.digest:
		o.differ = true
	}
}

// describe records the executor and the context of a call.
func (c *call) describe(e *event.Event) {
	for _, name := range []string{"executor", "kind", "mutation_scope", "run_id", "worker_id", "parent_call_id", "raw_status"} {
		c.notes.note(name, e.Text(e.Payload, name))
	}
}

// acted records the Git actions that the log contains, and how the call was executed. Actions that
// are suggested only by the text of the command are recorded separately, and are not listed as
// effects.
func (c *call) acted(r *run, e *event.Event) {
	for _, name := range []string{"git_actions", "flags"} {
		if list := words(r, e, e.Payload, name); len(list) > 0 {
			c.meta[name] = list
		}
	}
	from := e.Payload.Member("read_from_command")
	if event.Absent(from) {
		return
	}
	o := receipt.Object{}
	for _, name := range []string{"git", "tests"} {
		if list := words(r, e, from, name); len(list) > 0 {
			o[name] = list
		}
	}
	if len(o) > 0 {
		c.meta["read_from_command"] = o
	}
}

// abbreviate records abbreviated digests of the input and the output.
func (c *call) abbreviate(e *event.Event) {
	for i, name := range [...]string{"input", "output"} {
		if n := e.Payload.Member(name + "_sha256"); event.Abbreviated(n) && e.Payload.Member(name).IsZero() {
			c.short[i] = e.Once(n.Text())
		}
	}
}

// details contains values that describe a call, by name. The values are from the call's events or
// from questions about the call.
type details struct {
	values map[string]string
	differ map[string]bool // names of the details that were recorded with different values
}

// note records a detail. The last value is used.
func (d *details) note(name, value string) {
	if value == "" {
		return
	}
	if d.values == nil {
		d.values = map[string]string{}
	}
	if have := d.values[name]; have != "" && disagree(name, have, value) {
		d.doubt(name)
	}
	d.values[name] = value
}

// doubt records that events contain conflicting values for a detail.
func (d *details) doubt(name string) {
	if d.differ == nil {
		d.differ = map[string]bool{}
	}
	d.differ[name] = true
}

// join adds the details from another question.
func (d *details) join(other details) {
	for name, value := range other.values {
		if d.note(name, value); other.differ[name] {
			d.doubt(name)
		}
	}
}

// disagree reports whether two values of a detail conflict. The kind "other" does not conflict with
// a more specific kind, and an unknown status word does not conflict with any other word.
func disagree(name, a, b string) bool {
	return a != b && name != "raw_status" && !(name == "kind" && (a == "other" || b == "other"))
}

// told returns a detail of the call, or "" if conflicting values were recorded.
func (c *call) told(name string) string {
	value, asked := c.notes.values[name], c.gate.notes
	if c.notes.differ[name] || asked.differ[name] || asked.values[name] != "" && disagree(name, value, asked.values[name]) {
		return ""
	}
	return value
}

// unclear reports whether a detail has conflicting values.
func (c *call) unclear() bool {
	for _, name := range [...]string{"executor", "kind", "mutation_scope", "run_id", "worker_id"} {
		if c.notes.values[name] != "" && c.told(name) == "" {
			return true
		}
	}
	return false
}

// serve records the MCP server that executes a call. If no server is named, the host executes the
// call. The result of the call is listed as a material of the replay, at the position of the call's
// first event.
func (c *call) serve(r *run, e *event.Event) {
	first(&c.outputURI, e.Text(e.Payload, "output_uri"))
	if first(&c.server, e.Text(e.Payload, "server")); c.server != "" {
		c.notes.note("server", c.server)
	}

	if !c.material {
		c.material = true
		r.materials.add(material{call: c})
		r.Charge(e, e.Root, len("host::")+len(c.server)+len(c.tool)+len(c.id))
		r.Room(e)
	}
}

// writesNothing reports whether the stated kind or scope of a call rules out changes to files.
func (c *call) writesNothing() bool {
	switch c.told("kind") {
	case "read", "search", "think", "fetch":
		return true
	case "edit", "delete", "move":
		return false
	}
	return c.notes.values["kind"] == c.told("kind") && c.told("mutation_scope") == "read_only"
}

// sendsNothing reports whether the stated kind of a call rules out network use.
func (c *call) sendsNothing() bool {
	switch c.told("kind") {
	case "read", "edit", "delete", "move", "think":
		return c.server == ""
	}
	return false
}

// end records an end of the call. An end with a stated status replaces an end without a status,
// which is not a conflict.
func (c *call) end(outcome string, stated bool) {
	c.outcomes = c.outcomes || stated && c.judged && c.outcome != outcome
	if c.outcome == "" || stated && (!c.judged || c.outcome == "succeeded") {
		c.outcome = outcome
	}
	c.judged = c.judged || stated
	c.unknown = !c.judged
}

// arguments contains the arguments of a call as requested, as changed by an approver, and as
// executed.
type arguments struct {
	asked     canon.Digest // in the last request
	requested canon.Digest // in the request before an approver changed it
	changed   canon.Digest // set by the approver
	ran       canon.Digest // from an event about the execution
	byRuntime bool         // from an event of the runtime, not from the transcript
	differ    bool         // two events record different arguments for the execution
}

// ask records the arguments of a request. If a request is repeated with its original arguments, the
// approver's change is not undone.
func (a *arguments) ask(d canon.Digest) {
	switch {
	case d.IsZero():
		return
	case !a.ran.IsZero() && d != a.ran && d != a.asked:
		a.differ = true
	case !a.changed.IsZero() && d != a.requested:
		a.changed = canon.Digest{} // this is a new request, not the one that was changed
	}
	a.asked = d
}

// change records the arguments that the approver substituted.
func (a *arguments) change(d, question canon.Digest) {
	first(&a.requested, a.asked)
	first(&a.requested, question)
	a.changed = d
}

// run records the arguments of the execution. The record of the runtime takes precedence over the
// transcript.
func (a *arguments) run(d canon.Digest, byRuntime bool) {
	if d.IsZero() {
		return
	}
	a.differ = a.differ || !a.ran.IsZero() && a.ran != d
	if a.ran.IsZero() || byRuntime && !a.byRuntime {
		a.ran, a.byRuntime = d, byRuntime
	}
}

// last returns the arguments of the execution if they are recorded.
func (a *arguments) last() canon.Digest {
	switch {
	case !a.ran.IsZero():
		return a.ran
	case !a.changed.IsZero():
		return a.changed
	}
	return a.asked
}
