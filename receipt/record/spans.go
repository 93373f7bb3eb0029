package record

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Span kinds that record an action.
const (
	spanModel = "llm"
	spanHTTP  = "http"
	spanFiles = "fs"
	spanUsage = "usage" // the account of the session; see costs
)

// kindOfSpan returns the kind of a span in lowercase. If a span of any other kind contains the name
// of a model, it is treated as a model call, because sources use different words for model calls.
func kindOfSpan(e *event.Event) string {
	kind := strings.ToLower(e.Text(e.Payload, "kind"))
	switch kind {
	case spanModel, spanHTTP, spanFiles, spanUsage, "agent", "tool", "task", "turn":
		return kind
	}
	if e.Text(e.Payload, "model") != "" {
		return spanModel
	}
	return kind
}

// knownSpan reports whether spans of a kind are read, or are known to record no action.
func knownSpan(kind string) bool {
	switch kind {
	case spanModel, spanHTTP, spanFiles, spanUsage, "", "agent", "tool", "task", "turn", "internal", "workflow", "step":
		return true
	}
	return false
}

// spanCost is the approximate memory in bytes for the end of a span.
const spanCost = 160

// spans contains the spans that have started or ended.
type spans struct {
	open  openSpans
	ended endedSpans
}

func newSpans() spans {
	return spans{openSpans{ids: map[[2]string]int{}, kinds: map[string]int{}}, endedSpans{byID: map[canon.Digest]*endedSpan{}}}
}

// openSpans contains the spans that have started and whose end is not recorded. Spans without IDs
// are counted together.
type openSpans struct {
	ids   map[[2]string]int // keyed by kind and ID
	kinds map[string]int
}

func (s *openSpans) begin(r *run, e *event.Event, kind string) {
	key := [2]string{kind, spanID(e)}
	if s.ids[key] == 0 {
		r.Charge(e, e.Root, event.PartCost)
	}
	s.ids[key]++
	s.kinds[kind]++
}

func (s *openSpans) end(r *run, e *event.Event, kind string) {
	key := [2]string{kind, spanID(e)}
	if s.ids[key] == 0 {
		return
	}
	s.kinds[kind]--
	if s.ids[key]--; s.ids[key] == 0 {
		delete(s.ids, key)
		r.Free(event.PartCost)
	}
}

// An endedSpan contains the digest of a span's end event, and the cost of the span.
type endedSpan struct {
	words canon.Digest // digest of the kind and the payload
	paid  *cost
}

// endedSpans contains the ended spans, keyed by the digests of their IDs.
type endedSpans struct {
	byID   map[canon.Digest]*endedSpan
	latest *endedSpan // the span that the latest event ended
	at     int        // index of that event
	again  bool       // the span had already ended with different contents
}

// end records the end of a span, and reports whether an identical end was already recorded. A
// different end of the same span is a second end. A span without an ID is always new.
func (s *endedSpans) end(r *run, e *event.Event) (told bool) {
	id := spanID(e)
	if id == "" || !saysSpan(e) {
		return false
	}

	// Identical end events are one end, unless they are from different substitutions.
	key, words := canon.Sum([]byte(id)), canon.Sum(e.Payload.AppendCanonical([]byte(e.Kind+"\x00"+overrideOf(e))))
	before, again := s.byID[key]
	if !again {
		before = &endedSpan{words: words}
		s.byID[key] = before
		r.Charge(e, e.Root, spanCost)
	}
	s.latest, s.at, s.again = before, e.Index, again
	return again && before.words == words
}

// of returns the span that an event ends, or nil if the event does not end a span or the span has
// no ID.
func (s *endedSpans) of(e *event.Event) *endedSpan {
	if s.at != e.Index {
		return nil
	}
	return s.latest
}

// twice reports whether an event ends a span for the second time, with different contents.
func (s *endedSpans) twice(e *event.Event) bool { return s.at == e.Index && s.again }

// of reports whether a span of the given kind is open.
func (s *openSpans) of(kind string) bool { return s.kinds[kind] > 0 }

func spanStarted(r *run, e *event.Event) {
	switch kind := kindOfSpan(e); {
	case kind == spanModel:
		r.spans.open.begin(r, e, kind)
		r.models.told++
		r.models.choose(r, e)
	case kind == spanHTTP, kind == spanFiles && changesFiles(e):
		r.spans.open.begin(r, e, kind)
	}
}

// spanID returns the ID of a span.
func spanID(e *event.Event) string {
	id := ""
	if e.Resource.Object == "span" {
		id = e.Resource.ID
	}
	return cmp.Or(e.Text(e.Root, "span_id"), e.Text(e.Payload, "span_id"), id)
}

func spanUpdated(r *run, e *event.Event) {
	if kindOfSpan(e) == spanUsage {
		r.costs.report(r, e)
	}
}

func spanCompleted(r *run, e *event.Event) { spanEnded(r, e, true) }

// spanFailed applies a failed span. A failed span may have incurred costs and sent data, but its
// writes are unknown, and it returned nothing that a replay could use.
func spanFailed(r *run, e *event.Event) { spanEnded(r, e, false) }

