package codex

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Glances returns a function that examines the lines of a rollout in order. A task is a turn. In
// versions without turns, a task begins with a message from a person.
func Glances() func(canon.Node) story.Glance {
	turns, asked, review := false, 0, ""
	var own file
	return func(n canon.Node) story.Glance {
		p := n.Member("payload")
		g := story.Glance{At: story.Stamp(n.Member("timestamp"))}

		if own.inherits(n) {
			return g
		}
		switch kind := n.Member("type").String(); kind + "/" + p.Member("type").String() {
		case "session_meta/":
			g.Session, g.Parent, g.Whole = story.Known(p.Member("id")), story.Known(p.Member("forked_from_id")), true
			g.Key = key("session", g.Session)
			if own.start == nil {
				own.start = story.Count(p.Member("subagent_history_start_ordinal"))
			}
		case "event_msg/thread_settings_applied":
			g.Whole = true
		case "event_msg/task_started", "event_msg/turn_started":
			turns = true
			if outer := story.Known(p.Member("turn_attribution").Member("parent_turn_id")); outer != "" && outer == review {
				return g // the review began before
			}
			asked++
			g.Begins = story.Known(p.Member("turn_id"))
			g.Key = key("turn", g.Begins)
			if g.Begins == "" {
				g.Begins = fmt.Sprint(asked)
			}
		case "event_msg/user_message":
			if !turns {
				asked++
				g.Begins = fmt.Sprint(asked)
			}
		case "event_msg/exec_command_end", "event_msg/patch_apply_end", "event_msg/mcp_tool_call_end":
			g.Answers = []string{story.Known(p.Member("call_id"))}
		case "event_msg/item_completed":
			g.Answers = []string{story.Known(p.Member("item").Member("id"))}
			if typeOf(p.Member("item")) == "EnteredReviewMode" {
				turns, review = true, story.Known(p.Member("turn_id"))
				g.Begins, g.Key = review, key("turn", review)
			}
		case "event_msg/token_count", "token_usage_record/":
			total := p.Member("info").Member("total_token_usage")
			if total.IsZero() {
				total = p.Member("thread_token_usage")
			}
			if input, output := story.Count(total.Member("input_tokens")), story.Count(total.Member("output_tokens")); input != nil && output != nil {
				g.Count = true
				g.Key = key("count", fmt.Sprint(*input, "/", *output))
			}
		case "response_item/function_call", "response_item/custom_tool_call", "response_item/local_shell_call":
			id := story.Known(p.Member("call_id"))
			g.Asks, g.Key = []string{id}, key("call", id)
		case "response_item/function_call_output", "response_item/custom_tool_call_output", "response_item/local_shell_call_output":
			id := story.Known(p.Member("call_id"))
			g.Answers, g.Key = []string{id}, key("output", id)
		default:
			bare(&g, n)
		}
		return g
	}
}

// bare examines a line without an envelope. Rollouts with such lines have no turns, so each rollout
// is a single task.
func bare(g *story.Glance, n canon.Node) {
	meta := n
	switch {
	case isWhole(n):
		meta = n.Member("session")
	case !beginsBare(n):
		return
	}
	g.At, g.Session, g.Whole = story.Stamp(meta.Member("timestamp")), story.Known(meta.Member("id")), true
}

// key returns a key for a line that depends on its kind and ID, or "" if the line has no ID.
func key(kind, id string) string {
	if id == "" {
		return ""
	}
	return kind + ":" + id
}
