package record

import (
	"cmp"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A cost contains the usage and the cost of one model at one provider.
type cost struct {
	provider, model string
	amount          event.Money
	priced          bool // a span records an amount
	free            bool // a call of the model has no recorded amount
	doubtful        bool // a part of the usage may be counted twice
	whole           bool // the usage includes a span for a turn, an agent, or a task
	input, output   tokens
	parts           partTokens
}

// partTokens contains subsets of the input and output tokens that spans record separately.
type partTokens [3]tokens

// partNames returns the names of these subsets in spans and in the metadata of an entry.
func partNames() [3]string {
	return [3]string{"cache_read_input_tokens", "cache_creation_input_tokens", "reasoning_output_tokens"}
}

// tokens is a sum of token counts. The sum may omit model calls, or count some tokens twice.
type tokens struct {
	sum                  int64
	told, part, doubtful bool
}

// costs contains the costs from the spans of a task and from the account of its session.
type costs struct {
	event.List[cost]
	total         event.Money
	currency      string
	priced, free  bool
	input, output tokens
	parts         partTokens
	account       account
	wholes        wholes
	doubtful      bool // a span ended twice with different contents
}

// wholes counts spans that may include the costs of other spans: spans for a turn, an agent, or a
// task.
type wholes struct {
	turn, other, within int // number of spans with a cost or tokens
}

// spanOf counts a span with a cost or tokens, and reports whether the span may include other spans.
func (w *wholes) spanOf(kind string) bool {
	switch kind {
	case "turn":
		w.turn++
	case "agent", "task":
		w.other++
	default:
		w.within++
		return false
	}
	return true
}

// overlap reports whether a counted span may include another counted span. Turns do not overlap.
func (w *wholes) overlap() bool {
	return w.other > 1 || w.other > 0 && w.turn > 0 || w.other+w.turn > 0 && w.within > 0
}

// An account is the cumulative cost of the session, as reported by the agent. The cost of the task
// is the last value minus the value before the task.
type account struct {
	told, before *event.Money
	shrank       bool
	earlier      bool // the session had earlier turns whose cost was not recorded
}

const dollars = "USD"

// spend adds the cost and the tokens from a span. Each model call is included in an entry, even if
// neither tokens nor costs were recorded for the call.
func (s *costs) spend(r *run, e *event.Event, ofModel bool) {
	if r.again { // a replay does not pay for the events that it repeats
		return
	}
	p := e.Payload
	amount, currency := e.Money(p, "cost")
	input, output := e.OptionalCount(p, "input_tokens"), e.OptionalCount(p, "output_tokens")
	if amount == nil && input == nil && output == nil && !ofModel {
		return
	}

	// The cost of a turn, an agent, or a task may include the costs of its calls, unless the span
	// records that it covers only calls without spans.
	told := amount != nil || input != nil || output != nil
	whole := told && !ofModel && !e.Flag(p, "apart") && s.wholes.spanOf(kindOfSpan(e))
	if told && ofModel {
		s.wholes.within++
	}

	provider, model := e.Text(p, "provider"), e.Text(p, "model")
	key := provider + "\x00" + model
	c, fresh := s.Entry(key)
	if fresh {
		r.Charge(e, e.Root, len(key))
		r.Room(e)
		c.provider, c.model = provider, model
	}

	c.whole = c.whole || whole
	s.doubt(&r.spans.ended, e, c)
	s.count(r, e, &c.input, &s.input, input, ofModel)
	s.count(r, e, &c.output, &s.output, output, ofModel)
	for i, name := range partNames() {
		s.count(r, e, &c.parts[i], &s.parts[i], e.OptionalCount(p, name), ofModel)
	}
	s.lower(e, c)
	if amount == nil {
		c.free, s.free = c.free || ofModel, s.free || ofModel
		return
	}

	// Amounts in different currencies cannot be added.
	s.pay(e, currency)
	c.priced, s.priced = true, true
	c.amount.Plus(amount)
	s.total.Plus(amount)
}

// lower marks the token counts that the span records as lower bounds.
func (s *costs) lower(e *event.Event, c *cost) {
	for _, n := range e.Payload.Member("at_least").Elements() {
		switch name := n.String(); name {
		case "input_tokens":
			c.input.part, s.input.part = true, true
		case "output_tokens":
			c.output.part, s.output.part = true, true
		default:
			for i, part := range partNames() {
				c.parts[i].part = c.parts[i].part || part == name
			}
		}
	}
}

// doubt marks the cost of a span that ends a second time, because either end may be wrong.
func (s *costs) doubt(spans *endedSpans, e *event.Event, c *cost) {
	switch ended := spans.of(e); {
	case ended == nil:
	case spans.twice(e):
		s.doubtful, c.doubtful = true, true
		if ended.paid != nil {
			ended.paid.doubtful = true
		}
	default:
		ended.paid = c
	}
}

// pay checks that all amounts have the same currency.
func (s *costs) pay(e *event.Event, currency string) {
	currency = cmp.Or(currency, dollars)
	if s.currency != "" && s.currency != currency {
		e.Fail(event.CodeCurrency, e.Payload.Member("cost"), "expected %s as before, found %s", s.currency, currency)
	}
	s.currency = currency
}

// count adds tokens to the sum for a model and to the sum for the task.
func (s *costs) count(r *run, e *event.Event, sum, total *tokens, n *int64, ofModel bool) {
	// If a model call has no token count, both sums are lower bounds.
	if n == nil {
		sum.part, total.part = sum.part || ofModel, total.part || ofModel
		return
	}
	if total.sum += *n; total.sum > event.MaxTokens { // no subset is larger than the total
		e.Exceed("MaxTokens", e.Payload, 0)
	}
	sum.sum += *n
	sum.told, total.told = true, true
	total.doubtful = total.doubtful || r.spans.ended.twice(e)
}

// number returns the sum for a member of the draft, or nil if no span recorded a value.
func (n tokens) number(t *telling, at string) *int64 {
	if !n.told {
		return nil
	}
	if n.part {
		t.floor(at)
	}
	if n.doubtful {
		t.ceiling(at)
	}
	return &n.sum
}

// report records the account of the session from span.updated events of the kind usage.
func (s *costs) report(r *run, e *event.Event) {
	amount, currency := e.Money(e.Payload, "cost")
	if amount == nil || r.again {
		return
	}

	a := &s.account
	a.earlier = a.earlier || e.Flag(e.Payload, "loaded")

	// Before the task starts, the account contains the cost of earlier tasks.
	if r.state == "" || e.Flag(e.Payload, "earlier") {
		a.before = amount
		return
	}

	// The account is cumulative, so a decrease is a contradiction.
	s.pay(e, currency)
	r.models.spoke = true
	a.shrank = a.shrank || a.told != nil && a.told.Cmp(&amount.Int) > 0
	a.told = amount
}

// share returns the task's share of the account.
func (a *account) share() *event.Money {
	if a.told == nil {
		return nil
	}
	own := new(event.Money)
	own.Set(&a.told.Int)
	if a.before != nil && a.before.Cmp(&a.told.Int) <= 0 {
		own.Sub(&own.Int, &a.before.Int)
	}
	return own
}

// cost returns the cost of the task, based on the spans and the account. The result is the larger
// of the two amounts, except for rounding differences.
func (s *costs) cost(r *run, t *telling) receipt.Cost {
	overlap := s.wholes.overlap()
	c := receipt.Cost{Currency: cmp.Or(s.currency, dollars), ProviderBreakdown: s.breakdown(r, t, overlap)}

	// If a span may include another span, the sum may be too large.
	total, share := s.total, s.account.share()
	if (s.doubtful || overlap) && (share == nil || share.Cmp(&total.Int) < 0) {
		s.atMost(t)
	}
	if s.doubtful {
		t.contradicts("/cost/total", spanEndedTwice)
	}

	if share != nil {
		total = s.reconcile(t, &c, share)
	}
	c.Total = total.Float()
	s.bound(r, t, share != nil)
	return c
}

// breakdown returns one entry per model. If spans overlap, the amounts and tokens of entire turns,
// agents, and tasks may be counted twice.
func (s *costs) breakdown(r *run, t *telling, overlap bool) []receipt.ProviderCost {
	s.input.doubtful, s.output.doubtful = s.input.doubtful || overlap, s.output.doubtful || overlap

	entries := []receipt.ProviderCost{}
	for i, p := range s.Order {
		p.doubtful = p.doubtful || p.whole && overlap
		at := indexed("/cost/provider_breakdown", i)
		entries = append(entries, p.entry(t, at))
		if r.sourced.estimated && p.priced {
			t.estimate(at + "/amount")
		}
	}
	return entries
}

// reconcile returns the larger of the sum over spans and the task's share of the account, because
// some spans of model calls may not record a cost. The difference is listed as an entry with an
// unknown provider.
func (s *costs) reconcile(t *telling, c *receipt.Cost, share *event.Money) event.Money {
	agree := share.Agrees(&s.total)
	if s.priced && !agree {
		t.contradicts("/cost/total", costsDiffer)
	}
	if s.account.shrank {
		t.contradicts("/cost/total", costShrank)
	}
	if s.account.earlier && s.account.before == nil {
		s.atMost(t)
	}

	switch {
	case agree && s.priced:
		return *share // a difference in the last digits results from binary floating-point addition
	case share.Cmp(&s.total.Int) <= 0:
		return s.total
	}

	rest := new(event.Money)
	rest.Sub(&share.Int, &s.total.Int)
	t.untold(indexed("/cost/provider_breakdown", len(c.ProviderBreakdown)) + "/provider")
	c.ProviderBreakdown = append(c.ProviderBreakdown, receipt.ProviderCost{Provider: "unknown", Amount: rest.Float()})
	return *share
}

// bound marks the total as an estimate, as unreported, or as a lower bound.
func (s *costs) bound(r *run, t *telling, accounted bool) {
	note := func(mark func(at string)) {
		mark("/cost/total")
		if s.currency == dollars {
			mark("/autonomy_budget/consumed/usd")
		}
	}
	if r.sourced.estimated && (accounted || s.priced) {
		note(t.estimate)
	}

	// A replay calls no model unless its log records a call.
	modelCalled := r.spans.open.of(spanModel)
	switch {
	case accounted || r.replay.is && !s.priced && !s.free && !modelCalled:
	case !s.priced:
		t.untold("/cost/total")
	case s.free || r.models.told == 0 || modelCalled:
		note(t.floor)
	}
}

// atMost marks the total as an upper bound.
func (s *costs) atMost(t *telling) {
	t.ceiling("/cost/total")
	if cmp.Or(s.currency, dollars) == dollars {
		t.ceiling("/autonomy_budget/consumed/usd")
	}
}

func (c *cost) entry(t *telling, at string) receipt.ProviderCost {
	c.input.doubtful, c.output.doubtful = c.doubtful, c.doubtful
	if c.doubtful && c.priced {
		t.ceiling(at + "/amount")
	}

	switch {
	case !c.priced:
		t.untold(at + "/amount")
	case c.free:
		t.floor(at + "/amount")
	}

	return receipt.ProviderCost{
		Provider: t.name(at+"/provider", c.provider, "unknown"), Model: c.model, Amount: c.amount.Float(),
		InputTokens: c.input.number(t, at+"/input_tokens"), OutputTokens: c.output.number(t, at+"/output_tokens"),
		Metadata: c.apart(t, at+"/metadata"),
	}
}

// apart returns the token subsets that spans record separately, because the schema has no members
// for them.
func (c *cost) apart(t *telling, at string) (o receipt.Object) {
	for i, name := range partNames() {
		c.parts[i].doubtful = c.doubtful
		n := c.parts[i].number(t, at+"/"+name)
		if n == nil {
			continue
		}
		if o == nil {
			o = receipt.Object{}
		}
		o[name] = *n
	}
	return o
}

// spent returns the number of dollars that the task used from its budget. It returns nil if the
// task paid in another currency, or if no cost is recorded.
func (s *costs) spent(total float64) *float64 {
	if s.currency != dollars || !s.priced && s.account.told == nil {
		return nil
	}
	return &total
}

// zero returns the amount for a replay that paid nothing, or nil if the replay paid in another
// currency.
func (s *costs) zero() *float64 {
	if s.currency != "" && s.currency != dollars {
		return nil
	}
	return new(float64)
}
