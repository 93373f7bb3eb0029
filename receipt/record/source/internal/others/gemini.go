package others

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// gemini reads the chats of Gemini CLI: session-TIME-ID.json in ~/.gemini/tmp/PROJECT/chats, which
// is one object, and .jsonl files, with one message per line.
type gemini struct {
	s    *story.Story
	said bool // the log contains messages, or an empty list of messages
}

// NewGemini returns a reader of Gemini CLI chats.
func NewGemini(s *story.Story) story.Reader { return &gemini{s: s} }

// geminiTools returns the table of the tools of Gemini CLI.
var geminiTools = sync.OnceValue(func() story.Tools {
	read := story.Tool{Does: "read"}
	return story.Tools{
		"read_file": read, "read_many_files": read, "list_directory": read, "glob": read, "search_file_content": read, "grep_search": read,
		"write_file":        {Does: "edit", Path: "file_path", Content: "content"},
		"replace":           {Does: "edit", Path: "file_path", Operation: "modify"},
		"run_shell_command": {Does: "execute", Command: "command", Background: "is_background"},
		"google_web_search": {Does: "fetch", Search: true},
		"web_fetch":         {Does: "fetch"},
		"write_todos":       {Does: "think"},
	}
})

// Line reads a chat, its description, a message, or a record that changes other records.
func (r *gemini) Line(n canon.Node) {
	s, set := r.s, n.Member("$set")
	switch kind := n.Member("type"); {
	case set.Kind() == canon.KindObject:
		r.head(set)
	case n.Member("$rewindTo").Kind() == canon.KindString:
		// Actions that were removed from the conversation were still executed.
		s.Note("rewinds")
	case event.Absent(kind) && n.Member("sessionId").Kind() == canon.KindString:
		r.head(n)
	case event.Absent(kind):
		for name := range n.Members() {
			s.Ignored(cmp.Or(s.Name(name), "None"))
			return
		}
		s.Ignored("None")
	default:
		r.message(n, kind)
	}
}

// head reads the description of a chat, which may contain messages.
func (r *gemini) head(n canon.Node) {
	s := r.s
	s.Names(s.Name(n.Member("sessionId")))
	s.Stamped(n.Member("startTime"))
	for _, folder := range n.Member("directories").Elements() {
		s.Workspace = cmp.Or(s.Workspace, s.Name(folder))
	}

	messages := n.Member("messages")
	if !messages.IsZero() && event.Absent(messages) {
		s.Lacks(story.GarbledPart)
	}
	r.said = r.said || !messages.IsZero()
	for m := range s.Objects(messages) {
		r.message(m, m.Member("type"))
	}
	s.Stamped(n.Member("lastUpdated"))
}

// message reads a message.
func (r *gemini) message(n, kind canon.Node) {
	s, id := r.s, r.s.Name(n.Member("id"))
	r.said = true
	s.Dated(n.Member("timestamp"))
	switch kind.String() {
	case "user":
		r.asked(n.Member("content"), id)
	case "gemini":
		r.answer(n, id)
	case "info", "warning", "error":
	default:
		s.Unknown("message/", kind)
	}
}

// Beginnings of the text that Gemini CLI itself adds to a chat: a description of the session, the
// list of its directories, and the error of a call that a rule refused.
const (
	geminiContext = "<session_context>"
	geminiFolders = "\n- **Workspace Directories:**\n  - "
	geminiRefused = "Tool execution denied by policy."
)

// asked reads a message to the model. Call results and the session description are not requests
// from a person.
func (r *gemini) asked(content canon.Node, id string) {
	person := content.Kind() != canon.KindArray
	for _, part := range content.Elements() {
		text := part.Member("text").String()
		if !strings.HasPrefix(text, geminiContext) {
			person = person || event.Absent(part.Member("functionResponse"))
			continue
		}
		if _, rest, ok := strings.Cut(text, geminiFolders); ok {
			folder, _, _ := strings.Cut(rest, "\n")
			r.s.Workspace = cmp.Or(r.s.Workspace, story.Joined(r.s, folder))
		}
	}
	if person {
		r.s.Prompt(id, content)
	}
}

// answer reads a message from the model, with its usage and its calls.
func (r *gemini) answer(n canon.Node, id string) {
	// A message is written again whenever it changes.
	s := r.s
	s.Said(id, s.Name(n.Member("model")), "", geminiUsage(n.Member("tokens")))

	for c := range s.Objects(n.Member("toolCalls")) {
		r.call(c)
	}
}

// geminiUsage reads the usage of a message. Reasoning is not included in the output tokens, and
// cached tokens are included in the input tokens.
func geminiUsage(n canon.Node) story.Usage {
	u := story.Usage{
		Input: story.Count(n.Member("input")), CacheRead: story.Count(n.Member("cached")),
		Output: story.Count(n.Member("output")), Reasoning: story.Count(n.Member("thoughts")),
	}
	u.Plus(n.Member("thoughts"))
	return u
}

