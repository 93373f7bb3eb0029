package claude

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Glances returns a function that examines the lines of a transcript in order. A task begins with a
// request from a person. The commands of Claude Code itself are written in tags; some of them
// request an answer from a model.
func Glances() func(canon.Node) story.Glance {
	return func(n canon.Node) story.Glance {
		g := story.Glance{
			At: story.Stamp(n.Member("timestamp")), Session: story.Known(n.Member("sessionId")), Agent: story.Known(n.Member("agentId")),
			Key: story.Known(n.Member("uuid")), Unique: true, Aside: n.Member("isSidechain").Bool(),
		}
		message := n.Member("message")
		switch n.Member("type").String() {
		case "assistant":
			g.Spoke = !g.Aside && message.Member("model").String() != synthetic && !n.Member("isApiErrorMessage").Bool()
			refer(&g, message)
		// The line contains a message from an agent.
		case "progress":
			refer(&g, n.Member("data").Member("message").Member("message"))
		case "user":
			refer(&g, message)
			if g.Perhaps = commands(n, message); !g.Aside && (g.Perhaps || asks(n, message) || asksBehind(n, message)) {
				g.Begins = g.Key
			}
		}
		return g
	}
}

// refer records the calls that a message requests and the calls that it answers.
func refer(g *story.Glance, message canon.Node) {
	for _, b := range contents(message) {
		switch b.Member("type").String() {
		case "tool_use", "mcp_tool_use":
			g.Asks = append(g.Asks, story.Known(b.Member("id")))
		case "tool_result":
			g.Answers = append(g.Answers, story.Known(b.Member("tool_use_id")))
		}
	}
}

// commands reports whether a line contains a command from a person that may request an answer from
// a model.
func commands(n, message canon.Node) bool {
	text := strings.TrimSpace(textOf(message))
	return !n.Member("isMeta").Bool() && strings.HasPrefix(text, "<command-")
}

// asksBehind reports whether a line contains a request from a person after blocks that a program
// wrote for this person.
func asksBehind(n, message canon.Node) bool {
	if n.Member("isMeta").Bool() || n.Member("isCompactSummary").Bool() {
		return false
	}

	for _, b := range contents(message) {
		text := strings.TrimSpace(b.Member("text").String())
		switch {
		case b.Member("type").String() == "tool_result":
			return false
		case text != "" && text[0] != '<' && !strings.HasPrefix(text, interrupted):
			return true
		}
	}

	return false
}
