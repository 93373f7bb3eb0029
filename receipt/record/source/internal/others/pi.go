package others

import (
	"cmp"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// pi reads the sessions of Pi: ~/.pi/agent/sessions/CWD/TIME_ID.jsonl. A session is a tree, and the
// actions in abandoned branches were also executed.
type pi struct {
	s      *story.Story
	chosen string // model named in a separate line
}

// NewPi returns a reader of Pi sessions.
func NewPi(s *story.Story) story.Reader {
	s.Estimated = true // costs are based on the agent's own price list
	s.Lacks(story.RequestsUnlogged)
	return &pi{s: s}
}

// piTools returns the table of the tools of Pi.
var piTools = sync.OnceValue(func() story.Tools {
	read := story.Tool{Does: "read"}
	return story.Tools{
		"read": read, "grep": read, "find": read, "ls": read,
		"bash":  {Does: "execute", Command: "command"},
		"write": {Does: "edit", Path: "path", Content: "content"},
		"edit":  {Does: "edit", Path: "path", Operation: "modify"},
	}
})

// harmlessPi lists the line types that record no action and are not read.
func harmlessPi() []string {
	return []string{"thinking_level_change", "compaction", "branch_summary", "label", "custom", "session_info"}
}

// Line reads a line.
func (r *pi) Line(n canon.Node) {
	s := r.s
	s.Dated(n.Member("timestamp"))
	switch kind := n.Member("type"); kind.String() {
	case "session":
		s.Names(s.Name(n.Member("id")))
		if dir := s.Name(n.Member("cwd")); dir != "" {
			s.In(dir)
		}
		if version := n.Member("version"); version.Kind() == canon.KindNumber {
			s.Version(string(version.Raw()))
		}
	case "model_change":
		r.chosen = cmp.Or(r.chosen, s.Name(n.Member("modelId")))
	case "message":
		r.message(n.Member("message"))
	default:
		s.Unless(harmlessPi(), "", kind)
	}
}

// message reads a message. A copy of a message in a branched session has the same digest.
func (r *pi) message(m canon.Node) {
	s := r.s
	if m.Kind() != canon.KindObject {
		s.Lacks(story.GarbledPart)
		return
	}
	switch role := m.Member("role"); role.String() {
	case "user":
		s.Prompt(event.HashOf(m).String(), m.Member("content"))
		s.End, s.Inferred, s.Failure = story.EndUnknown, false, ""
	case "assistant":
		r.answer(m)
	case "toolResult":
		piResult(s, m)
	// The person typed a command.
	case "bashExecution":
		s.Note("commands_of_the_user")
	default:
		s.Unknown("message/", role)
	}
}

// answer reads a message from the model: its usage and cost, its calls, and why the model stopped.
func (r *pi) answer(m canon.Node) {
	s, usage := r.s, m.Member("usage")
	u := story.ApartOf(usage.Member("input"), usage.Member("cacheRead"), usage.Member("cacheWrite"), usage.Member("output"))
	if s.Said(event.HashOf(m).String(), s.Name(m.Member("model")), s.Name(m.Member("provider")), u) {
		s.Pays(usage.Member("cost").Member("total"))
	}

	for b := range s.Objects(m.Member("content")) {
		switch kind := b.Member("type"); kind.String() {
		case "toolCall":
			piTools().Ask(s, b.Member("id"), b.Member("name"), b.Member("arguments"))
		case "text", "thinking", "image":
		default:
			s.Unknown("assistant/", kind)
		}
	}
	r.end(m.Member("stopReason").String())
}

// end reads why the model stopped. Only the last message records how the task ended.
func (r *pi) end(reason string) {
	s := r.s
	s.End, s.Inferred, s.Failure = story.EndUnknown, false, ""
	switch reason {
	case "stop":
		s.End, s.Inferred = story.EndSucceeded, true
	case "aborted":
		s.End = story.EndCanceled
	case "error":
		s.End, s.Failure = story.EndFailed, "error"
	}
}

// piResult reads the result of a call and, if the call succeeded, its writes.
func piResult(s *story.Story, m canon.Node) {
	outcome := story.Unreported
	if failed := m.Member("isError"); failed.Kind() == canon.KindBool {
		outcome = story.OutcomeOf(!failed.Bool())
	}
	c := s.Answer(m.Member("toolCallId"), outcome, m.Member("content"))
	if c == nil {
		return
	}
	if c.Ended() != story.Succeeded {
		for _, b := range m.Member("content").Elements() {
			if c.Does == "execute" {
				c.ExitCode = cmp.Or(story.ExitIn(b.Member("text").String(), "Command exited with code "), c.ExitCode)
			}
		}
		return
	}

	if c.Does == "edit" {
		c.Wrote(c.Asked())
	}
}

// End records the selected model if no message names a model.
func (r *pi) End() { r.s.Model = cmp.Or(r.s.Model, r.chosen) }
