package otlp

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A class is a kind of span.
type class byte

const (
	other class = iota
	modelCall
	toolCall
	agentWork
)

// Statuses of a span.
const (
	statusUnset = iota
	statusOK
	statusError
)

// A spanKey identifies a span by its ID or, if it has no ID, by a digest of its content.
type spanKey struct {
	trace, span id
	words       canon.Digest
}

// A span contains the data that is needed after all spans have been read, because the parent of a
// span may appear later or be missing.
type span struct {
	parent id
	class  class
	status int
	http   bool
	call   *call        // of a model
	sum    story.Usage  // usage of the calls inside the span, which the span repeats
	words  canon.Digest // digest of the content of the span
}

// A call is a model call.
type call struct {
	model, provider, agent string
	usage                  story.Usage
	at                     story.Place
	start, end             time.Time
	nameless               bool // its span has no ID or has an invalid parent ID, so its position among the spans is unknown
	inner                  bool // a span inside the span of this call records the same call
}

// spans contains the spans of a task.
type spans map[spanKey]*span

// maxSpans is the maximum number of spans in one task.
const maxSpans = 1 << 20

// executeTool is the operation name of a tool call, and the prefix of the name of its span.
const executeTool = "execute_tool"

// classOf returns the class of a span. If a span follows neither convention, it is a tool call if
// it has the ID or the name of a tool call, and a model call if it reports tokens.
func classOf(a attributes, name string) class {
	// The GenAI conventions take precedence over OpenInference.
	switch a.word("gen_ai.operation.name") {
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

	switch a.word("openinference.span.kind") {
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

	// Earlier instrumentation follows neither convention.
	switch {
	case a.word("ai.operationId") == "ai.toolCall", a.word("gen_ai.tool.call.id") != "",
		name == executeTool, strings.HasPrefix(name, executeTool+" "):
		return toolCall
	case usageOf(a).Told():
		return modelCall
	}

	return other
}

// embeds reports whether a span computes embeddings, which read tokens but return no answer.
func embeds(a attributes) bool {
	return a.word("gen_ai.operation.name") == "embeddings" ||
		a.word("openinference.span.kind") == "EMBEDDING"
}

// usageOf returns the usage of a model call. The input includes cached tokens, and the output
// includes reasoning.
func usageOf(a attributes) story.Usage {
	return story.Usage{
		Input:  a.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
		Output: a.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),

		// The names in the conventions take precedence over the names that earlier instrumentation
		// used.
		CacheRead:  a.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read"),
		CacheWrite: a.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_write.input_tokens", "llm.token_count.prompt_details.cache_write"),
		Reasoning:  a.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
	}
}

// spanCall is the prefix of the ID of a call that is identified only by its span.
const spanCall = "span:"

// callID returns the ID of a call or of its span, or "" if neither has an ID.
func callID(a attributes, s *story.Story, key spanKey) string {
	id := a.text(s, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
	if id == "" && key.span != "" {
		id = spanCall + string(key.span)
	}
	return id
}

// settle marks the model calls that are recorded again by a span inside their own span. Only the
// innermost span is used. If a tool or an agent is between two spans, the spans are two calls.
func (all spans) settle() {
	for key, x := range all {
		if x.call == nil || !x.call.usage.Told() {
			continue
		}
		for above := range all.above(key, x) {
			if above.class == toolCall || above.class == agentWork {
				break
			}
			if above.call != nil {
				above.call.inner = true
			}
		}
	}
}

// above yields the spans that contain a span, starting with the innermost.
func (all spans) above(key spanKey, x *span) iter.Seq[*span] {
	return func(yield func(*span) bool) {
		at := spanKey{trace: key.trace, span: x.parent}
		for range maxDepth {
			above := all[at]
			if above == nil || at == key || !yield(above) {
				return
			}
			at.span = above.parent
		}
	}
}

// maxDepth is the maximum number of parents that are followed. It is limited because parent IDs may
// form a cycle.
const maxDepth = 64

// outcome determines the outcome of the task from the agents that no other agent called or, if
// there are no agents, from the root spans. A failed request does not fail the task.
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

		// The first class that has any spans determines the outcome.
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

// whole reports whether the log contains the parents of all spans. If so, the task was over when
// the last span ended. Otherwise, what followed is unknown.
func (all spans) whole() bool {
	for key, x := range all {
		if x.parent != "" && all[spanKey{trace: key.trace, span: x.parent}] == nil {
			return false
		}
	}
	return len(all) > 0
}

// within reports whether an agent was called by another agent.
func (all spans) within(key spanKey, x *span) bool {
	for above := range all.above(key, x) {
		if above.class == agentWork {
			return true
		}
	}
	return false
}

// nested reports whether an agent called another agent.
func (all spans) nested() bool {
	for key, x := range all {
		if x.class == agentWork && all.within(key, x) {
			return true
		}
	}
	return false
}

// counted returns the model calls in log order, each represented by its innermost span.
func (all spans) counted() (calls []*call) {
	for _, x := range all {
		if x.call != nil && !x.call.inner && x.call.usage.Told() {
			calls = append(calls, x.call)
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return a.at.Compare(b.at) })
	return calls
}

// settleNameless marks model calls that another span may also record, in traces that contain spans
// without IDs. A span may be inside another span if its time range is within that of the other
// span. The innermost span is used, and the others are not recorded. The result reports whether any
// span was not recorded for this reason. Spans without times may be inside any other span.
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

	// If some spans have a trace ID, spans without a trace ID may belong to any of the traces.
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

// settleByTime is like settleNameless, but for the calls of one trace. The calls are sorted by
// start time. If two calls begin at the same time, the longer call comes first, so that a call
// precedes the calls inside it.
func settleByTime(calls []*call) (left bool) {
	slices.SortFunc(calls, func(a, b *call) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end), a.at.Compare(b.at))
	})

	// The earliest end of the calls visited so far, among all calls and among calls without IDs.
	var all, nameless time.Time

	// In a backward scan, a call is visited after all calls that begin during it.
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
