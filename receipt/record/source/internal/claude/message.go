package claude

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// synthetic is the model name in messages that no model wrote.
const synthetic = "<synthetic>"

// usageOf returns the usage of a message.
func usageOf(n canon.Node) story.Usage {
	return usageIn(n, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
}

// usageIn reads the usage from counts with the given names.
func usageIn(n canon.Node, fresh, read, written, output string) story.Usage {
	return story.ApartOf(n.Member(fresh), n.Member(read), n.Member(written), n.Member(output))
}

// tierOf returns the autonomy tier of a permission mode, or "" for an unknown mode.
func tierOf(mode string) string {
	switch mode {
	case "plan":
		return "suggest"
	case "default", "acceptEdits":
		return "act_with_approval"
	case "bypassPermissions", "auto": // in the mode auto, a model decides instead of a person
		return "act_auto"
	}
	return ""
}

// tools returns the table of Claude Code's tools.
var tools = sync.OnceValue(func() story.Tools {
	all := story.Tools{
		"Edit":         {Does: "edit", Path: "file_path"},
		"MultiEdit":    {Does: "edit", Path: "file_path"},
		"Write":        {Does: "edit", Path: "file_path", Content: "content"},
		"NotebookEdit": {Does: "edit", Path: "notebook_path"},
		"WebFetch":     {Does: "fetch", URL: "url"},
		"WebSearch":    {Does: "fetch", Search: true},
		"Task":         {Background: "run_in_background"},
		"Agent":        {Background: "run_in_background"},
	}
	for _, name := range []string{"Read", "Glob", "Grep", "LS", "NotebookRead"} {
		all[name] = story.Tool{Does: "read"}
	}
	for _, name := range []string{"Bash", "PowerShell", "BashOutput", "KillBash", "KillShell"} {
		all[name] = story.Tool{Does: "execute", Command: "command", Background: "run_in_background", Unsandboxed: "dangerouslyDisableSandbox"}
	}
	for _, name := range []string{
		"TodoWrite", "TodoRead", "EnterPlanMode", "ExitPlanMode", "exit_plan_mode", "AskUserQuestion", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
	} {
		all[name] = story.Tool{Does: "think"}
	}
	return all
})

// isHandoff reports whether a tool delegates work to another agent.
func isHandoff(tool string) bool {
	return tool == "Task" || tool == "Agent" || tool == "mcp__ccd_session__spawn_task"
}

// contents returns the blocks of a message that are objects.
func contents(message canon.Node) (blocks []canon.Node) {
	for _, b := range message.Member("content").Elements() {
		if b.Kind() == canon.KindObject {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// sound reports whether a message has the structure that is required in lines of this role. It
// counts malformed parts, and blocks that are not read.
func sound(s *story.Story, role string, message canon.Node) bool {
	content := message.Member("content")
	ok := message.Kind() == canon.KindObject
	switch content.Kind() {
	case canon.KindArray, canon.KindString:
	default:
		ok = ok && event.Absent(content)
	}

	// A block without a type may be a call.
	for _, b := range content.Elements() {
		ok = ok && b.Kind() == canon.KindObject && b.Member("type").Kind() == canon.KindString
	}
	if !ok {
		s.Lacks(story.GarbledPart)
	}
	unreadBlocks(s, role, message)
	return ok
}

// textOf returns the beginning of the text in a message or in a tool's result.
func textOf(n canon.Node) string {
	content := n.Member("content")
	if content.Kind() == canon.KindString {
		return string(content.Text()[:min(len(content.Text()), 256)])
	}

	for _, b := range content.Elements() {
		if t := b.Member("text"); t.Kind() == canon.KindString {
			return string(t.Text()[:min(len(t.Text()), 256)])
		}
	}
	return ""
}

// calls reads the tool calls in a model's message.
func calls(s *story.Story, message canon.Node, agent string) {
	for _, b := range contents(message) {
		switch kind := b.Member("type").String(); {
		case isCall(kind):
			ask(s, b, agent)
		case isProviderResult(kind):
			s.Answer(b.Member("tool_use_id"), story.Unreported, b.Member("content"))
		}
	}
}

func ask(s *story.Story, b canon.Node, agent string) {
	c, fresh := tools().Ask(s, b.Member("id"), b.Member("name"), b.Member("input"))
	if !fresh {
		return
	}
	input := b.Member("input")
	if c.Agent = agent; isHandoff(c.Tool) {
		c.Handed = s.Name(input.Member("subagent_type"))
	}

	// The member with the path of a notebook depends on the version.
	if c.Does == "edit" && c.Path == "" {
		c.Path = cmp.Or(s.Name(input.Member("file_path")), s.Name(input.Member("notebook_path")))
	}
}

// Beginnings of results, which indicate that a call was refused, interrupted, or never executed.
const (
	rejected      = "The user doesn't want to "
	rejectedShort = "User rejected"
	interrupted   = "[Request interrupted by user"
	failure       = "Error: "
	siblingFailed = "Sibling tool call errored"
	unasked       = "This command requires approval"
)

// outcomeOf determines the outcome of a call from the block with its result and the other members
// of the line. If toolDenialKind is absent, a refusal by a rule counts as an error, because only
// the text of the result distinguishes the two. An outcome is doubtful if the result is a refusal
// by a person, or text from an MCP server that resembles one.
func outcomeOf(tool string, block, line, besides canon.Node) (outcome story.Outcome, doubtful bool) {
	text, said := textOf(block), besides.String()
	refused := block.Member("is_error").Bool() && !line.Member("toolDenialAfterRun").Bool() && (strings.HasPrefix(text, rejected) || strings.HasPrefix(said, rejectedShort) || strings.HasPrefix(said, failure+rejected))

	switch denied := denialOf(text, block, line, besides); {
	case denied != story.Open:
		return denied, false
	case refused && story.ServerOf(tool) != "":
		return story.Unreported, true
	case refused:
		return story.Rejected, false
	}

	return endOfCall(tool, block, besides), false
}

// denialOf returns the outcome of a call that was denied according to its line, and Open for any
// other call. text is the result that the model received. If there is no error, besides is data
// from the tool.
func denialOf(text string, block, line, besides canon.Node) story.Outcome {
	kind := line.Member("toolDenialKind").String()
	if block.Member("is_error").Bool() {
		kind = cmp.Or(kind, besides.Member("toolDenialKind").String())
	}
	switch {
	case kind == "", line.Member("toolDenialAfterRun").Bool():
		return story.Open
	// A call that was accepted may have been executed before it was interrupted.
	case kind == "interrupted", kind == "cancelled", line.Member("permissionDecision").Member("decision").String() == "accept":
		return story.Canceled
	case slices.Contains([]string{"user", "user-rejected", "user_rejected"}, kind) && byPerson(text, line):
		return story.Rejected
	}
	return story.Denied
}

// byPerson reports whether a person refused a call whose line states a refusal by the user. If no
// person was asked, Claude Code states the same kind of denial. In that case, it also states that
// the permission came from the configuration, or why no question was asked.
func byPerson(text string, line canon.Node) bool {
	d := line.Member("permissionDecision")
	if event.Absent(d) {
		return !strings.HasPrefix(text, unasked)
	}
	return strings.HasPrefix(d.Member("source").String(), "user_") && event.Absent(d.Member("reasonType"))
}

// endOfCall returns the outcome of a call that was not refused.
func endOfCall(tool string, block, besides canon.Node) story.Outcome {
	text, is, stopped := textOf(block), block.Member("is_error"), besides.Member("interrupted")
	failed := is.Bool()
	switch {
	case failed && strings.Contains(text, siblingFailed):
		return story.Canceled
	case strings.HasPrefix(text, interrupted), stopped.Bool():
		return story.Canceled
	case failed, tool == "NotebookEdit" && len(besides.Member("error").Text()) > 0:
		return story.Failed
	case !isFlag(is), !isFlag(stopped), event.Absent(is) && saysFailed(text, besides.String()):
		return story.Unreported
	}

	return story.Succeeded
}

// saysFailed reports whether a result begins with text that occurs only in errors.
func saysFailed(text, besides string) bool {
	return strings.HasPrefix(text, rejected) || strings.HasPrefix(besides, rejectedShort) || strings.HasPrefix(besides, failure)
}

// isFlag reports whether n is a boolean or absent.
func isFlag(n canon.Node) bool { return event.Absent(n) || n.Kind() == canon.KindBool }

// answers reads the tool results in a message from a user. The argument besides is the result that
// the line contains outside the message. If this result is present, but no block of the message
// contains a result, the call is unknown.
func answers(s *story.Story, line, besides canon.Node) {
	read := event.Absent(besides)
	for _, b := range contents(line.Member("message")) {
		if b.Member("type").String() == "tool_result" {
			answer(s, b, line, besides)
			read = true
		}
	}
	if !read {
		s.Lacks(story.ResultWithoutCall)
	}
}

// answer reads the result of a tool. The argument besides is the result outside the message:
// toolUseResult in a transcript, tool_use_result in a stream.
func answer(s *story.Story, block, line, besides canon.Node) {
	c := s.Answered(block.Member("tool_use_id"))
	if c == nil {
		return
	}

	outcome, doubtful := outcomeOf(c.Tool, block, line, besides)
	if !c.Close(outcome, s.Digest(block.Member("content"))) {
		return
	}
	c.Doubtful = doubtful

	// If one of several simultaneous calls fails, the other calls are not executed.
	if outcome == story.Canceled && strings.Contains(textOf(block), siblingFailed) {
		c.RanNot, c.Category = true, "sibling_failed"
	}
	acted(s, c, block, besides)
	c.Flag("background", besides.Member("backgroundTaskId").Kind() == canon.KindString)
	if d := story.Count(besides.Member("durationMs")); d != nil {
		c.Duration = d
	}

	// Only the writes of successful calls are recorded.
	if outcome == story.Succeeded {
		wrote(s, c, besides)
	}
	if isHandoff(c.Tool) {
		handed(s, c, besides)
	}
}

// handed records the work that a call delegated to another agent.
func handed(s *story.Story, c *story.Call, besides canon.Node) {
	switch c.Ended() {
	case story.Rejected, story.Denied:
		return
	}
	if c.RanNot {
		return
	}
	h := s.Handoff(cmp.Or(s.Name(besides.Member("agentId")), c.HandedTo), c.ID)

	if h.Agent == "" {
		h.Agent = c.Handed
	}
	h.Calls = cmp.Or(story.Count(besides.Member("totalToolUseCount")), h.Calls)

	switch status := s.Name(besides.Member("status")); {
	case status != "":
		h.Status = status
	case c.Ended() == story.Failed:
		h.Status = "failed"
	}
}

// unanswered records the work that a call delegated to another agent, for each call whose end is
// not recorded in any line.
func unanswered(s *story.Story) {
	for c := range s.Asked() {
		if isHandoff(c.Tool) && c.Ended() == story.Open {
			if h := s.Handoff(c.HandedTo, c.ID); h.Agent == "" {
				h.Agent = c.Handed
			}
		}
	}
}

// exited is the prefix of the result of a failed command.
const exited = "Exit code "

// acted records the exit code of a failed command, and the Git actions of a command.
func acted(s *story.Story, c *story.Call, block, besides canon.Node) {
	if c.Does != "execute" {
		return
	}
	if rest, ok := strings.CutPrefix(textOf(block), exited); ok && block.Member("is_error").Bool() {
		digits, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil {
			code := int64(n)
			c.ExitCode = &code
		}
	}

	// Files that changed while the command ran. Another process may have changed them.
	changed := besides.Member("bashEditDiff")
	for _, file := range changed.Member("changedFiles").Elements() {
		s.Changed(s.Name(file))
	}
	if n := story.Count(changed.Member("moreFiles")); n != nil && *n > 0 {
		s.Lacks(story.WriteUnread)
	}

	git := besides.Member("gitOperation")

	// Only words from a closed list are recorded, because details may be free text.
	for _, of := range []struct{ name, detail string }{{"commit", "kind"}, {"push", ""}, {"branch", "action"}, {"pr", "action"}} {
		x := git.Member(of.name)
		if x.Kind() != canon.KindObject {
			continue
		}
		action := of.name
		if word := x.Member(of.detail).String(); isWord(word) && word != "committed" {
			action += "_" + word
		}
		c.Git = story.Once(c.Git, action)
	}
}

// isWord reports whether text can be a word from a closed list, as opposed to free text.
func isWord(word string) bool {
	return len(word) > 0 && len(word) <= 32 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// settle determines the outcome of MCP calls whose results resemble a refusal by a person. If the
// log records which calls were executed, a call that was not executed was refused, and the result
// of an executed call is text from its server. If the log does not record this for any call, or if
// lines were not read, the outcome is unknown.
func settle(s *story.Story, started map[string]bool) {
	for c := range s.Asked() {
		switch {
		case !c.Doubtful || started == nil || c.Ended() != story.Unreported:
		case started[c.ID]:
			c.Settle(story.Failed)
		case s.ReadAll("progress"):
			c.Settle(story.Rejected)
		}
	}
}
