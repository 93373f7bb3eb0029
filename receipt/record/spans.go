package record

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A cost is what one model of one provider took.
type cost struct {
	provider, model string
	amount          money
	input, output   *int64
}

// A material is something that a replay needs. Those of a tool's call are
// completed when the call is.
type material struct {
	receipt.Material
	call *call
}

func spanCompleted(r *run, e *event) { r.span(e, true) }

// spanFailed: what failed may have cost money and sent data; it wrote no file
// that anyone knows of, and returned nothing to replay.
func spanFailed(r *run, e *event) { r.span(e, false) }

func (r *run) span(e *event, completed bool) {
	p := e.payload
	callID := e.text(p, "tool_call_id")
	switch e.text(p, "kind") {
	case "llm":
		r.modelCall(e, completed)
	case "http":
		r.reach(e, p, e.text(p, "name"), callID, fromSpan)
		r.spend(e)
	case "fs":
		if op := e.text(p, "operation"); completed && op != "read" && op != "list" && op != "stat" {
			r.write(e, p, callID, fromSpan)
		}
	default:
		r.spend(e)
	}
}

// saysSpan reports whether a span tells anything that a receipt has.
func saysSpan(e *event) bool {
	switch e.payload.Member("kind").String() {
	case "llm", "http", "fs":
		return true
	}
	return !absent(e.payload.Member("cost"))
}

// modelCall notes a call of a model: route, tokens, cost and what it returned.
func (r *run) modelCall(e *event, completed bool) {
	p := e.payload
	e.required(p, "provider")
	e.required(p, "model")
	r.spend(e)
	if r.model == nil {
		r.model = &receipt.Model{Provider: e.text(p, "provider"), Model: e.text(p, "model"), Version: e.text(p, "version"), Reason: e.words(p, "reason")}
	}
	if m := p.Member("model_route"); !absent(m) {
		r.route(e, m)
	}
	agent := e.text(p, "agent")
	if agent == "" {
		agent = "main"
	}
	r.models[agent]++
	if !completed {
		return
	}
	r.materials = append(r.materials, material{Material: receipt.Material{
		Kind: "llm_provider_response", ID: fmt.Sprintf("llm:%s:%d", agent, r.models[agent]),
		URI: e.text(p, "response_uri"), SHA256: e.content(p, "response"),
	}})
	r.charge(e, e.root, len(agent))
	r.room(e)
}

// spend adds what a span cost, and its tokens.
func (r *run) spend(e *event) {
	p := e.payload
	amount, currency := e.cost(p, "cost")
	input, output := e.optionalCount(p, "input_tokens"), e.optionalCount(p, "output_tokens")
	if amount == nil && input == nil && output == nil {
		return
	}
	provider := e.required(p, "provider")
	key := provider + "\x00" + e.text(p, "model")
	c, fresh := r.costs.entry(key)
	if fresh {
		r.charge(e, e.root, len(key))
		r.room(e)
		c.provider, c.model = provider, e.text(p, "model")
	}
	r.tokens(e, &c.input, &r.input, input)
	r.tokens(e, &c.output, &r.output, output)
	if amount == nil {
		return
	}
	if currency == "" {
		currency = dollars
	}
	if r.priced && r.currency != currency {
		e.fail(CodeCurrency, p.Member("cost"), "expected %s as before, found %s", r.currency, currency)
	}
	r.priced, r.currency = true, currency
	c.amount.add(amount)
	r.total.add(amount)
}

const dollars = "USD"

// tokens adds to the sum of a model and to that of the task.
func (r *run) tokens(e *event, sum **int64, total *int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	if *total += *n; *total > MaxTokens { // no part is more than the total
		e.exceed("MaxTokens", e.payload, 0)
	}
	**sum += *n
	r.counted = true
}

// route reads how the model was chosen.
func (r *run) route(e *event, n canon.Node) {
	if n.Kind() != canon.KindObject {
		e.fail(CodePayload, n, "expected an object")
		return
	}
	if m := n.Member("chosen_model"); !absent(m) {
		chosen := e.model(m)
		r.model = &chosen
	}
	if list := e.elements(n, "alternatives_considered"); len(list) > 0 {
		r.alternatives = nil
		for _, m := range list {
			r.alternatives = append(r.alternatives, e.model(m))
			if r.room(e); e.err != nil {
				return
			}
		}
	}
	last(&r.routeReason, e.words(n, "route_policy_reason"))
}

func (e *event) model(n canon.Node) receipt.Model {
	return receipt.Model{Provider: e.required(n, "provider"), Model: e.required(n, "model"), Version: e.text(n, "version"), Reason: e.words(n, "reason")}
}
