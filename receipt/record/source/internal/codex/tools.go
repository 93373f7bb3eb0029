package codex

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// does classifies a tool of Codex; "" is unknown.
func does(tool string) string {
	switch tool {
	case "shell", "shell_command", "local_shell", "exec_command", "write_stdin", "unified_exec", "command_execution", "command", "exec", "functions.exec":
		return "execute"
	case "apply_patch", "patch_apply", "file_change":
		return "edit"
	case "update_plan":
		return "think"
	case "view_image", "read_file", "list_dir", "grep_files":
		return "read"
	case "web_search", "web.search":
		return "fetch"
	}

	return ""
}

// spaceOf returns the MCP server in the namespace of a call: mcp__SERVER or mcp__SERVER__GROUP.
func spaceOf(namespace string) string {
	rest, ok := strings.CutPrefix(namespace, "mcp__")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}

// Beginnings of outputs which state that a person refused or stopped the call, or that it did
// nothing.
const (
	execRejected  = "exec command rejected by user"
	patchRejected = "patch rejected by user"
	aborted       = "aborted by user"
	unverified    = "apply_patch verification failed"
)

// outcomeOf returns how a call ended, as far as its output states it. The tools of Codex write it
// as text in a fixed form.
func outcomeOf(tool, server string, output canon.Node) story.Outcome {
	if output.Kind() == canon.KindObject {
		if ok := output.Member("success"); ok.Kind() == canon.KindBool {
			return story.OutcomeOf(ok.Bool())
		}
		output = output.Member("content")
	}

	// An output in parts begins with its first text.
	text := output.Text()
	for _, part := range output.Elements() {
		if n := part.Member("text"); n.Kind() == canon.KindString {
			text = n.Text()
			break
		}
	}

	switch {
	// The output of an MCP server may be anything.
	case server != "":
		return story.Unreported
	case bytes.HasPrefix(text, []byte(execRejected)), bytes.HasPrefix(text, []byte(patchRejected)):
		return story.Rejected
	case bytes.HasPrefix(text, []byte(aborted)):
		return story.Canceled
	case tool == "apply_patch" && bytes.HasPrefix(text, []byte(unverified)):
		return story.Failed
	case bytes.HasPrefix(text, []byte("{")):
		if doc, err := canon.Parse(text); err == nil {
			if code := doc.Root().Member("metadata").Member("exit_code"); code.Kind() == canon.KindNumber {
				return story.OutcomeOf(code.Float() == 0)
			}
		}
		return story.Unreported
	}

	// A header may precede the output of the command. The output itself is not examined.
	for line := range bytes.SplitSeq(text[:min(len(text), 4096)], []byte("\n")) {
		for _, words := range []string{"Exit code: ", "Process exited with code "} {
			if rest, ok := bytes.CutPrefix(line, []byte(words)); ok {
				if code, err := strconv.Atoi(string(bytes.TrimSpace(rest))); err == nil {
					return story.OutcomeOf(code == 0)
				}
			}
		}
		if !isHeader(line) {
			break
		}
	}

	return story.Unreported
}

// isHeader reports whether a line is of the header before the output of a command.
func isHeader(line []byte) bool {
	for _, words := range []string{"Chunk ID: ", "Wall time: ", "Total output lines: ", "Original token count: ", "Warning: "} {
		if bytes.HasPrefix(line, []byte(words)) {
			return true
		}
	}
	return false
}

// harmlessBlocks lists the types of content blocks that state no action.
func harmlessBlocks() []string {
	return []string{
		"input_text", "output_text", "text", "Text", "summary_text", "reasoning_text", "input_image", "output_image", "input_file", "input_audio", "refusal", "encrypted_content",
	}
}

// blocks counts the content blocks of a message that are neither text nor media.
func blocks(s *story.Story, of string, content canon.Node) {
	switch content.Kind() {
	case canon.KindString:
	case canon.KindArray:
		for _, n := range content.Elements() {
			s.Unless(harmlessBlocks(), of+"/", n.Member("type"))
		}
	default:
		if !event.Absent(content) {
			s.Ignored(of + "/None")
		}
	}
}

// either returns the member of a name in snake case or, as the app server writes it, in
// camelCase.
func either(n canon.Node, name string) canon.Node {
	if v := n.Member(name); !event.Absent(v) {
		return v
	}

	var camel strings.Builder
	for i, word := range strings.Split(name, "_") {
		if i > 0 && word != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		camel.WriteString(word)
	}
	if v := n.Member(camel.String()); !v.IsZero() {
		return v
	}

	return n.Member(name)
}
