package others

import (
	"cmp"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// openCode reads sessions from the command "opencode export SESSION". Each session is one object.
type openCode struct{ s *story.Story }

// NewOpenCode returns a reader of OpenCode sessions.
func NewOpenCode(s *story.Story) story.Reader {
	s.Estimated = true // costs are based on the agent's own price list
	return &openCode{s}
}

// openCodeTools returns the table of the tools of OpenCode.
var openCodeTools = sync.OnceValue(func() story.Tools {
	read, think := story.Tool{Does: "read"}, story.Tool{Does: "think"}
	edit := story.Tool{Does: "edit", Path: "filePath"}
	search := story.Tool{Does: "fetch", Search: true}
	return story.Tools{
		"read": read, "glob": read, "grep": read, "list": read, "todowrite": think, "todoread": think, "question": think,
		"bash":        {Does: "execute", Command: "command"},
		"write":       {Does: "edit", Path: "filePath", Content: "content"},
		"edit":        edit,
		"multiedit":   edit,
		"apply_patch": {Does: "edit"},
		"webfetch":    {Does: "fetch", URL: "url"},
		"websearch":   search,
		"codesearch":  search,
	}
})

// harmlessParts lists the types of parts that record no action.
func harmlessParts() []string {
	return []string{"text", "reasoning", "step-start", "step-finish", "snapshot", "file", "agent", "compaction", "retry"}
}

// redacted is the text with which an exporter replaces a removed session ID.
const redacted = "REDACTED"

// Line reads a session.
func (r *openCode) Line(n canon.Node) {
	s, info, messages := r.s, n.Member("info"), n.Member("messages")
	if info.Kind() != canon.KindObject || event.Absent(messages) {
		s.Lacks(story.GarbledPart)
	}
	if id := s.Name(info.Member("id")); id != redacted {
		s.Names(id)
	}
	s.Version(s.Name(info.Member("version")))
	if dir := s.Name(info.Member("directory")); dir != "" {
		s.In(dir)
	}

	for m := range s.Objects(messages) {
		r.message(m)
	}
}

// message reads a message and its parts.
func (r *openCode) message(m canon.Node) {
	s, info, parts := r.s, m.Member("info"), m.Member("parts")
	if info.Kind() != canon.KindObject || event.Absent(parts) {
		s.Lacks(story.GarbledPart)
	}
	times := timesOf(s, info)
	s.Clocked(times.Member("created"))

	switch role := info.Member("role"); role.String() {
	case "user":
		s.Prompt(s.Name(info.Member("id")), parts)
		s.Model = cmp.Or(s.Model, s.Name(info.Member("model").Member("modelID")))
		s.End, s.Inferred = story.EndUnknown, false
	case "assistant":
		r.answer(info)
		r.end(info)
	default:
		s.Unknown("message/", role)
	}

	for p := range s.Objects(parts) {
		r.part(p)
	}
	s.Clocked(times.Member("completed"))
}

// answer reads the usage and the cost of a model's message.
func (r *openCode) answer(info canon.Node) {
	s, tokens := r.s, info.Member("tokens")
	cache := tokens.Member("cache")
	u := story.ApartOf(tokens.Member("input"), cache.Member("read"), cache.Member("write"), tokens.Member("output"))
	u.Reasoning = story.Count(tokens.Member("reasoning"))

	// In newer versions, the output does not include the reasoning. Only the total shows whether it
	// does.
	if total := story.Count(tokens.Member("total")); u.Input != nil && u.Output != nil && u.Reasoning != nil && *u.Reasoning > 0 {
		switch sum := *u.Input + *u.Output; {
		case total != nil && *total == sum+*u.Reasoning:
			u.Plus(tokens.Member("reasoning"))
		case total == nil || *total != sum:
			u.Floor = true
		}
	}
	if s.Said(s.Name(info.Member("id")), s.Name(info.Member("modelID")), s.Name(info.Member("providerID")), u) {
		s.Pays(info.Member("cost"))
	}
}

// end reads how a turn ended. Only the last message of the model records how the task ended.
func (r *openCode) end(info canon.Node) {
	s := r.s
	s.Inferred = false
	switch failure := info.Member("error"); {
	case failure.Member("name").String() == "MessageAbortedError":
		s.End = story.EndCanceled
	case !event.Absent(failure):
		s.End, s.Failure = story.EndFailed, "error"
	case info.Member("finish").String() == "stop":
		s.End, s.Inferred = story.EndSucceeded, true
	default:
		s.End = story.EndUnknown
	}
	if s.End != story.EndFailed {
		s.Failure = ""
	}
}

// part reads a part of a message.
func (r *openCode) part(p canon.Node) {
	s := r.s
	switch kind := p.Member("type"); kind.String() {
	case "tool":
		r.call(p, p.Member("state"))
	case "patch":
		for _, file := range p.Member("files").Elements() {
			s.Changed(s.Name(file))
		}
	case "subtask":
		s.Handoff("", s.Name(p.Member("id"))).Agent = s.Name(p.Member("agent"))
	default:
		s.Unless(harmlessParts(), "part/", kind)
		times := timesOf(s, p)
		s.Clocked(times.Member("start"))
		s.Clocked(times.Member("end"))
	}
}

// call reads a tool call with its result.
func (r *openCode) call(p, state canon.Node) {
	s, times := r.s, timesOf(r.s, state)
	s.Clocked(times.Member("start"))
	c, _ := openCodeTools().Ask(s, p.Member("callID"), p.Member("tool"), state.Member("input"))
	s.Clocked(times.Member("end"))
	if c == nil {
		return
	}

	outcome, output := story.Unreported, state.Member("output")
	switch status := state.Member("status"); status.String() {
	case "pending", "running":
		return
	case "error":
		outcome, output = story.Failed, state.Member("error")
		if c.Does != "" && refusedBy(output.String()) {
			outcome = story.Denied
		}
	case "completed":
		outcome = exitOf(c, state.Member("metadata"))

		// The model called a tool that does not exist, or with other arguments than it requires.
		if c.Tool == "invalid" {
			outcome = story.Failed
		}
	}
	if s.Answer(p.Member("callID"), outcome, output) == nil {
		return
	}

	told := state.Member("metadata")
	if c.Ended() == story.Succeeded && c.Does == "edit" {
		wrote(s, c, told, state.Member("input"))
	}
	if c.Tool == "task" {
		h := s.Handoff(s.Name(told.Member("sessionId")), c.ID)
		h.Agent = s.Name(state.Member("input").Member("subagent_type"))
	}
}

// refusedBy reports whether an error of OpenCode reports that a call was refused. If nobody can be
// asked, the error also reports that the user refused, so such an error does not record a person's
// decision.
func refusedBy(text string) bool {
	return strings.HasPrefix(text, "The user has specified a rule which prevents you from using this specific tool call") ||
		strings.HasPrefix(text, "The user rejected permission to use this specific tool call")
}

// exitOf returns the outcome of a call with the status "completed". A command has this status
// regardless of its exit code.
func exitOf(c *story.Call, told canon.Node) story.Outcome {
	exit := told.Member("exit")
	code := story.Count(exit)
	switch {
	case code != nil:
		return c.Exited(*code)
	case c.Does == "execute" && (!exit.IsZero() || !event.Absent(told) && told.Kind() != canon.KindObject):
		return story.Unreported
	}
	return story.Succeeded
}

// timesOf returns the times of a part. If the member is not an object, the times are unknown.
func timesOf(s *story.Story, n canon.Node) canon.Node {
	times := n.Member("time")
	if times.Kind() != canon.KindObject {
		s.Clocked(times)
	}
	return times
}

// wrote records the changes that a successful call made. OpenCode records the text of a file before
// and after a change.
func wrote(s *story.Story, c *story.Call, told, input canon.Node) {
	files, diff := told.Member("files"), told.Member("filediff")
	switch {
	case c.Tool == "apply_patch" && files.Kind() == canon.KindArray:
		for f := range s.Objects(files) {
			patched(s, c, f)
		}
		c.WroteAll()
	case c.Tool == "apply_patch":
		for _, w := range story.PatchOf(input.Member("patchText").String()) {
			c.Wrote(w)
		}
		s.Lacks(story.WriteUnread)
	case c.Tool == "write":
		w := c.Asked()
		if exists := told.Member("exists"); exists.Kind() == canon.KindBool && !exists.Bool() {
			w.Operation, w.Before = "create", story.Nothing()
		}
		c.Wrote(w)
	default:
		w := story.Write{Path: c.Path, Operation: "modify", Before: s.Held(diff.Member("before")), After: s.Held(diff.Member("after"))}

		// An edit of empty text may have created the file.
		if before := diff.Member("before"); before.Kind() != canon.KindString || len(before.Text()) == 0 {
			w.Before = story.State{}
			if before.Kind() == canon.KindString {
				w.Operation = ""
			}
		}
		c.Wrote(w)
	}
}

// patched records a change that apply_patch made. OpenCode records empty text before an added file
// and after a deleted file, although there is no file.
func patched(s *story.Story, c *story.Call, f canon.Node) {
	w := story.Write{Path: s.Name(f.Member("filePath")), Before: s.Held(f.Member("before")), After: s.Held(f.Member("after"))}
	switch f.Member("type").String() {
	case "add":
		w.Operation, w.Before = "create", story.Nothing()
	case "update":
		w.Operation = "modify"
	case "delete":
		w.Operation, w.After = "delete", story.Nothing()
	case "move":
		moved := story.Write{Path: s.Name(f.Member("movePath")), Operation: "create", After: w.After}
		w.Operation, w.After = "delete", story.Nothing()
		c.Wrote(w)
		w = moved
	}
	c.Wrote(w)
}

// End has nothing to record.
func (r *openCode) End() {}