func spanEnded(r *run, e *event.Event, completed bool) {
	p := e.Payload
	callID, kind := e.Text(p, "tool_call_id"), kindOfSpan(e)
	if !knownSpan(kind) {
		r.unread.note(r, e, "span kind "+kind)
	}
	r.spans.open.end(r, e, kind)
	if kind == spanUsage { // the account is reported whenever it changes
		r.costs.report(r, e)
		return
	}

	if r.spans.ended.end(r, e) { // a repeated end
		return
	}

	// Only some kinds of spans record an action, but a span of any kind may contain a cost.
	switch kind {
	case spanModel:
		r.models.call(r, e, completed)
		return
	case spanHTTP:
		r.effects.reach(r, e, p, e.Text(p, "name"), callID, fromSpan)
	case spanFiles:
		switch {
		case !changesFiles(e):
		case completed:
			r.effects.write(r, e, p, callID, fromSpan)
		default:
			r.effects.failed = true
		}
	}
	r.costs.spend(r, e, false)
}

// changesFiles reports whether a file span may have changed a file.
func changesFiles(e *event.Event) bool {
	op := e.Text(e.Payload, "operation")
	return op != "read" && op != "list" && op != "stat"
}

// saysSpan reports whether a span affects a receipt.
func saysSpan(e *event.Event) bool {
	switch kindOfSpan(e) {
	case spanModel, spanHTTP, spanFiles, spanUsage:
		return true
	}
	return !event.Absent(e.Payload.Member("cost"))
}

// saysStarted reports whether the span is a model call, which is counted when it starts.
func saysStarted(e *event.Event) bool { return kindOfSpan(e) == spanModel }

func saysUsage(e *event.Event) bool {
	return kindOfSpan(e) == spanUsage && !event.Absent(e.Payload.Member("cost"))
}

// models contains the model calls of the task.
type models struct {
	calls    map[string]int // keyed by the label of the agent
	told     int            // number of all calls
	twice    bool           // a call ended twice, with different contents
	withheld string         // why reasoning was withheld, or ""
	spoke    bool           // an event shows that a model answered

	chosen       *receipt.Model // the first model that was called, or else the configured model
	alternatives []receipt.Model
	reason       string
}

// call records the route, the tokens, the cost, and the result of a model call.
func (s *models) call(r *run, e *event.Event, completed bool) {
	p := e.Payload
	s.told++
	s.twice = s.twice || r.spans.ended.twice(e)
	r.costs.spend(r, e, true)
	s.choose(r, e)
	agent := cmp.Or(e.Text(p, "agent"), "main")
	s.calls[agent]++
	if !completed {
		return
	}

	// A replay finds the answer of a model by the agent and the number of the call.
	r.materials.add(material{told: answerOf(e, p.Member("response")), Material: receipt.Material{
		Kind: "llm_provider_response", ID: fmt.Sprintf("llm:%s:%d", agent, s.calls[agent]),
		URI: e.Text(p, "response_uri"), SHA256: e.Content(p, "response"),
	}})
	r.Charge(e, e.Root, len(agent))
	r.Room(e)
}

// choose records the first model that was called, and the route that chose it.
func (s *models) choose(r *run, e *event.Event) {
	p := e.Payload
	if unnamed := s.chosen == nil || *s.chosen == (receipt.Model{}); unnamed && !r.again {
		s.chosen = &receipt.Model{Provider: e.Text(p, "provider"), Model: e.Text(p, "model"), Version: e.Text(p, "version"), Reason: e.Words(p, "reason")}
	}
	if m := p.Member("model_route"); !event.Absent(m) && !r.again {
		s.take(r, e, m)
	}
}

// take reads the route.
func (s *models) take(r *run, e *event.Event, n canon.Node) {
	if m := n.Member("chosen_model"); !event.Absent(m) {
		chosen := modelIn(e, m)
		s.chosen = &chosen
	}

	// A new list replaces the previous one.
	if list := e.Elements(n, "alternatives_considered"); len(list) > 0 {
		s.alternatives = nil
		for _, m := range list {
			s.alternatives = append(s.alternatives, modelIn(e, m))
			if r.Room(e); e.Err != nil {
				return
			}
		}
	}
	last(&s.reason, e.Words(n, "route_policy_reason"))
}

func modelIn(e *event.Event, n canon.Node) receipt.Model {
	return receipt.Model{Provider: e.Required(n, "provider"), Model: e.Required(n, "model"), Version: e.Text(n, "version"), Reason: e.Words(n, "reason")}
}

// route returns the chosen model and the reason for the choice. A replay has a model only if its
// events contain one.
func (s *models) route(r *run, t *telling) receipt.ModelRoute {
	const at = "/model_route/chosen_model"
	route := receipt.ModelRoute{AlternativesConsidered: append([]receipt.Model{}, s.alternatives...)}
	switch {
	case s.chosen != nil:
		route.ChosenModel, route.RoutePolicyReason = *s.chosen, "the first model that was called"
		route.ChosenModel.Provider = t.name(at+"/provider", s.chosen.Provider, "unknown")
		route.ChosenModel.Model = t.name(at+"/model", s.chosen.Model, "unknown")
	case r.replay.is:
		route.ChosenModel, route.RoutePolicyReason = receipt.Model{Provider: "none", Model: "none"}, "the replay called no model"
	default:
		route.ChosenModel, route.RoutePolicyReason = receipt.Model{Provider: "none", Model: "none"}, "the source tells of no model call"
		t.untold(at)
	}

	last(&route.RoutePolicyReason, s.reason)
	return route
}

// reasoningSummary records that a model reasoned. The reasoning itself is never copied.
func reasoningSummary(r *run, e *event.Event) {
	r.models.spoke = true
	if e.Flag(e.Payload, "withheld") {
		first(&r.models.withheld, "reasoning summary withheld")
	}
}

// said records that a model answered, so a replay needs the answer.
func said(r *run, e *event.Event) { r.models.spoke = true }
