package otlp

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Reader reads OTLP/JSON. All traces in a log belong to one task.
type Reader struct {
	s        *story.Story
	spans    spans
	events   events
	asked    asked
	nameless int // number of tool calls that have no ID and are identified only by their span
}

// New returns a reader of OTLP/JSON exports.
func New(s *story.Story) story.Reader {
	return &Reader{s: s, spans: spans{}, events: events{s: s, seen: map[string]bool{}}, asked: asked{s: s}}
}

// Is reports whether a value is an OTLP/JSON export, such as an ExportTraceServiceRequest, or has
// the form that Tempo uses.
func Is(n canon.Node) bool {
	for _, name := range members() {
		if n.Member(name).Kind() == canon.KindArray {
			return true
		}
	}
	return false
}

// Line reads an export.
func (r *Reader) Line(n canon.Node) {
	known := false
	for name, list := range n.Members() {
		switch name.String() {
		case "resourceSpans", "batches":
			known = true
			r.each(list, []string{"scopeSpans", "instrumentationLibrarySpans"}, "spans", r.span, "attributes", "events", "links", "status")
		case "resourceLogs":
			known = true
			r.each(list, []string{"scopeLogs", "instrumentationLibraryLogs"}, "logRecords", r.events.event, "attributes", "body")
		case "resourceMetrics":
			known = true
			r.s.Note("metrics")
			r.each(list, []string{"scopeMetrics", "instrumentationLibraryMetrics"}, "metrics", func(n canon.Node) { metric(r.s, n) }, "sum", "gauge", "histogram", "exponentialHistogram", "summary", "metadata")
		default:
			known = r.strange(name, list) || known
		}
	}
	if !known {
		r.s.Ignored("None")
	}
}

// each passes the spans, log records, or metrics of resources to the function take, scope by scope.
// The argument parts contains the names of their members that are lists or objects.
//
// A resource has a list of scopes, and a scope has a list of spans, log records, or metrics. A
// resource or a scope without its list has an unknown form.
func (r *Reader) each(resources canon.Node, scopes []string, name string, take func(canon.Node), parts ...string) {
	r.among(resources.Kind() == canon.KindArray)
	for x := range r.objects(resources) {
		r.others(x, append(scopes, "resource")...)
		r.among(slices.ContainsFunc(scopes, func(scope string) bool { return x.Member(scope).Kind() == canon.KindArray }))
		a := attributes{x.Member("resource").Member("attributes")}
		if service := a.text(r.s, "service.name"); service != "" {
			r.s.Version(story.Joined(r.s, strings.TrimSpace(service+" "+a.text(r.s, "service.version"))))
		}

		// Earlier versions use another name for scopes.
		for _, scope := range scopes {
			for y := range r.objects(x.Member(scope)) {
				r.others(y, name, "scope", "instrumentationLibrary")
				r.among(y.Member(name).Kind() == canon.KindArray)
				for n := range r.objects(y.Member(name)) {
					r.sound(n.Member("attributes"))
					r.others(n, parts...)
					take(n)
				}
			}
		}
	}
}

// objects yields the elements of a list, as [story.Story.Objects] does. If the value is not a list,
// it may also contain a time.
func (r *Reader) objects(list canon.Node) iter.Seq[canon.Node] {
	if !event.Absent(list) && list.Kind() != canon.KindArray {
		r.s.Partly = true
	}
	return r.s.Objects(list)
}

// among counts a container that lacks its list.
func (r *Reader) among(listed bool) {
	if !listed {
		r.garbled()
	}
}

// others counts members of a container that are lists or objects and have unknown names.
func (r *Reader) others(n canon.Node, known ...string) {
	for name, value := range n.Members() {
		if !slices.Contains(known, name.String()) {
			r.strange(name, value)
		}
	}
}

