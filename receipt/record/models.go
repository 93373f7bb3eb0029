package record

import (
	"cmp"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Models are the calls of models.
type models struct {
	calls map[string]int // of each agent label
	told  int            // all that were told
	twice bool           // one ended twice, in other words
	spoke bool           // something tells that a model said something

	chosen       *receipt.Model // the first that was called, or the one that was configured
	alternatives []receipt.Model
	reason       string
}

// call notes a call of a model: route, tokens, cost and what it returned.
func (s *models) call(r *run, e *event.Event, completed bool) {
	p := e.Payload
	s.told++
	s.twice = s.twice || r.endings.twice(e)
	r.costs.spend(r, e, true)
	s.choose(r, e)
	agent := cmp.Or(e.Text(p, "agent"), "main")
	s.calls[agent]++
	if !completed {
		return
	}

	// A replay finds what a model returned by its agent and the number of the call.
	r.materials.add(material{told: answerOf(e, p.Member("response")), Material: receipt.Material{
		Kind: "llm_provider_response", ID: fmt.Sprintf("llm:%s:%d", agent, s.calls[agent]),
		URI: e.Text(p, "response_uri"), SHA256: e.Content(p, "response"),
	}})
	r.Charge(e, e.Root, len(agent))
	r.Room(e)
}

// choose notes the first model that was called, and how it was chosen.
func (s *models) choose(r *run, e *event.Event) {
	p := e.Payload
	if unnamed := s.chosen == nil || *s.chosen == (receipt.Model{}); unnamed && !r.again {
		s.chosen = &receipt.Model{Provider: e.Text(p, "provider"), Model: e.Text(p, "model"), Version: e.Text(p, "version"), Reason: e.Words(p, "reason")}
	}
	if m := p.Member("model_route"); !event.Absent(m) && !r.again {
		s.take(r, e, m)
	}
}

// take reads how the model was chosen.
func (s *models) take(r *run, e *event.Event, n canon.Node) {
	if n.Kind() != canon.KindObject {
		e.Fail(event.CodePayload, n, "expected an object")
		return
	}
	if m := n.Member("chosen_model"); !event.Absent(m) {
		chosen := modelIn(e, m)
		s.chosen = &chosen
	}

	// A list that is told anew takes the place of the one before.
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

// route is the model that was chosen, and why. A replay chooses none unless it
// says so.
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

// reasoningSummary: what a model thought is never copied; that it did is told.
func reasoningSummary(r *run, e *event.Event) {
	r.models.spoke = true
	if e.Flag(e.Payload, "withheld") {
		first(&r.reasoningWithheld, "reasoning summary withheld")
	}
}

// said notes that a model said something: a replay needs what it was answered.
func said(r *run, e *event.Event) { r.models.spoke = true }
