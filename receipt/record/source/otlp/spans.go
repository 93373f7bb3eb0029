package otlp

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/story"
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

// A spanKey names a span.
type spanKey struct{ trace, span id }

// A span is as much of one as is needed when all have come: parents come after their
// children, or not at all.
type span struct {
	parent id
	class  class
	status int
	http   bool
	call   *call // of a model that told what it took
}

// A call is that of a model.
type call struct {
	model, provider, agent string
	usage                  story.Usage
	at                     story.Place
	inner                  bool // another span tells it once more, within this one
}

// maxSpans bounds the spans of one task.
const maxSpans = 1 << 20

// span reads a span. One that is exported again is the same.
func (r *Reader) span(n canon.Node) {
	s, a := r.s, attributes{n.Member("attributes")}
	key := spanKey{idOf(n.Member("traceId"), 16), idOf(n.Member("spanId"), 8)}
	if _, again := r.spans[key]; again && key.span != "" {
		s.Note("repeated_spans")
		return
	}
	if len(r.spans) == maxSpans {
		s.Fail(event.OverLimit(maxSpans, "MaxEvents", maxSpans+1))
		return
	}

	start, end := nanos(n.Member("startTimeUnixNano")), nanos(n.Member("endTimeUnixNano"))
	s.At(end)
	s.At(start)
	r.session(a)
	if s.Trace == "" && key.trace != "" {
		s.Trace = key.trace.String()
	}

	x := &span{parent: idOf(n.Member("parentSpanId"), 8), class: classOf(a), status: enum(n.Member("status").Member("code"), "STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR")}
	x.http = !a.get("http.request.method", "http.method").IsZero()
	r.spans[key] = x
	switch x.class {
	case modelCall:
		x.call = r.model(a)
	case toolCall:
		r.tool(a, x, key)
		s.At(end)
		r.toolEnded(a, x, key)
	}
}

// classOf says what a span is of. By neither convention it is a call of a model when it
// tells tokens.
func classOf(a attributes) class {
	switch a.get("gen_ai.operation.name").Member("stringValue").String() {
	case "chat", "text_completion", "generate_content":
		return modelCall
	case "execute_tool":
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
	if usageOf(a) != (story.Usage{}) {
		return modelCall
	}
	return other
}

// usageOf is what a call of a model took. Input has what was cached in it.
func usageOf(a attributes) story.Usage {
	return story.Usage{
		Input:  a.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
		Output: a.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
	}
}

func (r *Reader) model(a attributes) *call {
	s := r.s
	return &call{
		model:    a.text(s, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
		provider: a.text(s, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
		agent:    a.text(s, "gen_ai.agent.name"), usage: usageOf(a), at: s.Here(),
	}
}

// tool reads a call of a tool: that it was made, and with what.
func (r *Reader) tool(a attributes, x *span, key spanKey) {
	s := r.s
	if c := s.Call(callID(a, s, key)); c.Ask(s, a.text(s, "gen_ai.tool.name", "tool.name"), a.digest(s, "gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "input.value")) {
		c.Agent = a.text(s, "gen_ai.agent.name")
	}
}

// callID is the id of a call; without one that of its span.
func callID(a attributes, s *story.Story, key spanKey) string {
	if id := a.text(s, "gen_ai.tool.call.id", "tool_call.id"); id != "" {
		return id
	}
	return "span:" + key.span.String()
}

// toolEnded reads how a call ended: an error, or a status that says that all is well. A
// status that is not set says nothing.
func (r *Reader) toolEnded(a attributes, x *span, key spanKey) {
	s, outcome := r.s, story.Unreported
	switch status := a.get("gen_ai.tool.status").Member("stringValue").String(); {
	case x.status == statusError, !a.get("error.type").IsZero(), status == "error", status == "failed":
		outcome = story.Failed
	case x.status == statusOK, status == "success", status == "succeeded", status == "ok", status == "completed":
		outcome = story.Succeeded
	}
	s.Call(callID(a, s, key)).Close(s, outcome, a.digest(s, "gen_ai.tool.call.result", "gen_ai.tool.result", "output.value"))
}

// settle says of each call of a model whether another span tells it, too: the innermost
// counts. A tool or an agent between two makes them two calls.
func (r *Reader) settle() {
	for key, x := range r.spans {
		if x.call == nil || x.call.usage == (story.Usage{}) {
			continue
		}
		at := spanKey{key.trace, x.parent}
		for range maxDepth {
			above := r.spans[at]
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
func (r *Reader) outcome() story.End {
	for _, class := range []class{agentWork, other} {
		ended, failed, found := true, false, false
		for key, x := range r.spans {
			if class == agentWork && (x.class != agentWork || r.within(key, x)) || class == other && (x.parent != "" || x.http || x.class == modelCall || x.class == toolCall) {
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

// within reports whether an agent was called by another.
func (r *Reader) within(key spanKey, x *span) bool {
	at := spanKey{key.trace, x.parent}
	for range maxDepth {
		above := r.spans[at]
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
