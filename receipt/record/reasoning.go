package record

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// hidden are the members in which providers and harnesses carry what a model
// thought. None of it is ever put into a draft.
func hidden() []string {
	return []string{
		"thinking", "redacted_thinking", "thoughts", "reasoning", "reasoning_content", "reasoning_details",
		"private_reasoning", "chain_of_thought", "encrypted_content",
	}
}

// isThought reports whether a value is a content block of hidden reasoning.
func isThought(n canon.Node) bool {
	return slices.Contains(hidden(), n.Member("type").String()) || n.Member("sessionUpdate").String() == "agent_thought_chunk"
}

// withoutReasoning converts a value for an open object of the draft and leaves
// hidden reasoning out. at is where the draft has the value. Elements of arrays
// become null, so that no index changes.
func (r *run) withoutReasoning(at string, n canon.Node) any {
	if isThought(n) {
		r.failureWithheld = append(r.failureWithheld, at)
		return nil
	}
	switch n.Kind() {
	case canon.KindObject:
		o := map[string]any{}
		for name, value := range n.Members() {
			below := string(canon.AppendToken([]byte(at), name.String()))
			if slices.Contains(hidden(), name.String()) {
				r.failureWithheld = append(r.failureWithheld, below)
				continue
			}
			o[name.String()] = r.withoutReasoning(below, value)
		}
		return o
	case canon.KindArray:
		a := []any{}
		for i, value := range n.Elements() {
			a = append(a, r.withoutReasoning(indexed(at, i), value))
		}
		return a
	}
	return scalar(n)
}

// scalar converts a value that holds no others.
func scalar(n canon.Node) any {
	switch n.Kind() {
	case canon.KindString:
		return n.String()
	case canon.KindNumber:
		return n.Float()
	case canon.KindBool:
		return n.Bool()
	}
	return nil
}

func reasoningSummary(r *run, e *event) {
	if e.flag(e.payload, "withheld") {
		first(&r.reasoningWithheld, "reasoning summary withheld")
	}
}
