package others

import (
	"cmp"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// An account is the usage of a trajectory, by step and in total.
type account struct {
	session string
	chosen  string // model of the steps that name no model
	steps   []step
	metered int // number of steps that contain their usage
	priced  int // number of steps that contain their cost
	costs   []string
}

// A step is the usage of one step of the agent.
type step struct {
	model string
	usage story.Usage
	at    story.Place
}

// add reads the usage of a step. Some steps call no model.
func (a *account) add(s *story.Story, n canon.Node) {
	if calls := story.Count(n.Member("llm_call_count")); calls != nil && *calls == 0 {
		return
	}
	m := n.Member("metrics")
	u := trajectoryUsage(m, "")
	if u.Told() {
		a.metered++
	}
	if amount := story.AmountOf(m.Member("cost_usd")); amount != "" {
		a.priced++
		a.costs = append(a.costs, amount)
	}
	a.steps = append(a.steps, step{cmp.Or(s.Name(n.Member("model_name")), a.chosen), u, s.Here()})
	s.Keep(len(a.chosen))
}

// trajectoryUsage reads the usage from metrics. Cached tokens are part of the prompt.
func trajectoryUsage(m canon.Node, prefix string) story.Usage {
	return story.Usage{
		Input: story.Count(m.Member(prefix + "prompt_tokens")), CacheRead: story.Count(m.Member(prefix + "cached_tokens")),
		Output: story.Count(m.Member(prefix + "completion_tokens")),
	}
}

// tell records the usage of the steps. If the total differs, it records the larger of the two
// amounts.
func (a *account) tell(s *story.Story, final canon.Node) {
	total := trajectoryUsage(final, "total_")
	sum, whole := a.sum()

	switch {
	case !total.Told() && a.metered == 0:
	case a.metered > 0 && (!total.Told() || whole && same(total.Input, sum.Input) && same(total.Output, sum.Output)):
		a.tellSteps(s)
	case a.metered > 0 && (whole && sum.More(total) || above(sum.Input, total.Input) || above(sum.Output, total.Output)):
		// A total that is less than the sum of its parts is incorrect, even if some parts are
		// missing.
		s.Lacks(story.TotalsDiffer)
		a.tellSteps(s)
	default:
		if a.metered > 0 && whole {
			s.Lacks(story.TotalsDiffer)
		}
		s.Took(story.Sum{Model: a.onlyModel(), Usage: total})
	}

	if amount := story.AmountOf(final.Member("total_cost_usd")); amount != "" {
		s.Cost(amount)
		return
	}
	for _, amount := range a.costs {
		s.Cost(amount)
	}
	if a.priced > 0 && a.priced < len(a.steps) || !event.Absent(final.Member("total_cost_usd")) {
		s.Lacks(story.CostInPart)
	}
}

// sum returns the total usage of the steps, and reports whether every step contains its usage.
func (a *account) sum() (sum story.Usage, whole bool) {
	for _, x := range a.steps {
		sum.Input, sum.Output = plus(sum.Input, x.usage.Input), plus(sum.Output, x.usage.Output)
	}
	return sum, a.metered == len(a.steps)
}

func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	n := *a + *b
	return &n
}

func above(a, b *int64) bool { return a != nil && b != nil && *a > *b }

func same(a, b *int64) bool { return a != nil && b != nil && *a == *b || a == nil && b == nil }

// tellSteps records the usage of each step. If a step does not contain its usage, the sum is a
// lower bound.
func (a *account) tellSteps(s *story.Story) {
	for i, x := range a.steps {
		m := s.MessageAt(fmt.Sprint(a.session, "/", i), x.at)
		m.Model, m.Finished = x.model, x.usage.Output != nil
		m.Use(x.usage)
	}
}

// onlyModel returns the model that all steps used, or "" if they used several models.
func (a *account) onlyModel() string {
	model := a.chosen
	for i, x := range a.steps {
		if i > 0 && x.model != model {
			return ""
		}
		model = x.model
	}
	return model
}
