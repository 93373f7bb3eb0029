package otlp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A class is what a span is of.
type class byte

const (
	other class = iota
	modelCall
	toolCall
	agentWork
)

// States of a span.
const (
	statusUnset = iota
	statusOK
	statusError
)

// A spanKey names a span: by its id, or, where it has none, by all that it tells.
type spanKey struct {
	trace, span id
	words       canon.Digest
}

// A span is as much of one as is needed when all have come: parents come after their
// children, or not at all.
type span struct {
	parent id
	class  class
	status int
	http   bool
	call   *call        // of a model
	sum    story.Usage  // that it repeats of the calls in it
	words  canon.Digest // all that was told of it
}

// A call is that of a model.
type call struct {
	model, provider, agent string
	usage                  story.Usage
	at                     story.Place
	start, end             time.Time
	nameless               bool // its span has no id, so that nothing can lie in it by that
	inner                  bool // another span tells it once more, within this one
}

// Spans are those of a task.
type spans map[spanKey]*span

// maxSpans bounds the spans of one task.
const maxSpans = 1 << 20

// executeTool names the operation of a call of a tool, and begins the name of its span.
const executeTool = "execute_tool"

// classOf says what a span is of. By neither convention it is a call of a tool when it has the
// id of one or is named as one, and a call of a model when it tells tokens.
func classOf(a attributes, name string) class {
	switch a.get("gen_ai.operation.name").Member("stringValue").String() {
	case "chat", "text_completion", "generate_content":
		return modelCall
	case executeTool:
		return toolCall
	case "invoke_agent", "create_agent":
		return agentWork
	case "":
	default:
		return other
	}
	switch a.get("openinference.span.kind").Member("stringValue").String() {
	case "LLM":
		return modelCall
	case "TOOL":
		return toolCall
	case "AGENT":
		return agentWork
	case "":
	default:
		return other
	}
	switch {
	case a.get("ai.operationId").Member("stringValue").String() == "ai.toolCall", a.get("gen_ai.tool.call.id").Member("stringValue").String() != "",
		name == executeTool, strings.HasPrefix(name, executeTool+" "):
		return toolCall
	case usageOf(a).Told():
		return modelCall
	}
	return other
}

// embeds reports a span of embeddings: tokens are read, and nothing is answered.
func embeds(a attributes) bool {
	return a.get("gen_ai.operation.name").Member("stringValue").String() == "embeddings" ||
		a.get("openinference.span.kind").Member("stringValue").String() == "EMBEDDING"
}

// usageOf is what a call of a model took. Input has what was cached in it, and output what
// was thought.
func usageOf(a attributes) story.Usage {
	return story.Usage{
		Input:  a.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
		Output: a.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),

		// Names of the conventions, then those of instrumentations that were there before.
		CacheRead:  a.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read"),
		CacheWrite: a.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_write.input_tokens", "llm.token_count.prompt_details.cache_write"),
		Reasoning:  a.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
	}
}

// spanCall begins the id of a call that has only that of its span.
const spanCall = "span:"

