package codex

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Rollouts of the first half of 2025 have no envelopes. Until the summer they are one
// object, {"session":{"id","timestamp","instructions"},"items":[…]}, and then lines: first
// what the session is, then items as they are, without times, and {"record_type":"state"}
// between them.

// isBare reports a line of such a rollout by which it is known: its first one, a mark, or
// all of it. An item alone may be one of any program that speaks with the same models.
func isBare(n canon.Node) bool {
	return beginsBare(n) || isMark(n) || isWhole(n)
}

func beginsBare(n canon.Node) bool {
	for _, name := range []string{"type", "record_type", "payload", "event"} {
		if !n.Member(name).IsZero() {
			return false
		}
	}
	return n.Member("id").Kind() == canon.KindString && !story.Stamp(n.Member("timestamp")).IsZero() && !n.Member("instructions").IsZero()
}

func isMark(n canon.Node) bool { return n.Member("record_type").String() == "state" }

// onlyMark reports a mark that states nothing besides: its time, at most.
func onlyMark(n canon.Node) bool {
	for name := range n.Members() {
		switch name.String() {
		case "record_type", "timestamp", "ordinal":
		default:
			return false
		}
	}
	return true
}

func isWhole(n canon.Node) bool {
	return n.Member("items").Kind() == canon.KindArray && n.Member("session").Member("id").Kind() == canon.KindString
}

// Looks reports whether a text begins as a rollout that is one object, wherever its lines
// end.
func Looks(head []byte) bool {
	text := bytes.Join(bytes.Fields(bytes.TrimPrefix(head, []byte("\ufeff"))), nil)
	return bytes.HasPrefix(text, []byte(`{"session":{"timestamp":"`)) || bytes.HasPrefix(text, []byte(`{"session":{"id":"`)) && bytes.Contains(text, []byte(`,"timestamp":"`))
}

// isItem reports a type of what passes between Codex and a model.
func isItem(kind string) bool {
	switch kind {
	case "message", "reasoning", "ghost_snapshot", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call", "local_shell_call_output", "web_search_call":
		return true
	}
	return false
}
