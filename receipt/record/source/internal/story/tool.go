package story

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Tool describes a tool of an agent: its class, as in Call.Does, and the names of the input
// members that describe the requested action. A name is "" if there is no such member.
type Tool struct {
	Does      string
	Path      string // the file that the tool writes
	Content   string // the entire text of that file
	Operation string // operation with which the tool writes that file, as in Write
	Command   string // for a shell
	URL       string // that it requests
	Search    bool   // the tool searches the web

	Background  string // whether the call was meant to run in the background
	Unsandboxed string // whether the call was meant to run outside the sandbox
}

// Tools contains the tools of an agent by name.
type Tools map[string]Tool

// Ask records that a line requests a tool call. It returns the call, or nil if the line contains no
// ID, and reports whether the request is the first for this call. The input may be JSON in a
// string.
func (t Tools) Ask(s *Story, id, tool, input canon.Node) (c *Call, fresh bool) {
	name := s.Name(tool)
	if name == "" {
		s.Lacks(HandoffUnclear)
	}
	key := s.Name(id)
	if key == "" {
		s.Lacks(CallWithoutID)
		return nil, false
	}
	c = s.Call(key)
	if !c.Ask(name, s.DigestIn(input)) {
		return c, false
	}

	// The input of the tool describes the requested action.
	is, in := t[name], Unquoted(input)
	c.Does, c.Server, c.Path, c.Operation = is.Does, ServerOf(name), s.Name(in.Member(is.Path)), is.Operation
	if is.Content != "" {
		c.Content = s.Held(in.Member(is.Content))
	}
	if is.Command != "" {
		c.Hints = HintsIn(s.Name(in.Member(is.Command)))
	}
	if is.URL != "" {
		c.Reached(s.Name(in.Member(is.URL)))
	}
	if is.Search {
		c.Searched()
	}
	c.Flag("background", is.Background != "" && in.Member(is.Background).Bool())
	c.Flag("sandbox_off_requested", is.Unsandboxed != "" && in.Member(is.Unsandboxed).Bool())
	return c, true
}

// ExitIn returns the exit code on the last line of text that begins with the given words, or nil if
// there is no such line. It ignores the first line. Agents append these words to the output of a
// command.
func ExitIn(text, words string) *int64 {
	_, rest, found := strings.Cut(text[max(strings.LastIndex(text, "\n"+words), 0):], "\n"+words)
	digits, _, _ := strings.Cut(rest, "\n")
	if code, err := strconv.ParseInt(digits, 10, 32); found && err == nil && code >= 0 {
		return &code
	}
	return nil
}

// Unquoted returns the parsed value of a string that contains a JSON object. It returns any other
// value unchanged.
func Unquoted(n canon.Node) canon.Node {
	if n.Kind() == canon.KindString && bytes.HasPrefix(n.Text(), []byte("{")) {
		if doc, err := canon.Parse(n.Text()); err == nil {
			return doc.Root()
		}
	}
	return n
}