// strange counts a member with an unknown name if it may contain data, and reports whether it did.
func (r *Reader) strange(name, value canon.Node) bool {
	if value.Kind() != canon.KindArray && value.Kind() != canon.KindObject {
		return false
	}
	r.s.Ignored(r.s.Name(name))
	return true
}

// sound counts malformed attributes.
func (r *Reader) sound(list canon.Node) {
	for n := range r.objects(list) {
		if !isAttribute(n) {
			r.garbled()
		}
	}
}

// garbled counts a part that may have contained anything, including a time or a decision.
func (r *Reader) garbled() {
	r.s.Lacks(story.GarbledPart)
	r.s.Partly = true
}

// End records each model call once, and the outcome of the task.
func (r *Reader) End() {
	s := r.s
	r.spans.settle()
	if settleNameless(r.spans) {
		s.Lacks(story.TokensInPart)
	}

	// Spans do not record which work agents delegated to each other.
	if r.spans.nested() {
		s.Lacks(story.HandoffUnclear)
	}
	calls := r.spans.counted()
	r.settle(calls)

	// If an agent writes both events and spans, both record the same calls.
	if len(calls) == 0 {
		calls = r.events.requests
	}

	for i, x := range calls {
		if s.Model == "" {
			s.Model, s.Provider = x.model, x.provider
		}
		m := s.MessageAt("call_"+strconv.Itoa(i), x.at)
		m.Model, m.Provider, m.Agent, m.Finished = x.model, x.provider, x.agent, true
		m.Use(x.usage)
	}

	// Only the instrumented parts of a program are recorded.
	s.Lacks(story.EffectsUnlogged)
	s.Estimated = true
	if r.events.decisions {
		s.Decided = true
	}
	if r.spans.whole() {
		s.Over = true
	}
	s.End = r.spans.outcome()

	if s.End == story.EndFailed {
		s.Failure = "status_error"
	}
}

// span reads a span, unless it is a copy.
func (r *Reader) span(n canon.Node) {
	s, a := r.s, attributes{n.Member("attributes")}
	key, words, fresh := r.named(n)
	if !fresh {
		return
	}

	if len(r.spans) == maxSpans {
		s.Fail(event.OverLimit(maxSpans, "MaxEvents", maxSpans+1))
		return
	}

	start, end := nanos(n.Member("startTimeUnixNano")), nanos(n.Member("endTimeUnixNano"))
	s.At(end)
	s.At(start)
	if start.IsZero() || end.IsZero() {
		timeless(r.s)
	}
	session(r.s, a)
	s.Trace = cmp.Or(s.Trace, string(key.trace))

	name := s.Name(n.Member("name"))
	x := &span{words: words, parent: idOf(n.Member("parentSpanId"), 8), class: classOf(a, name), status: enum(n.Member("status").Member("code"), "STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR")}
	x.http = !a.get("http.request.method", "http.method").IsZero()
	r.spans[key] = x

	// Embeddings are not model calls, but they read tokens.
	if embeds(a) && usageOf(a).Told() {
		s.Lacks(story.Embedding)
	}
	if kind := unreadSpan(s, a, x.class, name); kind != "" {
		s.Ignored(kind)
	}

	for e := range r.objects(n.Member("events")) {
		r.spanEvent(e)
	}
	if x.class != modelCall && !embeds(a) {
		x.sum = usageOf(a)
	}

	switch x.class {
	case modelCall:
		r.asked.read(a, isOutput)
		x.call = r.model(a)
		x.call.start, x.call.end, x.call.nameless = start, end, key.span == "" || !isText(n.Member("parentSpanId"))
	case toolCall:
		id := callID(a, s, key)
		if id == "" {
			s.Lacks(story.CallWithoutID)
			return
		}
		if strings.HasPrefix(id, spanCall) {
			r.nameless++
		}
		r.tool(a, id, name)
		s.At(end)
		r.toolEnded(a, x, id)
	}
}

