package codex

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// does returns the class of a Codex tool, or "" if it is unknown.
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

// spaceOf returns the MCP server in the namespace of a call, which is mcp__SERVER or
// mcp__SERVER__GROUP.
func spaceOf(namespace string) string {
	rest, ok := strings.CutPrefix(namespace, "mcp__")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}

// Beginnings of outputs, which indicate that a person or a rule refused the call, that a person
// interrupted it, or that the call had no effect.
const (
	execRejected  = "exec command rejected by user"
	patchRejected = "patch rejected by user"
	aborted       = "aborted by user"
	unverified    = "apply_patch verification failed"
	unsupported   = "unsupported call: " // followed by the name of the tool
	noImage       = "unable to locate image at "

	// In newer versions, a command that does not run has an error, which contains the reason.
	execFailed     = "exec_command failed"
	refusedByUser  = `CreateProcess { message: "Rejected(\"rejected by user\")" }`
	inputFailed    = "write_stdin failed"
	policyPrevents = "approval policy is "
	policyRefused  = "; reject command"
)

// An ending describes how a call ended, according to its output.
type ending struct {
	outcome story.Outcome
	exit    *int64 // of the command
	process string // session ID of the process, if it is still running
}

// endingOf determines the outcome of a call from its output, as far as possible. The tools of Codex
// write the outcome as text in a fixed format.
func endingOf(tool, server string, output canon.Node) ending {
	if output.Kind() == canon.KindObject {
		if ok := output.Member("success"); ok.Kind() == canon.KindBool {
			return ending{outcome: story.OutcomeOf(ok.Bool())}
		}
		output = output.Member("content")
	}

	// If an output has several parts, the first text is used.
	text := output.Text()
	for _, part := range output.Elements() {
		if n := part.Member("text"); n.Kind() == canon.KindString {
			text = n.Text()
			break
		}
	}

	switch {
	// The output of an MCP server may contain any text.
	case server != "":
		return ending{outcome: story.Unreported}
	case bytes.HasPrefix(text, []byte(execRejected)), bytes.HasPrefix(text, []byte(patchRejected)):
		return ending{outcome: story.Rejected}
	case bytes.HasPrefix(text, []byte(aborted)):
		return ending{outcome: story.Canceled}
	case tool == "exec_command" && bytes.HasPrefix(text, []byte(execFailed)) && bytes.HasSuffix(text, []byte(refusedByUser)):
		return ending{outcome: story.Rejected}
	case tool == "exec_command" && bytes.HasPrefix(text, []byte(policyPrevents)) && bytes.Contains(text, []byte(policyRefused)):
		return ending{outcome: story.Denied}
	case tool == "apply_patch" && bytes.HasPrefix(text, []byte(unverified)),
		tool == "exec_command" && bytes.HasPrefix(text, []byte(execFailed)),
		tool == "write_stdin" && bytes.HasPrefix(text, []byte(inputFailed)),
		tool == "view_image" && bytes.HasPrefix(text, []byte(noImage)),
		string(text) == unsupported+tool:
		return ending{outcome: story.Failed}
	case bytes.HasPrefix(text, []byte("{")):
		if doc, err := canon.Parse(text); err == nil {
			if code := doc.Root().Member("metadata").Member("exit_code"); code.Kind() == canon.KindNumber {
				return ending{outcome: story.OutcomeOf(code.Float() == 0), exit: story.Count(code)}
			}
		}
		return ending{outcome: story.Unreported}
	}

	return headerOf(text)
}

// headerOf reads the header that may precede a command's output. The output after the header is not
// examined.
func headerOf(text []byte) ending {
	for line := range bytes.SplitSeq(text[:min(len(text), 4096)], []byte("\n")) {
		for _, words := range []string{"Exit code: ", "Process exited with code "} {
			if rest, ok := bytes.CutPrefix(line, []byte(words)); ok {
				if code, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
					e := ending{outcome: story.OutcomeOf(code == 0)}
					if code >= 0 {
						e.exit = &code
					}
					return e
				}
			}
		}
		if rest, ok := bytes.CutPrefix(line, []byte("Process running with session ID ")); ok {
			return ending{outcome: story.Unreported, process: string(bytes.TrimSpace(rest[:min(len(rest), 32)]))}
		}
		if bytes.HasPrefix(line, []byte(aborted)) {
			return ending{outcome: story.Canceled}
		}
		if !isHeader(line) {
			break
		}
	}

	return ending{outcome: story.Unreported}
}

// commandOf returns the text of a command, which is a string or a list of words. If the command is
// ["bash", "-lc", SCRIPT], it returns the script.
func commandOf(n canon.Node) string {
	if n.Kind() == canon.KindString {
		return n.String()
	}
	var words []string
	for _, w := range n.Elements() {
		words = append(words, w.String())
	}
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}

	// Words are quoted so that they cannot be mistaken for words of another command.
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// isHeader reports whether a line belongs to the header that precedes a command's output.
func isHeader(line []byte) bool {
	for _, words := range []string{"Chunk ID: ", "Wall time: ", "Total output lines: ", "Original token count: ", "Warning: "} {
		if bytes.HasPrefix(line, []byte(words)) {
			return true
		}
	}
	return false
}

// harmlessBlocks lists the types of content blocks that record no action.
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

// either returns the member with a name in snake case or, as in the output of the app server, in
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