// call reads a tool call with its result.
func (r *gemini) call(n canon.Node) {
	s, id, args := r.s, n.Member("id"), n.Member("args")
	c, fresh := geminiTools().Ask(s, id, n.Member("name"), args)
	if c == nil {
		return
	}
	if fresh && c.Tool == "web_fetch" {
		for _, at := range urlsIn(args.Member("prompt").String()) {
			c.Reached(story.Joined(s, at))
		}
	}
	if agent := s.Name(n.Member("agentId")); agent != "" {
		s.Handoff(agent, "").Agent = c.Tool
	}

	var outcome story.Outcome
	switch n.Member("status").String() {
	case "success":
		outcome = story.Succeeded
	case "error":
		outcome = story.Failed
	case "cancelled":
		outcome = story.Canceled
	case "validating", "scheduled", "executing", "awaiting_approval":
		return
	default:
		outcome = story.Unreported
	}
	outcome = geminiOutcome(c, n, outcome)
	s.Stamped(n.Member("timestamp"))
	if s.Answer(id, outcome, n.Member("result")) == nil {
		return
	}

	// The tool may have called another model, whose usage is not recorded.
	if c.Does == "fetch" && outcome != story.Denied {
		s.Lacks(story.TokensInPart)
	}
	if outcome == story.Succeeded && c.Does == "edit" {
		c.Wrote(writeOf(s, c, n.Member("resultDisplay")))
	}
}

// geminiOutcome reads the results of a call with the given outcome, and returns the outcome that they
// show: a command has the status "success" regardless of its exit code, and a refusal by a rule has
// the status "error".
func geminiOutcome(c *story.Call, n canon.Node, outcome story.Outcome) story.Outcome {
	for _, x := range n.Member("result").Elements() {
		response := x.Member("functionResponse").Member("response")

		// The text that the command wrote precedes the lines that Gemini CLI adds.
		output := response.Member("output").String()
		if _, rest, ok := strings.Cut(output, "Output: "+n.Member("resultDisplay").String()); ok {
			output = rest
		}
		if code := geminiExit(output); c.Does == "execute" && code != nil {
			if outcome == story.Succeeded {
				outcome = story.OutcomeOf(*code == 0)
			}
			c.ExitCode = code
		}
		if outcome == story.Failed && c.Does != "" && strings.HasPrefix(response.Member("error").String(), geminiRefused) {
			outcome = story.Denied
		}
	}
	return outcome
}

// geminiExit returns the exit code at the end of a command's output, or nil if there is none. Only
// other lines that Gemini CLI adds may follow the exit code.
func geminiExit(output string) *int64 {
	const words = "Exit Code: "
	if at := strings.LastIndex(output, "\n"+words); at >= 0 {
		_, rest, _ := strings.Cut(output[at+1:], "\n")
		for line := range strings.Lines(rest) {
			label, _, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch label {
			case "", "Signal", "Background PIDs", "Process Group PGID", "</untrusted_context>":
			default:
				return nil
			}
		}
	}
	return story.ExitIn(output, words)
}

// urlsIn returns the URLs in a prompt, without surrounding punctuation.
func urlsIn(prompt string) (urls []string) {
	for _, word := range strings.FieldsFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'<>`", r) }) {
		at := strings.Index(word, "https://")
		if at < 0 {
			at = strings.Index(word, "http://")
		}
		if at >= 0 {
			urls = append(urls, strings.TrimRight(word[at:], ".,;:!?)]}"))
		}
	}
	return urls
}

// writeOf returns the change that a successful call made. The displayed result contains the text
// before and after the change. If the file did not exist, the text before is null or, with isNewFile,
// empty.
func writeOf(s *story.Story, c *story.Call, shown canon.Node) story.Write {
	w := c.Asked()
	if after := shown.Member("newContent"); !event.Absent(after) {
		w.After = s.Held(after)
	}
	switch before := shown.Member("originalContent"); {
	case before.Kind() == canon.KindNull, shown.Member("isNewFile").Bool():
		w.Operation, w.Before = "create", story.Nothing()
	case before.IsZero():
	default:
		w.Operation, w.Before = "modify", s.Held(before)
	}
	return w
}

// End records the agents whose chats were not read.
func (r *gemini) End() {
	if !r.said {
		// If there is a description but no list of messages, the messages are missing.
		r.s.Lacks(story.GarbledPart)
	}
	for _, id := range r.s.Handed() {
		if !slices.ContainsFunc(r.s.Logs, func(l *story.Log) bool { return l.Name == id+".jsonl" }) {
			r.s.Missing(id)
		}
	}
}
