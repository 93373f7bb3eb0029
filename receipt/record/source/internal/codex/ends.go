package codex

import (
	"cmp"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// of notes the server and the tool of a call of an MCP server.
func of(s *story.Story, c *story.Call, invocation canon.Node) {
	if c != nil {
		c.Server = cmp.Or(s.Name(invocation.Member("server")), c.Server)
		c.Tool = cmp.Or(s.Name(invocation.Member("tool")), c.Tool)
	}
}

// mcpOutcome is how a call of an MCP server ended, by its result or its error.
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

// durationOf reads {secs, nanos} in milliseconds; nil where there is none.
func durationOf(n canon.Node) *int64 {
	secs, nanos := story.Count(n.Member("secs")), story.Count(n.Member("nanos"))
	if secs == nil || nanos == nil || *secs > event.MaxTokens/1000 {
		return nil
	}
	ms := *secs*1000 + *nanos/int64(time.Millisecond)
	return &ms
}

// isWrapper reports a tool whose input is a script that calls other tools.
func isWrapper(tool string) bool { return tool == "exec" || tool == "functions.exec" }
