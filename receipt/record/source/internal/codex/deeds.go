package codex

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// deeds contains the calls of a task. Codex records the calls that the model requests and,
// separately, the actions that Codex executed: in *_end events or, in versions with paginated
// history, in items. Both records refer to a call by its ID. For the outcome of a call, the record
// of the executed action takes precedence.
type deeds struct {
	s        *story.Story
	opened   story.Set                  // calls that Codex executed but that the model has not requested so far
	record   string                     // type of the current record about an action that Codex executed
	ran      map[[2]string]canon.Digest // inputs of these actions, by call ID and record type
	wrote    story.Set                  // calls whose file changes are recorded
	wrappers []string                   // open calls whose script calls other tools
	searches int                        // number of the model's web searches that have no ID, except those that Codex itself recorded
	turn     string                     // the latest turn that began
	folder   string                     // the directory of the latest turn
	sandbox  string                     // the sandbox in which the turn runs commands, or ""
	running  map[string]*story.Call     // commands that continue after their call returned, by process ID
	inputs   map[string]string          // process to which each open call writes
	unasked  bool                       // no person is asked to approve calls
}

func newDeeds(s *story.Story) *deeds {
	return &deeds{s: s, opened: story.Set{}, wrote: story.Set{}, ran: map[[2]string]canon.Digest{}, running: map[string]*story.Call{}, inputs: map[string]string{}}
}

// ask opens a call. The arguments may request a person's approval, but the answer is not logged.
func (d *deeds) ask(p canon.Node, input canon.Digest, told patch) {
	s, id := d.s, d.s.Name(p.Member("call_id"))
	if id == "" {
		s.Lacks(story.CallWithoutID)
		return
	}
	c, tool := s.Call(id), s.Name(p.Member("name"))

	// Calls of this type have no name.
	if p.Member("type").String() == "local_shell_call" {
		tool = "local_shell"
	}

	// Codex may have recorded the call before the model's request.
	if d.opened[id] {
		delete(d.opened, id)
		c.Adopt(tool, input)
		return
	}
	if !c.Ask(tool, input) {
		return
	}
	c.Does, c.Server = does(tool), cmp.Or(story.ServerOf(tool), spaceOf(s.Name(p.Member("namespace"))))
	d.command(c, p)
	if isWrapper(tool) {
		d.wrappers = append(d.wrappers, id)
	}

	// The output determines whether the changes in a patch were made, so the changes are stored
	// until the output is read.
	if tool != "apply_patch" && !told.ofShell {
		return
	}

	switch {
	case len(told.changes) > 0 && !s.Inexact:
		c.Planned = told.changes
	case tool == "apply_patch":
		s.Note("unreadable_patches")
	}
}

// answer closes a call.
func (d *deeds) answer(p canon.Node) {
	s := d.s

	// Codex itself passes data, such as a goal, to the model as the output of no call.
	if event.Absent(p.Member("call_id")) && p.Member("namespace").String() == "agent" {
		return
	}
	c := s.Answered(p.Member("call_id"))
	if c == nil {
		return
	}
	d.unwrap(c.ID)
	output := p.Member("output")
	if c.Server == "" && collabOf(c.Tool) == handsOver {
		if thread := threadIn(output); thread != "" {
			handOver(s, c, "", thread)
		}
	}

	// The changes in a patch are recorded unless Codex itself recorded the changes that it made.
	end := endingOf(c.Tool, c.Server, output)
	if end.outcome == story.Rejected {
		end.outcome = d.declined()
	}
	if c.Close(end.outcome, s.Digest(output)) {
		d.exited(c, end)
		if c.Ended() == story.Succeeded && !d.wrote[c.ID] {
			for _, w := range c.Planned {
				c.Wrote(w)
				d.wrote[c.ID] = true
			}
		}
	}
	c.Planned = nil
}

// command reads the input of a call that runs a command.
func (d *deeds) command(c *story.Call, p canon.Node) {
	if c.Does != "execute" || c.Server != "" {
		return
	}
	in := story.Unquoted(p.Member("arguments"))
	if c.Tool == "local_shell" {
		in = p.Member("action")
	}
	d.runs(c, in.Member("command"))
	if cmd := in.Member("cmd"); !cmd.IsZero() {
		d.runs(c, cmd)
	}
	c.Flag("sandbox_off_requested", in.Member("with_escalated_permissions").Bool() || in.Member("sandbox_permissions").String() == "require_escalated")
	if process := in.Member("session_id"); c.Tool == "write_stdin" && !process.IsZero() {
		d.inputs[c.ID] = string(process.Raw())
		d.s.Keep(len(c.ID))
	}
}