// callID is the id of a call; without one that of its span; "" where that has none.
func callID(a attributes, s *story.Story, key spanKey) string {
	id := a.text(s, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
	if id == "" && key.span != "" {
		id = spanCall + string(key.span)
	}
	return id
}

// settle says of each call of a model whether another span tells it, too: the innermost
// counts. A tool or an agent between two makes them two calls.
func (all spans) settle() {
	for key, x := range all {
		if x.call == nil || !x.call.usage.Told() {
			continue
		}
		at := spanKey{trace: key.trace, span: x.parent}
		for range maxDepth {
			above := all[at]
			if above == nil || at == key || above.class == toolCall || above.class == agentWork {
				break
			}
			if above.call != nil {
				above.call.inner = true
			}
			at.span = above.parent
		}
	}
}

// maxDepth bounds how far parents are followed: ids that go in circles end there.
const maxDepth = 64

// outcome is how the task ended: as the agents did that no other agent called, or, where
// there is none, as the roots did. A request that failed does not fail the task.
func (all spans) outcome() story.End {
	for _, class := range []class{agentWork, other} {
		ended, failed, found := true, false, false
		for key, x := range all {
			if class == agentWork && (x.class != agentWork || all.within(key, x)) || class == other && (x.parent != "" || x.http || x.class == modelCall || x.class == toolCall) {
				continue
			}
			found = true
			ended, failed = ended && x.status != statusUnset, failed || x.status == statusError
		}
		switch {
		case found && failed:
			return story.EndFailed
		case found && ended:
			return story.EndSucceeded
		case found:
			return story.EndUnknown
		}
	}
	return story.EndUnknown
}

// whole reports whether each span lies in one of these, or in none: then the last of them
// ended when the task was over. What came after a span that lies elsewhere, nobody knows.
func (all spans) whole() bool {
	for key, x := range all {
		if x.parent != "" && all[spanKey{trace: key.trace, span: x.parent}] == nil {
			return false
		}
	}
	return len(all) > 0
}

// within reports whether an agent was called by another.
func (all spans) within(key spanKey, x *span) bool {
	at := spanKey{trace: key.trace, span: x.parent}
	for range maxDepth {
		above := all[at]
		switch {
		case above == nil || at == key:
			return false
		case above.class == agentWork:
			return true
		}
		at.span = above.parent
	}
	return false
}

// nested reports whether an agent called another.
func (all spans) nested() bool {
	for key, x := range all {
		if x.class == agentWork && all.within(key, x) {
			return true
		}
	}
	return false
}

// counted returns the calls of models, each by its innermost span, in the order of the log.
func (all spans) counted() (calls []*call) {
	for _, x := range all {
		if x.call != nil && !x.call.inner && x.call.usage.Told() {
			calls = append(calls, x.call)
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return a.at.Compare(b.at) })
	return calls
}

// settleNameless says of each call of a model whether another span may tell it, too, where
// spans have no ids: what lies in another by its time may lie in it. The innermost counts,
// and the rest is not told: it reports whether there was any. Spans without times may lie
// anywhere.
func settleNameless(all spans) (left bool) {
	of := map[id][]*call{}
	nameless := map[id]bool{}
	for key, x := range all {
		if x.call == nil || x.call.inner || !x.call.usage.Told() {
			continue
		}
		of[key.trace] = append(of[key.trace], x.call)
		nameless[key.trace] = nameless[key.trace] || x.call.nameless
	}

	// Where some spans name a trace, those that name none may be of any.
	if lost := of[""]; len(lost) > 0 && len(of) > 1 {
		for _, x := range lost {
			x.nameless = true
		}
		calls := slices.Concat(slices.Collect(maps.Values(of))...)
		return settleByTime(calls)
	}
	for trace, calls := range of {
		if nameless[trace] && len(calls) > 1 {
			left = settleByTime(calls) || left
		}
	}
	return left
}

// settleByTime is settleNameless for the calls of a trace. What begins earlier comes first,
// and of two that begin together the longer one, so that what lies in a call is behind it.
func settleByTime(calls []*call) (left bool) {
	slices.SortFunc(calls, func(a, b *call) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end), a.at.Compare(b.at))
	})
	var all, nameless time.Time // the earliest end behind, of all and of those without ids
	for _, x := range slices.Backward(calls) {
		switch {
		case x.start.IsZero() || x.end.IsZero():
			x.inner = x.nameless
		case x.nameless:
			x.inner = within(all, x)
		default:
			x.inner = within(nameless, x)
		}
		left = left || x.inner
		if x.start.IsZero() || x.end.IsZero() {
			continue
		}
		all = earlier(all, x.end)
		if x.nameless {
			nameless = earlier(nameless, x.end)
		}
	}
	return left
}

func within(end time.Time, x *call) bool { return !end.IsZero() && !end.After(x.end) }

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
