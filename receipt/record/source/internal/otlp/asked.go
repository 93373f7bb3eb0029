package otlp

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// The answer of a model lists the calls that it requests, in attributes of its span or of an event
// in the span. If no span records such a call, it is unknown whether the call was executed.

// asked contains the calls that models requested.
type asked struct {
	s       *story.Story
	calls   map[canon.Digest]bool // hashes of the IDs or, for a call without an ID, of its content
	unclear bool                  // some calls cannot be read
}

// isOutput reports whether an attribute belongs to the answer of a model.
func isOutput(name string) bool {
	for _, prefix := range []string{"gen_ai.completion", "gen_ai.output.messages", "llm.output_messages.", "ai.response.toolCalls"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// read records the calls that are named in attributes, either as NAME.tool_calls.N.id or in
// messages, which are JSON in a string.
func (r *asked) read(a attributes, named func(string) bool) {
	parts := map[string]string{} // attributes of each call that has no ID
	for _, x := range a.list.Elements() {
		key, value := x.Member("key").String(), x.Member("value")
		if !named(key) {
			continue
		}
		before, after, flat := strings.Cut(key, "tool_calls.")
		number, part, _ := strings.Cut(after, ".")

		// Attributes with the same number describe the same call.
		switch call := before + number; {
		case !flat:
			r.messages(value)
		case strings.TrimPrefix(part, "tool_call.") == "id" && value.Member("stringValue").String() != "":
			r.want(value.Member("stringValue").String())
			parts[call] = stated
		case parts[call] != stated:
			parts[call] += part + string(value.Raw())
		}
	}

	// A call without an ID is identified by all its attributes.
	for _, words := range parts {
		if words != stated {
			r.want(words)
		}
	}
}

// stated marks a call that has an ID.
const stated = "\x00"

// messages records the calls in messages. Text that does not begin like JSON does not contain
// calls.
func (r *asked) messages(value canon.Node) {
	text := value.Member("stringValue").Text()
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		doc, err := canon.Parse(text)
		if r.unclear = r.unclear || err != nil; err == nil {
			r.wants(doc.Root())
		}
	case value.Member("arrayValue").Kind() == canon.KindObject, value.Member("kvlistValue").Kind() == canon.KindObject:
		r.unclear = true
	}
}

// wants records the calls in a JSON value.
func (r *asked) wants(n canon.Node) {
	for _, x := range n.Elements() {
		r.wants(x)
	}
	id := ""

	// The arguments and results of a call may contain anything, including other IDs.
	for name, x := range n.Members() {
		switch name.String() {
		case "arguments", "args", "input", "response", "result":
			continue
		case "id", "toolCallId", "tool_call_id", "call_id":
			id = cmp.Or(id, x.String())
		}
		r.wants(x)
	}
	is := !n.Member("toolCallId").IsZero() || !n.Member("tool_call_id").IsZero() || !n.Member("function").IsZero()

	// A call is recognized by its type, or by members that only calls have.
	switch n.Member("type").String() {
	case "tool_call", "tool-call", "tool_use", "function_call":
		is = true
	}
	if is {
		r.want(cmp.Or(id, string(n.Raw())))
	}
}

// want records a call that a model requested, identified by its ID or by its content.
func (r *asked) want(call string) {
	sum := canon.Sum([]byte(call))
	if r.calls[sum] {
		return
	}
	if r.calls == nil {
		r.calls = map[canon.Digest]bool{}
	}
	r.calls[sum] = true
	r.s.Keep(2 * len(sum))
}

// unstated reports whether a requested call does not appear in any span or event. A span without
// the ID of a call may record any requested call, so the number of these spans is subtracted.
func (r *asked) unstated(nameless int) bool {
	n := len(r.calls) - nameless
	for c := range r.s.Asked() {
		if r.calls[canon.Sum([]byte(c.ID))] {
			n--
		}
	}
	return n > 0 || r.unclear
}

// value returns a count, or 0 if there is none.
func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