// runs records the text of a command, and the sandbox of its turn.
func (d *deeds) runs(c *story.Call, command canon.Node) {
	if h := story.HintsIn(commandOf(command)); len(c.Hints.Git)+len(c.Hints.Tests) == 0 {
		c.Hints = h
	}
	c.Flag(d.sandbox, true)
}

// exited records the exit code of a command. A process that outlives its call continues in the
// background. The answer to a call that writes to the process reports the end of the process. The
// original call returned earlier, so its status stays unreported.
func (d *deeds) exited(c *story.Call, end ending) {
	if end.exit != nil && c.ExitCode == nil {
		c.ExitCode = end.exit
	}
	if end.process != "" && c.Tool != "write_stdin" {
		c.Flag("background", true)
		d.running[end.process] = c
		d.s.Keep(len(end.process))
		return
	}

	process := d.inputs[c.ID]
	delete(d.inputs, c.ID)
	if started := d.running[process]; started != nil && end.exit != nil {
		delete(d.running, process)
		started.ExitCode = end.exit
	}
}

// ended reads an event that records the outcome of a call.
func (d *deeds) ended(kind string, p canon.Node) {
	id := d.s.Name(p.Member("call_id"))
	d.record = kind
	switch kind {
	case "exec_command_end":
		if ofUser(d.s, p) {
			break
		}
		if c := d.did(id, "command", p.Member("command"), p); c != nil {
			d.runs(c, p.Member("command"))
		}
	case "patch_apply_end":
		d.applied(d.did(id, "patch_apply", p.Member("changes"), p), p.Member("changes"))
	case "mcp_tool_call_end":
		invocation, result := p.Member("invocation"), p.Member("result")
		c := d.own(id, "mcp", invocation.Member("arguments"))
		of(d.s, c, invocation)
		d.settle(c, p, mcpOutcome(result.Member("Ok"), result.Member("Err")))
	case "web_search_end":
		d.search(id, "web_search", p)
	}
}

// ofUser reports whether a person typed a command. Such a command is not a tool call.
func ofUser(s *story.Story, n canon.Node) bool {
	typed := n.Member("source").String() == "user_shell"
	if typed {
		s.Note("commands_of_the_user")
	}
	return typed
}

// own returns the call with the given ID, and opens it if the model did not request it. Two records
// of the same type with different inputs belong to different calls.
func (d *deeds) own(id, tool string, input canon.Node) *story.Call {
	s := d.s
	if id == "" {
		s.Lacks(story.CallWithoutID)
		return nil
	}

	c, digest, record := s.Call(id), s.Digest(input), [2]string{id, d.record}
	if before := d.ran[record]; before.IsZero() {
		d.ran[record] = digest
		s.Keep(2 * len(id))
	} else if !digest.IsZero() && before != digest {
		c.Share()
	}
	if s.Known(id) != nil {
		return c
	}

	// If a wrapper is running, its script made the call.
	c.Ask(tool, digest)
	c.Does, c.Parent = does(tool), d.parent()
	d.opened.Add(s, id)
	return c
}

// did records a call that Codex executed according to the record n. It returns the call, or nil if
// the call has no ID.
func (d *deeds) did(id, tool string, input, n canon.Node) *story.Call {
	c := d.own(id, tool, input)
	d.settle(c, n, d.outcomeOf(n))
	return c
}

// settle records the outcome and the duration of a call.
func (d *deeds) settle(c *story.Call, n canon.Node, outcome story.Outcome) {
	if c == nil {
		return
	}

	// A command that was interrupted has the status failed.
	if c.Ended() != story.Canceled || outcome != story.Failed {
		c.Ran(outcome)
	}
	if d.opened[c.ID] {
		c.Close(story.Open, d.s.Digest(outputOf(n)))
	}

	if code := either(n, "exit_code"); code.Kind() == canon.KindNumber {
		if f := code.Float(); f == float64(int64(f)) && f >= 0 {
			exit := int64(f)
			c.ExitCode = &exit
		}
	}
	if ms := durationOf(n.Member("duration")); ms != nil {
		c.Duration = ms
	}
}

// outcomeOf determines the outcome of a call from its status, its exit code, and its success flag.
func (d *deeds) outcomeOf(n canon.Node) story.Outcome {
	status, success, code := n.Member("status").String(), n.Member("success"), either(n, "exit_code")
	switch {
	case status == "declined":
		return d.declined()
	case status == "failed", success.Kind() == canon.KindBool && !success.Bool(), code.Kind() == canon.KindNumber && code.Float() != 0:
		return story.Failed
	case status == "completed", success.Bool(), code.Kind() == canon.KindNumber:
		return story.Succeeded
	}
	return story.Unreported
}

