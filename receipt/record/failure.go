package record

import (
	"math"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
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

// A failure is that of the task, without what a model thought.
type failure struct {
	object   receipt.Object
	withheld []string // pointers into it as it came
}

// take keeps the failure, an open object, without reasoning that may be in it.
func (f *failure) take(b *event.Budget, e *event.Event) {
	n := e.Payload.Member("failure")
	if event.Absent(n) {
		return
	}
	if n.Kind() != canon.KindObject {
		e.Fail(event.CodePayload, n, "expected an object")
		return
	}
	if size := len(n.AppendCanonical(nil)); size > event.MaxFailure {
		e.Exceed("MaxFailure", n, size)
		return
	}

	value, _ := f.without(b, e, "/lifecycle/failure", 1, n).(map[string]any)
	f.object = receipt.Object(value)
}

// without converts a value for an open object of the draft and leaves
// hidden reasoning out. at is where the draft has the value. Elements of arrays
// become null, so that no index changes.
func (f *failure) without(b *event.Budget, e *event.Event, at string, depth int, n canon.Node) any {
	if depth > event.MaxFailureDepth {
		e.Exceed(event.LimitDepth, n, depth)
		return nil
	}
	if isThought(n) {
		f.withhold(b, e, at)
		return nil
	}

	// What is withheld is a member, or an element that becomes null.
	switch n.Kind() {
	case canon.KindObject:
		o := map[string]any{}
		for name, value := range n.Members() {
			below := string(canon.AppendToken([]byte(at), name.String()))
			if slices.Contains(hidden(), name.String()) {
				f.withhold(b, e, below)
				continue
			}
			o[name.String()] = f.without(b, e, below, depth+1, value)
		}
		return o
	case canon.KindArray:
		a := []any{}
		for i, value := range n.Elements() {
			a = append(a, f.without(b, e, indexed(at, i), depth+1, value))
		}
		return a
	}

	return scalar(n)
}

// withhold notes where hidden reasoning was.
func (f *failure) withhold(b *event.Budget, e *event.Event, at string) {
	f.withheld = append(f.withheld, at)
	b.Charge(e, e.Payload, len(at))
	b.Part(e)
}

// scalar converts a value that holds no others. An integer that a receipt cannot
// hold as a number becomes a string.
func scalar(n canon.Node) any {
	switch n.Kind() {
	case canon.KindString:
		return n.String()
	case canon.KindNumber:
		if f := n.Float(); f != math.Trunc(f) || math.Abs(f) <= event.MaxTokens {
			return f
		}
		return string(n.AppendCanonical(nil))
	case canon.KindBool:
		return n.Bool()
	}
	return nil
}
