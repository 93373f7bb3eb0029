package codex

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A line is what a line of codex exec says, without its texts: it can wait until it is known
// whether it is a copy.
type line struct {
	sum    canon.Digest // of the line
	kind   string
	thread string
	usage  usage
	took   bool // it tells a usage
	item   item
}

// An item is a step of a turn.
type item struct {
	kind, id, tool, server string
	input, output          canon.Digest
	outcome                story.Outcome
	writes                 []story.Write
	unclear                bool     // the changes of files cannot be read
	threads                []string // of the agents that were given work
}

func lineOf(s *story.Story, n canon.Node) *line {
	l := &line{sum: canon.Sum(n.Raw()), kind: nameOf(n.Member("type")), thread: nameOf(either(n, "thread_id"))}
	l.usage, l.took = usageOf(n.Member("usage"))
	if i := n.Member("item"); i.Kind() == canon.KindObject {
		l.item = itemOf(s, i, l.kind)
	}
	return l
}

func itemOf(s *story.Story, n canon.Node, line string) item {
	i := item{kind: nameOf(n.Member("type")), id: nameOf(n.Member("id")), tool: nameOf(n.Member("tool")), server: nameOf(n.Member("server"))}
	input := map[string]string{
		"command_execution": "command", "file_change": "changes", "mcp_tool_call": "arguments", "web_search": "query", "collab_tool_call": "prompt",
	}[i.kind]
	if input == "" {
		return i
	}

	if words := n.Member(input); words.Kind() != canon.KindString || len(words.Text()) > 0 { // a search that begins has none yet
		i.input = s.Digest(words)
	}
	i.outcome = stateOf(n, line)
	if i.outcome != story.Open {
		i.output = s.Digest(outputOf(n))
	}
	if i.kind == "file_change" {
		i.writes = writesOf(n.Member("changes"))
		i.unclear = n.Member("changes").Kind() != canon.KindArray
	}
	if i.kind == "collab_tool_call" {
		i.threads = threadsOf(n)
	}
	return i
}

// nameOf is a text that may be a name. One that is too long stays too long, and is not kept.
func nameOf(n canon.Node) string {
	text := n.Text()
	return string(text[:min(len(text), event.MaxText+1)])
}

// outputOf is what a call returned.
func outputOf(n canon.Node) canon.Node {
	for _, name := range []string{"aggregated_output", "result", "error", "stdout"} {
		if out := either(n, name); !out.IsZero() && out.Kind() != canon.KindNull {
			return out
		}
	}
	return canon.Node{}
}

// stateOf is how a call ended.
func stateOf(n canon.Node, line string) story.Outcome {
	code, failure := either(n, "exit_code"), n.Member("error")
	switch status := n.Member("status").String(); status {
	case "in_progress":
		return story.Open
	case "failed":
		return story.Failed
	case "declined":
		return story.Denied
	case "completed":
		return story.OutcomeOf(!(code.Kind() == canon.KindNumber && code.Float() != 0) && (failure.IsZero() || failure.Kind() == canon.KindNull))
	}
	if strings.HasSuffix(line, "completed") {
		return story.Unreported
	}
	return story.Open
}

// writesOf are the changes of files that an item names.
func writesOf(changes canon.Node) (list []story.Write) {
	for _, n := range changes.Elements() {
		kind := n.Member("kind")
		w, moved := story.Write{Path: nameOf(n.Member("path"))}, nameOf(either(kind, "move_path"))
		switch cmp.Or(kind.String(), kind.Member("type").String()) {
		case "add":
			w.Operation = "create"
		case "update":
			if w.Operation = "modify"; moved != "" {
				w.Operation, w.After = "delete", story.Nothing()
				list = append(list, story.Write{Path: moved, Operation: "create"})
			}
		case "delete":
			w.Operation, w.After = "delete", story.Nothing()
		}
		list = append(list, w)
	}
	return list
}