// declined returns the outcome of a refused call. If no person is asked to approve calls, a rule
// refused the call; otherwise, a person did.
func (d *deeds) declined() story.Outcome {
	if d.unasked {
		return story.Denied
	}
	return story.Rejected
}

// search records a web search, or a page that the provider opened: {query, action}.
func (d *deeds) search(id, tool string, n canon.Node) {
	c := d.own(id, tool, n.Member("query"))
	if c == nil || c.Ended() != story.Open {
		return
	}
	d.searches--
	d.settle(c, n, story.Unreported)

	action := n.Member("action")
	if url := d.s.Name(action.Member("url")); url != "" {
		c.Reached(url)
		return
	}
	c.Searched()
}

// applied records the changes that a call made according to Codex. These changes take precedence
// over the text of the patch. If the changes and the text contain different paths, all of these
// paths are recorded. If the changes cannot be read, the text of the patch is used.
func (d *deeds) applied(c *story.Call, told canon.Node) {
	s := d.s

	// Another record may have recorded the changes already.
	if c == nil || d.wrote[c.ID] {
		return
	}

	// If the changes cannot be read, the list of writes is incomplete, unless the changes are
	// absent and the text of the patch is known.
	if k := told.Kind(); k != canon.KindObject && k != canon.KindArray {
		if c.Ended() == story.Succeeded && !(c.Planned != nil && event.Absent(told)) {
			s.Lacks(story.WriteUnread)
		}
		return
	}

	changes := changesOf(s, told)
	d.wrote.Add(s, c.ID)
	if c.Ended() != story.Succeeded {
		return
	}

	for _, w := range changes {
		c.Wrote(w)
	}
	c.WroteAll()

	if c.Planned != nil && !slices.Equal(d.paths(c.Planned), d.paths(changes)) {
		c.Claimed(c.Planned)
	}
}

// paths returns the paths of the changed files, as absolute paths if the directory is known.
func (d *deeds) paths(changes []story.Write) (names []string) {
	for _, w := range changes {
		name := w.Path
		if !path.IsAbs(name) && d.folder != "" {
			name = path.Join(d.folder, name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// parent returns the ID of the running wrapper if there is exactly one, and "" otherwise.
func (d *deeds) parent() string {
	if len(d.wrappers) == 1 {
		return d.wrappers[0]
	}
	return ""
}

// unwrap records that a call returned, so it is no longer a running wrapper.
func (d *deeds) unwrap(id string) {
	d.wrappers = slices.DeleteFunc(d.wrappers, func(w string) bool { return w == id })
}

// unlisted records actions that cannot be listed because they have no ID: searches, and delegations
// to other agents.
func (d *deeds) unlisted() {
	s := d.s
	for range d.searches {
		s.Lacks(story.SearchWithoutID)
	}
	unnamed(s)
}

// turns records that a turn began or ended. A call does not continue after its turn.
func (d *deeds) turns(id string) { d.turn, d.wrappers = id, nil }

// of records the server and the tool to which an MCP call belongs.
func of(s *story.Story, c *story.Call, invocation canon.Node) {
	if c != nil {
		c.Server = cmp.Or(s.Name(invocation.Member("server")), c.Server)
		c.Tool = cmp.Or(s.Name(invocation.Member("tool")), c.Tool)
	}
}

// mcpOutcome determines the outcome of an MCP call from its result or its error.
func mcpOutcome(result, failure canon.Node) story.Outcome {
	failed := result.Member("isError")
	switch {
	case !event.Absent(failure):
		return story.Failed
	case event.Absent(result), !event.Absent(failed) && failed.Kind() != canon.KindBool:
		return story.Unreported
	}
	return story.OutcomeOf(!failed.Bool())
}

// durationOf converts {secs, nanos} to milliseconds, or returns nil if n is not a duration.
func durationOf(n canon.Node) *int64 {
	secs, nanos := story.Count(n.Member("secs")), story.Count(n.Member("nanos"))
	if secs == nil || nanos == nil || *secs > event.MaxTokens/1000 {
		return nil
	}
	ms := *secs*1000 + *nanos/int64(time.Millisecond)
	return &ms
}

// isWrapper reports whether a tool's input is a script that calls other tools.
func isWrapper(tool string) bool { return tool == "exec" || tool == "functions.exec" }