// spanEvent reads an event of a span.
func (r *Reader) spanEvent(n canon.Node) {
	s, a := r.s, attributes{n.Member("attributes")}
	r.sound(a.list)
	r.others(n, "attributes")

	switch name := n.Member("name"); name.String() {
	case "gen_ai.choice", "gen_ai.assistant.message", "gen_ai.tool.message", "gen_ai.content.completion", "gen_ai.client.inference.operation.details":
		r.asked.read(a, func(string) bool { return true })
	case "exception", "gen_ai.system.message", "gen_ai.user.message", "gen_ai.content.prompt", "gen_ai.evaluation.result":
	default:
		follows := conventionOf(name) != ""
		for _, x := range a.list.Elements() {
			follows = follows || conventionOf(x.Member("key")) != ""
		}
		if follows {
			s.Unknown("span_event/", name)
		}
	}
}

// settle records the remaining gaps: calls that a model requested but that do not appear in any
// span or event, and tokens that an agent used in addition to those of its model calls.
func (r *Reader) settle(calls []*call) {
	s := r.s
	if r.asked.unstated(r.nameless) {
		s.Lacks(story.CallUnstated)
	}

	// Agents repeat the usage of the calls that they contain. If the usage of an agent is larger, a
	// call is missing.
	var input, output int64
	for _, x := range calls {
		input, output = input+value(x.usage.Input), output+value(x.usage.Output)
	}

	for _, x := range r.spans {
		if value(x.sum.Input) > input || value(x.sum.Output) > output {
			s.Lacks(story.UsageUnread)
			return
		}
	}
}

// named returns the key of a span and a digest of its content, and reports whether the span is new.
// A repeated export of a span is a copy. If two spans have the same ID but differ, the first span
// is used, and the second span counts as missing.
func (r *Reader) named(n canon.Node) (key spanKey, words canon.Digest, fresh bool) {
	s := r.s
	key, words = spanKey{trace: idOf(n.Member("traceId"), 16), span: idOf(n.Member("spanId"), 8)}, event.HashOf(n)
	if key.span == "" {
		key.words = words
	}

	// Identical spans without IDs cannot be distinguished from copies.
	switch before := r.spans[key]; {
	case before == nil && key.span == "":
		s.Note("spans_without_an_id")
	case before == nil:
	case before.words == words:
		s.Note("repeated_spans")
		return key, words, false
	default:
		s.Lacks(story.SpansOfOneID)
		return key, words, false
	}

	return key, words, true
}

func (r *Reader) model(a attributes) *call {
	s := r.s
	return &call{
		model:    a.text(s, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
		provider: a.text(s, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
		agent:    a.text(s, "gen_ai.agent.name"), usage: usageOf(a), at: s.Here(),
	}
}

// tool records a tool call with its input.
func (r *Reader) tool(a attributes, id, span string) {
	s := r.s
	name := a.text(s, "gen_ai.tool.name", "tool.name", "ai.toolCall.name")
	if rest, ok := strings.CutPrefix(span, executeTool+" "); ok && name == "" {
		name = rest
	}
	if c := s.Call(id); c.Ask(name, a.digest(s, "gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "ai.toolCall.args", "input.value")) {
		c.Agent = a.text(s, "gen_ai.agent.name")
	}
}

// toolEnded records the outcome of a call, based on an error or on the status. A status that is not
// set has no meaning.
func (r *Reader) toolEnded(a attributes, x *span, id string) {
	s, outcome := r.s, story.Unreported
	switch status := a.word("gen_ai.tool.status"); {
	case x.status == statusError, !a.get("error.type").IsZero(), status == "error", status == "failed":
		outcome = story.Failed
	case x.status == statusOK, status == "success", status == "succeeded", status == "ok", status == "completed":
		outcome = story.Succeeded
	}
	s.Call(id).Close(outcome, a.digest(s, "gen_ai.tool.call.result", "gen_ai.tool.result", "ai.toolCall.result", "output.value"))
}
