package record

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
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
	judged      bool   // an end tells how it ended
	unknown     bool   // it returned, and no end tells how it ended
	rejection   string // the category by which it was never dispatched; "" when none was told
	category    string
	outcomes    bool // two ends were told
	names       bool // two names were
	gate        gate // what the questions about it came to; when the draft is made
	server      string
	outputURI   string
	material    bool      // it has a place among the materials
	wrote, sent origin    // whose reports tell of files, and of the network
	short       [2]string // the input and the output as abbreviated digests, "" where none was told
	meta        receipt.Object
	differ      map[string]bool // members of meta of which two values were told
}

// An output is what a call returned.
type output struct {
	digest    canon.Digest
	byRuntime bool // from a tool.* event, not from the transcript, which may cut it
	differ    bool
	told      answer
}

// tell notes an output. The runtime's comes before the transcript's, then the first.
func (o *output) tell(e *event.Event, byRuntime bool) {
	d := e.Content(e.Payload, "output")
	switch {
	case d.IsZero():
		if o.digest.IsZero() { // it ended, and nothing tells what it returned
			o.told = answerOf(e, canon.Node{})
		}
	case o.digest.IsZero() || byRuntime && !o.byRuntime:
		o.digest, o.byRuntime, o.told = d, byRuntime, answerOf(e, e.Payload.Member("output"))
	case byRuntime == o.byRuntime && d != o.digest:
		o.differ = true
	}
}

// describe notes who runs a call, and under what.
func (c *call) describe(e *event.Event) {
	for _, name := range []string{"executor", "kind", "mutation_scope", "run_id", "worker_id", "parent_call_id", "raw_status"} {
		c.note(name, e.Text(e.Payload, name))
	}
}

// acted notes what the call did in git as the log states it, and, apart from that, what the
// words of its command suggest: that is no effect.
func (c *call) acted(r *run, e *event.Event) {
	if list := words(r, e, e.Payload, "git_actions"); len(list) > 0 {
		c.meta["git_actions"] = list
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

// abbreviate notes the digests of the input and of the output that an event abbreviates.
func (c *call) abbreviate(e *event.Event) {
	for i, name := range [...]string{"input", "output"} {
		if n := e.Payload.Member(name + "_sha256"); event.Abbreviated(n) && e.Payload.Member(name).IsZero() {
			c.short[i] = e.Once(n.Text())
		}
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

// Details are what questions tell of a call, by the names of its details.
type details struct {
	values map[string]string
	differ map[string]bool // of which two values were told
}

// note keeps a detail. The last value counts.
func (d *details) note(name, value string) {
	if d.values == nil {
		d.values, d.differ = map[string]string{}, map[string]bool{}
	}
	if have := d.values[name]; have != "" && disagree(name, have, value) {
		d.differ[name] = true
	}
	d.values[name] = value
}

// join adds the details of another question.
func (d *details) join(other details) {
	for name, value := range other.values {
		if d.note(name, value); other.differ[name] {
			d.differ[name] = true
		}
	}
}

// disagree reports whether two values of a detail cannot both be. A call is of the kind
// other until something tells which.
func disagree(name, a, b string) bool {
	return a != b && !(name == "kind" && (a == "other" || b == "other"))
}

// told is a detail that the call has, and "" where anything tells another.
func (c *call) told(name string) string {
	value, _ := c.meta[name].(string)
	asked := c.gate.notes
	if c.differ[name] || asked.differ[name] || asked.values[name] != "" && disagree(name, value, asked.values[name]) {
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

// serve notes what runs a call: an MCP server, or else the host. What it returns is a
// material of the replay, in the place where the call was first told.
func (c *call) serve(r *run, e *event.Event) {
	first(&c.outputURI, e.Text(e.Payload, "output_uri"))
	if first(&c.server, e.Text(e.Payload, "server")); c.server != "" {
		c.note("server", c.server)
	}

	if !c.material {
		c.material = true
		r.materials.add(material{call: c})
		r.Charge(e, e.Root, len("host::")+len(c.server)+len(c.tool)+len(c.id))
		r.Room(e)
	}
}

// writesNothing reports whether what a call is said to be changes no file.
func (c *call) writesNothing() bool {
	switch c.told("kind") {
	case "read", "search", "think", "fetch":
		return true
	case "edit", "delete", "move":
		return false
	}
	kind, _ := c.meta["kind"].(string)
	return kind == c.told("kind") && c.told("mutation_scope") == "read_only"
}

// sendsNothing reports whether what a call is said to be sends nothing.
func (c *call) sendsNothing() bool {
	switch c.told("kind") {
	case "read", "edit", "delete", "move", "think":
		return c.server == ""
	}
	return false
}

// end adds an end of the call. An end with a stated status replaces one without, and does
// not contradict it.
func (c *call) end(outcome string, stated bool) {
	c.outcomes = c.outcomes || stated && c.judged && c.outcome != outcome
	if c.outcome == "" || stated && (!c.judged || c.outcome == "succeeded") {
		c.outcome = outcome
	}
	c.judged = c.judged || stated
	c.unknown = !c.judged
}

// Arguments are what a call was asked with, what an approver made of it, and what
// it ran with.
type arguments struct {
	asked     canon.Digest // by the last request
	requested canon.Digest // what was asked before an approver changed it
	changed   canon.Digest // by the approver
	ran       canon.Digest // by an event that tells of the run
	byRuntime bool         // that event is the runtime's, not the transcript's
	differ    bool         // two events tell different ones of the run
}

// ask notes the arguments of a request. Those that an approver changed are not asked
// for by who repeats the old ones.
func (a *arguments) ask(d canon.Digest) {
	switch {
	case d.IsZero():
		return
	case !a.ran.IsZero() && d != a.ran && d != a.asked:
		a.differ = true
	case !a.changed.IsZero() && d != a.requested:
		a.changed = canon.Digest{} // another request than the one that was changed
	}
	a.asked = d
}

// change notes what an approver put in their place.
func (a *arguments) change(d, question canon.Digest) {
	first(&a.requested, a.asked)
	first(&a.requested, question)
	a.changed = d
}

// run notes what the call ran with. Who runs it knows better than who was told.
func (a *arguments) run(d canon.Digest, byRuntime bool) {
	if d.IsZero() {
		return
	}
	a.differ = a.differ || !a.ran.IsZero() && a.ran != d
	if a.ran.IsZero() || byRuntime && !a.byRuntime {
		a.ran, a.byRuntime = d, byRuntime
	}
}

// last are what it ran with, as far as that is told.
func (a *arguments) last() canon.Digest {
	switch {
	case !a.ran.IsZero():
		return a.ran
	case !a.changed.IsZero():
		return a.changed
	}
	return a.asked
}
